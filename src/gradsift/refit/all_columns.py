"""Predictors on all columns: a ridge on screened columns, and kernel ridges.

With many columns and few rows, all columns together often predict better than the few that are
selected. These predictors h are called members. They are fitted by least squares to Y (n, q), which
a `LogScore` derives from the response. Standardised columns are cut off at `clip` standard
deviations, because an outlying value would dominate a ridge, and would make its row unlike all
others for a kernel. Both kinds of member are a `SpectralRidge`.

Ridge (`fit_screened_ridge`, up to `most_rows` rows):

    h(x) = b + sum_j w_j x_j,    w_j ~ N(0, s v_j),    v_j = max(0, r_j^2 - ridge_cut / (n - 1)),

on the columns whose squared correlation r_j^2 with Y clearly exceeds 1 / (n - 1), its mean for
noise (screening as in Fan and Lv, Sure independence screening, JRSS B 2008). Noise ratio and score
come from repeated cross-validation, with v_j computed anew from the training rows of each fold: one
pass over all columns for all folds together, then one matrix of inner products of rows per fold.

Kernel ridges (`fit_kernels`, up to `kernel_columns` columns):

    h(x) = b + sum_i a_i k(u(x), u(x_i)),

    k(u, v) = exp(-sum_j (u_j - v_j)^2 / (2 l^2 p))     Gaussian: smooth in all columns together,
    k(u, v) = exp(-sum_j |u_j - v_j| / (l p))           Laplace: h may bend anywhere, as a forest
                                                        does; nearly additive where l is long,

where u(x) are the columns, standardised again after they were cut off. Length scale l and noise
ratio are chosen by leave-one-out prediction. Length scales are tried from the longest down, as long
as the prediction improves. Up to `most_rows` rows this is exact. With more rows, `most_rows` of
them are used to choose the length scale, and as landmarks of the function (Williams and Seeger,
Using the Nystrom method, NIPS 2000); the noise ratio and the coefficients use all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from gradsift._run.passes import each_block
from gradsift.data import (
    ArraySource,
    CutSource,
    ScaledSource,
    Scaling,
    measure_scaling,
    take_rows,
)
from gradsift.data.source import SourceView, windows
from gradsift.numerics.distances import products, source_products
from gradsift.numerics.ridge import RowProducts, SpectralRidge
from gradsift.numerics.sampling import (
    canonical_order,
    evenly_spaced,
    folds_along,
    gram_products,
    spread_along,
)
from gradsift.protocols import Array, IntArray, Source
from gradsift.refit.log_scores import Calibrated, LogScore, normal_score
from gradsift.refit.settings import NUMBERS, RefitSettings

LEAST_EIGENVALUE = 1e-10
"""Rounding: directions of landmarks with less than this part of the largest eigenvalue are dropped.
"""
COPIED = 128
"""Memory: columns copied at a time."""
PIECE = 512
"""Memory: columns multiplied at a time."""

Form = Literal["gaussian", "laplace"]


@dataclass(frozen=True, eq=False)
class KernelMember:
    """A kernel expansion in all columns.

    Attributes
    ----------
    scaling : Scaling of the columns after they were cut.
    limit : standard deviations at which columns are cut.
    landmarks : (m, p) rows that carry the function, cut and standardised.
    coefficients : (m, q).
    intercept : (q,).
    length : l, in units of the typical size of a row.
    form : of the kernel.
    """

    scaling: Scaling
    limit: float
    landmarks: Array
    coefficients: Array
    intercept: Array
    length: float
    form: Form

    @property
    def kind(self) -> str:
        return "kernel ridge" if self.form == "gaussian" else "Laplace kernel ridge"

    @property
    def index(self) -> IntArray:
        """Columns that it uses: all that vary."""
        return np.flatnonzero(np.isfinite(self.scaling.scale))

    @property
    def n_columns(self) -> int:
        return len(self.index)

    def scores(self, source: Source) -> Array:
        """f at standardised rows, (n, q)."""
        view = ScaledSource(CutSource(source, self.limit), self.scaling)
        apart = DISTANCES[self.form](view, self.landmarks)
        K = KERNELS[self.form](apart, self.length, self.n_columns)
        return np.asarray(self.intercept + K @ self.coefficients)


def some_rows(source: Source, rows: IntArray) -> Array:
    """Rows of all columns, (m, p), filled piece by piece."""
    out = np.empty((len(rows), source.shape[1]))
    for where in windows(source.shape[1], COPIED):
        out[:, where] = source.columns(np.arange(where.start, where.stop))[rows]
    return out


def squared_distances(source: Source, landmarks: Array | None = None) -> Array:
    """Of all rows from landmarks (n, m), or from each other."""
    if landmarks is None:
        return products(source).sqdist
    return source_products(source, ArraySource(landmarks)).sqdist


def absolute_distances(source: Source, landmarks: Array | None = None) -> Array:
    """The same, sums of absolute differences."""
    n = source.shape[0]
    out = np.zeros((n, n if landmarks is None else len(landmarks)))
    for where, block in source.blocks():
        out += cdist(block, block if landmarks is None else landmarks[:, where], "cityblock")
    return out


def gaussian(squared: Array, length: float, n_columns: int) -> Array:
    """Kernel of squared distances of rows."""
    return np.asarray(np.exp(squared / (-2.0 * length**2 * n_columns)))


def laplace(absolute: Array, length: float, n_columns: int) -> Array:
    """Kernel of sums of absolute differences of rows."""
    return np.asarray(np.exp(absolute / (-length * n_columns)))


DISTANCES: dict[Form, Callable[..., Array]] = {
    "gaussian": squared_distances,
    "laplace": absolute_distances,
}
KERNELS = {"gaussian": gaussian, "laplace": laplace}


def landmark_features(between: Array) -> Array:
    """(m, r) Q with Q'(between) Q = I, of the kernel between landmarks (m, m): K Q are features."""
    size, axes = np.linalg.eigh(between)
    kept = size > LEAST_EIGENVALUE * size[-1]
    return np.asarray(axes[:, kept] / np.sqrt(size[kept]))


class LeftOut(NamedTuple):
    """Leave-one-out predictions of a fit.

    Attributes
    ----------
    guess : (n, q) predictions.
    variance : (n, q) of the error, as the fit sees it.
    length, noise_ratio : of the fit.
    """

    guess: Array
    variance: Array
    length: float
    noise_ratio: float


class Tuned(NamedTuple):
    """A ridge, its best predictions of rows left out, and their score."""

    score: float
    ridge: SpectralRidge
    left_out: LeftOut


def tune_noise(
    ridge: SpectralRidge, response: LogScore, length: float, settings: RefitSettings
) -> Tuned:
    """The noise ratio whose predictions of rows left out score best."""
    tried = zip(*ridge.leave_one_out(np.array(settings.kernel_noise)), strict=True)
    found = [
        LeftOut(guess, variance, length, ratio)
        for (guess, variance), ratio in zip(tried, settings.kernel_noise, strict=True)
    ]
    scores = [response.tuning(left.guess, left.variance) for left in found]
    best = int(np.argmax(scores))
    return Tuned(scores[best], ridge, found[best])


class KernelFit(NamedTuple):
    """The function of Y, its predictions of rows left out, what makes it a member, and those
    predictions (n, q) for all rows, copies included.
    """

    function: KernelMember
    left_out: LeftOut
    calibrated: Calibrated
    held_out: Array

    def member(self) -> KernelMember:
        """The function on the scale of the link."""
        _, unit, level = self.calibrated
        return replace(
            self.function,
            coefficients=unit * self.function.coefficients,
            intercept=level + unit * self.function.intercept,
        )


@dataclass(frozen=True, eq=False)
class KernelColumns:
    """All columns as the kernels take them, the rows for tuning, and the landmarks.

    Attributes
    ----------
    columns : standardised, cut off, standardised again by `scaling`.
    tuning : (m,) rows whose columns are the `landmarks` (m, p).
    """

    columns: Source
    scaling: Scaling
    tuning: IntArray
    landmarks: Array
    settings: RefitSettings

    @classmethod
    def of(
        cls,
        source: Source,
        weights: Array,
        order: IntArray,
        settings: RefitSettings,
    ) -> KernelColumns:
        """Cut and standardise the columns, and read the rows that carry the functions.

        Parameters
        ----------
        source : all columns, standardised.
        weights : (n,) how many times each row counts, all positive; rows are no copies.
        order : (n,) of the rows, along which landmarks are evenly spaced.
        """
        tuning = spread_along(order, settings.most_rows)
        cut = CutSource(source, settings.clip)
        scaling = measure_scaling(cut, weights / weights.sum())
        columns = ScaledSource(cut, scaling)
        return cls(columns, scaling, tuning, some_rows(columns, tuning), settings)

    @property
    def forms(self) -> list[Form]:
        """Kernels that are tried: absolute differences take no product of matrices, and are left
        out where they would take long.
        """
        differences = self.landmarks.size * self.columns.shape[0]
        return ["gaussian", "laplace"] if differences <= self.settings.differences else ["gaussian"]

    def fit(self, form: Form, response: LogScore) -> KernelFit:
        """Length scale and noise ratio by leaving out single rows, then the function on all."""
        settings, tuning, weights, Y = self.settings, self.tuning, response.weights, response.Y
        p = int(np.isfinite(self.scaling.scale).sum())
        distances, kernel = DISTANCES[form], KERNELS[form]
        between = distances(ArraySource(self.landmarks, PIECE))
        some = response.take(tuning, weights[tuning])
        best: Tuned | None = None
        lengths = settings.kernel_lengths if form == "gaussian" else settings.laplace_lengths
        for length in sorted(lengths, reverse=True):
            K = RowProducts(kernel(between, length, p), factored=False)
            ridge = SpectralRidge.of(K, some.weights, some.Y)
            tuned = tune_noise(ridge, some, length, settings)
            if best is not None and tuned.score <= best.score:
                break
            best = tuned
        assert best is not None
        if len(tuning) < len(Y):  # all rows, in features of the landmarks
            length = best.left_out.length
            Q = landmark_features(kernel(between, length, p))
            apart = kernel(distances(self.columns, self.landmarks), length, p)
            ridge = SpectralRidge.of(RowProducts(apart @ Q, factored=True), weights, Y)
            best = tune_noise(ridge, response, length, settings)
            beta = ridge.centred.values.T @ ridge.dual(best.left_out.noise_ratio)
            coefficients = Q @ beta
        else:
            alpha = best.ridge.dual(best.left_out.noise_ratio)
            beta = coefficients = alpha - (weights / weights.sum())[:, None] * alpha.sum(axis=0)
        _, ridge, left = best
        intercept = ridge.mean - ridge.middle @ beta
        member = KernelMember(
            self.scaling, settings.clip, self.landmarks, coefficients, intercept, left.length, form
        )
        return KernelFit(member, left, response.of_rows(left.guess, left.variance), left.guess)


def may_gain(
    needed: float, source: Source, response: LogScore, order: IntArray, settings: RefitSettings
) -> bool:
    """Whether a kernel on all columns may gain so many nats on all rows.

    Fits to two samples, `kernel_trials`, say what it gains per row, and what it learns when rows
    double. Twice that, at least `least_learning`, is added for every doubling up to all rows.
    """
    few, many = settings.kernel_trials
    if len(order) < 2 * many:
        return True
    samples = []
    for count in (few, many):
        rows = order[evenly_spaced(len(order), count)]
        part = response.take(rows, response.weights[rows])
        columns = KernelColumns.of(
            take_rows(source, rows), part.weights, np.arange(count), settings
        )
        samples.append((columns, part))

    def reach(form: Form) -> float:
        before, now = (
            columns.fit(form, part).calibrated.gain / float(part.weights.sum())
            for columns, part in samples
        )
        learned = max((now - before) / np.log2(many / few), settings.least_learning)
        return float(now + 2.0 * np.log2(len(order) / many) * learned)

    least = needed / float(response.weights.sum())
    return any(reach(form) >= least for form in samples[-1][0].forms)


def fit_kernels(
    source: Source,
    response: LogScore,
    distinct: IntArray,
    needed: float,
    settings: RefitSettings,
) -> Iterator[KernelFit]:
    """One for each form of the kernel; none where the table has too many columns to keep rows of
    them, or where none could gain the nats that are needed.
    """
    if source.shape[1] > settings.kernel_columns:
        return
    rows = np.sort(np.unique(distinct, return_index=True)[1])
    counts = np.bincount(distinct, response.weights).astype(np.float64)[distinct[rows]]
    few = source if len(rows) == len(distinct) else take_rows(source, rows)
    order, merged = np.argsort(distinct[rows]), response.take(rows, counts)
    if not may_gain(needed, few, merged, order, settings):
        return
    columns = KernelColumns.of(few, counts, order, settings)
    place = order[distinct]
    for form in columns.forms:
        fit = columns.fit(form, merged)
        yield fit._replace(held_out=fit.held_out[place])


# ------------------------------------------------ ridge on the columns that stand out


CHUNK = 1_024
"""Memory: columns read at once."""

PRIORS = 20_000
"""Memory: prior variances computed at once, for some columns and all sets of rows."""

LEAST_VARIANCE = 1e-9
"""Rounding: columns of a smaller variance are constant."""


def chunks(size: int) -> list[slice]:
    return [slice(start, min(start + CHUNK, size)) for start in range(0, size, CHUNK)]


# ------------------------------------------------ folds
def distinct_rows(source: Source, Y: Array, weights: Array) -> IntArray:
    """(n,) number of each row, in the canonical order of responses (n, q) and columns; copies have
    the same number: they have the same response and the same sums of columns with random factors.
    """
    key, along = np.zeros((len(Y), 2)), np.zeros(Y.shape)
    for _, (part, more) in each_block(source, lambda at: partial(row_sums, Y, weights, at.start)):
        key += part
        along += more
    rows = np.round(np.column_stack([Y, key]), 6)
    _, first, place = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    place = place.reshape(-1)
    total = np.bincount(place, weights).astype(np.float64)
    order = canonical_order(Y[first], total, along[first])
    return np.asarray(np.argsort(order)[place])


def row_sums(Y: Array, weights: Array, seed: int, Z: Array) -> tuple[Array, Array]:
    """Two sums of columns Z (n, b) with random factors, and their `gram_products`."""
    factors = np.random.default_rng(seed).normal(size=(Z.shape[1], 2))
    return Z @ factors, gram_products(Z, Y, weights)


def assign_folds(distinct: IntArray, settings: RefitSettings = NUMBERS) -> IntArray:
    """(rounds, n) fold of each row: along the responses, so that each holds all of their range.

    Where rows are few, it matters which of them are held out together: neighbours in the order of
    responses are then assigned anew in further rounds. Copies (see `distinct_rows`) stay together,
    and as one row that counts more they would be in the same folds.
    """
    count = int(distinct.max()) + 1
    rounds = min(-(-settings.held_out_rows // count), settings.most_repeats)
    return folds_along(count, settings.folds, rounds)[:, distinct]


def training_weights(folds: IntArray, weights: Array, settings: RefitSettings = NUMBERS) -> Array:
    """(rounds x folds + 1, n): weights with one fold's rows at zero; in the last, none."""
    held = folds[:, None, :] == np.arange(settings.folds)[:, None]
    return np.vstack([np.where(held, 0.0, weights).reshape(-1, len(weights)), weights])


# ------------------------------------------------ which columns stand out, in each fold
@dataclass(frozen=True, eq=False)
class ScreenedColumns:
    """Columns (increasing) and the prior variance of the weight of each, per set of rows."""

    index: IntArray
    prior: Array


def own_priors(
    W: Array, Y: Array, Z: Array, cut: float = NUMBERS.ridge_cut
) -> list[ScreenedColumns]:
    """For every set of training weights (rows of W), the columns of Z (n, b) that stand out.

    With several response columns r^2 is the share of their summed variance that a line explains.
    """
    share = W / W.sum(axis=1, keepdims=True)
    mean = share @ Z
    variance = share @ (Z * Z) - mean**2
    explained, total = np.zeros_like(mean), np.zeros((len(W), 1))
    for y in Y.T:
        centre = share @ y
        explained += ((share * y) @ Z - mean * centre[:, None]) ** 2
        total += (share @ (y * y) - centre**2)[:, None]
    usable = (variance > LEAST_VARIANCE) & (total > LEAST_VARIANCE)
    variance = np.where(usable, variance, 1.0)
    r2 = explained / (variance * np.where(total > LEAST_VARIANCE, total, 1.0))
    chance = cut / np.maximum(W.sum(axis=1, keepdims=True) - 1.0, 1.0)
    prior = np.where(usable, np.maximum(r2 - chance, 0.0), 0.0) / variance
    kept = [np.flatnonzero(row) for row in prior]
    return [ScreenedColumns(where, row[where]) for where, row in zip(kept, prior, strict=True)]


def screened_columns(
    source: Source, W: Array, Y: Array, settings: RefitSettings = NUMBERS
) -> list[ScreenedColumns]:
    """`own_priors` over all columns: one pass."""
    found: list[list[ScreenedColumns]] = [[] for _ in W]
    width = -(-PRIORS // len(W))
    job = partial(own_priors, W, Y, cut=settings.ridge_cut)
    for block, parts in each_block(source, lambda _: job, width=width):
        for kept, part in zip(found, parts, strict=True):
            kept.append(ScreenedColumns(part.index + block.start, part.prior))
    return [_most(kept, settings.ridge_columns) for kept in found]


def _most(parts: list[ScreenedColumns], most: int) -> ScreenedColumns:
    """All columns that stand out, or the `most` that do so most."""
    index = np.concatenate([part.index for part in parts])
    prior = np.concatenate([part.prior for part in parts])
    if len(index) > most:
        best = np.sort(np.argsort(-prior, kind="stable")[:most])
        index, prior = index[best], prior[best]
    return ScreenedColumns(index, prior)


def row_grams(source: Source, sets: list[ScreenedColumns]) -> list[RowProducts]:
    """Inner products of rows over each set's columns, every column read once."""
    n = source.shape[0]
    few = [len(s.index) < n for s in sets]
    held = [np.zeros((n, len(s.index) if low else n)) for s, low in zip(sets, few, strict=True)]
    union = np.unique(np.concatenate([s.index for s in sets]))
    for part in chunks(len(union)):
        Z = source.columns(union[part])
        for out, s, low in zip(held, sets, few, strict=True):
            first, last = np.searchsorted(s.index, [union[part][0], union[part][-1] + 1])
            own = Z[:, np.searchsorted(union[part], s.index[first:last])]
            prior = s.prior[first:last]
            if low:
                out[:, first:last] = own * np.sqrt(prior)
            else:
                out += (own * prior) @ own.T
    return [RowProducts(out, low) for out, low in zip(held, few, strict=True)]


def in_memory(source: Source) -> bool:
    """Whether reading columns again costs next to nothing."""
    while isinstance(source, SourceView):
        source = source.base
    return source.array is not None


def each_gram(source: Source, sets: list[ScreenedColumns]) -> Iterator[RowProducts]:
    """`row_grams` one after the other: where the table is in memory no two of them are held."""
    at_once = 1 if in_memory(source) else len(sets)
    for first in range(0, len(sets), at_once):
        yield from row_grams(source, sets[first : first + at_once])


# ------------------------------------------------ the ridge, and its score
@dataclass(frozen=True, eq=False)
class RepeatedCV:
    """What h makes of rows it has not seen, on average over the rounds.

    Attributes
    ----------
    noise_ratio : the one of largest log score.
    guess : (rounds, n, q) predictions of held-out rows at that ratio.
    gain : log score above that of the mean, in nats.
    """

    noise_ratio: float
    guess: Array
    gain: float


def repeated_cv(
    grams: Iterable[RowProducts],
    folds: IntArray,
    W: Array,
    Y: Array,
    weights: Array,
    settings: RefitSettings = NUMBERS,
) -> RepeatedCV:
    """Every fold of every round predicted from the round's others; takes one Gram matrix each."""
    rounds = len(folds)
    ratios = np.array(settings.ridge_noise)
    score, null = np.zeros(len(ratios)), 0.0
    guesses = np.empty((len(ratios), rounds, *Y.shape))
    for at, gram in zip(range(rounds * settings.folds), grams):
        turn, f = divmod(at, settings.folds)
        held = np.flatnonzero(folds[turn] == f)
        fit = SpectralRidge.of(gram, W[at], Y)
        guess, variance = fit.held_out(held, ratios)
        score += normal_score(Y[held] - guess, variance, weights[held])
        total = W[at].sum()
        flat = (W[at] @ (Y - fit.mean) ** 2) / total * (1.0 + 1.0 / total)
        null += float(normal_score(Y[held] - fit.mean, flat[None, :], weights[held]))
        guesses[:, turn, held] = guess
    best = int(score.argmax())
    gain = (float(score[best]) - null) / rounds
    return RepeatedCV(float(ratios[best]), guesses[best], gain)


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
class RidgeFit:
    """The columns that stand out, the ridge of Y on all rows, its noise ratio, and what makes it a
    member.
    """

    source: CutSource
    columns: ScreenedColumns
    ridge: SpectralRidge
    noise_ratio: float
    calibrated: Calibrated
    held_out: Array
    """(n, q) predictions of Y in held-out folds, averaged over rounds."""

    def member(self) -> LinearMember:
        """The ridge on the scale of the link."""
        _, unit, level = self.calibrated
        dual = unit * self.ridge.dual(self.noise_ratio)
        index, prior = self.columns.index, self.columns.prior
        w = np.empty((len(index), dual.shape[1]))
        values = np.zeros_like(dual)
        for part in chunks(len(index)):
            Z = self.source.columns(index[part])
            w[part] = prior[part, None] * (Z.T @ dual)
            values += Z @ w[part]
        middle = self.ridge.weights @ values / self.ridge.weights.sum()
        return LinearMember(self.source.limit, index, w, level + unit * self.ridge.mean - middle)


def fit_screened_ridge(
    source: Source, response: LogScore, distinct: IntArray, settings: RefitSettings
) -> list[RidgeFit]:
    """The ridge; none if rows are too many, or no column stands out."""
    Y, weights = response.Y, response.weights
    if max(len(Y), float(weights.sum())) > settings.most_rows:
        return []
    folds = assign_folds(distinct, settings)
    W = training_weights(folds, weights, settings)
    if (W.sum(axis=1) <= 2.0).any() or len(np.unique(folds)) < settings.folds:
        return []
    cut = CutSource(source, settings.clip)
    sets = screened_columns(cut, W, Y, settings)
    if len(sets[-1].index) == 0:
        return []
    grams = each_gram(cut, sets)
    scored = repeated_cv(grams, folds, W, Y, weights, settings)
    ridge = SpectralRidge.of(next(grams), weights, Y)
    calibrated = response.of_folds(scored.guess, scored.gain)
    held_out = scored.guess.mean(axis=0)
    return [RidgeFit(cut, sets[-1], ridge, scored.noise_ratio, calibrated, held_out)]
