"""A fitted gradient field as a function of any sample: f(x), f0(x), and predictions from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gradsift.data import Scaling, open_source, standardised, take_rows
from gradsift.data.source import BLOCK_BYTES
from gradsift.numerics.distances import median_distance, squared_distances
from gradsift.numerics.kernels import (
    Factor,
    Kernel,
    cross_kernel,
)
from gradsift.numerics.sampling import spread_along
from gradsift.pairwise.assemble import Assembly
from gradsift.pairwise.local_linear import near_weights
from gradsift.pairwise.weights import DENSE_ROWS, FEW_ROWS
from gradsift.protocols import Array, IntArray, Source
from gradsift.solver import Rows


class GradientField(Protocol):
    """A gradient at any sample, along the columns `index`."""

    @property
    def scaling(self) -> Scaling:
        """From the user's columns to those of the fit."""
        ...

    @property
    def index(self) -> IntArray: ...

    def gradient(self, X: Source | Array) -> Array:
        """(c, n, len(index)), in the user's units."""
        ...


@dataclass(frozen=True)
class KernelField:
    """f^k(x) = L(x) . B_k on the selected variables, f0(x) = L(x) . v.

    Attributes
    ----------
    scaling : Scaling
        From the user's columns to those of the fit.
    kernel, factor, reference
        L(x) = K(x, reference) T, in standardised columns.
    index : (a,) int array
        Selected variables.
    B : (a, c, m) array
        Coefficients of their partial derivatives, per output.
    v : (m, c) array or (0, c)
        Coefficients of the offset function.
    """

    scaling: Scaling
    kernel: Kernel
    factor: Factor
    reference: Source
    index: IntArray
    B: Array
    v: Array

    def features(self, X: Source | Array) -> Array:
        """L(x) for raw samples, (n, m)."""
        return self._features_of(standardised(open_source(X), self.scaling))

    def _features_of(self, new: Source) -> Array:
        K = cross_kernel(self.kernel, new, self.reference)
        return self.factor.extend(K)

    def gradient(self, X: Source | Array) -> Array:
        """Partial derivatives along the selected variables, in the user's units, (c, n, a)."""
        field = np.einsum("nm,acm->cna", self.features(X), self.B, optimize=True)
        return self.scaling.derivative(field, self.index)

    def offset(self, X: Source | Array) -> Array:
        """f0 at raw samples, (n, c)."""
        return self.features(X) @ self.v

    def offset_of(self, new: Source) -> Array:
        """The same at standardised samples."""
        return self._features_of(new) @ self.v


def kernel_field(assembly: Assembly, rows: Rows, v: Array) -> KernelField:
    """The field of an answer."""
    # every column has a say in K(x, x_i): data kept elsewhere is kept by reference, not copied
    reference = take_rows(assembly.reference, assembly.factor.landmarks)
    return KernelField(
        assembly.scaling,
        assembly.kernel,
        assembly.factor,
        reference,
        rows.index,
        _by_output(assembly, rows),
        v,
    )


def _by_output(assembly: Assembly, rows: Rows) -> Array:
    """Rows of B as (a, outputs, m)."""
    m = assembly.factor.L.shape[1]
    return rows.values.reshape(len(rows.index), assembly.problem.datafit.n_tasks // m, m)


@dataclass(frozen=True)
class TaylorPredictor:
    """Weighted mean of first-order expansions around the training samples.

    y(x) = sum_i v_i(x) (y_i + f(x_i) . (x - x_i)) / sum_i v_i(x), Gaussian weights v_i measured in
    the selected variables alone, with half their median distance as bandwidth; with nothing
    selected it is the mean. Columns are standardised.

    Attributes
    ----------
    X : (n, a) array
        Selected columns of the training samples.
    anchors : (c, n) array
        Values to expand around: the response, or the fitted offset.
    fields : (c, n, a) array
        Gradients at the training samples.
    """

    X: Array
    anchors: Array
    fields: Array
    share: Array
    scale: float

    def __call__(self, X_new: Array) -> Array:
        """(c, n_new) predictions from the selected columns of new samples."""
        height = max(1, BLOCK_BYTES // (8 * len(self.X)))
        tiles = [X_new[a : a + height] for a in range(0, len(X_new), height)]
        return np.concatenate([self._tile(tile) for tile in tiles], axis=1)

    def _tile(self, X_new: Array) -> Array:
        weight = near_weights(X_new, self.X, self.share, self.scale)
        at_zero = self.anchors - np.einsum("cna,na->cn", self.fields, self.X)
        slopes = np.matmul(weight, self.fields)
        return at_zero @ weight.T + np.einsum("cna,na->cn", slopes, X_new)


def taylor_average(X: Array, anchors: Array, fields: Array, share: Array) -> TaylorPredictor:
    """The predictor with its bandwidth measured.

    Of many samples a few thousand, evenly spread along the response, are expanded around.
    """
    order = np.argsort(anchors[0], kind="stable")
    some, few = (spread_along(order, count) for count in (DENSE_ROWS, FEW_ROWS))
    scale = 0.5 * median_distance(squared_distances(X[few], X[few]), share[few])
    return TaylorPredictor(X[some], anchors[:, some], fields[:, some], share[some], scale)


def taylor_predictor(assembly: Assembly, rows: Rows, v: Array) -> TaylorPredictor:
    """The Taylor average that goes with an answer: anchored at y, or at the fitted offset."""
    L = assembly.L
    fields = (_by_output(assembly, rows) @ L.T).transpose(1, 2, 0)
    anchors = (L @ v).T if assembly.response.is_labels else assembly.response.values
    return taylor_average(assembly.source.columns(rows.index), anchors, fields, assembly.share)
