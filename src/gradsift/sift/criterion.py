"""The criterion of a support: how well it fits, and what its complexity costs.

    criterion(S) = n log det(R'R / n)  +  n / (n - df - k / 2 - q) * sum_{g in S} t_g^2

R is the residual of a least-squares fit on S. Adding a group of no use lowers the first term by
about chi2(m q), so it passes with probability about P(chi2 > t_g^2): the level of the group. No
noise variance and no penalty strength is estimated. The factor makes up for what df coefficients
take from the noise of n rows; that the k variables of S were searched for, and found together,
takes more, and is counted as half a coefficient each.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from gradsift._typing import Array
from gradsift.sift.groups import Groups, Support, least_squares
from gradsift.sift.response import Response

Move = tuple[int | None, int | None]
"""The group that leaves the support, and the one that enters."""
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
    return float(complexities(groups, support, [(None, None)], q)[0])


def complexities(groups: Groups, support: Support, moves: list[Move], q: int) -> Array:
    """`complexity` of the supports that moves lead to, (b,)."""
    n, settings = groups.rows.total, groups.settings
    total, df, n_variables = level_sums(groups, support, moves).T
    left = n - df - settings.searched_df * n_variables - q
    fits = (df <= settings.most_df * n) & (left > 0)
    return np.where(fits, total * n / np.where(fits, left, 1.0), np.inf)


def level_sums(groups: Groups, support: Support, moves: list[Move]) -> Array:
    """Sum of squared levels, number of coefficients and number of variables after each move from a
    support, (b, 3).

    Every group counts with the level it has beside its own variable; a variable in no product adds
    the difference to the full level of one own group, the one where that is least.
    """
    entering = {new for _, new in moves if new is not None}
    members = sorted({*support, *entering})
    known = groups.level_if_selected[members].tolist()
    rise = (groups.level[members] - groups.level_if_selected[members]).tolist()
    facts = dict(zip(members, zip(known, rise, groups.size[members].tolist()), strict=True))
    owners = {g: groups.owners_of(g) for g in members}
    first = groups.first_product
    own: dict[int, list[int]] = {}
    for g in support:
        for v in owners[g]:
            own.setdefault(v, []).append(g)

    def admission(used: list[int]) -> float:
        """What a variable adds for being there at all, by the groups that use it."""
        if any(g >= first for g in used):
            return 0.0
        return min((facts[g][1] for g in used), default=0.0)

    added = {v: admission(used) for v, used in own.items()}
    total = sum(facts[g][0] for g in support) + sum(added.values())
    df, out = sum(facts[g][2] for g in support), np.empty((len(moves), 3))
    for i, (leave, new) in enumerate(moves):
        level, size, count = total, df, len(own)
        if leave is not None:
            level, size = level - facts[leave][0], size - facts[leave][2]
        if new is not None:
            level, size = level + facts[new][0], size + facts[new][2]
        changed = {v for g in (leave, new) if g is not None for v in owners[g]}
        for v in changed:
            before = own.get(v, [])
            after = [g for g in before if g != leave]
            after += [new] if new is not None and v in owners[new] else []
            level += admission(after) - added.get(v, 0.0)
            count += bool(after) - bool(before)
        out[i] = level, size, count
    return out


def whiten_residual(R: Array, total: float) -> Array:
    """R (..., n, q) times the inverse root of R'R / n: unit-covariance residuals (zero ones stay
    zero).
    """
    return np.asarray(R @ inverse_root(np.swapaxes(R, -1, -2) @ R / total))


def inverse_root(cov: Array) -> Array:
    """Inverse roots of covariances (..., q, q); what has no variance stays finite."""
    if cov.shape[-1] == 1:
        return np.asarray(1.0 / np.sqrt(np.maximum(cov, 1e-12)))
    values, vectors = np.linalg.eigh(cov)
    root = np.sqrt(np.maximum(values, 1e-12))[..., None, :]
    return np.asarray((vectors / root) @ np.swapaxes(vectors, -1, -2))


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

    @property
    def sizes(self) -> dict[int | None, int]:
        """Numbers of features of the groups."""
        return {g: place.stop - place.start for g, place in self.where.items()}

    @property
    def starts(self) -> dict[int | None, int]:
        """Their first features."""
        return {g: place.start for g, place in self.where.items()}

    def fit(self, support: Support) -> tuple[Array, Array]:
        """Coefficients (df, q) and residual covariance on a support."""
        at = self.index(support)
        gram, corr = self.gram[np.ix_(at, at)], self.corr[at]
        B = np.asarray(np.linalg.solve(gram + self.ridge * np.eye(len(at)), corr))
        cross = B.T @ corr
        return B, self.cov - cross - cross.T + B.T @ (gram @ B)


def normal_equations(groups: Groups, members: Iterable[int], Y: Array) -> NormalEquations:
    """Normal equations of some groups, in the order of their numbers."""
    n, members = groups.rows.total, sorted(members)
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
