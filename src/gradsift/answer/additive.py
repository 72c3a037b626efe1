"""The additive model behind all effects of an answer: one curve for each variable.

    numbers    y = b + sum_k h_k(x_k) + sum_kl h_kl(x_k, x_l) + noise
    others     log odds, the score of each class, or the log of a rate or hazard, in place of y

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

from gradsift.answer.targets import Target
from gradsift.numerics.statistics import natural_splines
from gradsift.protocols import Array, IntArray

BEND_SD = (1e-3, 10.0)  # range of the prior standard deviation of a curve's bend
CLIP = 2.5  # products use values up to this many standard deviations from the mean
PER_PAIR = 6  # products of a pair, of these factors of its variables
FIRST, SECOND = [0, 1, 0, 2, 2, 0], [0, 0, 1, 2, 0, 2]
STEP = 6.0  # steepness of a step at its middle, per standard deviation
MOST_KNOTS, ROWS_PER_KNOT = 8, 8
ENDS = (0.01, 0.99)  # quantiles between which knots lie: beyond, a natural spline is straight
ROUNDS, SETTLED = 12, 0.05  # of the penalties; change of a log penalty that ends them

Pair = tuple[int, int]


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
    covariance : (f m, f m) array
        Of the coefficients of the f free outputs: of C > 2 classes, C - 1 are free.
    target : Target
    """

    design: Design
    splines: tuple[Spline, ...]
    coefficients: Array
    prior: Array
    covariance: Array
    target: Target

    @property
    def fitted(self) -> Array:
        """The predictor on the link scale at the samples, (n, outputs)."""
        return np.asarray(self.design.matrix @ self.coefficients)


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


def factors(z: Array) -> Array:
    """What a standardised variable (...) is in products, (..., 3): a line, a square, a step."""
    return np.stack([z, z * z - 1.0, np.tanh(STEP * z)], axis=-1)


def products(a: Array, b: Array) -> Array:
    """What two variables with these factors may do together, (..., 6): the plain product first.

    The first three are tested. The last three have steps in place of lines, for effects that jump.
    """
    return np.asarray(a[..., FIRST] * b[..., SECOND])


def pair_products(X: Array, splines: Sequence[Spline], pairs: Sequence[Pair]) -> Array:
    """Columns of the pairs at the samples, (n, 6 pairs)."""
    F = [factors(clipped(spline, x)) for spline, x in zip(splines, X.T)]
    return np.hstack([np.zeros((len(X), 0)), *(products(F[k], F[j]) for k, j in pairs)])


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
    >>> from gradsift.answer.targets import number_target
    >>> y = 2 * X[:, 0] + X[:, 1] ** 2
    >>> fit = fit_additive(X, number_target(y))
    >>> bool(np.corrcoef(fit.fitted[:, 0], y)[0, 1] > 0.99)
    True
    """
    curved = X.shape[1] - n_lines
    splines = tuple(make_spline(x, line=k >= curved) for k, x in enumerate(X.T))
    design = make_design(X, splines, pairs)
    D = design.matrix
    prior = np.full(D.shape[1], target.slope_sd**2)
    prior[-1] = target.constant_variance
    for block in design.penalised:
        prior[block] = 1.0
    coefficients: Array = np.zeros((D.shape[1], target.outputs))
    for _ in range(ROUNDS):
        coefficients, scores, information = target.solve(D, prior, coefficients)
        covariance = posterior(information, prior)
        variances = np.diagonal(covariance).reshape(-1, len(prior))
        before = prior.copy()
        for block in design.penalised:
            prior[block] = bend_variance(
                coefficients[block], variances[:, block], before[block.start]
            )
        if np.abs(np.log(prior / before)).max(initial=0.0) < SETTLED:
            break
    if target.groups is not None:
        covariance = between_groups(D, scores, covariance, target.groups)
    return AdditiveFit(design, splines, coefficients, prior, covariance, target)


def posterior(information: Array, prior: Array) -> Array:
    """Covariance of the coefficients in free outputs, (f m, f m)."""
    J = information.copy()
    J.flat[:: len(J) + 1] += np.tile(1.0 / prior, len(J) // len(prior))
    return np.linalg.inv(J)


def between_groups(D: Array, slopes: Array, covariance: Array, groups: IntArray) -> Array:
    """Covariance of the coefficients where only groups of rows are independent."""
    scores = (slopes[:, :, None] * D[:, None, :]).reshape(len(D), -1)
    count = int(groups.max()) + 1
    total = np.zeros((count, scores.shape[1]))
    np.add.at(total, groups, scores)
    middle = total.T @ total * (count / max(count - 1, 1))
    return np.asarray(covariance @ middle @ covariance)


def bend_variance(coefficients: Array, variances: Array, before: float) -> float:
    """MacKay's update: squared coefficients over how many of them the data determine."""
    determined = max(variances.size - float(variances.sum()) / before, 1e-3)
    found = float((coefficients**2).sum()) / determined
    return float(np.clip(found, BEND_SD[0] ** 2, BEND_SD[1] ** 2))


# ---- smooth functions of one variable: natural cubic splines, a line and what bends


@dataclass(frozen=True, eq=False)
class Spline:
    """The functions that a variable may enter an additive model by.

    The first one is the standardised value. The others bend; each is orthogonal to constants and
    lines at the samples, and the sum of squares of their coefficients is the integral of the
    squared second derivative. All have mean zero over the samples.

    Attributes
    ----------
    mean, scale : float
        Of the variable.
    knots : (K,) array
        In standard deviations from the mean; fewer than three leave the line alone.
    mix : (K - 2, K - 2) array
        From natural splines to bending functions.
    line : (2, K - 2) array
        Constant and slope that are taken off the bending functions.
    """

    mean: float
    scale: float
    knots: Array
    mix: Array
    line: Array

    @property
    def size(self) -> int:
        """Number of functions."""
        return 1 + self.mix.shape[1]

    def __call__(self, x: Array) -> Array:
        """The functions at values of the variable, (n, size)."""
        z = (x - self.mean) / self.scale
        if self.size == 1:
            return z[:, None]
        bent = natural_splines(z, self.knots) @ self.mix - self.line[0] - z[:, None] * self.line[1]
        return np.column_stack([z, bent])


def make_spline(x: Array, *, line: bool = False) -> Spline:
    """The spline functions of a variable from its values at the samples.

    Parameters
    ----------
    x : (n,) array
    line : bool
        Whether the line is all there is, without a bend.

    Returns
    -------
    spline : Spline

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=100)
    >>> basis = make_spline(x)(x)
    >>> basis.shape, bool(np.abs(basis.mean(axis=0)).max() < 1e-9)
    ((100, 7), True)
    >>> make_spline(np.array([0.0, 1.0, 1.0])).size  # two values: a line is all there is
    1
    """
    unit = float(np.abs(x).max()) or 1.0  # squares of values near 1e200 are beyond double precision
    mean, scale = unit * float((x / unit).mean()), unit * float((x / unit).std())
    scale = scale if scale > 0 else 1.0
    z = (x - mean) / scale
    knots = np.zeros(0) if line else place_knots(z)
    if len(knots) < 3:
        return Spline(mean, scale, knots, np.zeros((0, 0)), np.zeros((2, 0)))
    values, turns = np.linalg.eigh(roughness(knots))
    mix = turns[:, ::-1] / np.sqrt(values[::-1])
    taken_off = np.linalg.lstsq(
        np.column_stack([np.ones(len(z)), z]), natural_splines(z, knots) @ mix, rcond=None
    )[0]
    return Spline(mean, scale, knots, mix, taken_off)


def place_knots(z: Array) -> Array:
    """Quantiles of the samples, or the values themselves where there are few."""
    values = np.unique(z)
    count = int(np.clip(len(z) // ROWS_PER_KNOT, 3, MOST_KNOTS))
    if len(values) <= count:
        return values
    return np.unique(np.quantile(z, np.linspace(*ENDS, count)))


def roughness(knots: Array) -> Array:
    """Integrals of products of second derivatives of the natural splines, (K - 2, K - 2).

    Second derivatives are straight between knots, so Simpson's rule on each interval is exact.
    """
    middle = 0.5 * (knots[1:] + knots[:-1])
    width = np.diff(knots)
    at = np.concatenate([knots[:-1], middle, knots[1:]])
    weight = np.concatenate([width, 4 * width, width]) / 6
    hinge = 6 * np.maximum(at[:, None] - knots, 0.0)
    d = (hinge[:, :-1] - hinge[:, -1:]) / (knots[-1] - knots[:-1])
    curve = d[:, :-1] - d[:, -1:]
    return np.asarray((curve * weight[:, None]).T @ curve)
