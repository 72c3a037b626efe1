"""The criterion of a support: how well it fits, and what its complexity costs.

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

import numpy as np

from gradsift._typing import Array, IntArray
from gradsift.sift.groups import Groups, Support, least_squares
from gradsift.sift.response import Response

SOLVED_VALUES = 1_000_000
"""Values of the systems of equations that are solved together (8 MB)."""
REMEMBERED_FITS = 32
"""Fits of which residual and stand-in response are kept, for searches that meet them again."""


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
    used = {g: groups.owners_of(g) for g in members}
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
    first = groups.first_product
    members = sorted({g for T in supports for g in T})
    used = {g: groups.owners_of(g) for g in members}
    known = groups.level_if_selected[members]
    beside = dict(zip(members, known.tolist(), strict=True))
    more = dict(zip(members, (groups.level[members] - known).tolist(), strict=True))
    out = []
    for T in supports:
        in_pairs = {v for g in T if g >= first for v in used[g]}
        least: dict[int, float] = {}
        for g in T:
            if g < first and used[g][0] not in in_pairs:
                least[used[g][0]] = min(least.get(used[g][0], np.inf), more[g])
        out.append(sum(beside[g] for g in T) + sum(least.values()))
    return out


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
