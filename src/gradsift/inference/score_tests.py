"""Tests of what one column adds to an explanation: linear, quadratic, local, and in products.

An explanation is a design D of n rows; what it leaves of a response is `Left`. A feature is made
orthogonal to D and to the features tested before it, and its squared length along the residual is
an F statistic. Far in its tail the F test is too liberal for features or residuals that are
concentrated on a few rows. There, the saddlepoint approximation of `gradsift.sift.saddlepoint`
gives the p-value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import betaincc, expit

from gradsift._run.passes import each_block
from gradsift.numerics.logistic import fit_binary, with_ones
from gradsift.protocols import Array, IntArray, Source
from gradsift.sift.features import clipped, clipped_columns
from gradsift.sift.levels import chi2_log_sf
from gradsift.sift.rows import Rows
from gradsift.sift.saddlepoint import permutation_ratio
from gradsift.sift.settings import SiftSettings

# A random background: the many effects that are too weak to be selected.
#
# Beside a design D, what is left of the response is taken to be
#
#     r ~ N(0, s^2 [(1 - h) I + h K]),      K = sum over columns of x x', with mean eigenvalue one,
#
# which is the mixed model of genome-wide studies. The share h is chosen by restricted maximum
# likelihood from a short list; h = 0, which changes nothing, wins wherever no background shows.
#
# Of many rows, K is known by its products with random vectors. They give its leading part (the
# Nystroem approximation); what is left of its trace is spread over all directions alike.


SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
"""Values of h that are tried."""
PRICE = 1.0
"""What a background must gain in -2 log likelihood: without it, noise has one half of the time."""
MOST_ROWS = 600
"""Rows up to which K is known exactly: it takes n^3 operations for each test."""
PROBES = 200
"""Random vectors that K is known by where rows are more."""
MOST_PROBED = 20_000
"""Rows beyond which there is no background: the products would take more than 64 MB."""


@dataclass(frozen=True)
class Relationship:
    """K, as its products with some vectors: with all unit vectors, or with random ones.

    Attributes
    ----------
    products : (n, m) array
        K times the probe.
    probe : (n, m) array or None
        None: m = n unit vectors, and `products` is K.
    trace : float
        Trace of K.
    """

    products: Array
    probe: Array | None
    trace: float

    def without(self, C: Array) -> Relationship:
        """K less C C', for columns C (n, k)."""
        right = C if self.probe is None else self.probe.T @ C
        trace = self.trace - float(np.square(C).sum())
        return replace(self, products=self.products - C @ right.T, trace=trace)

    def scaled(self, rows: Array) -> Relationship:
        """K with its rows and columns multiplied by numbers (n,)."""
        if self.probe is None:
            return exactly(self.products * np.outer(rows, rows))
        # the trace of the leading part stands for the whole: both have the same mean of rows^2
        L, rest = self.leading()
        trace = float(np.square(L * rows[:, None]).sum() + rest * np.square(rows).sum())
        return Relationship(self.products * rows[:, None], self.probe / rows[:, None], trace)

    def leading(self) -> tuple[Array, float]:
        """L (n, m) and a number c with K nearly L L' + c I, where K is known by a probe."""
        assert self.probe is not None
        values, vectors = np.linalg.eigh(self.probe.T @ self.products)
        kept = values > 1e-10 * max(float(values[-1]), 1e-300)
        L = self.products @ (vectors[:, kept] / np.sqrt(values[kept]))
        return L, max(self.trace - float(np.square(L).sum()), 0.0) / len(L)


def exactly(K: Array) -> Relationship:
    """A relationship that is known exactly."""
    return Relationship(K, None, float(np.trace(K)))


@dataclass(frozen=True)
class WhiteRows:
    """Rows beside a design, turned and scaled so that what is left of the response is white.

    Attributes
    ----------
    W : (n, m) array
        W'D = 0 and W'r is white. m = n less the rank of D where K is known exactly.
    share : float
        h, the share of the background.
    axes : (n, m) array or None
        Orthonormal, of the same span as W, where m is smaller: rows keep their directions beside
        it.
    rest : float
        What these rows are multiplied by.
    """

    W: Array
    share: float
    axes: Array | None = None
    rest: float = 1.0

    def rotated(self, A: Array) -> Array:
        """Features A (n, ...), beside the design, in white rows."""
        along = self.W.T @ A
        if self.axes is None:
            return np.asarray(along)
        return np.concatenate([along, self.rest * (A - self.axes @ (self.axes.T @ A))])


def relationship(source: Source, rows: Rows, settings: SiftSettings) -> Relationship | None:
    """X X' of all clipped columns, rows scaled, in one pass; None where rows are too many."""
    n = rows.count(source.shape[0])
    if n > MOST_PROBED:
        return None
    probe = None
    if n > MOST_ROWS:
        probe = np.random.default_rng(0).standard_normal((n, PROBES))

    def products(X: Array) -> tuple[Array, float]:
        C = clipped(X, rows, settings) * np.reshape(rows.root, (-1, 1))
        return C @ (C.T if probe is None else C.T @ probe), float(np.square(C).sum())

    K, trace = np.zeros((n, n if probe is None else PROBES)), 0.0
    for _, (part, size) in each_block(source, lambda _: products):
        K += part
        trace += size
    return Relationship(K, probe, trace)


def without_columns(
    K: Relationship | None, source: Source, columns: list[int], rows: Rows, settings: SiftSettings
) -> Relationship | None:
    """`relationship` without the part of some columns."""
    if K is None or not columns:
        return K
    C = clipped_columns(source, np.array(columns), rows, settings)
    return K.without(C * np.reshape(rows.root, (-1, 1)))


def complement(D: Array) -> Array:
    """Orthonormal basis (n, n - df) of what is orthogonal to the orthonormal columns of D (n,
    df).
    """
    return np.asarray(np.linalg.qr(D, mode="complete")[0][:, D.shape[1] :])


def white_rows(r: Array, D: Array, K: Relationship | None, copies: float = 0.0) -> WhiteRows | None:
    """The rows in which a residual r (n,), orthogonal to D (n, df), is white; None where the
    background has no share, so that all rows are as good as they are.

    `copies` are the rows that weights stand for beyond n: directions in which neither the response
    nor any column changes.
    """
    if K is None:
        return None
    axes, values, rest = principal_axes(D, K)
    count = len(r) - D.shape[1] - len(values)
    total = float(values.sum()) + count * rest
    beside = len(values) + count + copies
    if total <= 0.0 or beside <= 0.0:
        return None
    mean = total / beside
    squares = np.square(axes.T @ r)
    # directions beside the axes are alike: one entry stands for their mean
    values = np.append(values, rest) / mean
    squares = np.append(squares, max(float(r @ r) - float(squares.sum()), 0.0) / max(count, 1))
    times = np.concatenate([np.ones(len(values) - 1), [count, copies]])
    every, all_squares = np.append(values, 0.0), np.append(squares, 0.0)
    costs = [_cost(all_squares, 1.0 - h + h * every, times) + PRICE * (h > 0) for h in SHARES]
    h = SHARES[int(np.argmin(costs))]
    if h == 0:
        return None
    sd = np.sqrt(1.0 - h + h * values)
    return WhiteRows(axes / sd[:-1], h, axes if count > 0 else None, float(1.0 / sd[-1]))


def principal_axes(D: Array, K: Relationship) -> tuple[Array, Array, float]:
    """Orthonormal axes (n, m) of K beside D, their eigenvalues (m,), and that of directions beside
    the axes.
    """
    if K.probe is None:
        N = complement(D)
        values, vectors = np.linalg.eigh(N.T @ K.products @ N)
        return N @ vectors, np.maximum(values, 0.0), 0.0
    L, rest = K.leading()
    L = L - D @ (D.T @ L)
    values, vectors = np.linalg.eigh(L.T @ L)
    kept = values > 1e-10 * max(float(values[-1]), 1e-300)
    axes = L @ (vectors[:, kept] / np.sqrt(values[kept]))
    return axes, values[kept] + rest, rest


def _cost(squares: Array, variances: Array, times: Array) -> float:
    """-2 log likelihood, up to a constant, at the best scale; entries count so many times."""
    scale = max(float(times @ (squares / variances)) / times.sum(), 1e-300)
    return float(times.sum() * np.log(scale) + times @ np.log(variances))


LEAST_FEATURE = 0.03
"""A feature of which less than this part is left beside the design is not tested."""
LEAST_LEFT = 1e-4
"""Part of the variance that a residual of numbers counts at least: a perfect fit is no evidence
against anything else. Labels have a variance of their own, which is never taken to be less.
"""
SUSPECT = np.log(0.005)
"""F tests below this are checked for rows that are merely exchangeable."""
LEAST_P = 1e-300
"""p-values of F tests are no smaller."""
LABEL_RIDGE = 1.0
"""Penalty of the squared log odds per standard deviation of a term: keeps them finite where the
classes are separated, as a normal prior of unit variance does.
"""
LEAST_CHANCE = 1e-4
"""Chances of a label are no closer to 0 and 1."""
MOST_PARTNERS = 20
"""Partners whose products are tested exactly, the most promising of each piece."""
PIECE = 512
"""Partners at a time."""


@dataclass(frozen=True)
class Left:
    """What an explanation leaves of one response.

    Attributes
    ----------
    D : (n, df) array
        Orthonormal design of the explanation, its rows scaled.
    r : (n,) array
        Residual, orthogonal to D, rows scaled.
    scale : (n,) array
        What rows of features are multiplied by to match: roots of weights, times the standard
        deviation of a label.
    weight : (n,) array
        Weights of the rows.
    least : float
        Sum of squares that the residual counts at least.
    searched : float
        Degrees of freedom that the search for the explanation took.
    white : WhiteRows or None
        The random background, where it has a share.
    """

    D: Array
    r: Array
    scale: Array
    weight: Array
    least: float
    searched: float
    white: WhiteRows | None

    def beyond(self, A: Array) -> Array:
        """Features A (n, m), unscaled, beside the design, scaled."""
        A = A * self.scale[:, None]
        return np.asarray(A - self.D @ (self.D.T @ A))

    def rotated(self, A: Array) -> Array:
        """Rows in which the residual is white."""
        return A if self.white is None else self.white.rotated(A)

    @property
    def df(self) -> float:
        """Degrees of freedom of the residual."""
        return float(self.weight.sum()) - self.D.shape[1] - self.searched


def orthonormal(A: Array) -> Array:
    """Basis of the columns of A."""
    if A.shape[1] == 0:
        return A
    U, s, _ = np.linalg.svd(A, full_matrices=False)
    return np.asarray(U[:, s > 1e-6 * max(float(s[0]), 1e-300)])


def left_of_numbers(
    Y: Array, terms: Array, weight: Array, searched: float, K: Relationship | None
) -> Left:
    """What a linear fit on terms (n, df) leaves of numbers Y (n,), rows unscaled."""
    scale = np.sqrt(weight)
    D = orthonormal(with_ones(terms) * scale[:, None])
    y = Y * scale
    r = y - D @ (D.T @ y)
    centred = y - scale * (weight @ Y / weight.sum())
    least = LEAST_LEFT * float(centred @ centred)
    white = white_rows(r, D, K, float(weight.sum()) - len(weight))
    return Left(D, r, scale, weight, least, searched, white)


def left_of_labels(
    labels: Array, terms: Array, weight: Array, searched: float, K: Relationship | None
) -> Left:
    """What a logistic fit on terms (n, df) leaves of labels (n,) in {0, 1}: the score residuals,
    each in units of its own standard deviation.
    """
    chance = logistic_chances(labels, terms, weight)
    sd = np.sqrt(chance * (1.0 - chance))
    scale = np.sqrt(weight) * sd
    D = orthonormal(with_ones(terms) * scale[:, None])
    r = np.sqrt(weight) * (labels - chance) / sd
    r = r - D @ (D.T @ r)
    K = None if K is None else K.scaled(sd)
    least = float(weight.sum()) - D.shape[1]
    white = white_rows(r, D, K, float(weight.sum()) - len(weight))
    return Left(D, r, scale, weight, least, searched, white)


def logistic_chances(labels: Array, terms: Array, weight: Array) -> Array:
    """Chances of label 1 by logistic regression on terms (n, df), bounded away from 0 and 1."""
    Phi = with_ones(terms)
    fit = fit_binary(Phi, labels, weight, LABEL_RIDGE, np.zeros(Phi.shape[1]))
    return np.clip(expit((Phi @ fit.beta)[:, 0]), LEAST_CHANCE, 1.0 - LEAST_CHANCE)


def own_tests(left: Left, Z: Array, settings: SiftSettings) -> list[float]:
    """log p of the linear, quadratic and local features Z (2 + J, n) of a column, unscaled; each
    beside those before it.
    """
    R = left.rotated(left.r)
    A = left.beyond(Z.T)
    white = left.rotated(A)
    done = np.zeros((len(R), 0))
    out = []
    for part in settings.parts:
        F = white[:, part] - done @ (done.T @ white[:, part])
        use = np.linalg.norm(A[:, part], axis=0) > LEAST_FEATURE * np.linalg.norm(left.scale)
        B = orthonormal(F[:, use])
        out.append(far_tail(left, A[:, part][:, use], B, R))
        done = np.column_stack([done, B])
    return out


def far_tail(left: Left, A: Array, B: Array, R: Array) -> float:
    """log p of an orthonormal basis B along white residuals R; A is what it is made of."""
    m = B.shape[1]
    df = left.df - m
    if m < 1 or df < 2:
        return 0.0
    along = float(np.square(B.T @ R).sum())
    size = float(left.r @ left.r)
    total = float(R @ R) * max(1.0, left.least / max(size, 1e-300))
    share = min(along / total, 1.0 - 1e-15)
    log_p = float(np.log(np.maximum(betaincc(m / 2, df / 2, share), LEAST_P)))
    if log_p > SUSPECT:
        return log_p
    gain = -(df + m) * float(np.log1p(-share))
    basis = orthonormal(A)
    a = basis @ (basis.T @ left.r) / left.scale
    r = left.r / left.scale
    mass = left.scale**2
    worth = permutation_ratio(a[:, None], r[:, None], mass * (left.weight.sum() / mass.sum()), gain)
    return max(log_p, float(chi2_log_sf(np.array(gain * worth), m)))


def product_tests(left: Left, x: Array, X: Array) -> Array:
    """Squared z of the products of a column x (n,) with others X (n, k), beyond x_l and x_l^2 and
    beside the design: normalised by themselves, (k,).

    Partners whose first, rough z is not among the best get that one.
    """
    out = np.empty(X.shape[1])
    for start in range(0, X.shape[1], PIECE):
        piece = slice(start, start + PIECE)
        H = partner_products(x, X[:, piece], left.weight) * left.scale[:, None]
        z2 = self_normalised(H, left)
        best = np.argsort(-z2, kind="stable")[:MOST_PARTNERS]
        exact = H[:, best] - left.D @ (left.D.T @ H[:, best])
        z2[best] = self_normalised(exact, left)
        out[piece] = z2
    return out


def partner_products(x: Array, X: Array, weight: Array) -> Array:
    """x times each column of X, made orthogonal to that column and to its square, (n, k)."""
    X = X.astype(np.float64)
    H = X * x[:, None]
    total = weight.sum()
    square = X * X
    square -= weight @ square / total
    square -= X * ((weight @ (square * X)) / total)
    for Z in (X, square):
        size = np.maximum(weight @ (Z * Z), 1e-300)
        H -= Z * ((weight @ (Z * H)) / size)
    return np.asarray(H - weight @ H / total)


def self_normalised(H: Array, left: Left) -> Array:
    """(H'r)^2 over the sum of squares of its terms, of each column of H, rows scaled."""
    top = H.T @ left.r
    below = np.square(H).T @ (np.square(left.r) / left.weight)
    return np.asarray(top * top / np.maximum(below, 1e-12))


def best_product(z2: Array, columns: IntArray, known: list[int], p: int) -> float:
    """log p of the largest z^2: times p partners, or times those that are known."""
    if len(z2) == 0:
        return 0.0
    every = float(chi2_log_sf(z2.max(), 1)) + np.log(p)
    beside = np.isin(columns, known)
    some = 0.0
    if beside.any():
        some = float(chi2_log_sf(z2[beside].max(), 1)) + np.log(beside.sum())
    return float(min(every, some, 0.0))
