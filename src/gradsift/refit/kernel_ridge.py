"""Kernel ridge regression on all columns, a member of the predictor where all of them predict.

    f(x) = b + sum_i a_i k(u(x), u(x_i)),

    k(u, v) = exp(-sum_j (u_j - v_j)^2 / (2 l^2 p))     Gaussian: smooth in all columns together,
    k(u, v) = exp(-sum_j |u_j - v_j| / (l p))           Laplace: f may bend anywhere, as a forest
                                                        does; nearly additive where l is long,

u(x) being the standardised columns, cut off at three standard deviations and standardised again:
one wild value must not make a row a stranger to all others. Length scale l and noise ratio come
from leaving out single rows, which takes one eigendecomposition per length scale:

    residual of row i without it = (residual with it) / (1 - leverage of row i).

Length scales are tried from the longest down, as long as rows left out are predicted better.
Up to `kernel_rows` rows this is exact. Of more, that many tune the length scale and carry the
function as landmarks; the noise ratio and the function come from all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from gradsift._typing import Array, IntArray, Source
from gradsift.data import ArraySource, CutSource, ScaledSource, Scaling, measure_scaling
from gradsift.data.source import windows
from gradsift.numerics.distances import products, source_products
from gradsift.numerics.sampling import spread_along
from gradsift.refit.settings import RefitSettings

LEAST_EIGENVALUE = 1e-10
"""Directions of landmarks with less than this part of the largest eigenvalue are rounding."""
COPIED = 128
"""Columns copied at a time."""
PIECE = 512
"""Columns multiplied at a time."""
LEAST_LEFT = 1e-9
"""One less the leverage is no smaller."""

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

    def rescaled(self, unit: float = 1.0, level: float = 0.0) -> KernelMember:
        """level + unit f."""
        return replace(
            self, coefficients=unit * self.coefficients, intercept=level + unit * self.intercept
        )


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


class Smoother(NamedTuple):
    """Eigenvalues (r,) and vectors (n, r) of a kernel beside the mean, rows scaled by the roots of
    their weights; `finish` turns coordinates (r, q) along them into coefficients and intercept.
    """

    values: Array
    vectors: Array
    finish: Callable[[Array, Array], tuple[Array, Array]]


def exact_smoother(K: Array, weights: Array) -> Smoother:
    """All rows are landmarks."""
    share, root = weights / weights.sum(), np.sqrt(weights)
    middle = K @ share
    centred = K - middle[:, None] - middle + share @ middle
    values, vectors = np.linalg.eigh(root[:, None] * centred * root)

    def finish(along: Array, mean: Array) -> tuple[Array, Array]:
        alpha = root[:, None] * (vectors @ along)
        alpha = alpha - share[:, None] * alpha.sum(axis=0)
        return alpha, mean - middle @ alpha

    return Smoother(np.maximum(values, 0.0), vectors, finish)


def landmark_smoother(K: Array, between: Array, weights: Array) -> Smoother:
    """Rows beside landmarks (n, m), and landmarks beside each other (m, m)."""
    size, axes = np.linalg.eigh(between)
    kept = size > LEAST_EIGENVALUE * size[-1]
    Q = axes[:, kept] / np.sqrt(size[kept])
    share, root = weights / weights.sum(), np.sqrt(weights)
    Phi = K @ Q
    middle = share @ Phi
    scaled = root[:, None] * (Phi - middle)
    values, turn = np.linalg.eigh(scaled.T @ scaled)
    values = np.maximum(values, 0.0)
    lengths = np.sqrt(np.maximum(values, LEAST_EIGENVALUE * values[-1]))

    def finish(along: Array, mean: Array) -> tuple[Array, Array]:
        beta = turn @ (lengths[:, None] * along)
        return Q @ beta, mean - middle @ beta

    return Smoother(values, scaled @ (turn / lengths), finish)


class LeftOut(NamedTuple):
    """What single rows look like to a fit without them.

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


def leave_one_out(
    smoother: Smoother, Y: Array, weights: Array, length: float, noise_ratios: Array
) -> list[LeftOut]:
    """Predictions of single rows by fits without them, however often they count; one for each of
    the noise ratios (L,).
    """
    total = float(weights.sum())
    mean = weights @ Y / total
    values, vectors = smoother.values, smoother.vectors
    z = np.sqrt(weights)[:, None] * (Y - mean)
    along = vectors.T @ z
    kept = values[:, None] / (values[:, None] + noise_ratios)  # (r, L)
    leverage = np.square(vectors) @ kept + (weights / total)[:, None]
    left = np.maximum(1.0 - leverage, LEAST_LEFT).T[:, :, None]  # (L, n, 1)
    fits = np.stack([(vectors @ (kept * a[:, None])).T for a in along.T], axis=2)  # (L, n, q)
    residual = (z - fits) / np.sqrt(weights)[:, None]
    unexplained = np.square(z).sum(axis=0) - kept.T @ np.square(along)
    noise = np.maximum(unexplained, 0.0)[:, None, :] / total
    variance = noise * (1.0 + (1.0 - left) / left / weights[:, None])
    return [
        LeftOut(guess, spread, length, float(ratio))
        for guess, spread, ratio in zip(Y - residual / left, variance, noise_ratios, strict=True)
    ]


Criterion = Callable[[LeftOut], float]
"""What is to be as large as possible."""


class Tuned(NamedTuple):
    """A smoother, its predictions of rows left out, and their score."""

    score: float
    smoother: Smoother
    left_out: LeftOut


def tune_noise(
    smoother: Smoother,
    Y: Array,
    weights: Array,
    length: float,
    criterion: Criterion,
    settings: RefitSettings,
) -> Tuned:
    """The noise ratio whose predictions of rows left out score best."""
    unit = max(float(smoother.values.sum() / weights.sum()), LEAST_EIGENVALUE)
    tried = leave_one_out(smoother, Y, weights, length, unit * np.array(settings.kernel_noise))
    return max((Tuned(criterion(left), smoother, left) for left in tried), key=score_of)


def score_of(tuned: Tuned) -> float:
    return tuned.score


def best_length(lengths: Sequence[float], tuned: Callable[[float], Tuned]) -> Tuned:
    """The length scale of the best score: from the longest down, as long as it rises."""
    longest, *others = sorted(lengths, reverse=True)
    best = tuned(longest)
    for length in others:
        shorter = tuned(length)
        if shorter.score <= best.score:
            break
        best = shorter
    return best


class KernelFit(NamedTuple):
    """The member, and its predictions of rows left out."""

    member: KernelMember
    left_out: LeftOut


@dataclass(frozen=True, eq=False)
class KernelColumns:
    """All columns as kernels see them, and the rows that tune and carry the functions.

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
        tuning = spread_along(order, settings.kernel_rows)
        cut = CutSource(source, settings.cut)
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

    def fit(
        self,
        form: Form,
        Y: Array,
        weights: Array,
        criterion: Callable[[Array, Array], Criterion],
    ) -> KernelFit:
        """Length scale and noise ratio by leaving out single rows, then the function on all.

        Parameters
        ----------
        Y : (n, q) responses.
        criterion : from responses and weights of some rows to what leaving them out is judged by.
        """
        settings, tuning = self.settings, self.tuning
        p = int(np.isfinite(self.scaling.scale).sum())
        distances, kernel = DISTANCES[form], KERNELS[form]
        between = distances(ArraySource(self.landmarks, PIECE))
        y, w = Y[tuning], weights[tuning]
        judge = criterion(y, w)

        def tuned(length: float) -> Tuned:
            smoother = exact_smoother(kernel(between, length, p), w)
            return tune_noise(smoother, y, w, length, judge, settings)

        lengths = settings.kernel_lengths if form == "gaussian" else settings.laplace_lengths
        best = best_length(lengths, tuned)
        if len(tuning) < len(Y):
            length = best.left_out.length
            apart = kernel(distances(self.columns, self.landmarks), length, p)
            smoother = landmark_smoother(apart, kernel(between, length, p), weights)
            best = tune_noise(smoother, Y, weights, length, criterion(Y, weights), settings)
        _, smoother, left_out = best
        mean = weights @ Y / weights.sum()
        along = smoother.vectors.T @ (np.sqrt(weights)[:, None] * (Y - mean))
        along = along / (smoother.values + left_out.noise_ratio)[:, None]
        function = smoother.finish(along, mean)
        member = KernelMember(
            self.scaling, settings.cut, self.landmarks, *function, left_out.length, form
        )
        return KernelFit(member, left_out)
