"""An additive model of the selected variables: one curve each, on the scale where effects add up.

    numbers    y = b + sum_k h_k(x_k) + sum_kl h_kl(x_k, x_l) + noise
    labels     log odds, or the score of each class, in place of y

Each h_k is a line plus a penalised spline. The penalty of every curve is chosen by its marginal
likelihood (MacKay's fixed point), so straight effects come out straight; slopes of log odds have a
weak prior, so that they stay finite where classes are separated. The pairs are those that
`gradsift.explain.dependence` shows; h_kl is a multiple of x_k x_l plus penalised multiples of
(x_k^2 - 1) x_l, x_k (x_l^2 - 1), and products with steps in place of lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import expit, softmax
from scipy.stats import chi2

from gradsift.explain.splines import Spline, make_spline
from gradsift.numerics.logistic import fit_binary, fit_multinomial
from gradsift.numerics.robust import largest_tie, scale_about_zero
from gradsift.protocols import Array, IntArray

SLOPE_SD = 2.5  # prior of a log odds ratio per standard deviation
LOOSE_SD = 100.0  # of slopes of numbers, in standard deviations of the response: no prior at all
BEND_SD = (1e-3, 10.0)  # range of the prior standard deviation of a curve's bend
CLIP = 2.5  # products use values up to this many standard deviations from the mean
PER_PAIR, TESTED = 6, 3  # products of a pair, and those that tests look at
STEP = 6.0  # steepness of a step at its middle, per standard deviation
CHANCE = 0.046  # chance, over all outputs, that a pair counts for one by noise: 2 standard errors
MOST_TIED = 0.25  # part of the rows of one value beyond which none loses weight, as in the refit
HUBER = 3.0  # robust standard deviations beyond which a residual loses weight
ROUNDS, SETTLED = 12, 0.05  # of the penalties; change of a log penalty that ends them

Pair = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Target:
    """What an additive model is about.

    Attributes
    ----------
    values : (n, outputs) array
        Numbers in standard deviations, 0 and 1 of the second of two classes, or one column of
        them for each of several classes.
    labels : bool
    unit : float
        Size of one unit of `values` in the user's: the standard deviation of the response, or 1.
    """

    values: Array
    labels: bool
    unit: float = 1.0
    robust: bool = True
    """Whether far residuals lose weight."""

    @property
    def slope_sd(self) -> float:
        """Prior standard deviation of slopes."""
        if not self.labels:
            return LOOSE_SD
        # of several classes, scores of sum zero: the log odds of two are sqrt(2) times as wide
        return SLOPE_SD if self.values.shape[1] == 1 else SLOPE_SD / np.sqrt(2.0)


def target_of(y: Array, classes: Array | None = None) -> Target:
    """The target of a model from responses, or from labels and the classes they may have."""
    if classes is None:
        y = np.asarray(y, dtype=float)
        unit = float(y.std()) or 1.0
        robust = largest_tie(y) <= MOST_TIED
        return Target(((y - y.mean()) / unit)[:, None], False, unit, robust)
    T = (np.asarray(y)[:, None] == np.asarray(classes)).astype(float)
    return Target(T[:, 1:] if len(classes) == 2 else T, True)


@dataclass(frozen=True, eq=False)
class Design:
    """Columns of an additive model and where each curve's are.

    `blocks[k]` are the columns of variable k, its line first. Those of the pairs follow, six
    each, less `centre` and divided by `spread`. The last column is one everywhere.
    """

    matrix: Array
    blocks: tuple[slice, ...]
    pairs: tuple[Pair, ...]
    centre: Array
    spread: Array

    def pair_columns(self, j: int) -> IntArray:
        """Where the columns of the j-th pair are."""
        start = self.blocks[-1].stop + PER_PAIR * j
        return np.arange(start, start + PER_PAIR)

    @property
    def penalised(self) -> list[slice]:
        """Columns that share a penalty: the bends of each curve, and those of each pair."""
        curves = [slice(b.start + 1, b.stop) for b in self.blocks if b.stop > b.start + 1]
        first = [int(self.pair_columns(j)[0]) for j in range(len(self.pairs))]
        return curves + [slice(start + 1, start + PER_PAIR) for start in first]


@dataclass(frozen=True, eq=False)
class AdditiveFit:
    """A fitted additive model.

    Attributes
    ----------
    design : Design
    splines : tuple of Spline
    coefficients : (m, outputs) array
    prior : (m,) array
        Prior variances of the coefficients.
    residuals : (n, f) array
        Slope of the log likelihood in the f free outputs: of C > 2 classes, C - 1 are free.
    weights : (n, f, f) array
        Information that each sample carries about them.
    covariance : (f m, f m) array
        Of the coefficients of the free outputs.
    target : Target
    """

    design: Design
    splines: tuple[Spline, ...]
    coefficients: Array
    prior: Array
    residuals: Array
    weights: Array
    covariance: Array
    target: Target

    @property
    def unit(self) -> float:
        """One unit of the fit in the units of the response."""
        return self.target.unit

    @property
    def fitted(self) -> Array:
        """Numbers, log odds or scores at the samples, (n, outputs)."""
        return np.asarray(self.design.matrix @ self.coefficients)

    def curve(
        self, k: int, output: int, x: Array, held: tuple[int, float] | None = None
    ) -> tuple[Array, Array]:
        """(values, covariance) of the effect of variable k at x, in the units of the response.

        Its own curve, with mean zero at the samples. With `held` = (another variable, its value),
        the sum of both curves and of their product, where they have one. Shapes (n,) and (n, n).
        """
        B = np.zeros((len(x), len(self.coefficients)))
        B[:, self.design.blocks[k]] = self.splines[k](x)
        if held is not None:
            other, at = held[0], np.full(len(x), held[1])
            B[:, self.design.blocks[other]] = self.splines[other](at)
            for j, pair in enumerate(self.design.pairs):
                if set(pair) == {k, other}:
                    values = {
                        k: clipped(self.splines[k], x),
                        other: clipped(self.splines[other], at),
                    }
                    own = slice(PER_PAIR * j, PER_PAIR * (j + 1))
                    columns = products(values[pair[0]], values[pair[1]])
                    columns = (columns - self.design.centre[own]) / self.design.spread[own]
                    B[:, self.design.pair_columns(j)] = columns
        used = np.flatnonzero(B.any(axis=0))
        B = B[:, used]
        V = self.coefficient_covariance(used, output)
        return self.unit * (B @ self.coefficients[used, output]), self.unit**2 * (B @ V @ B.T)

    def coefficient_covariance(self, which: IntArray, output: int) -> Array:
        """Covariance of some coefficients of one output."""
        m, outputs = self.coefficients.shape
        q = contrasts(outputs)[output]
        free = self.covariance.reshape(len(q), m, len(q), m)[:, which][:, :, :, which]
        return np.einsum("f,fmgk,g->mk", q, free, q)

    def own_spread(self, k: int, output: int) -> float:
        """Variance of h_k over the samples."""
        block = self.design.blocks[k]
        values = self.design.matrix[:, block] @ self.coefficients[block, output]
        return float(self.unit**2 * values.var())

    def shared_spread(self, k: int, output: int) -> float:
        """Variance over the samples of what variable k does together with others, if clear."""
        values: Array = np.zeros(len(self.design.matrix))
        for j, pair in enumerate(self.design.pairs):
            where = self.design.pair_columns(j)
            c = self.coefficients[where, output]
            V = self.coefficient_covariance(where, output)
            if k in pair and self._is_clear(c, V):
                values = values + self.design.matrix[:, where] @ c
        return float(self.unit**2 * values.var())

    def _is_clear(self, c: Array, V: Array) -> bool:
        """Whether a pair counts for an output; where several are judged, each must be clearer."""
        outputs = self.coefficients.shape[1]
        plain, every = c[0] ** 2 / V[0, 0], float(c @ np.linalg.solve(V, c))
        return bool(min(chi2.sf(plain, 1), chi2.sf(every, len(c))) * outputs < CHANCE)


def make_design(X: Array, splines: Sequence[Spline], pairs: Sequence[Pair] = ()) -> Design:
    """All columns of the model at the samples."""
    parts, blocks, start = [], [], 0
    for x, spline in zip(X.T, splines):
        parts.append(spline(x))
        blocks.append(slice(start, start + spline.size))
        start += spline.size
    together = pair_products(X, splines, pairs)
    centre, spread = together.mean(axis=0), together.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    matrix = np.hstack([*parts, (together - centre) / spread, np.ones((len(X), 1))])
    return Design(matrix, tuple(blocks), tuple(pairs), centre, spread)


def clipped(spline: Spline, x: Array) -> Array:
    """Standardised values, far ones drawn in."""
    return np.clip((x - spline.mean) / spline.scale, -CLIP, CLIP)


def products(a: Array, b: Array) -> Array:
    """What two standardised variables may do together, (n, 6): the plain product first.

    The first three are tested. The last three have steps in place of lines, for effects that jump.
    """
    s, t = np.tanh(STEP * a), np.tanh(STEP * b)
    return np.column_stack([a * b, (a * a - 1.0) * b, a * (b * b - 1.0), s * t, s * b, a * t])


def pair_products(X: Array, splines: Sequence[Spline], pairs: Sequence[Pair]) -> Array:
    """Columns of the pairs at the samples, (n, 3 pairs)."""
    Z = [clipped(spline, x) for spline, x in zip(splines, X.T)]
    return np.hstack([np.zeros((len(X), 0)), *(products(Z[k], Z[j]) for k, j in pairs)])


def fit_additive(X: Array, target: Target, pairs: Sequence[Pair] = ()) -> AdditiveFit:
    """Fit the curves, and a coefficient for each of the pairs.

    Parameters
    ----------
    X : (n, a) array
    target : Target
    pairs : sequence of (int, int)
        Products that take part.

    Returns
    -------
    fit : AdditiveFit

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> fit = fit_additive(X, target_of(2 * X[:, 0] + X[:, 1] ** 2))
    >>> low, high = fit.curve(0, 0, np.array([-1.0, 1.0]))[0]
    >>> float(round(high - low, 1))
    4.0
    """
    splines = tuple(make_spline(x) for x in X.T)
    design = make_design(X, splines, pairs)
    D = design.matrix
    prior = np.full(D.shape[1], target.slope_sd**2)
    for block in design.penalised:
        prior[block] = 1.0
    solve = solve_labels if target.labels else partial(solve_numbers, robust=target.robust)
    coefficients: Array = np.zeros((D.shape[1], target.values.shape[1]))
    for _ in range(ROUNDS):
        coefficients, residuals, weights = solve(D, target.values, prior, coefficients)
        covariance = posterior(D, weights, prior)
        variances = np.diagonal(covariance).reshape(-1, len(prior))
        before = prior.copy()
        for block in design.penalised:
            prior[block] = bend_variance(
                coefficients[block], variances[:, block], before[block.start]
            )
        if np.abs(np.log(prior / before)).max(initial=0.0) < SETTLED:
            break
    return AdditiveFit(design, splines, coefficients, prior, residuals, weights, covariance, target)


Solution = tuple[Array, Array, Array]
"""Coefficients (m, outputs), and in free outputs: residuals (n, f), information (n, f, f)."""


def solve_numbers(
    D: Array, y: Array, prior: Array, start: Array, *, robust: bool = True
) -> Solution:
    """Ridge regression; far residuals lose weight (Huber) if they may; the noise is estimated with
    it.
    """
    y = y[:, 0]
    residual = y - D @ start[:, 0]
    noise = float(np.mean(residual**2))
    for _ in range(3):
        spread = max(float(scale_about_zero(residual)), 1e-6) if robust else np.inf
        weight = np.minimum(1.0, HUBER * spread / np.maximum(np.abs(residual), 1e-12))
        noise = max(noise, 1e-10)
        gram = (D * weight[:, None]).T @ D / noise
        inverse = np.linalg.inv(gram + np.diag(1.0 / prior))
        b = inverse @ (D.T @ (weight * y)) / noise
        residual = y - D @ b
        freedom = float((inverse * gram).sum())
        noise = float(weight @ residual**2) / max(weight.sum() - freedom, 1.0)
    noise = max(noise, 1e-10)
    return b[:, None], (weight * residual / noise)[:, None], (weight / noise)[:, None, None]


def solve_labels(D: Array, T: Array, prior: Array, start: Array) -> Solution:
    """Logistic or multinomial regression with a normal prior on the coefficients."""
    sd = np.sqrt(prior)
    sd[-1] = 1.0  # the constant is free
    Phi, ones, first = D * sd, np.ones(len(D)), start / sd[:, None]
    if T.shape[1] == 1:
        beta = fit_binary(Phi, T[:, 0], ones, 1.0, first[:, 0]).beta
        p = expit(Phi @ beta)
        return sd[:, None] * beta, T - p, (p * (1.0 - p))[:, :, None]
    beta = fit_multinomial(Phi, T, ones, 1.0, first)
    P, Q = softmax(Phi @ beta, axis=1), contrasts(T.shape[1])
    weights = np.einsum("nc,cf,cg->nfg", P, Q, Q) - np.einsum("nf,ng->nfg", P @ Q, P @ Q)
    return sd[:, None] * beta, (T - P) @ Q, weights


def contrasts(outputs: int) -> Array:
    """Orthonormal columns that span the scores of sum zero, (outputs, outputs - 1); [[1]] for one.

    Examples
    --------
    >>> contrasts(2).round(3).tolist()
    [[0.707], [-0.707]]
    """
    if outputs == 1:
        return np.ones((1, 1))
    q = np.linalg.qr(np.column_stack([np.ones(outputs), np.eye(outputs)[:, :-1]]))[0]
    return np.asarray(q[:, 1:] * np.sign(q[0, 1]))


def information(A: Array, B: Array, weights: Array) -> Array:
    """sum_i W_i (x) a_i b_i', (f m, f k): free outputs outside, columns inside."""
    f = weights.shape[1]
    return np.block([[(A * weights[:, c, d, None]).T @ B for d in range(f)] for c in range(f)])


def posterior(D: Array, weights: Array, prior: Array) -> Array:
    """Covariance of the coefficients in free outputs, (f m, f m)."""
    J = information(D, D, weights)
    J.flat[:: len(J) + 1] += np.tile(1.0 / prior, weights.shape[1])
    return np.linalg.inv(J)


def bend_variance(coefficients: Array, variances: Array, before: float) -> float:
    """MacKay's update: squared coefficients over how many of them the data determine."""
    determined = max(variances.size - float(variances.sum()) / before, 1e-3)
    found = float((coefficients**2).sum()) / determined
    return float(np.clip(found, BEND_SD[0] ** 2, BEND_SD[1] ** 2))
