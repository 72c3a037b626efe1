"""Covariates: known influences that are adjusted for, and are never findings.

A covariate becomes one or more columns of numbers: itself, or 0/1 columns of its categories. Where
the response asks for it, curves of it and products with other covariates follow
(`_covariate_terms`). What these columns say of the response is taken off, and the sift always keeps
them next to those of X. The predictor has a linear part in them, which is estimated together with
what was selected, and is added to the rest.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from scipy.stats import f as f_distribution

from gradsift.data.arrays import array_like
from gradsift.data.categories import (
    level_columns,
    level_name,
    numbers_or_levels,
    table_columns,
    text_levels,
    unseen_levels,
)
from gradsift.data.responses import refuse_times
from gradsift.data.row_groups import group_sums
from gradsift.estimators.covariate_regression import CLIP
from gradsift.estimators.sample import SiftSample
from gradsift.exceptions import ExtrapolationWarning
from gradsift.numerics.logistic import with_ones
from gradsift.numerics.robust import middle_quantiles, winsorise
from gradsift.numerics.statistics import cubic_splines
from gradsift.protocols import Array, IntArray, Source

MISSING_LEVEL = "(missing)"
"""The category of rows in which nothing is written."""


@dataclass(frozen=True)
class Covariate:
    """How one covariate becomes columns.

    Attributes
    ----------
    name : str
    levels : tuple of str
        Categories that have a 0/1 column; empty for numbers.
    reference : str
        The most frequent category, which the others are compared with.
    mean, scale : float
        Of a number; the mean stands in for missing values.
    knots : tuple of float
        Where the curve of a number begins, bends and ends, in standard deviations from the mean;
        values beyond count as the nearest end. Without any, the effect is a line.
    jumps : tuple of float
        Where the effect of a number jumps, in the same unit.
    marked : bool
        Whether a 0/1 column says where the number is missing.
    """

    name: str
    levels: tuple[str, ...] = ()
    reference: str = ""
    mean: float = 0.0
    scale: float = 1.0
    knots: tuple[float, ...] = ()
    jumps: tuple[float, ...] = ()
    marked: bool = False

    @property
    def columns(self) -> list[str]:
        """Names of its columns."""
        if self.reference:
            return [level_name(self.name, level) for level in self.levels]
        curve = range(1, len(self.knots) + 3) if self.knots else ()
        marks = [f"{self.name} {MISSING_LEVEL}"] * self.marked
        jumps = [f"{self.name} > {self.mean + self.scale * jump:.6g}" for jump in self.jumps]
        return [self.name, *marks, *(f"{self.name} (curve {k})" for k in curve), *jumps]

    @property
    def n_amounts(self) -> int:
        """How many of its columns, the first ones, enter products with other covariates."""
        return len(self.levels) if self.reference else 1

    def encode(self, values: Any) -> Array:
        """Its columns (n, k) at values as `read_column` gives them."""
        texts = values.dtype.kind == "O"
        if self.reference and not texts and np.isnan(values).all():
            values, texts = np.full(len(values), MISSING_LEVEL, dtype=object), True
        if texts and not self.reference and (values == MISSING_LEVEL).all():
            values, texts = np.full(len(values), np.nan), False
        if texts != bool(self.reference):
            was, is_now = ("categories", "numbers") if self.reference else ("numbers", "texts")
            raise ValueError(
                f"covariate {self.name!r} holds {is_now}, such as {values[0]!r}, but held {was} at "
                "the fit."
            )
        return self._levels(values) if texts else self._numbers(values)

    def _levels(self, values: Any) -> Array:
        texts, what = values.tolist(), f"the covariate {self.name!r}"
        every = [*self.levels, self.reference]
        if note := unseen_levels(what, texts, every, f"as {self.reference!r}"):
            warnings.warn(note, ExtrapolationWarning, stacklevel=2)
        return level_columns(texts, self.levels)

    def _numbers(self, values: Array) -> Array:
        there = ~np.isnan(values)
        z = np.where(there, (values - self.mean) / self.scale, 0.0)
        jumps = z[:, None] > np.array(self.jumps)
        z = np.clip(z, self.knots[0], self.knots[-1]) if self.knots else z
        marks = [~there] if self.marked else []
        curve = [cubic_splines(z, np.array(self.knots))] if self.knots else []
        return np.column_stack([z, *marks, *curve, jumps])


@dataclass(frozen=True, eq=False)
class Covariates:
    """All covariates of a fit, and the linear part that they have in predictions.

    Attributes
    ----------
    parts : tuple of Covariate
    products : tuple of (int, int)
        Numbers of covariates whose products follow the columns of all of them.
    used : (k,) int array
        The columns that say something the ones before them do not.
    mean : (k,) array
        Means of these columns at the fit: there, their part is zero.
    coefficients : (k, q) array
        Of the part in the response, in the log odds of the second class, or in the scores of all
        classes; zeros until they are known.
    explained : float
        Share of the variance of the response, or of the class indicators, that they explain alone.
    """

    parts: tuple[Covariate, ...]
    products: tuple[tuple[int, int], ...]
    used: IntArray
    mean: Array
    coefficients: Array
    explained: float = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the covariates."""
        return tuple(part.name for part in self.parts)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that they became."""
        every = [name for part in self.parts for name in part.columns]
        for pair in self.products:
            one, other = (self.parts[k].columns[: self.parts[k].n_amounts] for k in pair)
            every += [f"{a} x {b}" for a in one for b in other]
        return tuple(every[int(k)] for k in self.used)

    def whole(self, values: Sequence[Any]) -> Array:
        """All columns, of values that `read_column` gave for each covariate."""
        blocks = [part.encode(value) for part, value in zip(self.parts, values, strict=True)]
        amounts = [block[:, : part.n_amounts] for block, part in zip(blocks, self.parts)]
        pairs = [products(amounts[k], amounts[j]) for k, j in self.products]
        return np.column_stack([*blocks, *pairs])

    def encode(self, covariates: Any, n: int | None = None) -> Array:
        """Columns (n, k) of the covariates of n rows, less their means at the fit."""
        given = dict(read_columns(covariates, n))
        lost = [name for name in self.names if name not in given]
        if lost:
            raise ValueError(
                f"covariates lacks {lost[0]!r}: the model was fitted with "
                f"{', '.join(map(repr, self.names))}, and {', '.join(map(repr, given))} were given."
            )
        whole = self.whole([given[name] for name in self.names])
        return np.asarray(whole[:, self.used] - self.mean)

    def shift(self, covariates: Any, n: int) -> Array:
        """(n, q) part of the covariates in predictions for n rows."""
        if isinstance(covariates, str) and covariates == "mean":
            return np.zeros((n, self.coefficients.shape[1]))
        if covariates is None:
            raise ValueError(
                f"the model was fitted with covariates ({', '.join(self.names)}): give "
                "covariates= of these rows too, or covariates='mean' to predict for rows whose "
                "covariates are as in the mean of the fit."
            )
        return self.encode(covariates, n) @ self.coefficients


def products(A: Array, B: Array) -> Array:
    """Each column of A times each of B."""
    return np.asarray((A[:, :, None] * B[:, None, :]).reshape(len(A), A.shape[1] * B.shape[1]))


def check_same_covariates(fitted: Covariates | None, covariates: Any) -> None:
    """Refuse to ask about a fitted model with other covariates than its own."""
    if (fitted is None) != (covariates is None):
        what = "without" if fitted is None else "with"
        raise ValueError(
            f"the model was fitted {what} covariates: give the table, the response and the "
            "covariates that it was fitted to."
        )


def read_columns(covariates: Any, n: int | None = None) -> list[tuple[str, Any]]:
    """(name, values) of each covariate: numbers, NaN where missing, or texts in an object array.

    Parameters
    ----------
    covariates : data frame, dict of columns, or array (n,) or (n, k)
    n : int, optional
        The rows there should be.
    """
    if isinstance(covariates, dict):
        found = [(str(name), values) for name, values in covariates.items()]
    elif hasattr(array_like(covariates, "covariates"), "columns"):
        found = list(table_columns(covariates))
    elif np.ndim(covariates) == 1:
        name = getattr(covariates, "name", None)
        found = [("covariate0" if name in (None, "") else str(name), covariates)]
    else:
        table = np.asarray(array_like(covariates, "covariates"))
        if table.ndim != 2:
            raise ValueError(
                f"covariates has shape {table.shape}: give a data frame, an array (n,) or (n, k), "
                "or a dict of columns."
            )
        found = [(f"covariate{k}", values) for k, values in enumerate(table.T)]
    out = [(name, read_column(name, values)) for name, values in found]
    for name, values in out:
        if n is not None and len(values) != n:
            raise ValueError(f"covariate {name!r} has {len(values)} values for {n} rows of X.")
    return out


def read_column(name: str, values: Any) -> Any:
    """One covariate: numbers (NaN where missing), or texts for categories."""
    values = array_like(values, "covariates")
    plain = np.asarray(values)
    if plain.ndim != 1:
        raise ValueError(f"covariate {name!r} has shape {plain.shape}: one value for each row.")
    refuse_times(plain, f"covariate {name!r}")
    found: Any = numbers_or_levels(values)
    if found.dtype.kind == "O":
        found[[value is None for value in found]] = MISSING_LEVEL
        return found
    bad = np.flatnonzero(np.isinf(found))
    if len(bad):
        raise ValueError(f"covariate {name!r} is infinite in row {int(bad[0])}.")
    return found


# What a fit learns of covariates: their columns, and the curves and products that they need.
#
# A straight line in each number and a level for each category are always there. Curves of numbers
# and products of two covariates are added one after the other, as far as the response asks for
# them: each by an F test given those before it. Such a term is no finding, so that the test may
# be generous: a column of X that only follows a term that was left out has to reach a much higher
# level.


MOST_COLUMNS = 1 / 3
"""Columns that covariates may take, as a part of the rows: more would explain anything."""
MOST_TERMS = 1 / 8
"""Columns of curves and products, as a part of the rows, or of their groups."""
NEEDLESS = 0.05
"""Curves, and products, that are expected where straight lines are the truth."""
BENDS = (1, 3, 7, 15)
"""Quantiles at which a curve may bend; each set holds the one before."""
JUMPS = np.arange(4, 61) / 64
"""Quantiles at which an effect may jump."""
SAME = 1e-8
"""Part of a column that is left given the others, below which it says nothing new."""


def with_covariates(
    sample: SiftSample, covariates: Any, source: Source, kept: IntArray
) -> tuple[Covariates | None, SiftSample]:
    """How the covariates of a source become columns, and the sample of its kept rows with them."""
    if covariates is None:
        return None, sample
    given = [(name, source.align_rows(values)) for name, values in read_columns(covariates)]
    wrong = [len(values) for _, values in given if len(values) != source.shape[0]]
    if wrong:
        raise ValueError(
            f"covariates has {wrong[0]} rows but X has {source.shape[0]}: give one row for each."
        )
    if not given:
        return None, sample
    names, values = [name for name, _ in given], [values[kept] for _, values in given]
    twice = [name for k, name in enumerate(names) if name in names[:k]]
    if twice:
        raise ValueError(f"two covariates are named {twice[0]!r}: rename one.")
    counts = np.ones(len(kept)) if sample.weight is None else sample.weight
    parts = tuple(learn(name, value, counts) for name, value in zip(names, values, strict=True))
    found, adjusted = settled(sample, parts, (), values, counts)
    straight = len(found.used)
    if straight == 0:  # constant covariates say nothing
        return found, sample
    sample = adjusted
    if straight > MOST_COLUMNS * len(kept):
        raise ValueError(
            f"the covariates take {straight} columns, for {len(kept)} rows: at most a third as "
            "many columns as rows can be adjusted for. Leave some out, or join rare categories."
        )
    total = counts.sum() if sample.groups is None else len(np.unique(sample.groups))
    room = min(straight + MOST_TERMS * total, MOST_COLUMNS * total)
    while True:
        rows = sample.independent()
        Q, residual = unexplained(rows)
        best, chosen = np.log(NEEDLESS), None
        for rivals, terms, block in candidates(found, values, counts):
            block = np.asarray(sample._replace(covariates=block).independent().covariates)
            log_p = np.log(rivals) + log_p_value(block, Q, residual, rows, total, room)
            if log_p < best:
                best, chosen = log_p, terms
        if chosen is None:
            return found, sample
        found, sample = settled(sample, chosen.parts, chosen.products, values, counts)


def settled(
    sample: SiftSample,
    parts: tuple[Covariate, ...],
    pairs: tuple[tuple[int, int], ...],
    values: list[Any],
    counts: Array,
) -> tuple[Covariates, SiftSample]:
    """Covariates with these terms, and the sample with their columns, of mean zero."""
    every = Covariates(parts, pairs, np.zeros(0, dtype=np.intp), np.zeros(0), np.zeros((0, 1)))
    whole = every.whole(values)
    mean = counts @ whole / counts.sum()
    used = independent_columns(whole - mean)
    found = replace(every, used=used, mean=mean[used], coefficients=np.zeros((len(used), 1)))
    return found, sample._replace(covariates=(whole - mean)[:, used])


def candidates(
    found: Covariates, values: list[Any], counts: Array
) -> Iterator[tuple[float, Covariates, Array]]:
    """Terms that could follow: the number of their rivals, covariates with the term, its columns
    (n, d).
    """
    parts = found.parts
    straight = [replace(part, knots=(), jumps=()) for part in parts]
    amounts = [
        part.encode(value)[:, : part.n_amounts]
        for part, value in zip(straight, values, strict=True)
    ]
    numbers = [k for k, part in enumerate(parts) if not part.reference]
    for k in numbers:
        z, part = amounts[k][:, 0], parts[k]
        curves = [knots for knots in knot_sets(z, counts) if len(knots) > len(part.knots)]
        bent = [replace(part, knots=tuple(knots.tolist())) for knots in curves]
        blocks = [cubic_splines(z, knots) for knots in curves]
        cuts = np.unique(middle_quantiles(z, JUMPS, counts))
        split = [replace(part, jumps=(*part.jumps, cut)) for cut in cuts.tolist()]
        rivals = [*(2.0 ** np.arange(2, 2 + len(bent))), *np.full(len(cuts), 2.0 * len(cuts))]
        blocks += [(z > cut)[:, None].astype(float) for cut in cuts]
        for count, changed, block in zip(rivals, (*bent, *split), blocks, strict=True):
            terms = replace(found, parts=(*parts[:k], changed, *parts[k + 1 :]))
            yield count * len(numbers), terms, block
    every = list(combinations(range(len(parts)), 2))
    for k, j in every:
        if (k, j) not in found.products:
            terms = replace(found, products=(*found.products, (k, j)))
            yield len(every), terms, products(amounts[k], amounts[j])


def knot_sets(z: Array, counts: Array) -> list[Array]:
    """Where curves of a number may bend, its ends included, from stiff to supple."""
    out: list[Array] = []
    for bends in BENDS:
        inner = middle_quantiles(z, np.arange(1, bends + 1) / (bends + 1), counts)
        knots = np.unique(np.r_[z.min(), inner, z.max()])
        if len(knots) > (len(out[-1]) if out else 2):
            out.append(knots)
    return out


def unexplained(rows: SiftSample) -> tuple[Array, Array]:
    """Orthonormal bases of covariates and a constant (n, k + 1), and of what these leave of the
    response (n, q), winsorised where there may be outliers; both times the root of the weights.
    """
    C, weight = np.asarray(rows.covariates), rows.weight
    left = rows.target.beside(C, weight).contrasts
    left = winsorise(left, CLIP, weight) if rows.target.robust else left
    root = np.sqrt(np.ones(len(C)) if weight is None else weight)[:, None]
    Q, R = np.linalg.qr(root * with_ones(C))[0], root * left
    R = R - Q @ (Q.T @ R)
    values, vectors = np.linalg.eigh(R.T @ R)
    some = values > SAME * max(float(values.max()), 1e-300)
    return Q, np.asarray(R @ (vectors[:, some] / np.sqrt(values[some])))


def log_p_value(
    block: Array, Q: Array, residual: Array, rows: SiftSample, total: float, room: float
) -> float:
    """log p-value of columns (n, d) given those with the basis Q, by an F test of the residual; 0
    where there is no room. Where rows belong together, the statistic is divided by its design
    effect, and groups are counted in place of rows.
    """
    counts = np.ones(len(block)) if rows.weight is None else rows.weight
    U = np.sqrt(counts)[:, None] * block
    size = float(np.linalg.norm(U))
    U = U - Q @ (Q.T @ U)
    U, values, _ = np.linalg.svd(U - Q @ (Q.T @ U), full_matrices=False)
    U = U[:, values > np.sqrt(SAME) * size]
    d, q, k = U.shape[1], residual.shape[1], Q.shape[1]
    left = total - k - d
    if d == 0 or q == 0 or left < 1 or k - 1 + d > room:
        return 0.0
    explained = float(np.square(U.T @ residual).sum())
    if rows.groups is not None:
        score = (U[:, :, None] * residual[:, None, :]).reshape(len(U), d * q)
        independent = float((np.square(score).sum(axis=1) / counts).sum())
        together = float(np.square(group_sums(score, rows.groups)).sum())
        explained /= max(1.0, together / max(independent, 1e-300))
    ratio = explained / d / ((q - explained) / (counts.sum() - k - d))
    return float(f_distribution.logsf(ratio, d * q, left * q))


def learn(name: str, values: Any, counts: Array) -> Covariate:
    """How a covariate becomes columns, from its values at rows that count so many times."""
    if values.dtype.kind == "O":
        levels = text_levels(values)
        if len(levels) > max(MOST_COLUMNS * len(values), 2):
            raise ValueError(
                f"covariate {name!r} holds {len(levels)} different texts in {len(values)} rows: "
                "too many for categories. Turn it into numbers, or leave it out."
            )
        number = {level: k for k, level in enumerate(levels)}
        most = int(np.bincount([number[value] for value in values], counts).argmax())
        return Covariate(name, (*levels[:most], *levels[most + 1 :]), levels[most])
    there = ~np.isnan(values)
    if not there.any():
        raise ValueError(f"covariate {name!r} is missing in all {len(values)} rows.")
    values, counts = values[there], counts[there]
    mean = float(np.average(values, weights=counts))
    spread = float(np.sqrt(np.average((values - mean) ** 2, weights=counts)))
    scale = spread if spread > 1e-12 * float(np.abs(values).max()) else np.inf
    return Covariate(name, (), "", mean, scale, marked=not there.all())


def independent_columns(C: Array) -> IntArray:
    """Columns that are not (nearly) sums of those before them; none that is constant."""
    kept: list[int] = []
    basis = np.zeros((len(C), 0))
    for k, column in enumerate(C.T):
        size = float(np.linalg.norm(column))
        rest = column - basis @ (basis.T @ column)
        rest -= basis @ (basis.T @ rest)
        left = float(np.linalg.norm(rest))
        if size > SAME and left > SAME * size:
            kept.append(k)
            basis = np.column_stack([basis, rest / left])
    return np.array(kept, dtype=np.intp)
