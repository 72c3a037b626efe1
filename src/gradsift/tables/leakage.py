"""Columns that reveal the target: copies, sums and products, separated classes, missing values.

A column is left out only where chance cannot explain that it determines the target: where the
expected number of such columns under random permutations of the target is below `CHANCE`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from gradsift.data.source import windows
from gradsift.protocols import Array, IntArray
from gradsift.tables.notes import listed

WIDTH = 8192
FIRST_ROWS = 128
"""Rows, in the order of the target, in which columns are compared before all rows are."""
LEAST_KNOWN = 0.5
"""Part of the rows in which a column must have a value to be compared."""
CHANCE = np.log(1e-6)
"""Expected number of such columns by pure chance below which a column is left out."""
MENTIONED = np.log(0.01)
"""... below which one is mentioned."""
NARROW = 200
"""Variables up to which one that tells the classes apart is a leak; of more, one may do so by its
nature, as a gene does."""
MOST_SUMMANDS = 500
"""Columns among which sums and products are looked for."""
MOST_ROWS = 4000
"""Rows in which they are."""
MOST_CUTS, ROWS_PER_CUT = 5, 4
"""Values of a column that may be a target cut into intervals; more with so many rows for each."""
SAMPLE = 200
"""Rows that tell whether a column has few values; NaN differs from itself."""
LEAST_EQUAL, FEWEST_EQUAL = 0.1, 10
"""Part of the rows in which two times of a follow-up are equal at least, and distinct values there.
"""
NARROW_GAP = 0.1
"""Part of the range of the target between two intervals, below which they touch."""
MOST_CHANNELS = 500
"""Columns of a spectrum that are looked at."""
EXACT = 1e-9
"""Part of its variance that is left of a target that is a sum."""
ROUNDED, FEW_PARTS = 1e-6, 3
"""... of few columns, where all may be written with few digits."""
WIDE_STEPS = 20
"""Standard deviation of a target, in units of its last digit, from which on it may be a rounded sum
of few columns.
"""


@dataclass(frozen=True)
class Leaks:
    """Columns that reveal the target.

    Attributes
    ----------
    certain : dict
        Name -> how it reveals the target.
    perhaps : tuple of str
        Columns that determine it exactly, but in so few rows, or among so many columns, that this
        may be chance.
    """

    certain: dict[str, str] = field(default_factory=dict)
    perhaps: tuple[str, ...] = ()


def find_leaks(
    numbers: Sequence[tuple[Sequence[str], Array]],
    categories: Mapping[str, IntArray],
    y: NDArray[np.generic],
    target: str,
    *,
    ordered: bool,
) -> Leaks:
    """Look for the target among the variables.

    Parameters
    ----------
    numbers : sequence of (names, (n, k) array)
        Variables that are numbers, NaN where they are missing; in blocks, so that a wide table
        need not be copied. A name None is no variable.
    categories : mapping
        Name -> codes (n,) of the levels, -1 where the category is missing.
    y : (n,) array
        Numbers, or labels.
    target : str
    ordered : bool
        Whether the target is one of numbers (regression) or of classes.
    """
    values, codes = np.unique(y, return_inverse=True)
    count = sum(len(names) for names, _ in numbers) + len(categories)
    if len(values) < 2 or len(codes) < 3 or count == 0:
        return Leaks()
    sizes = np.bincount(codes)
    arrangements = float(gammaln(len(codes) + 1) - gammaln(sizes + 1).sum())
    tried, renamings = np.log(count), float(gammaln(len(values) + 1))
    certain: dict[str, str] = {}
    perhaps: list[str] = []

    def add(names: Sequence[str], log_chance: float, why: str, least: float = CHANCE) -> None:
        if log_chance < least:
            certain.update({name: why for name in names if name not in certain})
        elif log_chance < 0.0:
            perhaps.extend(names)

    for names, X in numbers:
        if ordered:
            alike, log_chance = _same_order(X, codes), np.log(2) + tried - arrangements
            add(_of(names, alike), log_chance, "an exact function of the target", MENTIONED)
        else:
            alike, log_chance = _same_classes(X, codes), tried + renamings - arrangements
            add(_of(names, alike), log_chance, "the target under another name")
    _categories(categories, codes, tried + renamings - arrangements, ordered, add)
    if ordered and y.dtype.kind in "iuf" and count <= MOST_SUMMANDS and len(values) > 5:
        _cuts(numbers, categories, y.astype(float), tried, add)
    if not ordered and count <= NARROW and len(codes) >= 30 and sizes.min() >= 5:
        for names, X in numbers:
            add(_of(names, _apart(X, codes)), tried + renamings - arrangements,
                "it separates the classes without an error")  # fmt: skip
            add(_of(names, _missing_in_one(np.isnan(X), codes)), CHANCE - 1.0,
                "missing in one class only")  # fmt: skip
        gone = np.zeros((len(y), len(categories)), dtype=bool)
        for k, levels in enumerate(categories.values()):
            gone[:, k] = levels < 0
        found = _missing_in_one(gone, codes)
        add(_of(list(categories), found), CHANCE - 1.0, "missing in one class only")
    if y.dtype.kind in "iuf" and len(values) > 2 and len(y) >= 12:
        certain.update(_arithmetic(numbers, y.astype(float), target, certain))
    return Leaks(certain, tuple(dict.fromkeys(name for name in perhaps if name not in certain)))


def other_times(
    numbers: Sequence[tuple[Sequence[str], Array]], time: Array, target: str
) -> dict[str, str]:
    """Times of the same follow-up as a survival time (n,), such as that to death next to that to a
    relapse: name -> how it is known. They end together in many rows, and one is never longer.
    """
    found: dict[str, str] = {}
    t = time[:, None]
    for names, X in numbers:
        for where in windows(X.shape[1], WIDTH):
            block, some = X[:, where], list(names[where])
            sides = (block > t).any(axis=0) & (block < t).any(axis=0)
            share = (block == t).mean(axis=0)
            for k in np.flatnonzero(~sides & (share >= LEAST_EQUAL)):
                name, values = some[int(k)], np.unique(time[block[:, k] == time])
                if name is not None and len(values) >= FEWEST_EQUAL:
                    why = f"it is {target!r} in {share[k]:.0%} of the rows; drop its event, too"
                    found[name] = why
    return found


def _of(names: Sequence[str], found: IntArray) -> list[str]:
    return [name for name in (names[int(k)] for k in found) if name is not None]


def _categories(
    categories: Mapping[str, IntArray], codes: IntArray, renamed: float, ordered: bool,
    add: Callable[..., None],
) -> None:  # fmt: skip
    """Categories that are the target renamed, or each of which goes with one value of it."""
    classes, n = codes.max() + 1, len(codes)
    if 2 * classes > n:
        return
    for name, levels in categories.items():
        there = levels >= 0
        if there.mean() < LEAST_KNOWN:
            continue
        both = len(np.unique(levels[there] * classes + codes[there]))
        count, seen = len(np.unique(levels[there])), len(np.unique(codes[there]))
        if both == count == seen > 1:
            add([name], renamed, "the target under another name")
        elif both == count > 1 and count <= 0.2 * n and not ordered:
            by_chance = renamed - float(gammaln(classes + 1)) + count * np.log(classes)
            add([name], by_chance, "each of its values goes with one class")


def _cuts(
    numbers: Sequence[tuple[Sequence[str], Array]], categories: Mapping[str, IntArray], y: Array,
    tried: float, add: Callable[..., None],
) -> None:  # fmt: skip
    """Columns that cut the target into intervals which touch, such as the target rounded."""
    columns = [(name, X[:, k]) for names, X in numbers for k, name in enumerate(names) if name]
    columns += [(name, np.where(v < 0, np.nan, v)) for name, v in categories.items()]
    for name, column in columns:
        if len(set(column[:SAMPLE].tolist())) > MOST_CUTS + SAMPLE // 2:
            continue  # numbers that differ
        there = ~np.isnan(column)
        kinds, codes = np.unique(column[there], return_inverse=True)
        most = max(MOST_CUTS, len(codes) // ROWS_PER_CUT)
        if there.mean() < LEAST_KNOWN or not 2 <= len(kinds) <= most:
            continue
        if _touch(y[there], codes, len(kinds)):
            arrangements = gammaln(len(codes) + 1) - gammaln(np.bincount(codes) + 1).sum()
            by_chance = tried + float(gammaln(len(kinds) + 1) - arrangements)
            add([name], by_chance, "cuts the target into intervals")


def _touch(y: Array, codes: IntArray, count: int) -> bool:
    """Whether the values of each code lie in an interval of their own, without wide gaps between
    the intervals: at the levels of an experiment they lie apart.
    """
    order = np.argsort(y, kind="stable")
    steps = np.flatnonzero(np.diff(codes[order]))
    if len(steps) != count - 1:
        return False
    gaps = np.diff(y[order])[steps]
    if count <= MOST_CUTS:
        return bool(((gaps > 0) & (gaps < NARROW_GAP * np.ptp(y))).all())
    ends = np.append(steps, len(y) - 1)
    starts = np.append(0, steps + 1)
    widths, full = y[order][ends] - y[order][starts], ends - starts >= ROWS_PER_CUT - 1
    both = full[1:] & full[:-1]
    narrow = gaps < (widths[1:] + widths[:-1]) / 4
    return bool((gaps > 0).all() and both.sum() > 1 and narrow[both].mean() > 0.5)


def _suspects(
    X: Array, codes: IntArray, agree: Callable[[Array, Array], NDArray[np.bool_]]
) -> IntArray:
    """Columns whose steps agree with those of the target in some rows, brought into its order, as
    far as both values of a step are known.
    """
    some = np.linspace(0, len(codes) - 1, min(len(codes), FIRST_ROWS)).astype(int)
    order = np.argsort(codes, kind="stable")[some]
    steps = np.diff(codes[order])[:, None]
    found = []
    for where in windows(X.shape[1], WIDTH):
        with np.errstate(invalid="ignore"):
            moves = np.diff(X[order, where], axis=0)
        gone = np.isnan(moves)
        good = (agree(moves, steps) | gone).all(axis=0) & ~gone.all(axis=0)
        found.append(where.start + np.flatnonzero(good))
    return np.concatenate(found) if found else np.zeros(0, dtype=np.intp)


def _same_classes(X: Array, codes: IntArray) -> IntArray:
    """Columns whose values are the classes under other names."""
    suspects = _suspects(X, codes, lambda moves, steps: (moves == 0) == (steps == 0))
    return np.array([k for k in suspects if _one_to_one(X[:, k], codes)], dtype=np.intp)


def _one_to_one(column: Array, codes: IntArray) -> bool:
    there = ~np.isnan(column)
    if there.mean() < LEAST_KNOWN:
        return False
    levels, codes = np.unique(column[there], return_inverse=True)[1], codes[there]
    both = len(np.unique(levels * (codes.max() + 1) + codes))
    return bool(both == levels.max() + 1 == len(np.unique(codes)) > 1)


def _same_order(X: Array, codes: IntArray) -> IntArray:
    """Columns that order the rows as the target does, or in reverse."""
    rising = _suspects(X, codes, lambda moves, steps: np.sign(moves) == np.sign(steps))
    falling = _suspects(X, codes, lambda moves, steps: np.sign(moves) == -np.sign(steps))
    found = [k for k in np.union1d(rising, falling) if _monotone(X[:, k], codes)]
    return np.array(found, dtype=np.intp)


def _monotone(column: Array, codes: IntArray) -> bool:
    there = ~np.isnan(column)
    if there.mean() < LEAST_KNOWN:
        return False
    order = np.lexsort((column[there], codes[there]))
    step, up = np.sign(np.diff(column[there][order])), np.sign(np.diff(codes[there][order]))
    return bool(up.any() and ((step == up).all() or (step == -up).all()))


def _ranges(X: Array, codes: IntArray) -> tuple[Array, Array]:
    """Smallest and largest values of all columns in each class."""
    classes = range(codes.max() + 1)
    low = np.stack([np.fmin.reduce(X[codes == c], axis=0) for c in classes])
    return low, np.stack([np.fmax.reduce(X[codes == c], axis=0) for c in classes])


def _apart(X: Array, codes: IntArray) -> IntArray:
    """Columns in which the classes lie in disjoint intervals."""
    low, high = _ranges(X, codes)
    order = np.argsort(low, axis=0)
    low, high = np.take_along_axis(low, order, 0), np.take_along_axis(high, order, 0)
    with np.errstate(invalid="ignore"):
        apart = (high[:-1] < low[1:]).all(axis=0)
    return np.flatnonzero(apart & (np.isnan(X).mean(axis=0) < LEAST_KNOWN))


def _missing_in_one(gone: NDArray[np.bool_], codes: IntArray) -> IntArray:
    """Columns that are missing in nearly all rows of a class and in hardly any of another."""
    share = np.stack([gone[codes == c].mean(axis=0) for c in range(codes.max() + 1)])
    return np.flatnonzero(np.ptp(share, axis=0) > 0.9)


def _arithmetic(
    numbers: Sequence[tuple[Sequence[str], Array]], y: Array, target: str, known: Mapping[str, str]
) -> dict[str, str]:
    """Columns whose weighted sum, or product of powers, is the target."""
    count = sum(len(names) for names, _ in numbers)
    if count > MOST_SUMMANDS:
        return {}
    names = [name for some, _ in numbers for name in some]
    rows = np.linspace(0, len(y) - 1, min(len(y), MOST_ROWS)).astype(int)
    X, y = np.column_stack([X[rows] for _, X in numbers]), y[rows]
    free = [k for k, name in enumerate(names) if name is not None and name not in known]
    share = np.isfinite(X).mean(axis=0)
    whole = [k for k in free if share[k] == 1.0]
    found = _expressions(X, y, target, names, whole)
    free = [k for k in free if share[k] >= LEAST_KNOWN]
    there = np.isfinite(X[:, free]).all(axis=1)
    if len(free) > len(whole) and not found and there.sum() >= max(12, LEAST_KNOWN * len(y)):
        found = _expressions(X[there], y[there], target, names, free)
    return found


def _expressions(
    X: Array, y: Array, target: str, names: Sequence[str], free: Sequence[int]
) -> dict[str, str]:
    """`_arithmetic` in rows without missing values, among some of the columns."""
    found: dict[str, str] = {}
    for sums, rises, what, alone in (
        (True, False, "a sum", "a multiple"),
        (False, True, "a product", "a power"),
        (False, False, "the logarithm of a product", "the logarithm"),
    ):
        left = [k for k in free if names[k] not in found]
        if not sums:
            left = [k for k in left if (X[:, k] > 0).all()]
        if len(left) < 2 or (rises and (y <= 0).any()):
            continue
        Z, t = X[:, left] if sums else np.log(X[:, left]), np.log(y) if rises else y
        for identity in _identities(Z, t, rounding(y) if sums else 0.0):
            parts = [names[left[k]] for k in identity]
            kind = what if len(parts) > 1 else alone
            found |= dict.fromkeys(parts, f"{target!r} is {kind} of {listed(parts, 5)}")
    return found


def rounding(y: Array) -> float:
    """The last digit with which numbers are written, 0 where it is too small or too large for an
    error of this size to be distinguished from none.

    Examples
    --------
    >>> rounding(np.array([15.9, 33.9, 29.1, 60.0]))
    0.1
    """
    for step in (1.0, 0.1, 0.01, 0.001):
        if np.allclose(y / step, np.round(y / step), rtol=0.0, atol=1e-6):
            return step if y.std() >= WIDE_STEPS * step else 0.0
    return 0.0


def _identities(X: Array, y: Array, step: float = 0.0) -> list[list[int]]:
    """Sets of columns whose weighted sum is the target, rounded to `step`: the column closest to
    the residual is taken until nothing is left of it, at most a quarter as many as rows; then all
    that can go, go.
    """
    X, y = X - X.mean(axis=0), y - y.mean()
    size = np.sqrt((X**2).sum(axis=0))
    free = size > 0
    Z = np.divide(X, size, out=np.zeros_like(X), where=free)

    def left_of(chosen: list[int]) -> Array:
        part = Z[:, chosen]
        return np.asarray(y - part @ np.linalg.lstsq(part, y, rcond=None)[0])

    def nothing(residual: Array, count: int) -> bool:
        few = count <= FEW_PARTS
        if few and np.abs(residual).max() < step:
            return True
        return float(residual @ residual) < (ROUNDED if few else EXACT) * float(y @ y)

    out: list[list[int]] = []
    while free.sum() >= 2 and len(out) < 8:
        chosen: list[int] = []
        residual = y
        most = min(30, len(y) // 4, int(free.sum()))
        while len(chosen) < most and not nothing(residual, len(chosen)):
            score = np.abs(Z.T @ residual) * free
            score[chosen] = 0
            chosen.append(int(score.argmax()))
            residual = left_of(chosen)
        if not nothing(residual, len(chosen)):
            break
        for k in list(chosen):
            rest = [j for j in chosen if j != k]
            chosen = rest if len(rest) > 1 and nothing(left_of(rest), len(rest)) else chosen
        out.append(chosen)
        free[chosen] = False
    return out


def other_responses(names: Sequence[str], X: Array, target: str) -> list[str]:
    """Numbers next to a spectrum, a block of columns called by numbers each of which is close to
    its neighbour: other responses of the same samples.
    """
    channel = re.compile(r"[A-Za-z_. ]{0,4}\d+([.,]\d+)?\s*(nm|cm-1)?")
    called = [k for k, name in enumerate(names) if channel.fullmatch(name)]
    if len(called) < 30 or len(called) < 0.5 * len(names):
        return []
    if names[called[0]][:1] == target[:1] and target[-1:].isdigit():
        return []
    block = X[:, called[:MOST_CHANNELS]]
    spread = np.nanstd(block, axis=0)
    block = (block - np.nanmean(block, axis=0)) / np.maximum(spread, 1e-300)
    with np.errstate(invalid="ignore"):
        alike = np.nanmean(block[:, 1:] * block[:, :-1], axis=0)
    others = sorted(set(range(len(names))) - set(called))
    if np.median(alike) < 0.95 or len(others) > 20:
        return []
    return [names[k] for k in others if len(np.unique(X[:, k])) > 0.1 * len(X)]
