"""What predictors explain of rows that they have not seen, in nats above the mean."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, logsumexp

from gradsift._typing import Array
from gradsift.refit.evidence import Rows
from gradsift.refit.expansion import pivoted_features
from gradsift.refit.kernel_ridge import Criterion, LeftOut
from gradsift.refit.regression import RegressionRefit
from gradsift.refit.repeated_cv import normal_score
from gradsift.refit.ridge import residuals_and_leverages, solve_ridge

LOG_FACTORS = -0.1 * np.arange(20, -1, -1)
"""Factors tried that make log odds of several classes less bold."""
LOG_SLOPES = np.arange(-3.0, 4.0, 0.1)
"""Slopes tried that turn least-squares scores of labels into log odds."""


def log_choices(p: int, k: int) -> float:
    """log C(p, k): how many sets of k among p columns there are to choose from; where more are
    selected, because columns that never change were asked for, there is no choice.
    """
    k = min(k, p)
    return float(gammaln(p + 1) - gammaln(k + 1) - gammaln(p - k + 1))


def leave_one_out_gain(refit: RegressionRefit, rows: Rows) -> float:
    """Log score of single rows under the refit without them, above that of the mean."""
    if refit.kernel is None:
        return 0.0
    ridge = solve_ridge(pivoted_features(refit.kernel, rows.X), refit.noise_ratio, rows)
    residual, leverage = residuals_and_leverages(ridge, rows)
    left = 1.0 - leverage[:, None]
    variance = ridge.scale * refit.noise_ratio / left
    mine = normal_score(residual / left, variance, rows.weights)
    return float(mine - mean_score(rows.Y, rows.weights))


def one_against_rest(margin: Array, T: Array, weights: Array) -> Array:
    """Summed log scores of log odds (.., n, q) for the chances T (n, q) of classes, which are 0 and
    1 where the class is known, one class against the rest.
    """
    scores = T * margin - np.logaddexp(0.0, margin)
    return np.asarray((weights @ scores).sum(axis=-1))


def careful_targets(T: Array, weights: Array) -> Array:
    """Platt's targets: classes seen N times are believed with chance (N + 1) / (N + 2)."""
    seen, rest = weights @ T, weights @ (1.0 - T)
    return np.asarray(np.where(T > 0, (seen + 1.0) / (seen + 2.0), 1.0 / (rest + 2.0)))


def best_slope(guess: Array, T: Array, weights: Array) -> tuple[float, float]:
    """b, where b times the least-squares score is the log odds, and the log score it reaches.

    `guess` (rounds, n, q) holds one score per round, the log score is their mean. The slope is
    chosen by careful targets: rows that are all on the right side would make it endless.
    """
    slopes = np.exp(LOG_SLOPES)
    careful = careful_targets(T, weights)
    scores = one_against_rest(slopes[:, None, None, None] * guess, careful, weights)
    best = float(slopes[int(scores.mean(axis=1).argmax())])
    return best, float(one_against_rest(best * guess, T, weights).mean())


def softmax_slope(guess: Array, T: Array, weights: Array, most: float) -> float:
    """The slope, at most `most`, at which the softmax of scores (rounds, n, C) tells the classes of
    rows that were left out best.

    Log odds of one class against the rest are too bold together where two classes are alike and far
    from the others: both are sure not to be the others.
    """
    slopes = most * np.exp(LOG_FACTORS)
    U = slopes[:, None, None, None] * guess
    scores = (T * (U - logsumexp(U, axis=-1, keepdims=True))).sum(axis=-1) @ weights
    return float(slopes[int(scores.mean(axis=1).argmax())])


def left_out_score(Y: Array, weights: Array) -> Criterion:
    """Log score of numbers."""

    def score(left: LeftOut) -> float:
        return float(normal_score(Y - left.guess, left.variance, weights))

    return score


def left_out_squares(Y: Array, weights: Array) -> Criterion:
    """Sum of squares of coded labels, negative."""

    def score(left: LeftOut) -> float:
        return -float((weights @ np.square(Y - left.guess)).sum())

    return score


def mean_score(Y: Array, weights: Array) -> float:
    """Log score of single rows (n, q) under the mean of the others."""
    total = weights.sum()
    alone = 1.0 - 1.0 / total
    centred = Y - weights @ Y / total
    flat = np.atleast_2d(weights @ centred**2 / total / alone)
    return float(normal_score(centred / alone, flat, weights))


def chance_score(T: Array, weights: Array) -> float:
    """Log score of classes under their frequencies in the other rows."""
    total = float(weights.sum())
    once = np.minimum(weights, 1.0)[:, None]
    chance = (weights @ T - once * T + 0.5) / (total - once + 1.0)
    return float(one_against_rest(np.log(chance / (1.0 - chance)), T, weights))
