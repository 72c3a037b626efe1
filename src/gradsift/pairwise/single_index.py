"""Predicting numbers and labels through the estimated directions.

A ridge in the coordinates of the sparse directions gives one index, and a local linear fit of the
response on that index gives the link. Coordinates are scaled by a power of the size of their
direction, so that a large power trusts the first direction alone and a small one many of them.
Ridge and bandwidth are those with the smallest leave-one-out error; the link sees the leave-one-out
index of every training sample, because the fitted one is too close to the response. A curve along
one index cannot represent functions of two, so that local linear fits in the first two and three
directions are added. Beyond the bulk of the samples all these functions become constant, unless
leave-one-out errors there favour a slope: it would depend on a few samples.

The prediction is an average of all these functions and of the ridges themselves, with weights that
decrease with the leave-one-out error. None is chosen alone, because directions were fitted to the
samples left out too, and a small advantage on few samples may be chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from gradsift.data.source import BLOCK_BYTES
from gradsift.numerics.losses import Loss
from gradsift.numerics.newton import minimise
from gradsift.numerics.ridge import RowProducts, SpectralRidge
from gradsift.numerics.sampling import merge_rows, spread_along
from gradsift.pairwise.assemble import Assembly, paper_loss
from gradsift.pairwise.local_linear import (
    best_bandwidth,
    inside,
    smooth,
    smooth_left_out,
    spread_of,
)
from gradsift.pairwise.weights import FEW_ROWS
from gradsift.protocols import Array
from gradsift.solver import Rows

POWERS = (1.0, 8.0)
"""Of the size of a direction, to scale its coordinate."""
RIDGES = np.logspace(-6.0, 3.0, 37)
"""Penalties, in units of the variance of all coordinates."""
CAUTION = 0.5
"""Standard errors that a link must gain to go on beyond the bulk of the samples. Links that are
level there lose about .01 of R2 on 200 fits of designs and .004 on 25 of real tables.
"""
PLANES = (2, 3)
"""Directions of local fits that are averaged with the index; without, .01 and .001 are lost."""
CLEARLY = 0.8
"""Their error is divided by it: directions were fitted to the sample that is left out."""
STACKING_POWER = 0.1
"""Power of the Gaussian likelihood of the samples left out in which predictors are averaged: one
would all but choose, nought forget the errors.
"""


class Index(NamedTuple):
    """Linear coordinates x . slope + intercept, and those of samples left out, (n, d)."""

    slope: Array
    intercept: Array
    left_out: Array


@dataclass(frozen=True)
class IndexPredictor:
    """y(x) = g(x . slope + intercept) on the selected columns, standardised.

    Attributes
    ----------
    slope : (a, d) array
        Combinations of the sparse directions: one index, or the first few of them.
    intercept : (d,) array
    places : (n, d) array
        Where the training samples lie that the link g is drawn through.
    y, share : (n,) arrays
        Their response and weight.
    scale : float
        Bandwidth of the link; inf = a straight line or plane.
    beyond : float
        How far the link goes on beyond the bulk of the samples: 0 = level, 1 = all the way.
    """

    slope: Array
    intercept: Array
    places: Array
    y: Array
    share: Array
    scale: float
    beyond: float = 1.0

    def __call__(self, X_new: Array) -> Array:
        """(1, n_new) predictions from the selected columns of new samples."""
        return self.link(X_new @ self.slope + self.intercept).T

    def link(self, at: Array) -> Array:
        """(k, 1) predictions at coordinates (k, d)."""
        both = self._smooth(np.concatenate([inside(at, self.places), at]))
        return (1.0 - self.beyond) * both[: len(at)] + self.beyond * both[len(at) :]

    def _smooth(self, at: Array) -> Array:
        height = max(1, BLOCK_BYTES // (8 * self.places.size))
        tiles = [at[a : a + height] for a in range(0, len(at), height)]
        Y = self.y[:, None]
        link = [smooth(tile, self.places, Y, self.share, self.scale) for tile in tiles]
        return np.concatenate(link)


@dataclass(frozen=True)
class LinearPredictor:
    """y(x) = x . slope + intercept on the selected columns, standardised; slope is (a, 1)."""

    slope: Array
    intercept: Array

    def __call__(self, X_new: Array) -> Array:
        """(1, n_new) predictions from the selected columns of new samples."""
        return np.asarray((X_new @ self.slope + self.intercept).T)


@dataclass(frozen=True)
class AveragedPredictor:
    """The mean of several predictors, with weights (k,) that sum to one."""

    members: tuple[IndexPredictor | LinearPredictor, ...]
    weights: Array

    def __call__(self, X_new: Array) -> Array:
        """(1, n_new) predictions from the selected columns of new samples."""
        return np.asarray(sum(w * g(X_new) for w, g in zip(self.weights, self.members)))


class Linked(NamedTuple):
    """A predictor, its leave-one-out error, and its leave-one-out predictions (n,)."""

    error: float
    predictor: IndexPredictor | LinearPredictor
    left_out: Array


class Averaged(NamedTuple):
    """The average of predictors, and its leave-one-out predictions (n,)."""

    predictor: AveragedPredictor
    left_out: Array


@dataclass(frozen=True)
class LabelPredictor:
    """Scores intercept_c + slope g_c(x), with g_c the predictor of the c-th column of labels.

    Attributes
    ----------
    links : tuple of AveragedPredictor
        One for two classes (labels -1 and 1), one per class for more (labels 0 and 1).
    intercept : (c,) array
    slope : float
    """

    links: tuple[AveragedPredictor, ...]
    intercept: Array
    slope: float

    def __call__(self, X_new: Array) -> Array:
        """(c, n_new) scores from the selected columns of new samples."""
        guess = np.concatenate([link(X_new) for link in self.links])
        return np.asarray(self.intercept[:, None] + self.slope * guess)


def index_predictor(assembly: Assembly, rows: Rows) -> AveragedPredictor | LabelPredictor:
    """The predictor that goes with an answer.

    Labels are predicted as numbers; one slope and an intercept per class turn what is predicted
    for samples left out into scores of least loss.
    """
    response = assembly.response
    X, Y, share, _ = merge_rows(
        assembly.source.columns(rows.index), response.values.T, assembly.share
    )
    linked = [link_index(X, y, rows.values, share) for y in Y.T]
    if not response.is_labels:
        return linked[0].predictor
    guess = np.array([link.left_out for link in linked])
    intercept, slope = calibrate(guess, Y.T, share, paper_loss(response))
    return LabelPredictor(tuple(link.predictor for link in linked), intercept, slope)


def calibrate(guess: Array, target: Array, share: Array, loss: Loss) -> tuple[Array, float]:
    """(intercepts, slope) of least mean loss of scores intercept_c + slope guess_c, (c, n).

    The slope pays for itself as if it had been seen at one sample: where samples left out are
    classified without an error, the loss alone would have it infinite.
    """
    middle = guess @ share
    spread = float(np.sqrt((((guess - middle[:, None]) ** 2) @ share).sum())) or 1.0
    unit, prior = (guess - middle[:, None]) / spread, 0.5 * float(share @ share)

    def value_and_gradient(x: Array) -> tuple[float, Array]:
        scores = x[:-1, None] + x[-1] * unit
        slopes = loss.slope(scores, target) * share
        value = float(loss.value(scores, target) @ share) + prior * float(x[-1] ** 2)
        tilt = float((slopes * unit).sum()) + 2.0 * prior * float(x[-1])
        return value, np.append(slopes.sum(axis=1), tilt)

    start = np.zeros(len(guess) + 1)
    x, _ = minimise(value_and_gradient, lambda x: value_and_gradient(x)[1], start)
    slope = max(0.0, float(x[-1])) / spread
    return np.asarray(x[:-1] - slope * middle), slope


def link_index(X: Array, y: Array, B: Array, share: Array) -> Averaged:
    """The average of predictors on selected columns X (n, a), no row of which is a copy of another,
    with coefficients B (a, m).
    """
    return average(list(members(X, y, B, share).values()), share)


def members(X: Array, y: Array, B: Array, share: Array) -> dict[str, Linked]:
    """The predictors that are averaged."""
    U, sizes, _ = np.linalg.svd(B, full_matrices=False)
    lead = sizes > 1e-6 * sizes.max(initial=0.0)
    if not lead.any():
        return {"mean": _flat(X.shape[1], y, share)}
    U, sizes = U[:, lead], sizes[lead] / sizes.max()
    found = {}
    for power in POWERS:
        index = ridge_index(X, U * sizes**power, y, share)
        found[f"link, power {power:g}"] = _linked(index, y, share)
        found[f"ridge, power {power:g}"] = _straight(index, y, share)
    for d in PLANES:
        if d <= min(len(sizes), len(y) // 10):
            scaled = U[:, :d] * sizes[:d]
            plane = Index(scaled, np.zeros(d), X @ scaled)
            local = _linked(plane, y, share, rising=False)
            found[f"plane in {d}"] = local._replace(error=local.error / CLEARLY)
    return found


def average(found: list[Linked], share: Array) -> Averaged:
    """Weights are powers of the likelihood of samples left out, their errors taken as normal."""
    limits = np.finfo(float)
    errors = np.log(np.clip([linked.error for linked in found], limits.tiny, limits.max))
    n = 1.0 / float(share @ share)
    weights = softmax(-0.5 * STACKING_POWER * n * errors)
    left_out = weights @ np.array([linked.left_out for linked in found])
    return Averaged(AveragedPredictor(tuple(f.predictor for f in found), weights), left_out)


def _flat(n_columns: int, y: Array, share: Array) -> Linked:
    """The constant prediction: the mean."""
    level = float(share @ y)
    predictor = LinearPredictor(np.zeros((n_columns, 1)), np.full(1, level))
    return Linked(float(share @ (y - level) ** 2), predictor, np.full(len(y), level))


def _straight(found: Index, y: Array, share: Array) -> Linked:
    """The ridge itself."""
    left_out = found.left_out[:, 0]
    error = float(share @ (y - left_out) ** 2)
    return Linked(error, LinearPredictor(found.slope, found.intercept), left_out)


def ridge_index(X: Array, directions: Array, y: Array, share: Array) -> Index:
    """Ridge regression on coordinates X @ directions, its penalty by leave-one-out."""
    ridge = SpectralRidge.of(RowProducts(X @ directions, factored=True), share, y[:, None])
    left_out = ridge.leave_one_out(RIDGES)[0][:, :, 0]
    best = int(np.argmin(np.square(y - left_out) @ share))
    level = float(ridge.mean[0])
    # without what leaving a sample out does to the mean: that alone would give the sample away
    places = left_out[best] + share * (y - level) / (1.0 - share)
    weights = ridge.centred.values.T @ ridge.dual(RIDGES[best])
    return Index(directions @ weights, level - ridge.middle @ weights, places[:, None])


def _linked(found: Index, y: Array, share: Array, *, rising: bool = True) -> Linked:
    """The predictor with the best bandwidth of the link.

    An index that does not rise with the response (`rising`) predicts nothing.
    """
    n, order = len(y), np.argsort(found.left_out[:, 0], kind="stable")
    some, nothing = spread_along(order, FEW_ROWS), _flat(len(found.slope), y, share)
    places, y, share = found.left_out[some], y[some], share[some] / share[some].sum()
    away, spread = places[:, 0] - share @ places[:, 0], spread_of(places, share)
    slack = 1e-12 * spread * float(np.std(y))
    if spread == 0.0 or (rising and not share @ (away * (y - share @ y)) > slack):
        return nothing
    best = best_bandwidth(places, y[:, None], share)
    scales = np.array([best.scale])
    level = smooth_left_out(inside(places, places), places, y[:, None], share, scales)[0, :, 0]
    on = best.left_out[:, 0]
    beyond = stacking_share(y - level, y - on, share)
    guess = (1.0 - beyond) * level + beyond * on
    error = float(share @ (y - guess) ** 2)
    predictor = IndexPredictor(found.slope, found.intercept, places, y, share, best.scale, beyond)
    if len(some) < n:  # one of very many has no say on the link
        guess = predictor.link(found.left_out)[:, 0]
    return Linked(error, predictor, guess)


def stacking_share(base: Array, other: Array, share: Array) -> float:
    """How much of another predictor to take, from the residuals of both on samples left out.

    What it gains in squared error over the base, less half a standard error, as a part of that
    gain: nothing where it gains nothing, nearly all where it clearly does.
    """
    gain = base**2 - other**2
    mean = float(share @ gain)
    error = float(np.sqrt(share**2 @ (gain - mean) ** 2))
    return max(0.0, 1.0 - CAUTION * error / mean) if mean > 0.0 else 0.0
