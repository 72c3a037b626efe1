"""The response of an additive model: numbers, labels, or a response with a likelihood.

A target solves for the coefficients of a design, and says what is predicted at a predictor eta:
numbers, probabilities (of ordered classes, of a class or any higher one), expected counts, or log
hazards less their average.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, softmax

from gradsift.answer.results import Scale
from gradsift.numerics.logistic import fit_binary, fit_multinomial
from gradsift.numerics.statistics import has_robust_scale, scale_about_zero
from gradsift.protocols import Array, IntArray
from gradsift.responses import Labels, Likelihood, Ordinal, Survival

SLOPE_SD = 2.5
"""Prior of a log odds or rate ratio per standard deviation: it stays finite where classes are
separated."""
LOOSE_SD = 100.0
"""Of slopes of numbers, in standard deviations of the response: no prior at all."""
HUBER = 3.0
"""Robust standard deviations beyond which a residual loses weight."""
FIXED = 1e-12
"""Variance of a constant that there is none of."""

Solution = tuple[Array, Array, Array]
"""Coefficients (m, outputs); in f free outputs, slopes of the log likelihood (n, f) and information
about the coefficients (f m, f m)."""
Means = Callable[[Array], tuple[Array, Array]]
"""Predictions (n, outcomes) at eta (n, outputs), and their derivatives in the free outputs
(n, outcomes, f)."""


@dataclass(frozen=True, eq=False)
class NumberTarget:
    """Numbers: least squares in which far residuals lose weight, where they are `robust`.

    `values` (n,) are in standard deviations `unit` from the mean `centre`.
    """

    values: Array
    weight: Array
    centre: float
    unit: float
    robust: bool
    groups: IntArray | None = None
    outcomes: tuple[str, ...] = ("",)
    scale: ClassVar[Scale] = "number"
    outputs: ClassVar[int] = 1
    slope_sd: ClassVar[float] = LOOSE_SD
    constant_variance: ClassVar[float] = LOOSE_SD**2

    def solve(self, D: Array, prior: Array, start: Array) -> Solution:
        """Ridge regression; the noise is estimated with it."""
        y = self.values
        residual = y - D @ start[:, 0]
        noise = float(np.average(residual**2, weights=self.weight))
        for _ in range(3):
            spread = max(float(scale_about_zero(residual)), 1e-6) if self.robust else np.inf
            huber = np.minimum(1.0, HUBER * spread / np.maximum(np.abs(residual), 1e-12))
            weight = huber * self.weight
            noise = max(noise, 1e-10)
            rooted = D * np.sqrt(weight)[:, None]
            total = rooted.T @ rooted  # of one array with itself: half of the work
            gram = total / noise
            inverse = np.linalg.inv(gram + np.diag(1.0 / prior))
            b = inverse @ (D.T @ (weight * y)) / noise
            residual = y - D @ b
            freedom = float((inverse * gram).sum())
            noise = float(weight @ residual**2) / max(weight.sum() - freedom, 1.0)
        noise = max(noise, 1e-10)
        return b[:, None], (weight * residual / noise)[:, None], total / noise

    def means(self, fitted: Array) -> Means:
        def at(eta: Array) -> tuple[Array, Array]:
            return self.unit * eta + self.centre, np.full((len(eta), 1, 1), self.unit)

        return at


@dataclass(frozen=True, eq=False)
class LabelTarget:
    """Labels: logistic or multinomial regression with a normal prior on the coefficients.

    `values` and `offset` are (n, outputs): 0 and 1 of the second of two classes, or of each class.
    """

    values: Array
    weight: Array
    offset: Array
    outcomes: tuple[str, ...]
    groups: IntArray | None = None
    scale: ClassVar[Scale] = "probability"

    @property
    def outputs(self) -> int:
        return self.values.shape[1]

    @property
    def slope_sd(self) -> float:
        """Of several classes, scores of sum zero: the log odds of two are sqrt(2) times as wide."""
        return SLOPE_SD if self.outputs == 1 else SLOPE_SD / np.sqrt(2.0)

    @property
    def constant_variance(self) -> float:
        return self.slope_sd**2

    def solve(self, D: Array, prior: Array, start: Array) -> Solution:
        T, weight, offset = self.values, self.weight, self.offset
        sd = np.sqrt(prior)
        sd[-1] = 1.0  # the constant is free
        Phi, first = D * sd, start / sd[:, None]
        if self.outputs == 1:
            beta = fit_binary(Phi, T[:, 0], weight, 1.0, first[:, 0], offset[:, 0]).beta
            p = expit(Phi @ beta + offset)
            bend = (weight[:, None] * p * (1 - p))[:, :, None]
            return sd[:, None] * beta, weight[:, None] * (T - p), information(D, bend)
        beta = fit_multinomial(Phi, T, weight, 1.0, first, offset)
        P, Q = softmax(Phi @ beta + offset, axis=1), contrasts(self.outputs)
        bend = np.einsum("nc,cf,cg->nfg", P, Q, Q) - np.einsum("nf,ng->nfg", P @ Q, P @ Q)
        slopes = weight[:, None] * ((T - P) @ Q)
        return sd[:, None] * beta, slopes, information(D, weight[:, None, None] * bend)

    def means(self, fitted: Array) -> Means:
        Q = contrasts(self.outputs)

        def at(eta: Array) -> tuple[Array, Array]:
            if self.outputs == 1:
                P = expit(eta + self.offset)
                return P, (P * (1 - P))[:, :, None]
            P = softmax(eta + self.offset, axis=1)
            return P, P[:, :, None] * (Q[None] - (P @ Q)[:, None, :])

        return at


@dataclass(frozen=True, eq=False)
class LikelihoodTarget:
    """A response with a likelihood: survival times, counts, or ordered classes.

    Predictions are log hazards less their average, expected counts for an offset of 0, or
    probabilities of a class or any higher one.
    """

    response: Likelihood
    weight: Array
    groups: IntArray | None = None
    outputs: ClassVar[int] = 1
    slope_sd: ClassVar[float] = SLOPE_SD

    @property
    def scale(self) -> Scale:
        if isinstance(self.response, Survival):
            return "hazard"
        return "probability" if isinstance(self.response, Ordinal) else "rate"

    @property
    def outcomes(self) -> tuple[str, ...]:
        if self.scale != "probability":
            return ("",)
        *inner, last = (str(c) for c in self.response.classes[1:])  # type: ignore[attr-defined]
        return (*(f"{c} or higher" for c in inner), last)

    @property
    def constant_variance(self) -> float:
        """Hazards are relative to their average: they have no constant."""
        return FIXED if self.scale == "hazard" else SLOPE_SD**2

    def solve(self, D: Array, prior: Array, start: Array) -> Solution:
        """Penalised likelihood, the constant profiled out; where there is one, it has an error."""
        response, weight, sd = self.response, self.weight, np.sqrt(prior)
        coefficients = sd[:, None] * response.fit(D * sd, weight)
        eta = D @ coefficients
        slopes = weight[:, None] * response.score(eta, weight)
        if self.scale == "hazard":
            return coefficients, slopes, response.curvature(D, eta, weight)
        each = weight[:, None] * response.information(eta, weight)
        return coefficients, slopes, information(D, each[:, :, None])

    def means(self, fitted: Array) -> Means:
        link = self.response.link(fitted, self.weight)

        def log_hazard(eta: Array) -> tuple[Array, Array]:
            return eta - np.average(fitted, weights=self.weight[:, None]), np.ones((len(eta), 1, 1))

        def count(eta: Array) -> tuple[Array, Array]:
            P = link.predict(eta)[:, None]
            return P, P[:, :, None]

        def this_or_higher(eta: Array) -> tuple[Array, Array]:
            P = np.cumsum(link.predict(eta)[:, :0:-1], axis=1)[:, ::-1]
            return P, (P * (1.0 - P))[:, :, None]

        return {"hazard": log_hazard, "rate": count}.get(self.scale, this_or_higher)


Target = NumberTarget | LabelTarget | LikelihoodTarget
"""What an additive model is about. Rows count `weight` times, and those of one of `groups` belong
together. Predictions are about `outcomes`, '' for one number, and on a `scale`. Slopes have the
prior standard deviation `slope_sd`, the constant the variance `constant_variance`. `solve` fits the
coefficients of a design, and `means` says how predictions follow from the predictor, where `fitted`
(n, outputs) is that of the fit.
"""


def number_target(
    y: Array,
    weight: Array | None = None,
    groups: IntArray | None = None,
    outcome: str = "",
) -> NumberTarget:
    """The target of a model of numbers (n,), perhaps one of several outcomes."""
    weight = np.ones(len(y)) if weight is None else weight
    y = np.asarray(y, dtype=float)
    centre = float(np.average(y, weights=weight))
    unit = float(np.sqrt(np.average((y - centre) ** 2, weights=weight))) or 1.0
    robust = has_robust_scale(y)
    values = (y - centre) / unit
    return NumberTarget(values, weight, centre, unit, robust, groups, (outcome,))


def label_target(
    response: Labels, weight: Array | None = None, groups: IntArray | None = None
) -> LabelTarget:
    """The target of a model of labels: of two classes, the second."""
    T = response.indicators
    part = np.zeros_like(T) if response.offset is None else response.offset
    named = tuple(map(str, response.classes[-T.shape[1] :]))
    return LabelTarget(T, np.ones(len(T)) if weight is None else weight, part, named, groups)


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


def information(D: Array, weights: Array) -> Array:
    """sum_i W_i (x) d_i d_i', (f m, f m): free outputs outside, columns inside."""
    f = weights.shape[1]
    return np.block([[(D * weights[:, c, d, None]).T @ D for d in range(f)] for c in range(f)])
