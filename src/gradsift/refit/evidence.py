"""Kernels of few columns, tuned and compared by their evidence (marginal likelihood).

Model for one response column (several columns share the kernel, the noise ratio and hence the
Cholesky factor): y ~ N(0, s (K + eta W^-1)), where row i counts w_i times, i.e. its noise variance
is s eta / w_i. With S = W^(1/2), B = S K S + eta I, N = sum w, z = S y,

    -2 log p(y) = N log(2 pi s) + z'B^-1 z / s + log|B| + (N - n) log eta

which is the likelihood of the table in which row i is written out w_i times (Sylvester's identity
takes the determinant there to the one here). The scale is profiled out: s = z'B^-1 z / N. See
:cite:`rasmussen-2006`, chapter 5.

Shapes: X (n, d) standardised columns, Y (n, q) centred responses, theta (t + 1,) the kernel's
hyperparameters and log eta.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dlauum, dpotrf, dpotrs, dpstrf, dtrtri, dtrtrs
from scipy.optimize import OptimizeResult, minimize

from gradsift.numerics.ard_kernels import Anova, ArdGaussian, ArdKernel, DotProduct, Evaluator
from gradsift.protocols import Array
from gradsift.refit.settings import RefitSettings

# ------------------------------------------------ functions of few columns
# g_c(x) = sum_p a_pc k(x, p): features, ridge, values, gradients.
#
# A kernel matrix over at most a thousand rows is factorised once by pivoted Cholesky,
# k(P, P) = L L' with P the pivots (r, d) (Fine and Scheinberg, Efficient SVM training using
# low-rank kernel representations, JMLR 2001). Rows that add nothing beyond rounding are left out,
# so smooth kernels and repeated rows give few points. The features
#
#     phi(x) = L^-1 k(P, x),        phi(x)'phi(z) = k(x, z)  on the chosen rows,
#
# turn every kernel problem into a ridge problem, ||g||_k = ||beta|| for g = beta'phi, with
# coefficients a = L^-T beta back on the points. The posterior mean of a Gaussian process with rows
# counted w_i times is g = beta'phi, where beta (r, q) minimises
#
#     sum_i w_i (y_i - beta'phi(x_i))^2 + eta ||beta||^2.
#
# With the pivots of all rows as points this is exact; with landmarks it is the
# subset-of-regressors approximation (Quinonero-Candela and Rasmussen, JMLR 2005). Rows are met in
# blocks: memory is (block x r) + (r x r).


BLOCK = 256
"""Memory: rows evaluated at once; BLOCK x number of points stay in the cache."""

PIVOT_TOLERANCE = 1e-12
"""Rounding: a point is left out when it adds less than this to the kernel's variance (largest value
1).
"""


def row_blocks(n: int) -> Iterator[slice]:
    """Slices of at most BLOCK rows covering 0..n-1."""
    for start in range(0, n, BLOCK):
        yield slice(start, min(start + BLOCK, n))


@dataclass(frozen=True, eq=False)
class Features:
    """The map x -> phi(x) = L^-1 k(P, x) for `points` P (r, d) and `factor` L (r, r)."""

    kernel: ArdKernel
    points: Array
    factor: Array

    def __call__(self, X: Array) -> Array:
        """phi at the rows of X: (n, r)."""
        K = self.kernel(self.points, X)
        return np.asarray(solve_triangular(self.factor, K, lower=True, check_finite=False).T)

    def expansion(self, beta: Array) -> Expansion:
        """The functions beta_c'phi, beta (r, q), as sums over the points."""
        coefficients = solve_triangular(self.factor, beta, lower=True, trans=1, check_finite=False)
        return Expansion(self.kernel, self.points, coefficients)


def pivoted_features(kernel: ArdKernel, X: Array, least: float = 0.0) -> Features:
    """Features that reproduce k on the rows of X; the points are the pivots, those that add at
    least so much to the kernel's variance.
    """
    K = np.asfortranarray(kernel(X, X))
    tolerance = max(PIVOT_TOLERANCE, least) * float(K.diagonal().max())
    L, pivots, rank, _ = dpstrf(K, tol=tolerance, lower=1, overwrite_a=1)
    keep = pivots[:rank] - 1
    return Features(kernel, X[keep], np.tril(L[:rank, :rank]))


@dataclass(frozen=True, eq=False)
class Expansion:
    """g_c(x) = sum_p coefficients[p, c] k(x, points[p]); no points at all is the zero function."""

    kernel: ArdKernel | None
    points: Array
    coefficients: Array

    @classmethod
    def zero(cls, d: int, q: int = 1) -> Expansion:
        return cls(None, np.zeros((0, d)), np.zeros((0, q)))

    def value(self, X: Array) -> Array:
        """(n, q)."""
        out = np.zeros((len(X), self.coefficients.shape[1]))
        if self.kernel is not None:
            for block in row_blocks(len(X)):
                out[block] = self.kernel(X[block], self.points) @ self.coefficients
        return out

    def gradient(self, X: Array) -> Array:
        """(q, n, d)."""
        out = np.zeros((self.coefficients.shape[1], *X.shape))
        if self.kernel is not None:
            for block in row_blocks(len(X)):
                for c, a in enumerate(self.coefficients.T):
                    out[c, block] = self.kernel.gradient(X[block], self.points, a)
        return out


@dataclass(frozen=True, eq=False)
class RefitRows:
    """The rows an evidence is computed on: X (n, d), centred responses Y (n, q), weights w (n,)."""

    X: Array
    Y: Array
    weights: Array

    @property
    def root(self) -> Array | None:
        """Square roots of the weights, or None if all are one."""
        return None if np.all(self.weights == 1.0) else np.sqrt(self.weights)


@dataclass(frozen=True, eq=False)
class Ridge:
    """beta (r, q), the profiled prior variances `scale` (q,), and what residuals need."""

    features: Features
    noise_ratio: float
    beta: Array
    scale: Array
    factor: Array


def ridge_sums(features: Features, rows: RefitRows) -> tuple[Array, Array]:
    """Phi'W Phi (r, r) and Phi'W Y (r, q)."""
    r, q = len(features.points), rows.Y.shape[1]
    gram, moment = np.zeros((r, r)), np.zeros((r, q))
    for block in row_blocks(len(rows.X)):
        root = np.sqrt(rows.weights[block, None])
        Phi = features(rows.X[block]) * root
        gram += Phi.T @ Phi  # of an array with itself: half of the work
        moment += Phi.T @ (root * rows.Y[block])
    return gram, moment


def solve_ridge(
    features: Features,
    noise_ratio: float,
    rows: RefitRows,
    sums: tuple[Array, Array] | None = None,
) -> Ridge:
    """Solve (Phi'W Phi + eta I) beta = Phi'W Y, from the `ridge_sums` where these are known."""
    gram, moment = ridge_sums(features, rows) if sums is None else sums
    factor = dpotrf(gram + noise_ratio * np.eye(len(gram)), lower=1)[0]
    beta = dpotrs(factor, moment, lower=1)[0]
    # z'B^-1 z / N, by the matrix inversion lemma; see evidence.py
    unexplained = rows.weights @ (rows.Y**2) - (moment * beta).sum(0)
    scale = np.maximum(unexplained, 0.0) / (noise_ratio * rows.weights.sum())
    return Ridge(features, noise_ratio, beta, scale, factor)


def residuals_and_leverages(
    ridge: Ridge, rows: RefitRows, *, leverage: bool = True
) -> tuple[Array, Array]:
    """Residuals r (n, q) and leverages h (n,), h_i = phi_i'(Phi'W Phi + eta I)^-1 phi_i.

    r / (1 - h) is the residual of one copy of row i under the fit without it. r / sqrt(1 - h) is
    the same over its predictive sd, times the sd of the noise: extremes at the rim of the data,
    which nothing else predicts, stay small. `leverage=False` puts h = 0, for many rows.
    """
    residuals = rows.Y - ridge.features.expansion(ridge.beta).value(rows.X)
    leverages = np.zeros(len(rows.X))
    if leverage:
        for block in row_blocks(len(rows.X)):
            half = dtrtrs(ridge.factor, ridge.features(rows.X[block]).T, lower=1)[0]
            # a row of weight below one is left out whole, hence the min
            leverages[block] = (half * half).sum(0) * np.minimum(rows.weights[block], 1.0)
    return residuals, np.minimum(leverages, 1.0 - 1e-6)


# ------------------------------------------------ how certain the function is
# How certain the function of a refit of numbers is: the posterior of its Gaussian process.
#
# With y = g + noise, prior g ~ N(0, s k) and noise variance v = s eta, the features above
# give the posterior covariance
#
#     cov g(x), g(z) = s (k(x, z) - phi(x)'phi(z)) + v phi(x)'(Phi'W Phi + eta I)^-1 phi(z)
#
# (Rasmussen and Williams, Gaussian processes for machine learning, 2006, section 8.3.4): the first
# part is what the points leave open, the second what the noise does. Kernel, noise ratio and the
# choice of columns are taken as known.

STEP = 1e-3
"""Rounding: half the difference, in standard deviations of a column, that stands for a derivative.
Variances of derivatives are then right to about six digits.
"""


@dataclass(frozen=True, eq=False)
class Posterior:
    """Variances of g in the units of the response.

    Attributes
    ----------
    features : of the points; None if g is constant.
    factor : (r, r) Cholesky factor of Phi'W Phi + eta I.
    prior, noise : variances s and v.
    rows : sum of the weights of the rows, by which the mean of the response is known.
    """

    features: Features | None
    factor: Array
    prior: float
    noise: float
    rows: float

    def variance(self, Z: Array) -> Array:
        """(n,) variance of g at standardised rows Z (n, d), its constant part included."""
        constant = np.full(len(Z), self.noise / self.rows)
        if self.features is None:
            return constant
        kernel = self.features.kernel
        for block in row_blocks(len(Z)):
            constant[block] += self._of(self.features(Z[block]), diagonal(kernel, Z[block]))
        return constant

    def difference_variance(self, A: Array, B: Array) -> Array:
        """(n,) variance of g(a) - g(b) for rows of A and B (n, d)."""
        out = np.zeros(len(A))
        if self.features is None:
            return out
        kernel = self.features.kernel
        for block in row_blocks(len(A)):
            a, b = A[block], B[block]
            size = diagonal(kernel, a) + diagonal(kernel, b) - 2.0 * diagonal(kernel, a, b)
            out[block] = self._of(self.features(a) - self.features(b), size)
        return out

    def slope_variance(self, Z: Array) -> Array:
        """(n, d) variances of the derivatives of g at standardised rows Z."""
        out = np.empty(Z.shape)
        for k in range(Z.shape[1]):
            above, below = Z.copy(), Z.copy()
            above[:, k] += STEP
            below[:, k] -= STEP
            out[:, k] = self.difference_variance(above, below) / (2.0 * STEP) ** 2
        return out

    def _of(self, phi: Array, size: Array) -> Array:
        """(n,) of linear functionals of g: phi (n, r) of the features, and prior sizes (n,)."""
        half = dtrtrs(self.factor, phi.T, lower=1)[0]
        open_part = np.maximum(size - np.square(phi).sum(axis=1), 0.0)
        return np.asarray(self.prior * open_part + self.noise * np.square(half).sum(axis=0))


def posterior_of(ridge: Ridge, rows: float) -> Posterior:
    """Of a ridge on rows with this sum of weights.

    The evidence finds the variances by maximum likelihood, which is too sure where rows are few:
    the mean, the noise ratio and each number of the kernel cost one row.
    """
    tuned = 2 + len(ridge.features.kernel.theta)
    prior = float(ridge.scale[0]) * rows / max(rows - tuned, rows / 2.0)
    return Posterior(ridge.features, ridge.factor, prior, ridge.noise_ratio * prior, rows)


def diagonal(kernel: ArdKernel, A: Array, B: Array | None = None, at_once: int = 64) -> Array:
    """(n,) k(a_i, b_i), from small blocks of the kernel matrix."""
    B = A if B is None else B
    out = np.empty(len(A))
    for start in range(0, len(A), at_once):
        where = slice(start, start + at_once)
        out[where] = kernel(A[where], B[where]).diagonal()
    return out


NOISE_BOUNDS = (np.log(1e-5), np.log(1e2))
"""Rounding: box of log eta; its floor keeps B positive definite in double precision without any
jitter.
"""
LINEAR_NOISE_BOUNDS = (np.log(1e-10), NOISE_BOUNDS[1])
"""The same for the linear kernel, which needs no B. An exact sum of nearly dependent columns has
large slopes and no noise: under the other floor, kernels that bend would explain it better.
"""

UNUSABLE = 1e10
"""Rounding: value reported where B cannot be factorised; its zero gradient makes a line search step
back.
"""


@dataclass(frozen=True, eq=False)
class EvidenceFit:
    """A kernel at the maximum of its evidence.

    `loss` is the smallest -log p(Y) - log prior(theta), scales profiled out, summed over columns.
    """

    kernel: ArdKernel
    noise_ratio: float
    loss: float
    n_evaluations: int


def negative_log_evidence(
    theta: Array, kernel: ArdKernel, rows: RefitRows, evaluate: Evaluator
) -> tuple[float, Array]:
    """-log p(Y) - log prior, and its gradient in theta = (kernel.theta, log eta).

    `evaluate` is the kernel's evaluator on these rows.
    """
    n, q = rows.Y.shape
    total = float(rows.weights.sum())
    root = rows.root
    kernel = kernel.with_theta(theta[:-1])
    eta = float(np.exp(theta[-1]))
    K, pullback = evaluate(theta[:-1])
    # K is symmetric, and its transpose lies in memory as LAPACK wants it
    B = K.T.copy(order="F") if root is None else root[:, None] * K.T * root
    B.flat[:: n + 1] += eta
    factor, failed = dpotrf(B, lower=1, clean=1, overwrite_a=1)
    if failed:
        return UNUSABLE, np.zeros_like(theta)
    Z = rows.Y if root is None else root[:, None] * rows.Y
    A = dpotrs(factor, Z, lower=1)[0]
    quadratic = (Z * A).sum(0)
    scale = quadratic / total
    determinant = 2.0 * float(np.log(factor.diagonal()).sum())
    determinant += (total - n) * theta[-1]
    value = 0.5 * (total * (np.log(2.0 * np.pi * scale) + 1.0).sum() + q * determinant)

    # d value / dB = (q B^-1 - sum_c a_c a_c' / s_c) / 2. Only its lower triangle is formed; every
    # pair i > j counts twice, and the kernels' pullbacks take any matrix.
    M = dlauum(lower_inverse(factor), lower=1, overwrite_c=1)[0]
    M = dsyrk(-1.0, A / np.sqrt(scale), beta=float(q), c=M, lower=1, overwrite_c=1)
    by_noise = 0.5 * eta * float(M.trace()) + 0.5 * q * (total - n)
    M.flat[:: n + 1] *= 0.5
    if root is not None:
        M *= root[:, None]
        M *= root
    slope = np.append(pullback(M), by_noise)

    log_prior, prior_slope = kernel.log_prior()
    slope[:-1] -= prior_slope
    return value - log_prior, slope


AT_ONCE = 64
"""Time: rows up to which LAPACK inverts a triangle at once; its way is slow for larger ones."""


def lower_inverse(L: Array) -> Array:
    """The inverse of a lower triangular matrix, in halves: most of the work is two products."""
    n = len(L)
    if n <= AT_ONCE:
        return np.asarray(dtrtri(L, lower=1)[0])
    half = n // 2
    out = np.zeros((n, n), order="F")
    first = out[:half, :half] = lower_inverse(L[:half, :half])
    second = out[half:, half:] = lower_inverse(L[half:, half:])
    out[half:, :half] = -(second @ (L[half:, :half] @ first))
    return out


@dataclass(frozen=True, eq=False)
class LinearEvidence:
    """The evidence of the linear kernel as a function of the noise alone.

    The kernel has d directions: with the eigenvalues e of S K S, the response along its
    eigenvectors and the rest of it, a value costs d numbers.
    """

    eigenvalues: Array
    """(d,)"""
    along: Array
    """(d, q) squares of the weighted response along the eigenvectors."""
    rest: Array
    """(q,) what lies in none of them."""
    n: int
    total: float

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """-log p(Y) and its slope, as `negative_log_evidence` at theta = (log eta,)."""
        eta, q = float(np.exp(theta[0])), len(self.rest)
        inside, outside = self.eigenvalues + eta, self.n - len(self.eigenvalues)
        quadratic = (self.along / inside[:, None]).sum(0) + self.rest / eta
        scale = quadratic / self.total
        determinant = float(np.log(inside).sum()) + (outside + self.total - self.n) * theta[0]
        value = 0.5 * (self.total * (np.log(2.0 * np.pi * scale) + 1.0).sum() + q * determinant)
        squares = (self.along / inside[:, None] ** 2).sum(0) + self.rest / eta**2
        slope = q * (float((eta / inside).sum()) + outside + self.total - self.n)
        slope -= eta * float((squares / scale).sum())
        return float(value), np.array([0.5 * slope])


def linear_evidence(kernel: DotProduct, rows: RefitRows) -> LinearEvidence:
    """The evidence of the linear kernel on some rows."""
    root = np.sqrt(rows.weights)[:, None]
    Z = root * rows.Y
    U, sizes, _ = np.linalg.svd(root * rows.X, full_matrices=False)
    along = U.T @ Z
    rest = np.square(Z - U @ along).sum(0)
    total = float(rows.weights.sum())
    return LinearEvidence(sizes**2 / kernel.dimension, np.square(along), rest, len(Z), total)


class Hope(NamedTuple):
    """A fit is stopped early if its loss is above `least` after `trial` iterations."""

    trial: int
    least: float


def maximise_evidence(
    kernel: ArdKernel,
    rows: RefitRows,
    log_noise: float,
    *,
    max_iter: int = 40,
    tol: float = 1e-5,
    hope: Hope | None = None,
) -> EvidenceFit:
    """Hyperparameters of largest (penalised) evidence, by L-BFGS from the kernel's own theta."""
    objective: Callable[[Array], tuple[float, Array]]
    if isinstance(kernel, DotProduct):
        objective, noise_bounds = linear_evidence(kernel, rows), LINEAR_NOISE_BOUNDS
    else:
        evaluate, noise_bounds = kernel.evaluator(rows.X), NOISE_BOUNDS
        objective = partial(negative_log_evidence, kernel=kernel, rows=rows, evaluate=evaluate)
    bounds = [*kernel.bounds, noise_bounds]
    low, high = np.array(bounds).T
    start = np.clip(np.append(kernel.theta, log_noise), low, high)
    iterations = count(1)

    def stop_without_hope(intermediate_result: OptimizeResult) -> None:
        if hope and next(iterations) == hope.trial and intermediate_result.fun > hope.least:
            raise StopIteration

    found = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        callback=stop_without_hope,
        options={"maxiter": max_iter, "ftol": tol},
    )
    theta = np.asarray(found.x)
    return EvidenceFit(
        kernel=kernel.with_theta(theta[:-1]),
        noise_ratio=float(np.exp(theta[-1])),
        loss=float(found.fun),
        n_evaluations=int(found.nfev),
    )


# The candidate kernels and the choice among them.
#
# Four descriptions of a function of few variables, each tuned by its own evidence:
#
#     ard       one length scale per variable
#     rotated   one length scale per direction; directions = eigenvectors of the gradient covariance
#               of the ard fit, F'F / n, so that a function of a few projections becomes easy
#     anova     additive plus interactions
#     linear    ridge regression
#
# Larger families reach a larger evidence by chance. The chosen kernel has the smallest
# -log evidence + penalty: half a nat (labels: one) for each of the d (d - 1) / 2 angles of a
# rotation, one nat less per length scale that the linear kernel does without (labels: none). The
# anova kernel carries its own weak priors instead.


@dataclass(frozen=True, eq=False)
class Candidate:
    """A tuned kernel and its score, -log evidence + penalty (smaller is better)."""

    fit: EvidenceFit
    score: float

    @property
    def kernel(self) -> ArdKernel:
        return self.fit.kernel


def untuned_ard(d: int, settings: RefitSettings) -> tuple[ArdGaussian, float]:
    """The Gaussian kernel of length scales sqrt(d) and the noise ratio from which tuning starts.

    With `shrink_scales`, log length scales have a normal prior of mean log 2 sqrt(d) and unit
    variance.
    """
    prior = (float(np.log(2.0 * np.sqrt(d))), 1.0) if settings.shrink_scales else None
    return ArdGaussian(np.full(d, 0.5 * np.log(d)), prior=prior), settings.start_noise


def fit_ard(
    rows: RefitRows, settings: RefitSettings, start: EvidenceFit | None = None
) -> EvidenceFit:
    """The first candidate, from the untuned kernel or from an earlier fit."""
    if start is not None:
        return maximise_evidence(start.kernel, rows, np.log(start.noise_ratio))
    kernel, noise_ratio = untuned_ard(rows.X.shape[1], settings)
    return maximise_evidence(kernel, rows, np.log(noise_ratio))


def fit_rotated(
    rows: RefitRows, settings: RefitSettings, ard: EvidenceFit, cost: float
) -> EvidenceFit:
    """The best of a few rotations, each in the axes of the fit before.

    Better axes give a better gradient and so better axes again. The loop ends when a round wins
    less than one angle costs, or when the first rotation is not worth the `cost` of all angles:
    later rounds win little.
    """
    best = rotate(rows, settings, ard)
    if best.loss + cost > ard.loss:
        return best
    for _ in range(settings.rotation_rounds - 1):
        following = rotate(rows, settings, best)
        gain = best.loss - following.loss
        best = following if gain > 0.0 else best
        if gain < settings.per_angle:
            break
    return best


def rotate(rows: RefitRows, settings: RefitSettings, previous: EvidenceFit) -> EvidenceFit:
    """A Gaussian in the eigenvectors of the gradient covariance of the previous fit.

    Under the prior, the slope along an axis has variance s / l^2. Matching this to the eigenvalue
    gives the length scale to start from.
    """
    features = pivoted_features(previous.kernel, rows.X)
    ridge = solve_ridge(features, previous.noise_ratio, rows)
    F = features.expansion(ridge.beta).gradient(rows.X)
    share = rows.weights / rows.weights.sum()
    covariance = np.einsum("cni,n,cnj->ij", F, share, F, optimize=True)
    eigenvalues, axes = np.linalg.eigh(covariance)
    # in the order in which a pickle stores it: products with it are the same bits after loading
    eigenvalues, axes = eigenvalues[::-1], np.ascontiguousarray(axes[:, ::-1])
    scale = float(ridge.scale.sum())
    log_scales = 0.5 * np.log(scale / np.maximum(eigenvalues, 1e-12 * scale))
    # a starting point: flat directions must not start where the evidence has no slope
    start = np.clip(log_scales, np.log(0.3), np.log(30.0))
    untuned, _ = untuned_ard(rows.X.shape[1], settings)
    kernel = replace(untuned, log_scales=start, axes=axes)
    return maximise_evidence(kernel, rows, np.log(previous.noise_ratio))


def rank_candidates(
    rows: RefitRows, settings: RefitSettings, ard: EvidenceFit | None = None
) -> list[Candidate]:
    """All candidates, best first. `ard` may bring a fit on these very rows from an earlier step."""
    d = rows.X.shape[1]
    ard = fit_ard(rows, settings) if ard is None else ard
    # responses are centred on these rows, which may be a sample of those that centred the columns
    centred = replace(rows, X=rows.X - rows.weights @ rows.X / rows.weights.sum())
    linear = maximise_evidence(DotProduct(d), centred, np.log(settings.start_noise))
    found = [
        Candidate(ard, ard.loss),
        Candidate(linear, linear.loss + settings.linear_per_variable * d),
    ]
    if 1 < d <= settings.most_rotated:
        cost = settings.per_angle * d * (d - 1) / 2
        rotated = fit_rotated(rows, settings, ard, cost)
        found.append(Candidate(rotated, rotated.loss + cost))
    if d > 1:
        # from c = 1/2, l = 3; given up early when it cannot come down to the others
        kernel = Anova(np.full(d, np.log(0.5)), np.full(d, np.log(3.0)))
        hope = Hope(settings.anova_trial, min(c.score for c in found) + settings.anova_hope)
        anova = maximise_evidence(kernel, rows, np.log(settings.start_noise), hope=hope)
        found.append(Candidate(anova, anova.loss))
    return sorted(found, key=lambda candidate: candidate.score)


@dataclass(frozen=True, eq=False)
class Refit:
    """The function g of the selected columns, on the scale of the link, and how it was found.

    Attributes
    ----------
    function : the part of g that varies: one output, or one for each of more than two classes.
    intercept : (q,) its constant part.
    penalty : of ||g||^2. Numbers: the noise ratio eta, noise variance over prior variance of g.
        Classes: lambda (on the scores of more than two classes: 2 lambda). Infinite if g is
        constant.
    candidates : every kernel tried with its score, best first; none if g is constant.
    noise : of numbers, the variance of the noise of a row of weight one.
    robust_weight : of numbers, (n,) factors by which weights of rows were lowered; one but for
        outliers.
    tail : whether these rows are the tail of a skewed response rather than outliers.
    loo_loss : of classes, approximate leave-one-out log loss of the chosen kernel and penalty
        (averaged over one-against-rest problems if there are more than two classes).
    posterior : of numbers, how certain g is.
    """

    function: Expansion
    intercept: Array
    penalty: float
    candidates: tuple[Candidate, ...] = ()
    noise: float = np.nan
    robust_weight: Array | None = None
    tail: bool = False
    loo_loss: float = np.nan
    posterior: Posterior | None = None

    @property
    def kernel(self) -> ArdKernel | None:
        """The chosen kernel; None if g is constant."""
        return self.function.kernel

    @property
    def log_evidence(self) -> float:
        """Log marginal likelihood of the chosen kernel on the rows that tuned it, with the prior of
        its hyperparameters, of the standardised numbers or the coded labels; nan if g is constant.
        """
        return -self.candidates[0].fit.loss if self.candidates else np.nan

    def value(self, Z: Array) -> Array:
        """g at standardised rows Z (n, d): means of numbers (n, 1), log odds of the second of two
        classes (n, 1), or scores of more classes, which sum to zero (n, C).
        """
        return np.asarray(self.intercept + self.function.value(np.asarray(Z, dtype=float)))

    def gradient(self, Z: Array) -> Array:
        """grad g at these rows, (q, n, d)."""
        return self.function.gradient(np.asarray(Z, dtype=float))
