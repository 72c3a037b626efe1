"""Tests of one column given a model: linear, quadratic and local effects, and products.

Problem: does a column x (n,) explain anything of a response (n,) that a model, a design D (n, df)
with orthonormal columns, does not? The features Z (2 + J, n) of the column, and its products with
k other columns X (n, k), are made orthogonal to D. Their squared length along the residual
r = (I - D D') y gives the test statistic:

- `univariate_tests`: F tests of the linear, the quadratic and the local features, each given those
  before it. For labels, r are the residuals of a logistic regression in units of their standard
  deviation, which makes it the score test (Rao 1948). Far in its tail the F test is too liberal for
  features or residuals that are concentrated on a few rows; there the saddlepoint approximation of
  `gradsift.sift.saddlepoint` gives the p-value.
- `product_tests`: z^2 = (h'r)^2 / sum_i h_i^2 r_i^2 of a product h, which is normalised by itself
  and therefore robust to heavy tails.

Many effects may be too weak to be selected. Together they are a random effect, as in the mixed
models of genome-wide studies (Yu et al. 2006):

    r ~ N(0, s^2 [(1 - h) I + h K]),      K = sum over columns of x x', with mean eigenvalue one.

The share h is chosen by restricted maximum likelihood from a short list. Where h = 0 is chosen, the
tests are those of independent rows. With more than a few hundred rows, K is approximated from its
products with random vectors, K ~ L L' + c I (Nystroem approximation; Williams and Seeger 2001).

References
----------
:cite:`rao-1948`, :cite:`williams-2001`, :cite:`yu-2006`
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import betaincc, expit

from gradsift._run.passes import each_block
from gradsift.inference.settings import TESTS, ColumnTestSettings
from gradsift.numerics.logistic import fit_binary, with_ones
from gradsift.protocols import Array, IntArray, Source
from gradsift.sift.features import clipped
from gradsift.sift.groups import chi2_log_sf
from gradsift.sift.rows import Rows
from gradsift.sift.saddlepoint import permutation_ratio
from gradsift.sift.settings import SiftSettings

LEAST_P = 1e-300
"""Rounding: p-values of F tests are no smaller, so that their logarithm stays finite."""
ROUNDING = 1e-10
"""Rounding: parts of a relationship that are smaller, in that of the largest, are not there."""

# ---------------------------------------------------------------------------- the random effect


@dataclass(frozen=True)
class Relationship:
    """The relationship matrix K (n, n) of the rows, by its products with some vectors.

    Attributes
    ----------
    products : (n, m) array
        K times the vectors.
    probe : (n, m) array
        The vectors: the columns of the identity, or random ones where rows are many.
    trace : float
        Trace of K.
    """

    products: Array
    probe: Array
    trace: float

    def without(self, C: Array) -> Relationship:
        """K less C C', for columns C (n, k)."""
        trace = self.trace - float(np.square(C).sum())
        if trace < ROUNDING * self.trace:  # no other column is left
            return replace(self, products=np.zeros_like(self.products), trace=0.0)
        return replace(self, products=self.products - C @ (C.T @ self.probe), trace=trace)

    def scaled(self, rows: Array) -> Relationship:
        """K with its rows and columns multiplied by numbers (n,)."""
        # the products do not hold the diagonal: the trace is that of the approximation
        L, rest = self.factor()
        trace = float(np.square(L * rows[:, None]).sum() + rest * np.square(rows).sum())
        return Relationship(self.products * rows[:, None], self.probe / rows[:, None], trace)

    def factor(self) -> tuple[Array, float]:
        """L (n, m) and c of K ~ L L' + c I; c = 0 where the vectors are the identity."""
        # of near-copies, K less the columns in the design is indefinite by rounding
        values, vectors = np.linalg.eigh(self.probe.T @ self.products)
        kept = values > ROUNDING * values.max(initial=1e-300)
        L = self.products @ (vectors[:, kept] / np.sqrt(values[kept]))
        return L, max(self.trace - float(np.square(L).sum()), 0.0) / len(L)


@dataclass(frozen=True)
class WhiteRows:
    """A linear map of the rows under which the residual has independent, equal variances.

    Attributes
    ----------
    share : float
        h, the share of the random effect.
    axes : (n, m) array
        Principal axes of the random effect, orthogonal to the design.
    sd : (m,) array
        Standard deviations of the residual along these.
    rest : float
        That of all directions orthogonal to the axes.
    """

    share: float
    axes: Array
    sd: Array
    rest: float

    def rotated(self, A: Array) -> Array:
        """Whitened features, of features A (n, k) that are orthogonal to the design."""
        along = self.axes.T @ A
        return np.concatenate([along / self.sd[:, None], (A - self.axes @ along) / self.rest])


def relationship(
    source: Source, rows: Rows, sift_settings: SiftSettings, settings: ColumnTestSettings = TESTS
) -> Relationship | None:
    """X X' of all clipped columns, rows scaled, in one pass; None where rows are too many."""
    n = rows.count
    if n > settings.most_rows:
        return None
    probe = np.eye(n)
    if n > settings.exact_rows:
        probe = np.random.default_rng(0).standard_normal((n, settings.probes))

    def products(X: Array) -> tuple[Array, float]:
        C = clipped(X, rows, sift_settings) * rows.column_root
        return C @ (C.T @ probe if len(probe) > probe.shape[1] else C.T), float(np.square(C).sum())

    K, trace = np.zeros_like(probe), 0.0
    for _, (part, size) in each_block(source, lambda _: products):
        K += part
        trace += size
    return Relationship(K, probe, trace)


def white_rows(
    r: Array,
    D: Array,
    K: Relationship | None,
    copies: float = 0.0,
    settings: ColumnTestSettings = TESTS,
) -> WhiteRows:
    """The map that whitens a residual r (n,), orthogonal to D (n, df): the identity where the
    random effect has no share, so that the residual is white already.

    `copies` is the sum of the weights less n: a row of weight 3 is three equal rows, which have two
    directions in which neither the response nor any column varies.
    """
    identity = WhiteRows(0.0, np.zeros((len(r), 0)), np.ones(0), 1.0)
    if K is None:
        return identity
    axes, values, rest = principal_axes(D, K)
    count = len(r) - D.shape[1] - len(values)
    total = float(values.sum()) + count * rest
    directions = len(values) + count + copies
    if total <= 0.0 or directions <= 0.0:
        return identity
    mean = total / directions
    squares = np.square(axes.T @ r)
    # all directions orthogonal to the axes have one variance: one entry is enough for them
    values = np.append(values, rest) / mean
    squares = np.append(squares, max(float(r @ r) - float(squares.sum()), 0.0) / max(count, 1))
    times = np.concatenate([np.ones(len(values) - 1), [count, copies]])
    every, all_squares = np.append(values, 0.0), np.append(squares, 0.0)
    costs = [
        deviance(all_squares, 1.0 - h + h * every, times) + settings.share_cost * (h > 0)
        for h in settings.shares
    ]
    h = settings.shares[int(np.argmin(costs))]
    if h == 0:
        return identity
    sd = np.sqrt(1.0 - h + h * values)
    return WhiteRows(h, axes, sd[:-1], float(sd[-1]))


def principal_axes(D: Array, K: Relationship) -> tuple[Array, Array, float]:
    """Principal axes (n, m) of K in the complement of D, their eigenvalues (m,), and the eigenvalue
    of all directions orthogonal to these axes and to D.
    """
    L, rest = K.factor()
    L = L - D @ (D.T @ L)
    values, vectors = np.linalg.eigh(L.T @ L)
    kept = values > ROUNDING * values.max(initial=1e-300)
    axes = L @ (vectors[:, kept] / np.sqrt(values[kept]))
    return axes, values[kept] + rest, rest


def deviance(squares: Array, variances: Array, times: Array) -> float:
    """-2 log likelihood, up to a constant, of squared normal variables with these variances times a
    scale of maximum likelihood; entry i counts times_i times.
    """
    scale = max(float(times @ (squares / variances)) / times.sum(), 1e-300)
    return float(times.sum() * np.log(scale) + times @ np.log(variances))


# ------------------------------------------------------------------- the residual of a model


@dataclass(frozen=True)
class Residual:
    """The residual of one response, given a model, and all that tests need of the model.

    Attributes
    ----------
    D : (n, df) array
        Orthonormal basis of the design, its rows scaled.
    r : (n,) array
        Residual, orthogonal to D, rows scaled.
    scale : (n,) array
        Factors of the rows: roots of weights; for labels times the standard deviation of a label.
    weight : (n,) array
        Weights of the rows.
    least : float
        Lower bound of the residual sum of squares in a test.
    searched : float
        Degrees of freedom that the search for the model took.
    white : WhiteRows
        The map that whitens the residual.
    settings : ColumnTestSettings
    """

    D: Array
    r: Array
    scale: Array
    weight: Array
    least: float
    searched: float
    white: WhiteRows
    settings: ColumnTestSettings

    def adjusted(self, A: Array) -> Array:
        """Features A (n, m) with their rows scaled, made orthogonal to the design."""
        A = A * self.scale[:, None]
        return np.asarray(A - self.D @ (self.D.T @ A))

    @property
    def df(self) -> float:
        """Degrees of freedom of the residual."""
        return float(self.weight.sum()) - self.D.shape[1] - self.searched


def orthonormal(A: Array) -> Array:
    """Orthonormal basis of the span of the columns of A."""
    if A.shape[1] == 0:
        return A
    U, s, _ = np.linalg.svd(A, full_matrices=False)
    return np.asarray(U[:, s > 1e-6 * max(float(s[0]), 1e-300)])


def residual_of(
    y: Array,
    terms: Array,
    weight: Array,
    searched: float,
    K: Relationship | None,
    settings: ColumnTestSettings = TESTS,
    *,
    labels: bool = False,
) -> Residual:
    """Residual of numbers y (n,) given a linear model in terms (n, df), rows unscaled.

    Of `labels` in {0, 1}, those of Pearson given a logistic model: each in units of the standard
    deviation of its label, which is therefore never less than one.
    """
    root, total = np.sqrt(weight), float(weight.sum())
    if labels:
        Phi, least = with_ones(terms), settings.least_probability
        beta = fit_binary(Phi, y, weight, settings.label_ridge, np.zeros(Phi.shape[1])).beta
        probability = np.clip(expit((Phi @ beta)[:, 0]), least, 1.0 - least)
        sd = np.sqrt(probability * (1.0 - probability))
        y, scale = (y - probability) / sd, root * sd
        K = None if K is None else K.scaled(sd)
    else:
        scale = root
    D = orthonormal(with_ones(terms) * scale[:, None])
    r = y * root
    r = r - D @ (D.T @ r)
    least = total - D.shape[1]
    if not labels:
        least = settings.least_residual * float(weight @ np.square(y - weight @ y / total))
    white = white_rows(r, D, K, total - len(weight), settings)
    return Residual(D, r, scale, weight, least, searched, white, settings)


# ---------------------------------------------------------------------------- tests of a column


def univariate_tests(residual: Residual, Z: Array, settings: SiftSettings) -> list[float]:
    """log p of the linear, quadratic and local features Z (2 + J, n) of a column, rows unscaled;
    each given those before it.
    """
    R = residual.white.rotated(residual.r[:, None])[:, 0]
    A = residual.adjusted(Z.T)
    white = residual.white.rotated(A)
    least = residual.settings.least_feature * np.linalg.norm(residual.scale)
    done = np.zeros((len(R), 0))
    out = []
    for part in settings.parts:
        F = white[:, part] - done @ (done.T @ white[:, part])
        use = np.linalg.norm(A[:, part], axis=0) > least
        B = orthonormal(F[:, use])
        out.append(f_test(residual, A[:, part][:, use], B, R))
        done = np.column_stack([done, B])
    return out


def f_test(residual: Residual, A: Array, B: Array, R: Array) -> float:
    """log p of features A (n, k), by the F test of an orthonormal basis B (n, m) of the whitened
    features along the whitened residual R (n,); checked by permutations where it is small.
    """
    m = B.shape[1]
    df = residual.df - m
    if m < 1 or df < 2 or not R.any():
        return 0.0
    along = float(np.square(B.T @ R).sum())
    size = float(residual.r @ residual.r)
    total = float(R @ R) * max(1.0, residual.least / max(size, 1e-300))
    share = min(along / total, 1.0 - 1e-15)
    log_p = float(np.log(np.maximum(betaincc(m / 2, df / 2, share), LEAST_P)))
    if log_p > np.log(residual.settings.check_below):
        return log_p
    gain = -(df + m) * float(np.log1p(-share))
    basis = orthonormal(A)
    a = basis @ (basis.T @ residual.r) / residual.scale
    r = residual.r / residual.scale
    mass = residual.scale**2
    counts = mass * (residual.weight.sum() / mass.sum())
    ratio = permutation_ratio(a[:, None], r[:, None], counts, gain)
    return max(log_p, float(chi2_log_sf(np.array(gain * ratio), m)))


def product_tests(residual: Residual, x: Array, X: Array) -> Array:
    """z^2 (k,) of the products of a column x (n,) with others X (n, k), each product made
    orthogonal to the other column and its square.

    Only the largest z^2 count (`best_product`), so that only the most promising products of each
    piece are made orthogonal to the design as well.
    """
    out, settings = np.empty(X.shape[1]), residual.settings
    for start in range(0, X.shape[1], settings.partners_at_a_time):
        piece = slice(start, start + settings.partners_at_a_time)
        H = partner_products(x, X[:, piece], residual.weight) * residual.scale[:, None]
        z2 = self_normalised(H, residual)
        best = np.argsort(-z2, kind="stable")[: settings.most_partners]
        exact = H[:, best] - residual.D @ (residual.D.T @ H[:, best])
        z2[best] = self_normalised(exact, residual)
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


def self_normalised(H: Array, residual: Residual) -> Array:
    """z^2 of each column h of H: (h'r)^2 / sum_i h_i^2 r_i^2, rows scaled."""
    top = H.T @ residual.r
    below = np.square(H).T @ (np.square(residual.r) / residual.weight)
    return np.asarray(top * top / np.maximum(below, 1e-12))


def best_product(z2: Array, columns: IntArray, known: list[int], p: int) -> float:
    """log p of the largest z^2 of products with `columns`, by Bonferroni's correction: for all p
    partners, or, where that is smaller, for the partners in the model (`known`) alone.
    """
    if len(z2) == 0:
        return 0.0
    every = float(chi2_log_sf(z2.max(), 1)) + np.log(p)
    in_model = np.isin(columns, known)
    some = 0.0
    if in_model.any():
        some = float(chi2_log_sf(z2[in_model].max(), 1)) + np.log(in_model.sum())
    return float(min(every, some, 0.0))
