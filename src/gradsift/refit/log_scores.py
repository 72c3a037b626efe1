"""Log scores of held-out rows, by which predictors are tuned and averaged.

The gain of a predictor is sum_i log p(y_i | the fit without row i) less the same sum for a
constant prediction, in nats (Gneiting and Raftery, Strictly proper scoring rules, JASA 2007). Each
member h, a predictor on all columns, is fitted by least squares to Y (n, q). A `LogScore` derives Y
from the response, scores held-out predictions of Y, and chooses the unit and the level for which
level + unit h is a prediction on the scale of the link:

- `NumberScore`: Y is the standardised response, with the normal log score; unit and level are those
  of the response.
- `ClassScore`: Y are labels coded +-1, one column for two classes, else one per class against the
  rest. A slope that maximises the log score turns h into log odds (Platt, Probabilistic outputs for
  support vector machines, 1999). On gene data, labels and probabilities are predicted better than
  by ridge logistic regression.
- `LikelihoodScore`: Y is the standardised working response at some eta, and the log score is the
  log likelihood of held-out eta, nuisance parameters profiled out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Protocol, Self

import numpy as np
from scipy.special import gammaln, logsumexp

from gradsift.protocols import Array, IntArray
from gradsift.refit.evidence import (
    Refit,
    RefitRows,
    pivoted_features,
    residuals_and_leverages,
    solve_ridge,
)
from gradsift.refit.settings import RefitSettings
from gradsift.responses import Likelihood


class Calibrated(NamedTuple):
    """A member h on the scale of the link, level + unit h, and its gain over a constant in nats."""

    gain: float
    unit: float
    level: float = 0.0


class LogScore(Protocol):
    """How members learn a response, and what their predictions of held-out rows are worth."""

    @property
    def Y(self) -> Array:
        """(n, q) what members are fitted to by least squares."""
        ...

    @property
    def weights(self) -> Array:
        """(n,) how many times each row counts."""
        ...

    def take(self, rows: IntArray, weights: Array) -> Self:
        """The same of some rows (m,), with new weights (m,)."""
        ...

    def tuning(self, guess: Array, variance: Array) -> float:
        """What the hyperparameters of a member maximise: a score of leave-one-out predictions
        (n, q) of Y and their variances (n, q).
        """
        ...

    def of_rows(self, guess: Array, variance: Array) -> Calibrated:
        """The member with these leave-one-out predictions."""
        ...

    def of_folds(self, guess: Array, normal_gain: float) -> Calibrated:
        """The member with predictions (rounds, n, q) of held-out folds, and their gain as normal
        log scores.
        """
        ...

    def of_refit(self, refit: Refit, Z: Array) -> float:
        """Gain of the refit on its columns Z (n, d), each row left out in turn."""
        ...


def enough(Y: Array, weights: Array, settings: RefitSettings) -> bool:
    """Rows to be held out, not too many, and responses that vary."""
    rows = min(len(weights), float(weights.sum()))
    least, most = settings.ensemble_rows
    return bool(rows >= least and len(weights) <= most and np.ptp(Y, axis=0).min() > 0)


def log_choices(p: int, k: int) -> float:
    """log C(p, k): how many sets of k among p columns there are to choose from; where more are
    selected, because columns that never change were asked for, there is no choice.
    """
    k = min(k, p)
    return float(gammaln(p + 1) - gammaln(k + 1) - gammaln(p - k + 1))


# ------------------------------------------------ numbers
@dataclass(frozen=True, eq=False)
class NumberScore:
    """Normal log scores of the standardised response Y (n, 1).

    Attributes
    ----------
    unit, level : standard deviation and mean of the response.
    """

    Y: Array
    weights: Array
    unit: float
    level: float
    settings: RefitSettings

    @classmethod
    def of(
        cls, y: Array, sample_weight: Array | None, refit: Refit, settings: RefitSettings
    ) -> NumberScore | None:
        """Of y (n,) and how many times rows count; None where members are not tried.

        Outliers of the refit have lowered weights here too, unless they are the tail of a skewed
        response: the mean depends on it.
        """
        counts = np.ones(len(y)) if sample_weight is None else sample_weight
        if not enough(y[:, None], counts, settings):
            return None
        full = refit.tail or refit.robust_weight is None
        weights = counts if full else counts * np.asarray(refit.robust_weight)
        mean, unit = float(weights @ y / weights.sum()), float(np.std(y))
        Y = (y - mean)[:, None] / unit
        return cls(Y, weights, unit, mean, settings)

    @cached_property
    def null(self) -> float:
        """Log score of single rows under the mean of the others."""
        return float(normal_score(*constant_left_out(self.Y, self.weights), self.weights))

    def take(self, rows: IntArray, weights: Array) -> NumberScore:
        return replace(self, Y=self.Y[rows], weights=weights)

    def tuning(self, guess: Array, variance: Array) -> float:
        return float(normal_score(self.Y - guess, variance, self.weights))

    def of_rows(self, guess: Array, variance: Array) -> Calibrated:
        return Calibrated(self.tuning(guess, variance) - self.null, self.unit, self.level)

    def of_folds(self, guess: Array, normal_gain: float) -> Calibrated:
        return Calibrated(normal_gain, self.unit, self.level)

    def of_refit(self, refit: Refit, Z: Array) -> float:
        if refit.kernel is None:
            return 0.0
        return float(normal_score(*self.left_out(refit, Z), self.weights) - self.null)

    def left_out(self, refit: Refit, Z: Array) -> tuple[Array, Array]:
        """Errors of the refit at rows left out in turn, and their variances, (n, 1) each."""
        if refit.kernel is None:
            return constant_left_out(self.Y, self.weights)
        rows = RefitRows(Z, self.Y, self.weights)
        points = Z if len(Z) <= self.settings.exact_rows else refit.function.points
        least = self.settings.pivot(refit.penalty, self.weights)
        ridge = solve_ridge(pivoted_features(refit.kernel, points, least), refit.penalty, rows)
        residual, leverage = residuals_and_leverages(ridge, rows)
        left = 1.0 - leverage[:, None]
        return residual / left, ridge.scale * refit.penalty / left

    def spread(self, refit: Refit, Z: Array, shares: Array, held_out: Sequence[Array]) -> float:
        """Errors of an average at held-out rows, in standard deviations that the refit expects.

        `held_out` are predictions (n, 1) of the members, whose `shares` the refit lacks.
        """
        error, variance = self.left_out(refit, Z)
        average = (1.0 - shares.sum()) * (self.Y - error)
        for share, guess in zip(shares, held_out, strict=True):
            average = average + share * guess
        squares = self.weights @ np.square(self.Y - average)
        return float(np.sqrt(squares / (self.weights @ variance))[0])


def normal_score(error: Array, variance: Array, weights: Array) -> Array:
    """Weighted log density of errors (.., m, q), summed over the rows; constants left out."""
    variance = np.maximum(variance, 1e-300)
    scores = np.log(variance) + error**2 / variance
    return np.asarray(-0.5 * (weights @ scores).sum(axis=-1))


def constant_left_out(Y: Array, weights: Array) -> tuple[Array, Array]:
    """Errors of the mean of the other rows, and their variances, (n, q) each."""
    total = weights.sum()
    alone = 1.0 - 1.0 / total
    centred = Y - weights @ Y / total
    variance = weights @ centred**2 / total / alone
    return centred / alone, np.broadcast_to(variance, Y.shape)


# ------------------------------------------------ responses with a likelihood
@dataclass(frozen=True, eq=False)
class LikelihoodScore:
    """Log likelihoods of held-out predictions on the link scale.

    Attributes
    ----------
    response : Likelihood
    working : NumberScore
        Of its working response at some eta.
    """

    response: Likelihood
    working: NumberScore

    @classmethod
    def of(
        cls,
        response: Likelihood,
        eta: Array,
        sample_weight: Array | None,
        refit: Refit,
        settings: RefitSettings,
    ) -> LikelihoodScore | None:
        """Of a response whose members are fitted to its working response at eta (n, 1); None where
        members are not tried.
        """
        W = response.working(eta, np.ones(len(eta)) if sample_weight is None else sample_weight)
        working = NumberScore.of(W[:, 0], sample_weight, refit, settings)
        return None if working is None else cls(response, working)

    @property
    def Y(self) -> Array:
        return self.working.Y

    @property
    def weights(self) -> Array:
        return self.working.weights

    def take(self, rows: IntArray, weights: Array) -> LikelihoodScore:
        return replace(
            self, response=self.response.take(rows), working=self.working.take(rows, weights)
        )

    def tuning(self, guess: Array, variance: Array) -> float:
        return self.working.tuning(guess, variance)

    def of_rows(self, guess: Array, variance: Array) -> Calibrated:
        return self.of_folds(guess[None])

    def of_folds(self, guess: Array, normal_gain: float = 0.0) -> Calibrated:
        unit, level = self.working.unit, self.working.level
        gain = float(np.mean([self.gain(level + unit * one) for one in guess]))
        return Calibrated(gain, unit, level)

    def of_refit(self, refit: Refit, Z: Array) -> float:
        if refit.kernel is None:
            return 0.0
        fitted = LikelihoodScore.of(
            self.response, refit.value(Z), self.weights, refit, self.working.settings
        )
        assert fitted is not None
        own = fitted.working
        return self.gain(own.level + own.unit * (own.Y - own.left_out(refit, Z)[0]))

    def gain(self, eta: Array) -> float:
        """Log likelihood of eta (n, 1) above that of a constant."""
        null = self.response.deviance(np.zeros_like(eta), self.weights)
        return 0.5 * (null - self.response.deviance(eta, self.weights))


# ------------------------------------------------ classes
@dataclass(frozen=True, eq=False)
class ClassScore:
    """Log scores of classes, one against the rest.

    Attributes
    ----------
    T : (n, q) indicators of the second of two classes, or of all classes.
    """

    T: Array
    weights: Array
    settings: RefitSettings

    @classmethod
    def of(
        cls, codes: IntArray, n_classes: int, sample_weight: Array | None, settings: RefitSettings
    ) -> ClassScore | None:
        """Of class numbers 0 .. n_classes - 1 (n,), all of which occur, and how many times rows
        count; None where members are not tried.
        """
        weights = np.ones(len(codes)) if sample_weight is None else sample_weight.astype(float)
        T = (codes[:, None] == np.arange(n_classes)).astype(float)
        T = T[:, 1:] if n_classes == 2 else T
        if not enough(T, weights, settings):
            return None
        return cls(T, weights, settings)

    @property
    def Y(self) -> Array:
        return 2.0 * self.T - 1.0

    @property
    def part(self) -> float:
        """C one-against-rest problems say what C - 1 contrasts say, and count as those."""
        q = self.T.shape[1]
        return 1.0 if q == 1 else (q - 1) / q

    @cached_property
    def null(self) -> float:
        """Log score of classes under their frequencies in the other rows."""
        return chance_score(self.T, self.weights)

    def take(self, rows: IntArray, weights: Array) -> ClassScore:
        return replace(self, T=self.T[rows], weights=weights)

    def tuning(self, guess: Array, variance: Array) -> float:
        """Sum of squares, negative: slopes are chosen afterwards, and a normal variance of coded
        labels means little.
        """
        return -float((self.weights @ np.square(self.Y - guess)).sum())

    def of_rows(self, guess: Array, variance: Array) -> Calibrated:
        return self.of_folds(guess[None])

    def of_folds(self, guess: Array, normal_gain: float = 0.0) -> Calibrated:
        slopes = np.array(self.settings.slopes)
        slope, score = best_slope(guess, self.T, self.weights, slopes)
        if self.T.shape[1] > 1:
            lower = slope * np.array(self.settings.softmax_factors)
            slope = softmax_slope(guess, self.T, self.weights, lower)
        return Calibrated(self.part * (score - self.null), slope)

    def of_refit(self, refit: Refit, Z: Array) -> float:
        if refit.kernel is None:
            return 0.0
        left_out = refit.loo_loss * float(self.weights.sum()) * self.T.shape[1]
        return float(self.part * (-left_out - self.null))


def one_against_rest(margin: Array, T: Array, weights: Array) -> Array:
    """Summed log scores of log odds (.., n, q) for the chances T (n, q) of classes, which are 0 and
    1 where the class is known, one class against the rest.
    """
    scores = T * margin - np.logaddexp(0.0, margin)
    return np.asarray((weights @ scores).sum(axis=-1))


def best_slope(guess: Array, T: Array, weights: Array, slopes: Array) -> tuple[float, float]:
    """The slope b of those tried for which b times the least-squares score predicts best as log
    odds, and the log score it reaches.

    `guess` (rounds, n, q) holds one score per round, the log score is their mean. The slope is
    chosen by Platt's targets, (N + 1) / (N + 2) for a class seen N times: rows that are all on the
    right side would make it endless.
    """
    seen, rest = weights @ T, weights @ (1.0 - T)
    careful = np.where(T > 0, (seen + 1.0) / (seen + 2.0), 1.0 / (rest + 2.0))
    scores = one_against_rest(slopes[:, None, None, None] * guess, careful, weights)
    best = float(slopes[int(scores.mean(axis=1).argmax())])
    return best, float(one_against_rest(best * guess, T, weights).mean())


def softmax_slope(guess: Array, T: Array, weights: Array, slopes: Array) -> float:
    """The slope of those tried at which the softmax of scores (rounds, n, C) predicts the classes
    of held-out rows best.

    Log odds of one class against the rest are too bold together where two classes are alike and far
    from the others: both are sure not to be the others.
    """
    U = slopes[:, None, None, None] * guess
    scores = (T * (U - logsumexp(U, axis=-1, keepdims=True))).sum(axis=-1) @ weights
    return float(slopes[int(scores.mean(axis=1).argmax())])


def chance_score(T: Array, weights: Array) -> float:
    """Log score of classes under their frequencies in the other rows."""
    total = float(weights.sum())
    once = np.minimum(weights, 1.0)[:, None]
    chance = (weights @ T - once * T + 0.5) / (total - once + 1.0)
    return float(one_against_rest(np.log(chance / (1.0 - chance)), T, weights))
