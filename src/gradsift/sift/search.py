"""The choice of a support: an information criterion whose complexity term is made of the chi
levels, and a local search.

    criterion(S) = n log det(R'R / n)  +  n / (n - df - k / 2 - q) * sum_{g in S} t_g^2

R is the residual of a least-squares fit on S. Adding a group of no use lowers the first term by
about chi2(m q), so it passes with probability about P(chi2 > t_g^2): the level of the group. No
noise variance and no penalty strength is estimated. The factor makes up for what df coefficients
take from the noise of n rows; that the k variables of S were searched for, and found together,
takes more, and is counted as half a coefficient each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradsift._typing import Array, IntArray
from gradsift.sift.groups import Groups, Support, least_squares
from gradsift.sift.response import Response

TIE = 1e-6
"""Criteria that differ by less are equal: rounding, which is another on another processor."""
SOLVED_VALUES = 1_000_000
"""Values of the systems of equations that are solved together (8 MB)."""
REMEMBERED_FITS = 32
"""Fits of which residual and stand-in response are kept, for searches that meet them again."""
COPY = 1e-9
"""Columns are copies of each other if their correlation is so close to 1 or -1."""


def log_det(cov: Array) -> float:
    """log det of a residual covariance, bounded below so that a perfect fit stays finite."""
    return float(log_dets(cov[None])[0])


def log_dets(cov: Array) -> Array:
    """`log_det` of many, (b, q, q)."""
    q = cov.shape[-1]
    if q == 1:
        return np.asarray(np.log(np.maximum(cov[:, 0, 0], 0.0) + 1e-12))
    return np.asarray(np.linalg.slogdet(cov + 1e-12 * np.eye(q))[1])


def complexity(groups: Groups, support: Support, q: int) -> float:
    """n / (n - df - k / 2 - q) sum t_g^2; infinite beyond df = `most_df` n."""
    return complexities(groups, [support], q)[0]


def complexities(groups: Groups, supports: list[Support], q: int) -> list[float]:
    """`complexity` of many supports of few groups."""
    n, settings = groups.rows.total, groups.settings
    members = sorted({g for T in supports for g in T})
    size = dict(zip(members, groups.size[members].tolist(), strict=True))
    used = {g: groups.parents_of(g) for g in members}
    sums = level_sums(groups, supports)
    out = []
    for T, total in zip(supports, sums, strict=True):
        df = sum(size[g] for g in T)
        left = n - df - settings.searched_df * len({v for g in T for v in used[g]}) - q
        fits = df <= settings.most_df * n and left > 0
        out.append(total * n / left if fits else np.inf)
    return out


def level_sums(groups: Groups, supports: list[Support]) -> list[float]:
    """Sums of squared levels.

    Every group counts with the level it has beside its own variable; a variable in no product adds
    the difference to the full level of one own group, the one where that is least.
    """
    k = len(groups.columns)
    members = sorted({g for T in supports for g in T})
    used = {g: groups.parents_of(g) for g in members}
    known = groups.level_if_selected[members]
    beside = dict(zip(members, known.tolist(), strict=True))
    more = dict(zip(members, (groups.level[members] - known).tolist(), strict=True))
    out = []
    for T in supports:
        in_pairs = {v for g in T if g >= 3 * k for v in used[g]}
        least: dict[int, float] = {}
        for g in T:
            if g < 3 * k and used[g][0] not in in_pairs:
                least[used[g][0]] = min(least.get(used[g][0], np.inf), more[g])
        out.append(sum(beside[g] for g in T) + sum(least.values()))
    return out


def levels_given(groups: Groups, support: Support) -> Array:
    """Squared level of every group beside this support."""
    k = len(groups.columns)
    level = groups.level.copy()
    for v in groups.variables(support):
        j = int(np.searchsorted(groups.columns, v))
        if j < k and groups.columns[j] == v:
            own = [j, k + j, 2 * k + j]
            level[own] = groups.level_if_selected[own]
    return level


def whiten_residual(R: Array, total: float) -> Array:
    """R (..., n, q) times the inverse root of R'R / n: unit-covariance residuals (zero ones stay
    zero).
    """
    if R.shape[-1] == 1:
        var = (R * R).sum(axis=(-2, -1), keepdims=True) / total
        return np.asarray(R / np.sqrt(np.maximum(var, 1e-12)))
    cov = np.swapaxes(R, -1, -2) @ R / total
    values, vectors = np.linalg.eigh(cov)
    half = (vectors / np.sqrt(np.maximum(values, 1e-12))[..., None, :]) @ np.swapaxes(
        vectors, -1, -2
    )
    return np.asarray(R @ half)


def robust_fit(groups: Groups, support: Support, response: Response) -> tuple[Array, Array]:
    """Residual on the support and the stand-in response it was fitted to; the last ones are
    remembered.
    """
    known = groups.fits.pop(support, None)
    if known is None or known[0] is not response:
        known = response, *fit_robustly(groups, support, response)
    groups.fits[support] = known  # at the end: what was used last is forgotten last
    if len(groups.fits) > REMEMBERED_FITS:
        del groups.fits[next(iter(groups.fits))]
    return known[1:]


def fit_robustly(groups: Groups, support: Support, response: Response) -> tuple[Array, Array]:
    """`robust_fit`, made."""
    Y = response.start
    if not support:
        return Y, Y
    Z = groups.stack(support)
    settings = groups.settings
    for _ in range(settings.rounds if response.robust else 1):
        fit = Z.T @ least_squares(Z, Y, groups.rows.total, settings.ridge)
        Y = response.adapted(fit)
    return Y - fit, Y


@dataclass(frozen=True)
class NormalEquations:
    """Inner products among a list of groups and with the response: fits any sub-support without the
    rows.
    """

    gram: Array
    corr: Array
    cov: Array
    where: dict[int, slice]
    ridge: float

    def index(self, support: Support) -> list[int]:
        return [i for g in support for i in range(self.where[g].start, self.where[g].stop)]

    def fit(self, support: Support) -> tuple[Array, Array]:
        """Coefficients (df, q) and residual covariance on a support."""
        _, _, B, cov = next(self.fits([support]))
        return B[0], cov[0]

    def fits(self, supports: list[Support]) -> Iterator[tuple[IntArray, IntArray, Array, Array]]:
        """Fits on many supports, those of equally many coefficients together: which they are (b,),
        their features (b, df), coefficients (b, df, q) and residual covariances (b, q, q).
        """
        index = [self.index(T) for T in supports]
        sizes = np.array([len(ix) for ix in index], dtype=np.intp)
        for size in np.unique(sizes).tolist():
            same = np.flatnonzero(sizes == size)
            step = max(1, SOLVED_VALUES // max(size * size, 1))
            for first in range(0, len(same), step):
                some = same[first : first + step]
                at = np.array([index[i] for i in some], dtype=np.intp)
                yield some, at, *self.solve(at)

    def solve(self, at: IntArray) -> tuple[Array, Array]:
        """Coefficients and residual covariances of fits on the features `at`, (b, df)."""
        gram, corr = self.gram[at[:, :, None], at[:, None, :]], self.corr[at]
        B = np.asarray(np.linalg.solve(gram + self.ridge * np.eye(at.shape[1]), corr))
        back = B.transpose(0, 2, 1)
        cross = back @ corr
        return B, self.cov - cross - cross.transpose(0, 2, 1) + back @ (gram @ B)

    def coefficients(self, supports: list[Support]) -> Array:
        """Coefficients of all features on each of many supports, (b, features, q)."""
        out = np.zeros((len(supports), *self.corr.shape))
        for some, at, B, _ in self.fits(supports):
            out[some[:, None], at] = B
        return out

    def log_dets(self, supports: list[Support]) -> Array:
        """log det of the residual covariance on each of many supports."""
        out = np.empty(len(supports))
        for some, _, _, cov in self.fits(supports):
            out[some] = log_dets(cov)
        return out


def normal_equations(groups: Groups, members: list[int], Y: Array) -> NormalEquations:
    n = groups.rows.total
    Z = groups.stack(tuple(members))
    ends = np.cumsum(groups.size[members])
    where = {
        g: slice(int(e - s), int(e))
        for g, e, s in zip(members, ends, groups.size[members], strict=True)
    }
    return NormalEquations(Z @ Z.T / n, Z @ Y / n, Y.T @ Y / n, where, groups.settings.ridge)


def entering(groups: Groups, R: Array, exclude: Support, count: int) -> IntArray:
    """For each residual R (b, n, q): the `count` groups with the largest statistic over level, (b,
    count).
    """
    ratio = groups.squared_norms(whiten_residual(R, groups.rows.total)) / np.maximum(
        levels_given(groups, exclude), 1e-9
    )
    ratio[:, list(exclude)] = -1.0
    count = min(count, ratio.shape[1])
    best: IntArray = np.argpartition(-ratio, count - 1, axis=1)[:, :count]
    order = np.argsort(-ratio[np.arange(len(ratio))[:, None], best], axis=1, kind="stable")
    return best[np.arange(len(ratio))[:, None], order]


def better(groups: Groups, support: Support, response: Response, fixed: Support) -> Support | None:
    """The best support that adds, drops or replaces one group; None if none lowers the criterion.

    All moves compete. If a group were added whenever one lowers the criterion, the search would
    fill up with stand-ins before it tried what they stand for.
    """
    n, q = groups.rows.total, response.Y.shape[1]
    R, Y = robust_fit(groups, support, response)
    now = n * log_det(R.T @ R / n) + complexity(groups, support, q)
    shorter = [tuple(h for h in support if h != g) for g in support if g not in fixed]
    B = normal_equations(groups, list(support), Y).coefficients(shorter)
    without = Y - groups.stack(support).T @ B
    left = np.concatenate([R[None], without])
    enter = entering(groups, left, support, groups.settings.breadth).tolist()
    bases = zip([support, *shorter], enter, strict=True)
    moves = [tuple(sorted((*T, g))) for T, new in bases for g in new if g not in support]
    return best_move(groups, [*shorter, *moves], Y, now)


def best_move(groups: Groups, moves: list[Support], Y: Array, now: float) -> Support | None:
    """The support with the smallest criterion for the stand-in response Y, if below `now`."""
    n, q = groups.rows.total, Y.shape[1]
    cost = np.array(complexities(groups, moves, q))
    allowed = [T for T, finite in zip(moves, np.isfinite(cost), strict=True) if finite]
    fits = normal_equations(groups, sorted({g for T in allowed for g in T}), Y)
    values = n * fits.log_dets(allowed) + cost[np.isfinite(cost)]
    if not allowed or values.min() >= now - TIE:
        return None
    return first_of_least(groups, allowed, values.tolist())


def in_order(groups: Groups, support: Support) -> tuple[Any, ...]:
    """Supports sort by their variables, then by what they use of them."""
    return groups.variables(support), sorted((groups.parents_of(g), g) for g in support)


def first_of_least(groups: Groups, supports: list[Support], values: list[float]) -> Support:
    """The support with the least value; of those that tie, the one with the first columns."""
    most = min(values) + TIE
    tied = [T for T, value in zip(supports, values, strict=True) if value <= most]
    return min(tied, key=lambda T: in_order(groups, T))


def search(
    groups: Groups,
    support: Support,
    response: Response,
    fixed: Support,
    ends: dict[Support, Support] | None = None,
) -> Support:
    """Go to `better` supports until there is none.

    A move is judged with the stand-in response of the support it starts from, which another support
    may change: supports can follow each other in a circle, of which the best is taken. `ends`
    remembers where supports lead to, for further searches with the same groups.
    """
    ends = {} if ends is None else ends
    trail: list[Support] = []
    while support not in ends:
        if support in trail:
            circle = trail[trail.index(support) :]
            values = [criterion(groups, T, response) for T in circle]
            support = first_of_least(groups, circle, values)
            break
        trail.append(support)
        following = better(groups, support, response, fixed)
        if following is None:
            break
        support = following
    end = ends.get(support, support)
    ends |= dict.fromkeys(trail, end)
    return end


def criterion(
    groups: Groups,
    support: Support,
    response: Response,
    fitted: dict[Support, float] | None = None,
) -> float:
    """The criterion at a support, refitted (robustly) on it. `fitted` remembers the first term of
    supports, which is the same at any levels.
    """
    fitted = {} if fitted is None else fitted
    cost = complexity(groups, support, response.Y.shape[1])
    if not np.isfinite(cost):
        return np.inf
    if support not in fitted:
        n = groups.rows.total
        R = robust_fit(groups, support, response)[0]
        fitted[support] = n * log_det(R.T @ R / n)
    return fitted[support] + cost


def best_supports(
    groups: Groups,
    supports: list[Support],
    response: Response,
    count: int,
    fitted: dict[Support, float],
) -> list[Support]:
    """The `count` supports with the smallest criterion, best first; of those that tie, the ones
    with the first columns. `fitted`: as in `criterion`.
    """
    value = {T: np.round(criterion(groups, T, response, fitted) / TIE) for T in supports}
    return sorted(value, key=lambda T: (value[T], in_order(groups, T)))[:count]


def choose(
    groups: Groups,
    starts: list[Support],
    response: Response,
    fixed: Support,
    fitted: dict[Support, float],
) -> Support:
    """The best end of searches from some supports."""
    ends: dict[Support, Support] = {}
    found = [search(groups, T, response, fixed, ends) for T in starts]
    best = best_supports(groups, found, response, 1, fitted)[0]
    return first_copies(groups, best, response, fixed)


def first_copies(groups: Groups, support: Support, response: Response, fixed: Support) -> Support:
    """The support with each variable replaced by the first column that is a copy of it.

    Copies fit equally well, so that rounding would choose among them, and differently on another
    processor. A mirrored copy counts where the support does not get worse by it.
    """
    n = groups.rows.total
    value = criterion(groups, support, response)
    kept = groups.variables(fixed)
    for variable, earlier in earlier_copies(groups, groups.variables(support)).items():
        for other in earlier:
            used = groups.variables(support)
            moved = exchanged(groups, support, variable, other)
            if variable in kept or other in used or moved is None:
                continue
            if criterion(groups, moved, response) <= value + TIE * n:
                support = moved
                break
    return support


def earlier_copies(groups: Groups, variables: list[int]) -> dict[int, list[int]]:
    """The columns of the pool before each variable that are copies of it, mirrored or not."""
    k = len(groups.columns)
    place = {int(c): j for j, c in enumerate(groups.columns)}
    places = [place[v] for v in variables if v in place]
    if not places:
        return {}
    linear = groups.stack(tuple(places))
    # first roughly, from the statistics of all columns, then from exact features
    rough = groups.squared_norms(linear[:, :, None])[:, :k]
    out: dict[int, list[int]] = {}
    for j, z, found in zip(places, linear, rough, strict=True):
        near = np.flatnonzero(found[:j] > 0.9 * found[j])
        others = groups.stack(tuple(near.tolist()))
        sizes = np.sqrt(np.einsum("in,in->i", others, others) * (z @ z))
        same = np.abs(others @ z) >= (1.0 - COPY) * sizes
        out[int(groups.columns[j])] = [int(groups.columns[i]) for i in near[same]]
    return out


def exchanged(groups: Groups, support: Support, variable: int, other: int) -> Support | None:
    """The support with one variable in the place of another; None where a product is not there."""
    k = len(groups.columns)
    place = {int(c): j for j, c in enumerate(groups.columns)}
    out = []
    for g in support:
        parents = groups.parents_of(g)
        if variable not in parents:
            out.append(g)
        elif g < 3 * k:
            out.append(g - place[variable] + place[other])
        else:
            pair = tuple(sorted(other if v == variable else v for v in parents))
            if pair not in groups.parents:
                return None
            out.append(3 * k + groups.parents.index(pair))
    return tuple(sorted(out))
