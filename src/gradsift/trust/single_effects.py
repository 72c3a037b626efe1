"""Single-effect regression: which one column acts on a response, and in which shape?

A *slot* holds one effect: a smooth function of one column, or a product of two, or nothing. Given
what the other slots explain, its posterior over all candidates is closed form. With orthonormal
features Z_g of a part g (linear, quadratic, local), Z_g Z_g' = n I, coefficients b ~ N(0, s^2 v_g /
n) and the residual r of the other slots,

    log BF = - sum_g m_g / 2 log(1 + v_g)  -  nu / 2 log(1 - sum_g k_g ||Z_g r||^2 / (n a)),

with k_g = v_g / (1 + v_g), m_g features and the noise variance s^2 integrated out under the prior
1 / s^2: a = ||r||^2 + sum n b^2 / v over the coefficients b of the other slots, nu = n - 1 + their
number. Those terms say what the other coefficients, whose prior is scaled by s too, tell about s.
This is the single-effect regression of SuSiE (Wang, Sarkar, Carbonetto and Stephens, 2020) with
functions in place of slopes and Student in place of Gaussian Bayes factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gradsift._typing import Array, IntArray
from gradsift.trust.family_settings import FamilySettings

Single = NDArray[np.float32]

SHAPES = (
    ("linear", (1.0, 0.0, 0.0)),
    ("quadratic", (0.0, 1.0, 0.0)),
    ("linear + quadratic", (0.5, 0.5, 0.0)),
    ("local", (0.0, 0.0, 1.0)),
    ("linear + local", (0.5, 0.0, 0.5)),
    ("linear + quadratic + local", (1 / 3, 1 / 3, 1 / 3)),
)
"""How the variance of an effect is divided among linear, quadratic and local features."""
PRODUCT = "product"
LEAST_LENGTH = 0.5
"""Features with a smaller squared length depend on others: a column of two values has one feature,
not ten, and neighbouring bumps differ by waves too short to tell. The sift's ridge brings a feature
to this length whose own part is .001.
"""
LEAST_OWN_PART = 1e-3
"""Squared length of a feature beside columns that are always kept; what is below is rounding."""

ATTRACTION = 6.0
"""Columns of squared correlation r^2 are proposed exp(6 r^2) times as often as unrelated ones."""


@dataclass(frozen=True)
class EffectPrior:
    """Prior settings of an effect: its shape, and its size."""

    variance: Array
    """(c, parts) v: prior variance of coefficients in units of s^2 / n; zero = not used."""
    log_weight: Array
    """(c,) logarithm of the prior probability of each setting."""
    shape: IntArray
    """(c,) which of `shapes`."""
    shapes: tuple[str, ...]

    @property
    def shrink(self) -> Array:
        """(c, parts) k = v / (1 + v): part of a least-squares coefficient that is believed."""
        return self.variance / (1.0 + self.variance)


def effect_sizes(n: float, settings: FamilySettings) -> Array:
    """Squared sizes of effects in standard errors, from just visible to large."""
    least = settings.least_size
    most = max(settings.most_ratio * n, least)
    count = 1 + int(np.ceil(np.log(most / least) / np.log(settings.size_step)))
    return np.geomspace(least, most, max(count, 2))


def own_prior(n: float, part_sizes: tuple[int, ...], settings: FamilySettings) -> EffectPrior:
    """Settings of a function of one column."""
    sizes = effect_sizes(n, settings)
    parts = np.array([share for _, share in SHAPES]) / np.array(part_sizes)
    weights = np.array(settings.shape_weights) / len(sizes)
    return EffectPrior(
        variance=(sizes[:, None, None] * parts).reshape(-1, parts.shape[1]),
        log_weight=np.log(np.tile(weights, len(sizes))),
        shape=np.tile(np.arange(len(SHAPES)), len(sizes)),
        shapes=tuple(name for name, _ in SHAPES),
    )


def product_prior(n: float, settings: FamilySettings) -> EffectPrior:
    """Settings of a product of two columns, which has one feature."""
    sizes = effect_sizes(n, settings)
    count = len(sizes)
    weight = np.full(count, -np.log(count))
    return EffectPrior(sizes[:, None], weight, np.zeros(count, dtype=np.intp), (PRODUCT,))


@dataclass(frozen=True)
class Candidates:
    """What an effect can be: k columns, or products of two, with their orthonormal features."""

    Z: Single
    """(features, k, n) of squared length n or zero, rows scaled by root weight."""
    part: IntArray
    """(features,) the part each feature belongs to, in order."""
    prior: EffectPrior
    log_prior: Array
    """(k,) logarithm of the prior probability of each candidate, given that the slot is not
    empty.
    """
    total: float
    """Sum of the weights of the rows: the n of every formula."""
    outputs: int = 1
    """Responses that an effect has coefficients for: more with several classes."""
    odds: float = 1.0
    """Prior odds that a slot is not empty."""
    elsewhere: float = 0.0
    """Bayes factors of whatever else the effect could be, times its prior probability."""

    def __len__(self) -> int:
        return self.Z.shape[1]

    @cached_property
    def present(self) -> NDArray[np.bool_]:
        """(features, k) features that are not zero."""
        return np.asarray(self.Z.any(axis=2))

    @cached_property
    def starts(self) -> IntArray:
        """First feature of each part."""
        return np.flatnonzero(np.diff(self.part, prepend=-1))

    @cached_property
    def counts(self) -> Array:
        """(parts, k) features of each part that are not zero."""
        return np.asarray(np.add.reduceat(self.present.astype(float), self.starts, axis=0))

    def cost(self, power: float) -> Single:
        """(c, k) log prior, less the complexity q / 2 sum_g m_g log(1 + v_g), for rows of a
        weight `power`.
        """
        if power not in self.costs:
            complexity = 0.5 * self.outputs * np.log1p(power * self.prior.variance) @ self.counts
            cost = self.prior.log_weight[:, None] + self.log_prior - complexity
            self.costs[power] = cost.astype(np.float32)
        return self.costs[power]

    @cached_property
    def costs(self) -> dict[float, Single]:
        """What `cost` has computed."""
        return {}

    @cached_property
    def log_proposals(self) -> Array:
        """(k, k) logarithm of the probability to propose the second in the place of the first, by
        the correlation of their first features.
        """
        linear = self.Z[0].astype(np.float64)
        log_odds = ATTRACTION * np.square(linear @ linear.T / self.total)
        np.fill_diagonal(log_odds, -np.inf)
        return np.asarray(log_odds - np.logaddexp.reduce(log_odds, axis=1, keepdims=True))

    def scores(self, R: Single) -> Single:
        """Z r for residuals R (b, q, n): (features, k, b, q)."""
        b, q, n = R.shape
        along = self.Z.reshape(-1, n) @ R.reshape(-1, n).T
        return along.reshape(*self.Z.shape[:2], b, q)

    def explained(self, squares: Single, power: float) -> Single:
        """(c, k, b) sum_g k_g ||Z_g r||^2 / n of every setting from the squared scores (features,
        k, b), for rows of a weight `power`.
        """
        believed = power * self.prior.variance / (1.0 + power * self.prior.variance)
        shrink = (power / self.total * believed[:, self.part]).astype(np.float32)
        along = shrink @ squares.reshape(len(squares), -1)
        return along.reshape(-1, *squares.shape[1:])

    def take(self, index: IntArray, elsewhere: float) -> Candidates:
        """Some of them."""
        return replace(
            self, Z=self.Z[:, index], log_prior=self.log_prior[index], elsewhere=elsewhere
        )


def squared_scores(U: Array) -> Array:
    """Squares of Z r (features, k, b, q), summed over responses: (features, k, b)."""
    squares = np.square(U)
    return np.asarray(squares[..., 0] if U.shape[3] == 1 else squares.sum(axis=3))


def student_log_ratio(explained: Array, left: Array, dof: Array) -> Array:
    """log likelihood ratio - nu / 2 log(1 - e / a), in place: `explained` e (c, k, b) by effects,
    a (b,) left without, noise variance integrated out with nu (b,) degrees of freedom.
    """
    explained *= (-1.0 / left).astype(explained.dtype)
    explained += 1
    np.maximum(explained, explained.dtype.type(1e-6), out=explained)
    np.log(explained, out=explained)
    explained *= (-dof / 2).astype(explained.dtype)
    return explained


def unit_log_ratio(explained: Array, left: Array, dof: Array) -> Array:
    """The same for noise of unit variance: e / 2, in place."""
    explained *= explained.dtype.type(0.5)
    return explained


def orthonormal(
    Z: Array, total: float, starts: Sequence[int] = (0,), least: float = LEAST_LENGTH
) -> Array:
    """Features (k, f, n) made orthonormal: each part, from one of `starts` to the next, without
    what earlier parts explain, turned to its principal axes. Axes of a squared length below
    `least` become zero.
    """
    out = np.zeros_like(Z)
    for first, end in zip(starts, [*starts[1:], Z.shape[1]], strict=True):
        part, before = Z[:, first:end], out[:, :first]
        part = part - (part @ before.transpose(0, 2, 1) / total) @ before
        values, vectors = np.linalg.eigh(part @ part.transpose(0, 2, 1) / total)
        scale = np.where(values > least, 1 / np.sqrt(np.maximum(values, least)), 0.0)
        out[:, first:end] = (vectors * scale[:, None, :]).transpose(0, 2, 1)[:, ::-1] @ part
    return out


def beside(Z: Array, basis: Array, total: float, starts: Sequence[int] = (0,)) -> Array:
    """Orthonormal features (k, f, n) without what orthonormal rows of `basis` (m, n) explain, and
    orthonormal again.
    """
    if len(basis) == 0:
        return Z
    rest = Z - (Z @ basis.T / total) @ basis
    return orthonormal(rest, total, starts, LEAST_OWN_PART)
