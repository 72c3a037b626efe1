"""The additive model behind all effects of an answer: one curve for each variable.

    numbers    y = b + sum_k h_k(x_k) + sum_kl h_kl(x_k, x_l) + noise
    labels     log odds, or the score of each class, in place of y

Each h_k is a line plus a penalised spline. The penalty of every curve is chosen by its marginal
likelihood (MacKay's fixed point), so straight effects come out straight; slopes of log odds have a
weak prior, so that they stay finite where classes are separated. Pairs are those of the findings;
h_kl is a multiple of x_k x_l plus penalised multiples of (x_k^2 - 1) x_l, x_k (x_l^2 - 1), and
products with steps in place of lines. Covariates enter as they are, without a curve.

With groups of rows, the covariance of the coefficients is that of sums over whole groups (Liang and
Zeger 1986).

References
----------
:cite:`mackay-1992`, :cite:`liang-1986`, :cite:`wood-2017`
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, softmax

from gradsift.answer.splines import Spline, make_spline
from gradsift.numerics.logistic import fit_binary, fit_multinomial
from gradsift.numerics.statistics import largest_tie, scale_about_zero
from gradsift.protocols import Array, IntArray

SLOPE_SD = 2.5  # prior of a log odds ratio per standard deviation
LOOSE_SD = 100.0  # of slopes of numbers, in standard deviations of the response: no prior at all
BEND_SD = (1e-3, 10.0)  # range of the prior standard deviation of a curve's bend
CLIP = 2.5  # products use values up to this many standard deviations from the mean
PER_PAIR = 6  # products of a pair
STEP = 6.0  # steepness of a step at its middle, per standard deviation
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
    weight : (n,) array
        How many times each row counts.
    offset : (n, outputs) array
        A known part, in the unit of `values` or of the log odds.
    labels : bool
    centre, unit : float
        Mean and standard deviation of the numbers; 0 and 1 of labels.
    robust : bool
        Whether far residuals lose weight.
    groups : (n,) int array or None
        Rows that belong together.
    """

    values: Array
    weight: Array
    offset: Array
    labels: bool
    centre: float = 0.0
    unit: float = 1.0
    robust: bool = True
    groups: IntArray | None = None

    @property
    def slope_sd(self) -> float:
        """Prior standard deviation of slopes."""
        if not self.labels:
            return LOOSE_SD
        # of several classes, scores of sum zero: the log odds of two are sqrt(2) times as wide
        return SLOPE_SD if self.values.shape[1] == 1 else SLOPE_SD / np.sqrt(2.0)


def target_of(
    y: Array,
    classes: Array | None = None,
    *,
    weight: Array | None = None,
    offset: Array | None = None,
    groups: IntArray | None = None,
) -> Target:
    """The target of a model from responses, or from labels and the classes they may have."""
    weight = np.ones(len(y)) if weight is None else weight
    if classes is None:
        y = np.asarray(y, dtype=float)
        centre = float(np.average(y, weights=weight))
        unit = float(np.sqrt(np.average((y - centre) ** 2, weights=weight))) or 1.0
        values, robust = ((y - centre) / unit)[:, None], largest_tie(y) <= MOST_TIED
        given = np.zeros_like(values) if offset is None else np.reshape(offset, (-1, 1)) / unit
        return Target(values, weight, given, False, centre, unit, robust, groups)
    T = (np.asarray(y)[:, None] == np.asarray(classes)).astype(float)
    T = T[:, 1:] if len(classes) == 2 else T
    given = np.zeros_like(T) if offset is None else np.reshape(offset, T.shape)
    return Target(T, weight, given, True, groups=groups)


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
    def fitted(self) -> Array:
        """Numbers in standard deviations, log odds or scores at the samples, (n, outputs)."""
        return np.asarray(self.design.matrix @ self.coefficients + self.target.offset)


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


def fit_additive(
    X: Array, target: Target, pairs: Sequence[Pair] = (), n_lines: int = 0
) -> AdditiveFit:
    """Fit the curves, and the products of some pairs.

    Parameters
    ----------
    X : (n, a) array
    target : Target
    pairs : sequence of (int, int)
        Columns whose products take part.
    n_lines : int
        The last columns, which have no curve: covariates.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> fit = fit_additive(X, target_of(2 * X[:, 0] + X[:, 1] ** 2))
    >>> bool(np.corrcoef(fit.fitted[:, 0], fit.target.values[:, 0])[0, 1] > 0.99)
    True
    """
    curved = X.shape[1] - n_lines
    splines = tuple(make_spline(x, line=k >= curved) for k, x in enumerate(X.T))
    design = make_design(X, splines, pairs)
    D = design.matrix
    prior = np.full(D.shape[1], target.slope_sd**2)
    for block in design.penalised:
        prior[block] = 1.0
    solve = solve_labels if target.labels else solve_numbers
    coefficients: Array = np.zeros((D.shape[1], target.values.shape[1]))
    for _ in range(ROUNDS):
        coefficients, residuals, weights = solve(D, target, prior, coefficients)
        covariance = posterior(D, weights, prior)
        variances = np.diagonal(covariance).reshape(-1, len(prior))
        before = prior.copy()
        for block in design.penalised:
            prior[block] = bend_variance(
                coefficients[block], variances[:, block], before[block.start]
            )
        if np.abs(np.log(prior / before)).max(initial=0.0) < SETTLED:
            break
    if target.groups is not None:
        covariance = between_groups(D, residuals, covariance, target.groups)
    return AdditiveFit(design, splines, coefficients, prior, residuals, weights, covariance, target)


def between_groups(D: Array, residuals: Array, covariance: Array, groups: IntArray) -> Array:
    """Covariance of the coefficients where only groups of rows are independent."""
    scores = (residuals[:, :, None] * D[:, None, :]).reshape(len(D), -1)
    count = int(groups.max()) + 1
    total = np.zeros((count, scores.shape[1]))
    np.add.at(total, groups, scores)
    middle = total.T @ total * (count / max(count - 1, 1))
    return np.asarray(covariance @ middle @ covariance)


Solution = tuple[Array, Array, Array]
"""Coefficients (m, outputs), and in free outputs: residuals (n, f), information (n, f, f)."""


def solve_numbers(D: Array, target: Target, prior: Array, start: Array) -> Solution:
    """Ridge regression; far residuals lose weight (Huber) if they may; the noise is estimated with
    it.
    """
    y = (target.values - target.offset)[:, 0]
    residual = y - D @ start[:, 0]
    noise = float(np.average(residual**2, weights=target.weight))
    for _ in range(3):
        spread = max(float(scale_about_zero(residual)), 1e-6) if target.robust else np.inf
        huber = np.minimum(1.0, HUBER * spread / np.maximum(np.abs(residual), 1e-12))
        weight = huber * target.weight
        noise = max(noise, 1e-10)
        gram = (D * weight[:, None]).T @ D / noise
        inverse = np.linalg.inv(gram + np.diag(1.0 / prior))
        b = inverse @ (D.T @ (weight * y)) / noise
        residual = y - D @ b
        freedom = float((inverse * gram).sum())
        noise = float(weight @ residual**2) / max(weight.sum() - freedom, 1.0)
    noise = max(noise, 1e-10)
    return b[:, None], (weight * residual / noise)[:, None], (weight / noise)[:, None, None]


def solve_labels(D: Array, target: Target, prior: Array, start: Array) -> Solution:
    """Logistic or multinomial regression with a normal prior on the coefficients."""
    T, weight, offset = target.values, target.weight, target.offset
    sd = np.sqrt(prior)
    sd[-1] = 1.0  # the constant is free
    Phi, first = D * sd, start / sd[:, None]
    if T.shape[1] == 1:
        beta = fit_binary(Phi, T[:, 0], weight, 1.0, first[:, 0], offset[:, 0]).beta
        p = expit(Phi @ beta + offset)
        return (
            sd[:, None] * beta,
            weight[:, None] * (T - p),
            (weight[:, None] * p * (1 - p))[:, :, None],
        )
    beta = fit_multinomial(Phi, T, weight, 1.0, first, offset)
    P, Q = softmax(Phi @ beta + offset, axis=1), contrasts(T.shape[1])
    bend = np.einsum("nc,cf,cg->nfg", P, Q, Q) - np.einsum("nf,ng->nfg", P @ Q, P @ Q)
    return sd[:, None] * beta, weight[:, None] * ((T - P) @ Q), weight[:, None, None] * bend


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
