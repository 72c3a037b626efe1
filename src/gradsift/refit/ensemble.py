"""Predictors on all columns, averaged with the predictor on the selected ones where that helps.

Three predictors may be averaged with g, the function of the selected columns:

- a ridge h(x) = b + sum_j w_j x_j, w_j ~ N(0, s v_j), v_j = max(0, r_j^2 - 6.25 / (n - 1)), on the
  columns whose squared correlation r_j^2 with the response is more than 6.25 times the mean that
  noise gives, 1 / (n - 1). Its noise ratio and its score come from 10-fold cross-validation, with
  the prior variances v_j computed anew in each fold; where rows are few, the cross-validation is
  repeated and scores are averaged.
- a kernel ridge on all columns (`kernel_ridge`), with a Gaussian and with a Laplace kernel, scored
  by leave-one-out.

All see columns cut off at three standard deviations. g is scored by leave-one-out too; because its
k columns were selected from p, log C(p, k) nats are subtracted from its score. The weights of the
average are proportional to exp(gain / 4), where gains are log scores of held-out rows above those
of the mean, in nats. The power 1/4 allows for the noise in scores of few rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp, softmax

from gradsift._run.passes import each_block
from gradsift.data import CutSource, take_rows
from gradsift.protocols import Array, IntArray, Source
from gradsift.refit.all_columns import (
    Criterion,
    GramRidge,
    KernelColumns,
    KernelFit,
    KernelMember,
    LeftOut,
    RepeatedCV,
    ScreenedColumns,
    assign_folds,
    chunks,
    distinct_rows,
    each_gram,
    normal_score,
    repeated_cv,
    screened_columns,
    training_weights,
)
from gradsift.refit.classification import ClassificationRefit
from gradsift.refit.features import (
    RefitRows,
    pivoted_features,
    residuals_and_leverages,
    solve_ridge,
)
from gradsift.refit.regression import RegressionRefit
from gradsift.refit.settings import LABELS, NUMBERS, RefitSettings

# What predictors explain of rows that they have not seen, in nats above the mean.


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


def leave_one_out_gain(refit: RegressionRefit, rows: RefitRows) -> float:
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


@dataclass(frozen=True, eq=False)
class LinearMember:
    """h(x) = intercept + weights'x[index] in standardised columns, cut off.

    Attributes
    ----------
    limit : standard deviations at which columns are cut off.
    index : (k,) columns that h uses.
    weights : (k, q), one column per score: one, or as many as classes if those are above two.
    intercept : (q,).
    """

    limit: float
    index: IntArray
    weights: Array
    intercept: Array

    @property
    def kind(self) -> str:
        return "ridge"

    @property
    def n_columns(self) -> int:
        return len(self.index)

    def scores(self, source: Source) -> Array:
        """h at standardised rows, (n, q)."""
        columns = CutSource(source, self.limit)
        out = np.tile(self.intercept, (source.shape[0], 1))
        for part in chunks(len(self.index)):
            out += columns.columns(self.index[part]) @ self.weights[part]
        return out


Member = LinearMember | KernelMember


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Predictors on all columns, and their shares of the predictions.

    Attributes
    ----------
    members : what predictions of the selected few are averaged with.
    shares : the part of each; the selected few have the rest.
    gains : nats by which each explains held-out rows better than the mean does.
    sparse_gain : the same for the selected few, less log C(p, k) for the choice of k columns.
    """

    members: tuple[Member, ...]
    shares: tuple[float, ...]
    gains: tuple[float, ...]
    sparse_gain: float

    @property
    def columns(self) -> IntArray:
        """Columns that members use, increasing."""
        return np.unique(np.concatenate([member.index for member in self.members]))

    def blend(self, sparse: Array, source: Source) -> Array:
        """The average, for the values `sparse` of the selected few, (n,) or (n, q)."""
        out = (1.0 - sum(self.shares)) * sparse
        for member, share in zip(self.members, self.shares, strict=True):
            scores = member.scores(source)
            out = out + share * (scores[:, 0] if sparse.ndim == 1 else scores)
        return out


class Candidate(NamedTuple):
    """A member that may get a share: its gain, and how to make it if it does."""

    gain: float
    make: Callable[[], Member]


# ------------------------------------------------ shares
def stacking_shares(gains: Array, sparse_gain: float, settings: RefitSettings) -> Array:
    """The part of each member in the average of predictions; the selected few have the rest."""
    hope = np.where(gains >= settings.least_gain, gains, -np.inf)
    shares = softmax(settings.stacking_power * np.append(hope, sparse_gain))
    shares = np.where(shares >= settings.least_weight, shares, 0.0)
    return np.asarray(shares[:-1] / max(float(shares.sum()), 1e-300))


def combine(
    candidates: list[Candidate], sparse_gain: float, settings: RefitSettings
) -> Ensemble | None:
    """The members that get a share, or None if none does."""
    gains = np.array([candidate.gain for candidate in candidates])
    shares = stacking_shares(gains, sparse_gain, settings)
    kept = np.flatnonzero(shares > 0)
    if len(kept) == 0:
        return None
    return Ensemble(
        tuple(candidates[k].make() for k in kept),
        tuple(shares[kept].tolist()),
        tuple(gains[kept].tolist()),
        sparse_gain,
    )


# ------------------------------------------------ members that may get a share
def varying(source: Source) -> int:
    """Columns, standardised, that are not constant."""
    return sum(count for _, count in each_block(source, lambda _: count_varying))


def count_varying(Z: Array) -> int:
    return int(Z.any(axis=0).sum())


def enough(Y: Array, weights: Array, settings: RefitSettings) -> bool:
    """Rows to be held out, not too many, and responses that vary."""
    rows = min(len(weights), float(weights.sum()))
    least, most = settings.ensemble_rows
    return bool(rows >= least and len(weights) <= most and np.ptp(Y, axis=0).min() > 0)


@dataclass(frozen=True, eq=False)
class ScoredRidge:
    """The columns that stand out, the ridge on all rows, and its scores on held-out rows."""

    source: CutSource
    columns: ScreenedColumns
    ridge: GramRidge
    scored: RepeatedCV

    @classmethod
    def of(
        cls, source: Source, Y: Array, weights: Array, distinct: IntArray, settings: RefitSettings
    ) -> ScoredRidge | None:
        """None if rows are too many, or no column stands out."""
        if max(len(Y), float(weights.sum())) > settings.ridge_rows:
            return None
        folds = assign_folds(distinct, settings)
        W = training_weights(folds, weights, settings)
        if (W.sum(axis=1) <= 2.0).any() or len(np.unique(folds)) < settings.folds:
            return None
        cut = CutSource(source, settings.cut)
        sets = screened_columns(cut, W, Y, settings)
        if len(sets[-1].index) == 0:
            return None
        grams = each_gram(cut, sets)
        scored = repeated_cv(grams, folds, W, Y, weights, settings)
        return cls(cut, sets[-1], GramRidge.of(next(grams), weights, Y), scored)

    def member(self, unit: float = 1.0, level: float = 0.0) -> LinearMember:
        """level + unit h, on all rows."""
        dual = unit * self.ridge.dual(self.scored.noise_ratio) / self.ridge.size
        index, prior = self.columns.index, self.columns.prior
        w = np.empty((len(index), dual.shape[1]))
        values = np.zeros_like(dual)
        for part in chunks(len(index)):
            Z = self.source.columns(index[part])
            w[part] = prior[part, None] * (Z.T @ dual)
            values += Z @ w[part]
        middle = self.ridge.weights @ values / self.ridge.weights.sum()
        return LinearMember(self.source.limit, index, w, level + unit * self.ridge.mean - middle)


class ScoredKernel(NamedTuple):
    """A kernel ridge with its predictions of distinct rows left out; rows and their weights."""

    fit: KernelFit
    rows: IntArray
    weights: Array


def scored_kernels(
    source: Source,
    Y: Array,
    weights: Array,
    distinct: IntArray,
    criterion: Callable[[Array, Array], Criterion],
    settings: RefitSettings,
) -> Iterator[ScoredKernel]:
    """One for each form of the kernel; none where the table has too many columns to keep rows of
    them.
    """
    if source.shape[1] > settings.kernel_columns:
        return
    rows = np.sort(np.unique(distinct, return_index=True)[1])
    counts = np.bincount(distinct, weights).astype(np.float64)[distinct[rows]]
    few = source if len(rows) == len(Y) else take_rows(source, rows)
    columns = KernelColumns.of(few, counts, np.argsort(distinct[rows]), settings)
    for form in columns.forms:
        yield ScoredKernel(columns.fit(form, Y[rows], counts, criterion), rows, counts)


# ------------------------------------------------ the two tasks
def ensemble_regression(
    source: Source,
    X: Array,
    y: Array,
    refit: RegressionRefit,
    sample_weight: Array | None = None,
    settings: RefitSettings = NUMBERS,
) -> Ensemble | None:
    """What predictions of a refit are averaged with, or None where nothing else has a part.

    Parameters
    ----------
    source : all columns, standardised.
    X : (n, k) selected columns, as the refit had them.
    y : (n,) response.
    refit : what was fitted on X; its robust weights of outliers are taken over.
    sample_weight : (n,) how many times each row counts, all positive.
    """
    counts = np.ones(len(y)) if sample_weight is None else sample_weight
    if not enough(y[:, None], counts, settings):
        return None
    weights = counts if refit.tail else counts * refit.robust_weight
    mean, unit = float(weights @ y / weights.sum()), float(np.std(y))
    Y = (y - mean)[:, None] / unit
    distinct = distinct_rows(source, Y, weights)
    candidates = []
    ridge = ScoredRidge.of(source, Y, weights, distinct, settings)
    if ridge is not None:
        candidates.append(Candidate(ridge.scored.gain, partial(ridge.member, unit, mean)))
    for kernel in scored_kernels(source, Y, weights, distinct, left_out_score, settings):
        score = left_out_score(Y[kernel.rows], kernel.weights)(kernel.fit.left_out)
        gain = score - mean_score(Y, weights)
        candidates.append(Candidate(gain, partial(kernel.fit.member.rescaled, unit, mean)))
    paid = log_choices(varying(source), X.shape[1])
    sparse_gain = leave_one_out_gain(refit, RefitRows(X, Y, weights)) - paid
    return combine(candidates, sparse_gain, settings)


def slope_of_classes(guess: Array, T: Array, weights: Array) -> tuple[float, float]:
    """The slope that makes log odds of least-squares scores (rounds, n, q), or scores of a softmax
    of several classes, and the log score of one class against the rest.
    """
    slope, score = best_slope(guess, T, weights)
    if T.shape[1] > 1:
        slope = softmax_slope(guess, T, weights, most=slope)
    return slope, score


def ensemble_classification(
    source: Source,
    X: Array,
    labels: IntArray,
    refit: ClassificationRefit,
    sample_weight: Array | None = None,
    settings: RefitSettings = LABELS,
) -> Ensemble | None:
    """The same for labels 0 .. C - 1, all of which occur.

    Members are least squares on labels coded +-1, times a slope that makes log odds of it: on gene
    data that predicts better than ridge logistic regression, by labels and by probabilities.
    """
    weights = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    T = (labels[:, None] == np.arange(refit.n_classes)).astype(float)
    T = T[:, 1:] if refit.n_classes == 2 else T
    if not enough(T, weights, settings):
        return None
    Y = 2.0 * T - 1.0
    # C one-against-rest problems say what C - 1 contrasts say, and count as those
    part = (refit.n_classes - 1) / T.shape[1]
    total = float(weights.sum())
    null = chance_score(T, weights)
    distinct = distinct_rows(source, Y, weights)
    candidates = []
    ridge = ScoredRidge.of(source, Y, weights, distinct, settings)
    if ridge is not None:
        slope, score = slope_of_classes(ridge.scored.guess, T, weights)
        candidates.append(Candidate(part * (score - null), partial(ridge.member, slope)))
    for kernel in scored_kernels(source, Y, weights, distinct, left_out_squares, settings):
        guess, counts = kernel.fit.left_out.guess[None], kernel.weights
        slope, score = slope_of_classes(guess, T[kernel.rows], counts)
        candidates.append(
            Candidate(part * (score - null), partial(kernel.fit.member.rescaled, slope))
        )
    left_out = -null if refit.kernel is None else refit.loo_loss * total * T.shape[1]
    sparse_gain = part * (-left_out - null) - log_choices(varying(source), X.shape[1])
    return combine(candidates, sparse_gain, settings)
