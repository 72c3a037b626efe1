"""The dense rival of the selected few: ridge on all columns, where many small effects predict.

With far more columns than rows, a few of them fit well by the luck of the choice. So the sparse
predictor g pays for the choice among all sets of its size, log C(p, k) nats, before its evidence is
compared with that of h(x) = b + w'x, w ~ N(0, s I) over all p columns. Predictions are an average,

    (1 - share) g + share h,    log(share / (1 - share))
                                  = 1/4 ( log p(Y | h) - log p(Y | g) + log C(p, k) ).

The power 1/4 tempers evidences that are both those of crude models (least squares on coded labels,
normal weights). Where h says less than 3 nats more than the mean alone, there is no average.

h needs the rows only through their Gram matrix, n x n, which is met block by block: it is fitted in
the principal coordinates of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import expit, gammaln

from gradsift._passes import each_block
from gradsift._typing import Array, IntArray, Source
from gradsift.refit.candidates import Candidate
from gradsift.refit.classification import ClassificationRefit, code_labels, fit_labels
from gradsift.refit.evidence import NOISE_BOUNDS, Rows
from gradsift.refit.expansion import Expansion, pivoted_features
from gradsift.refit.kernels import Linear
from gradsift.refit.regression import RegressionRefit
from gradsift.refit.ridge import solve_ridge

POWER = 0.25
LEAST_GAIN = 3.0
"""Nats by which h must explain more than the mean does."""

LEAST_SHARE = 0.02
"""A smaller share is not worth a pass over all columns with every prediction."""

LOG_NOISE = np.arange(*NOISE_BOUNDS, 0.05)
"""Noise ratios tried: a grid, which rounding does not move."""

MOST_ROWS = 1_000
RANK_TOLERANCE = 1e-10


def times(W: Array, Z: Array) -> Array:
    return np.asarray(Z @ W)


def times_transposed(W: Array, Z: Array) -> Array:
    return np.asarray(Z.T @ W)


def row_gram(Z: Array) -> Array:
    return np.asarray(Z @ Z.T)


@dataclass(frozen=True, eq=False)
class Dense:
    """h(x) = intercept + weights'x in standardised columns, and its share of the predictions.

    Attributes
    ----------
    weights : (p, q), one column per score: one, or as many as classes if those are above two.
    intercept : (q,).
    share : predictions are (1 - share) g + share h.
    gain : nats by which h explains more than the mean.
    sparse_gain : the same for g, less log C(p, k) for the choice of its k columns.
    """

    weights: Array
    intercept: Array
    share: float
    gain: float
    sparse_gain: float

    def scores(self, source: Source) -> Array:
        """h at standardised rows, (n, q): one pass over all columns."""
        out = np.tile(self.intercept, (source.shape[0], 1))
        for _, part in each_block(source, lambda where: partial(times, self.weights[where])):
            out += part
        return out

    def blend(self, sparse: Array, source: Source) -> Array:
        """(1 - share) g + share h for the values `sparse` of g, (n,) or (n, q)."""
        h = self.scores(source)
        return (1.0 - self.share) * sparse + self.share * (h[:, 0] if sparse.ndim == 1 else h)


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Rows in their principal coordinates C (n, r), and the way back: Z Z' back v = C v."""

    C: Array
    back: Array

    @property
    def kernel(self) -> Linear:
        return Linear(self.C.shape[1])


def principal_coordinates(source: Source, weights: Array) -> Coordinates:
    """Coordinates with the Gram matrix of all columns, scaled so that x'x / r has mean one over the
    weighted rows.
    """
    n = source.shape[0]
    gram = np.zeros((n, n))
    for _, part in each_block(source, lambda _: row_gram):
        gram += part
    values, vectors = np.linalg.eigh(gram)
    keep = values > RANK_TOLERANCE * max(float(values[-1]), 1e-300)
    root, U = np.sqrt(values[keep]), vectors[:, keep]
    size = max(float(weights @ gram.diagonal() / weights.sum()), 1e-300)
    unit = np.sqrt(len(root) / size)
    return Coordinates(U * (unit * root), U * (unit / root))


def column_weights(source: Source, where: Coordinates, function: Expansion) -> Array:
    """(p, q) weights of the standardised columns, for linear functions of the coordinates."""
    slope = function.points.T @ function.coefficients / where.kernel.dimension
    dual = where.back @ slope
    out = np.empty((source.shape[1], dual.shape[1]))
    for block, part in each_block(source, lambda _: partial(times_transposed, dual)):
        out[block] = part
    return out


def restricted_loss(K: Array | None, Y: Array, weights: Array) -> tuple[float, float]:
    """Smallest -log evidence of s (K + eta / w) over the noise ratio eta, up to a constant that all
    kernels share, and that eta; None is K = 0.

    The mean of Y is fitted, so it is projected out of Y and of the kernel: kernels with and without
    a constant part are then on equal terms. Weights are counts, as in `evidence`.
    """
    total, q = float(weights.sum()), Y.shape[1]
    root = np.sqrt(weights)
    mean = root / np.sqrt(total)
    Z = root[:, None] * Y
    Z = Z - np.outer(mean, mean @ Z)
    if K is None:
        return float(0.5 * (total - 1) * np.log((Z * Z).sum(axis=0)).sum()), np.inf
    B = root[:, None] * K * root
    B = B - np.outer(mean, mean @ B)
    B = B - np.outer(B @ mean, mean)
    # the direction taken out is made the last eigenvector, so as to tell it from other null vectors
    values, vectors = np.linalg.eigh(B + (1.0 + 2.0 * np.trace(B)) * np.outer(mean, mean))
    values, energy = np.maximum(values[:-1], 0.0), (vectors[:, :-1].T @ Z) ** 2

    d = values[:, None] + np.exp(LOG_NOISE)
    scales = np.stack([(e[:, None] / d).sum(axis=0) for e in energy.T])
    determinant = np.log(d).sum(axis=0) + (total - len(Y)) * LOG_NOISE
    losses = 0.5 * ((total - 1) * np.log(scales).sum(axis=0) + q * determinant)
    best = int(losses.argmin())
    return float(losses[best]), float(np.exp(LOG_NOISE[best]))


def log_choices(p: int, k: int) -> float:
    """log C(p, k): how many sets of k among p columns there are to choose from."""
    return float(gammaln(p + 1) - gammaln(k + 1) - gammaln(p - k + 1))


@dataclass(frozen=True, eq=False)
class Rival:
    """Where h lives, its noise ratio, and what it and g explain."""

    where: Coordinates
    noise_ratio: float
    gain: float
    sparse_gain: float

    @property
    def share(self) -> float:
        if self.gain < LEAST_GAIN:
            return 0.0
        share = float(expit(POWER * (self.gain - self.sparse_gain)))
        return share if share >= LEAST_SHARE else 0.0


def weigh(
    source: Source, rows: Rows, candidates: tuple[Candidate, ...], contrasts: int = 1
) -> Rival:
    """Evidence of all columns against that of the chosen kernel on the selected ones, rows.X.

    C indicators of classes say what C - 1 `contrasts` say, and count as those.
    """
    where = principal_coordinates(source, rows.weights)
    part = contrasts / rows.Y.shape[1]
    mean_only = restricted_loss(None, rows.Y, rows.weights)[0]
    dense, noise_ratio = restricted_loss(where.kernel(where.C, where.C), rows.Y, rows.weights)
    sparse_gain = 0.0
    if candidates:
        sparse = restricted_loss(candidates[0].kernel(rows.X, rows.X), rows.Y, rows.weights)[0]
        paid = log_choices(source.shape[1], rows.X.shape[1])
        sparse_gain = part * (mean_only - sparse) - paid
    return Rival(where, noise_ratio, part * (mean_only - dense), sparse_gain)


def eligible(source: Source, Y: Array, weights: Array) -> bool:
    """More columns than rows (counted by weight), not too many rows, and responses that vary."""
    n, p = source.shape
    rows = max(float(weights.sum()), 1.0)
    varied = np.ptp(Y, axis=0).min() > 0
    return bool(varied and 2 < rows < p and max(n, rows) <= MOST_ROWS)


def dense_regression(
    source: Source, X: Array, y: Array, refit: RegressionRefit, sample_weight: Array | None = None
) -> Dense | None:
    """The dense rival of a refit, or None where it has no share.

    Parameters
    ----------
    source : all columns, standardised.
    X : (n, k) selected columns, as the refit had them.
    y : (n,) response.
    refit : what was fitted on X; its trust in the rows is taken over.
    sample_weight : (n,) how many times each row counts, all positive.
    """
    counts = np.ones(len(y)) if sample_weight is None else sample_weight
    if not eligible(source, y[:, None], counts):
        return None
    weights = counts * refit.trust
    mean = float(weights @ y / weights.sum())
    Y = (y - mean)[:, None]
    rival = weigh(source, Rows(X, Y, weights), refit.candidates)
    if rival.share == 0.0:
        return None
    C = rival.where.C
    features = pivoted_features(rival.where.kernel, C)
    ridge = solve_ridge(features, rival.noise_ratio, Rows(C, Y, weights))
    w = column_weights(source, rival.where, features.expansion(ridge.beta))
    return Dense(w, np.array([mean]), rival.share, rival.gain, rival.sparse_gain)


def dense_classification(
    source: Source,
    X: Array,
    labels: IntArray,
    refit: ClassificationRefit,
    sample_weight: Array | None = None,
) -> Dense | None:
    """The same for labels 0 .. C - 1, all of which occur: h are the scores of a ridge logistic
    regression.
    """
    weights = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    T = (labels[:, None] == np.arange(refit.n_classes)).astype(float)
    T = T[:, 1:] if refit.n_classes == 2 else T
    if not eligible(source, T, weights):
        return None
    rows = code_labels(X, T, weights)
    rival = weigh(source, rows, refit.candidates, contrasts=refit.n_classes - 1)
    if rival.share == 0.0:
        return None
    function, intercept = fit_labels(rival.where.kernel, rival.where.C, T, weights)
    w = column_weights(source, rival.where, function)
    return Dense(w, intercept, rival.share, rival.gain, rival.sparse_gain)
