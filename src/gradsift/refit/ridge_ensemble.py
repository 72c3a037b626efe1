"""A ridge on all columns, a second member of the predictor where many small effects predict.

    h(x) = b + sum_j w_j x_j,    w_j ~ N(0, s v_j),    v_j = max(0, r_j^2 - 6.25 / (n - 1)),

a ridge on all columns whose own correlation r_j with the response stands out, each trusted by how
much it does (noise gives 1 / (n - 1) on average). Its noise ratio, and what it explains, come from
rows held out: 10 folds, the columns weighed anew in each; where rows are few, folds are dealt
several times, and scores averaged. What the selected few explain is known from leaving out single
rows, but they were chosen among all sets of their size, and pay log C(p, k) nats for that.
Predictions are an average of both,

    (1 - share) g + share h,
    log(share / (1 - share)) = 1/4 (gain of h - gain of g + log C(p, k)),

where gains are log scores of held-out rows above those of the mean, in nats. The power 1/4 makes up
for the noise in scores of few rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, gammaln

from gradsift._typing import Array, IntArray, Source
from gradsift.numerics.losses import Logistic
from gradsift.refit.classification import ClassificationRefit
from gradsift.refit.evidence import Rows
from gradsift.refit.expansion import pivoted_features
from gradsift.refit.regression import RegressionRefit
from gradsift.refit.repeated_cv import (
    GramRidge,
    RepeatedCV,
    ScreenedColumns,
    assign_folds,
    chunks,
    each_gram,
    normal_score,
    repeated_cv,
    screened_columns,
    training_weights,
)
from gradsift.refit.ridge import residuals_and_leverages, solve_ridge
from gradsift.refit.settings import LABELS, NUMBERS, RefitSettings

LOG_SLOPES = np.arange(-3.0, 4.0, 0.1)
"""Slopes tried that turn least-squares scores of labels into log odds."""

KEY_COLUMNS = 64


@dataclass(frozen=True, eq=False)
class Dense:
    """h(x) = intercept + weights'x[index] in standardised columns, and its share of predictions.

    Attributes
    ----------
    index : (k,) columns that h uses.
    weights : (k, q), one column per score: one, or as many as classes if those are above two.
    intercept : (q,).
    share : predictions are (1 - share) g + share h.
    gain : nats by which h explains held-out rows better than the mean does.
    sparse_gain : the same for g, less log C(p, k) for the choice of its k columns.
    """

    index: IntArray
    weights: Array
    intercept: Array
    share: float
    gain: float
    sparse_gain: float

    def scores(self, source: Source) -> Array:
        """h at standardised rows, (n, q)."""
        out = np.tile(self.intercept, (source.shape[0], 1))
        for part in chunks(len(self.index)):
            out += source.columns(self.index[part]) @ self.weights[part]
        return out

    def blend(self, sparse: Array, source: Source) -> Array:
        """(1 - share) g + share h for the values `sparse` of g, (n,) or (n, q)."""
        h = self.scores(source)
        return (1.0 - self.share) * sparse + self.share * (h[:, 0] if sparse.ndim == 1 else h)


# ------------------------------------------------ what both explain
def log_choices(p: int, k: int) -> float:
    """log C(p, k): how many sets of k among p columns there are to choose from."""
    return float(gammaln(p + 1) - gammaln(k + 1) - gammaln(p - k + 1))


def stacking_weight(gain: float, sparse_gain: float, settings: RefitSettings) -> float:
    """The part of the ridge in the average of predictions."""
    if gain < settings.least_gain:
        return 0.0
    share = float(expit(settings.stacking_power * (gain - sparse_gain)))
    return share if share >= settings.least_weight else 0.0


def leave_one_out_gain(refit: RegressionRefit, rows: Rows) -> float:
    """Log score of single rows under the refit without them, above that of the mean."""
    if refit.kernel is None:
        return 0.0
    ridge = solve_ridge(pivoted_features(refit.kernel, rows.X), refit.noise_ratio, rows)
    residual, leverage = residuals_and_leverages(ridge, rows)
    left = 1.0 - leverage[:, None]
    variance = ridge.scale * refit.noise_ratio / left
    total = rows.weights.sum()
    alone = 1.0 - 1.0 / total
    flat = np.atleast_2d(rows.weights @ rows.Y**2 / total / alone)
    mine = normal_score(residual / left, variance, rows.weights)
    return float(mine - normal_score(rows.Y / alone, flat, rows.weights))


def one_against_rest(margin: Array, T: Array, weights: Array) -> Array:
    """Summed log scores of log odds (.., n, q) for classes T (n, q), one against the rest."""
    losses = Logistic().value(margin[None], 2.0 * T - 1.0)
    return np.asarray(-(weights @ losses).sum(axis=-1))


def best_slope(guess: Array, T: Array, weights: Array) -> tuple[float, float]:
    """b, where b times the least-squares score is the log odds, and the log score it reaches.

    `guess` (rounds, n, q) holds one score per round, the log score is their mean.
    """
    slopes = np.exp(LOG_SLOPES)
    scores = one_against_rest(slopes[:, None, None, None] * guess, T, weights).mean(axis=1)
    best = int(scores.argmax())
    return float(slopes[best]), float(scores[best])


# ------------------------------------------------ the two tasks
def eligible(source: Source, Y: Array, weights: Array, settings: RefitSettings) -> bool:
    """More columns than rows (counted by weight), not too many rows, and responses that vary."""
    n, p = source.shape
    rows = max(float(weights.sum()), 1.0)
    varied = np.ptp(Y, axis=0).min() > 0
    least, most = settings.ridge_rows
    return bool(varied and min(n, rows) >= least and rows < p and max(n, rows) <= most)


@dataclass(frozen=True, eq=False)
class Preparation:
    """The columns that stand out, the ridge on all rows, and its scores on held-out rows."""

    source: Source
    columns: ScreenedColumns
    ridge: GramRidge
    scored: RepeatedCV

    @classmethod
    def of(
        cls, source: Source, Y: Array, weights: Array, settings: RefitSettings
    ) -> Preparation | None:
        """None if no column stands out."""
        key = source.columns(np.arange(min(KEY_COLUMNS, source.shape[1])))
        folds = assign_folds(Y, key, settings)
        W = training_weights(folds, weights, settings)
        if (W.sum(axis=1) <= 2.0).any() or len(np.unique(folds)) < settings.folds:
            return None
        sets = screened_columns(source, W, Y, settings)
        if len(sets[-1].index) == 0:
            return None
        grams = each_gram(source, sets)
        scored = repeated_cv(grams, folds, W, Y, weights, settings)
        return cls(source, sets[-1], GramRidge.of(next(grams), weights, Y), scored)

    def finish(self, share: float, gain: float, sparse_gain: float, slope: float = 1.0) -> Dense:
        """h itself, on all rows, its values times `slope`."""
        dual = slope * self.ridge.dual(self.scored.noise_ratio) / self.ridge.size
        index, prior = self.columns.index, self.columns.prior
        w = np.empty((len(index), dual.shape[1]))
        values = np.zeros_like(dual)
        for part in chunks(len(index)):
            Z = self.source.columns(index[part])
            w[part] = prior[part, None] * (Z.T @ dual)
            values += Z @ w[part]
        middle = self.ridge.weights @ values / self.ridge.weights.sum()
        return Dense(index, w, slope * self.ridge.mean - middle, share, gain, sparse_gain)


def dense_regression(
    source: Source,
    X: Array,
    y: Array,
    refit: RegressionRefit,
    sample_weight: Array | None = None,
    settings: RefitSettings = NUMBERS,
) -> Dense | None:
    """The ridge beside a refit, or None where it has no part in predictions.

    Parameters
    ----------
    source : all columns, standardised.
    X : (n, k) selected columns, as the refit had them.
    y : (n,) response.
    refit : what was fitted on X; its trust in the rows is taken over.
    sample_weight : (n,) how many times each row counts, all positive.
    """
    counts = np.ones(len(y)) if sample_weight is None else sample_weight
    if not eligible(source, y[:, None], counts, settings):
        return None
    weights = counts * refit.trust
    mean = float(weights @ y / weights.sum())
    unit = float(np.std(y))
    Y = (y - mean)[:, None] / unit
    ready = Preparation.of(source, Y, weights, settings)
    if ready is None:
        return None
    gain = ready.scored.gain
    paid = log_choices(source.shape[1], X.shape[1])
    sparse_gain = leave_one_out_gain(refit, Rows(X, Y, weights)) - paid
    share = stacking_weight(gain, sparse_gain, settings)
    if share == 0.0:
        return None
    h = ready.finish(share, gain, sparse_gain, unit)
    return replace(h, intercept=h.intercept + mean)


def dense_classification(
    source: Source,
    X: Array,
    labels: IntArray,
    refit: ClassificationRefit,
    sample_weight: Array | None = None,
    settings: RefitSettings = LABELS,
) -> Dense | None:
    """The same for labels 0 .. C - 1, all of which occur.

    h is least squares on labels coded +-1, times a slope that makes log odds of it: on gene data
    that predicts better than ridge logistic regression, by labels and by probabilities.
    """
    weights = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    T = (labels[:, None] == np.arange(refit.n_classes)).astype(float)
    T = T[:, 1:] if refit.n_classes == 2 else T
    if not eligible(source, T, weights, settings):
        return None
    ready = Preparation.of(source, 2.0 * T - 1.0, weights, settings)
    if ready is None:
        return None
    total = float(weights.sum())
    # C one-against-rest problems say what C - 1 contrasts say, and count as those
    part = (refit.n_classes - 1) / T.shape[1]
    slope, score = best_slope(ready.scored.guess, T, weights)
    frequent = (total * (1.0 + ready.scored.mean) / 2.0 + 0.5) / (total + 1.0)
    null = float(one_against_rest(np.log(frequent / (1.0 - frequent)), T, weights).mean())
    gain, paid = part * (score - null), log_choices(source.shape[1], X.shape[1])
    left_out = -null if refit.kernel is None else refit.loo_loss * total * T.shape[1]
    sparse_gain = part * (-left_out - null) - paid
    share = stacking_weight(gain, sparse_gain, settings)
    if share == 0.0:
        return None
    return ready.finish(share, gain, sparse_gain, slope)
