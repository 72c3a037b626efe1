"""The criterion of a support: how well it fits, and what its complexity costs.

    criterion(S) = n log det(R'R / n)  +  n / (n - df - k / 2 - q) * sum_{g in S} t_g^2

R is the residual of a least-squares fit of the response (n, q) on S, df its number of coefficients,
k its number of variables, and t_g^2 the squared level of group g (`groups`). Adding a group of m
features that explains nothing lowers the first term by about chi2(m q), so that the group is
selected with probability about P(chi2 > t_g^2). Neither a noise variance nor a penalty strength is
estimated. The factor n / (...) corrects for overfitting: df coefficients lower the residual
variance, and the search for each of the k variables lowers it further, about as much as half a
coefficient. For a response with a likelihood the first term is the deviance, n is the number of
informative rows (events), and the factor is n / (n - df - k / 2 + 3 / 2): no variance is estimated,
so that the first coefficient costs no more than its level.

Numbers y (n, q) are fitted robustly. They are replaced by the pseudo-response
fit + winsorised(y - fit) in a few rounds of least squares, which bounds the influence of outlying
rows (pseudo-observations; Huber, Robust Statistics, 1981, chapter 7). Labels have no outliers
(`robust=False`), and a response with many equal values (zeros) has no robust scale.
Features Z of a support are (df, n), the response Y (n, q).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gradsift._run.passes import each_block
from gradsift.numerics.statistics import has_robust_scale, winsorise
from gradsift.protocols import Array, IntArray, Source
from gradsift.responses import Likelihood
from gradsift.sift.features import clipped
from gradsift.sift.groups import Groups, Support, least_squares
from gradsift.sift.rows import Rows
from gradsift.sift.settings import DEFAULT, SiftSettings

Move = tuple[int | None, int | None]
"""The group that leaves the support, and the one that enters."""


# ------------------------------------------------ the response


@dataclass(frozen=True)
class SiftResponse:
    Y: Array
    """(n, q) kept rows, centred, whitened, unscaled."""
    rows: Rows
    robust: bool
    settings: SiftSettings = DEFAULT
    likelihood: Likelihood | None = None
    """Of the kept rows; None for numbers and classes, which least squares fits."""

    @cached_property
    def start(self) -> Array:
        """The pseudo-response of an empty fit, rows scaled."""
        return self.adapted(np.zeros_like(self.Y))

    @cached_property
    def unit(self) -> float:
        """A standard deviation of noise, on the link scale."""
        return 1.0 if self.likelihood is None else self.likelihood.unit(self.rows.weights)

    def adapted(self, fit: Array) -> Array:
        """The response given a fit: fit + winsorised(y - fit), or the working response of a
        likelihood; centred. `fit` and the answer have scaled rows.
        """
        root = self.rows.column_root
        if not self.robust and (self.likelihood is None or not fit.any()):
            return self.Y * root
        plain = fit / root
        if self.likelihood is not None:
            W = self.likelihood.working(plain * self.unit, self.rows.weights) / self.unit
            return self.rows.recentred(W) * root
        Y = plain + winsorise(self.Y - plain, self.settings.clip, self.rows.weight)
        return self.rows.recentred(Y) * root

    def fitted(self, Z: Array, Y: Array) -> Array:
        """(n, q) fit to features Z (m, n): by least squares to Y, or by penalised likelihood. Rows
        are scaled.
        """
        if self.likelihood is None:
            return np.asarray(Z.T @ least_squares(Z, Y, self.rows.total, self.settings.ridge))
        root = self.rows.column_root
        D = Z.T / root
        beta = self.likelihood.fit(D, self.rows.weights)
        return np.asarray(D @ beta / self.unit * root)

    def lack_of_fit(self, R: Array, Y: Array) -> float:
        """The first term of the criterion at a residual R of a pseudo-response Y, rows scaled: n
        log det(R'R / n), or the deviance where there is a likelihood. The squared residuals of a
        working response hardly fall where a likelihood rises.
        """
        if self.likelihood is not None:
            eta = (Y - R) / self.rows.column_root * self.unit
            return self.likelihood.deviance(eta, self.rows.weights)
        return self.rows.total * log_det(R.T @ R / self.rows.total)


def make_likelihood(likelihood: Likelihood, rows: Rows, settings: SiftSettings) -> SiftResponse:
    """The response of a sift by likelihood. It starts from normal scores of the score at zero."""
    if rows.clusters is not None:
        raise ValueError(
            "this response assumes independent rows, which rows of a group are not: make one "
            "row of each group first, or give the groups as covariates."
        )
    if rows.kept is not None:
        likelihood = likelihood.take(rows.kept)
    Y = likelihood.start(rows.weight)
    rows = replace(rows, informative=likelihood.informative_rows(rows.weights))
    return replace(whitened_response(Y, rows, False, settings), likelihood=likelihood)


def make_response(
    Y: Array, rows: Rows, robust: bool, settings: SiftSettings = DEFAULT
) -> SiftResponse:
    """Centre and whiten the responses (q > 1: symmetric, so that no order of the classes is
    preferred).
    """
    Y = rows.take(np.asarray(Y, dtype=np.float64))
    if Y.shape[1] == 1:
        robust = robust and has_robust_scale(Y[:, 0], rows.weight)
    if rows.clusters is not None:
        noise = winsorise(Y, settings.clip, rows.weight) if robust else Y
        rows = replace(rows, clusters=rows.clusters.correlated(noise, settings))
    return whitened_response(Y, rows, robust, settings)


def whitened_response(Y: Array, rows: Rows, robust: bool, settings: SiftSettings) -> SiftResponse:
    """The same for kept rows whose dependence is known."""
    Y = rows.centred(Y)
    cov = (Y * rows.weights[:, None]).T @ Y / rows.total
    values, vectors = np.linalg.eigh(cov)
    scale = 1 / np.sqrt(np.where(values > 1e-12 * max(values.max(), 1e-300), values, np.inf))
    Y = Y * scale if Y.shape[1] == 1 else Y @ (vectors * scale) @ vectors.T
    return SiftResponse(Y, rows, robust, settings)


def in_principal_axes(response: SiftResponse, source: Source) -> SiftResponse:
    """Several responses (classes) along the principal axes of their covariances with the columns:
    these are the same in whatever order the classes are.
    """
    q = response.Y.shape[1]
    if q == 1:
        return response
    rows, M = response.rows, np.zeros((q, q))
    weighted = response.Y * np.square(rows.column_root)

    def covariances(X: Array) -> Array:
        along = clipped(X, rows, response.settings).T @ weighted
        return np.asarray(along.T @ along)

    for _, part in each_block(source, lambda _: covariances):
        M += part
    return replace(response, Y=response.Y @ np.linalg.eigh(M)[1])


# ------------------------------------------------ fits, and what supports cost
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
    """`complexity` of the supports that moves lead to, (b,).

    Every group counts with its further level; a variable in no product adds the difference to the
    full level of one univariate group, the one where that is least.
    """
    rows, settings = groups.rows, groups.table.settings
    n, spent = rows.total, float(q)
    if rows.informative is not None:
        # a likelihood has no variance of noise to estimate: its first coefficient costs its level
        n, spent = rows.informative, -1.0 - settings.searched_df
    members = sorted({*support, *(new for _, new in moves if new is not None)})
    known = groups.levels.further[members].tolist()
    rise = (groups.levels.new[members] - groups.levels.further[members]).tolist()
    facts = dict(zip(members, zip(known, rise, groups.size[members].tolist()), strict=True))
    owners = {g: groups.owners_of(g) for g in members}
    first = groups.index.first_product
    own: dict[int, list[int]] = {}
    for g in support:
        for v in owners[g]:
            own.setdefault(v, []).append(g)

    def admission(used: list[int]) -> float:
        """Extra cost of a variable that no product uses, from the groups that use it."""
        if any(g >= first for g in used):
            return 0.0
        return min((facts[g][1] for g in used), default=0.0)

    added = {v: admission(used) for v, used in own.items()}
    total = sum(facts[g][0] for g in support) + sum(added.values())
    df, sums = sum(facts[g][2] for g in support), np.empty((len(moves), 3))
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
        sums[i] = level, size, count
    levels, sizes, counts = sums.T
    left = n - np.maximum(sizes + settings.searched_df * counts + spent, 0.0)
    fits = (sizes <= settings.most_df * n) & (left > 0)
    return np.where(fits, levels * n / np.where(fits, left, 1.0), np.inf)


def whiten_residual(R: Array, total: float) -> Array:
    """R (..., n, q) times the inverse root of R'R / n: unit-covariance residuals (zero ones stay
    zero).
    """
    return np.asarray(R @ inverse_root(np.swapaxes(R, -1, -2) @ R / total))


def inverse_root(cov: Array) -> Array:
    """Inverse roots of covariances (..., q, q); directions without variance have finite roots."""
    if cov.shape[-1] == 1:
        return np.asarray(1.0 / np.sqrt(np.maximum(cov, 1e-12)))
    values, vectors = np.linalg.eigh(cov)
    root = np.sqrt(np.maximum(values, 1e-12))[..., None, :]
    return np.asarray((vectors / root) @ np.swapaxes(vectors, -1, -2))


def robust_fit(groups: Groups, support: Support, response: SiftResponse) -> tuple[Array, Array]:
    """Residual on the support and the pseudo-response it was fitted to."""
    Y = response.start
    if not support:
        return Y, Y
    Z = groups.stack(support)
    for _ in range(groups.table.settings.rounds if response.robust else 1):
        fit = response.fitted(Z, Y)
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
    where: dict[int | None, slice]
    ridge: float

    def index(self, support: Support) -> list[int]:
        return [i for g in support for i in range(self.where[g].start, self.where[g].stop)]

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
    where: dict[int | None, slice] = {
        g: slice(int(e - s), int(e))
        for g, e, s in zip(members, ends, groups.size[members], strict=True)
    }
    return NormalEquations(Z @ Z.T / n, Z @ Y / n, Y.T @ Y / n, where, groups.table.settings.ridge)


def criterion(groups: Groups, support: Support, response: SiftResponse) -> float:
    """The criterion at a support, refitted (robustly) on it."""
    cost = complexity(groups, support, response.Y.shape[1])
    if not np.isfinite(cost):
        return np.inf
    return response.lack_of_fit(*robust_fit(groups, support, response)) + cost


# Fits on all supports that are one move away from a support: a group leaves, enters, or both.
#
# All of them follow from the fit on the support itself. Let G be its normal equations and A their
# inverse, B = A c its coefficients for the products c of features and response.
#
# * If the features I leave, B loses A[:, I] A[I, I]^-1 B[I], A loses A[:, I] A[I, I]^-1 A[I, :].
# * If features enter, with products u with the support, g among themselves, c' with the response,
#   they get b = (g - u' A u)^-1 (c' - u' B), and B loses A u b.
#
# So a move costs m times a few numbers for m features, where solving its equations costs m^3.


TOGETHER = 1_000_000
"""Memory: values of the coefficients that are computed together (8 MB)."""


@dataclass(frozen=True)
class Neighbours:
    """The fit on a support, and those one move away."""

    equations: NormalEquations
    """Of the groups of the support and those that may enter."""
    inside: dict[int | None, int]
    """First feature of each group of the support, among those of the support."""
    products: Array
    """(m, features) inner products of the features of the support with all."""
    corr: Array
    """(m, q) and with the response."""
    inverse: Array
    """(m, m) inverse of the normal equations of the support."""
    B: Array
    """(m, q) coefficients on the support."""
    towards: Array
    """(m, features) `inverse` times `products`."""

    def after(self, moves: list[Move]) -> tuple[Array, Array]:
        """Fits after moves: coefficients (b, m, q) on the support, and covariances of the residuals
        (b, q, q). Moves of equally many features are computed together.
        """
        where = self.equations.where
        size = {g: place.stop - place.start for g, place in where.items()}
        B = np.empty((len(moves), *self.B.shape))
        cov = np.empty((len(moves), *self.equations.cov.shape))
        key = [(size.get(out, 0), size.get(new, 0)) for out, new in moves]
        for s, t in sorted(set(key)):
            same = np.array([i for i, sizes in enumerate(key) if sizes == (s, t)], dtype=np.intp)
            step = max(1, TOGETHER // max(len(self.B) * (s + t + self.B.shape[1]), 1))
            for first in range(0, len(same), step):
                some = same[first : first + step]
                leave = [self.inside[moves[i][0]] if s else 0 for i in some]
                enter = [where[moves[i][1]].start if t else 0 for i in some]
                B[some], cov[some] = self.moved(
                    np.array(leave, dtype=np.intp)[:, None] + np.arange(s),
                    np.array(enter, dtype=np.intp)[:, None] + np.arange(t),
                )
        return B, cov

    def moved(self, leave: IntArray, enter: IntArray) -> tuple[Array, Array]:
        """`after`, where the features `leave` (b, s) make room for `enter` (b, t)."""
        of, A, B = self.equations, self.inverse, self.B
        each = np.arange(len(leave))[:, None]
        lost = A[:, leave].transpose(1, 0, 2) @ np.linalg.inv(A[leave[:, :, None], leave[:, None]])
        rest = B - lost @ B[leave]
        rest[each, leave] = 0.0
        u = self.products[:, enter].transpose(1, 0, 2)
        v = self.towards[:, enter].transpose(1, 0, 2)
        v = v - lost @ self.towards[leave[:, :, None], enter[:, None]]
        v[each, leave] = 0.0
        back = u.transpose(0, 2, 1)
        own = of.gram[enter[:, :, None], enter[:, None]] + of.ridge * np.eye(enter.shape[1])
        b = np.linalg.solve(own - back @ v, of.corr[enter] - back @ rest)
        rest = rest - v @ b
        explained = rest.transpose(0, 2, 1) @ (self.corr + of.ridge * rest)
        explained += b.transpose(0, 2, 1) @ (of.corr[enter] + of.ridge * b)
        return rest, of.cov - (explained + explained.transpose(0, 2, 1)) / 2


def neighbours(equations: NormalEquations, support: Support) -> Neighbours:
    """Fits one move away from a support."""
    at, inside = equations.index(support), dict[int | None, int]()
    for g in support:
        inside[g] = at.index(equations.where[g].start)
    products, corr = equations.gram[at], equations.corr[at]
    inverse = np.linalg.inv(products[:, at] + equations.ridge * np.eye(len(at)))
    return Neighbours(
        equations, inside, products, corr, inverse, inverse @ corr, inverse @ products
    )


def after_move(support: Support, move: Move) -> Support:
    """The support that a move leads to."""
    out, new = move
    kept = [g for g in support if g != out]
    return tuple(sorted(kept if new is None else [*kept, new]))
