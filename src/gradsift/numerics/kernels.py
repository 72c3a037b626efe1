"""Kernels of the space the partial derivatives live in, squared distances, and bandwidth rules.

A kernel is a small frozen object. Most depend on the samples only through inner products and
distances, which add up over column blocks: nothing wider than a block is ever needed.

| name          | K(x, z)                       | the partial derivatives are         |
|---------------|-------------------------------|-------------------------------------|
| `affine`      | 1 + x . z                     | affine functions of x (the default) |
| `linear`      | x . z                         | linear functions of x               |
| `gaussian`    | exp(-||x - z||^2 / (2 s^2))   | any smooth functions                |
| `constant`    | 1                             | constants: a lasso on differences   |
| `delta`       | 1 if x = z, else 0            | free at every sample: OPG           |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, NamedTuple, Protocol, TypeAlias

import numpy as np

from gradsift._run.passes import each_block
from gradsift._typing import Array, IntArray, Source
from gradsift.data import open_source


class Products(NamedTuple):
    """All that kernels and weights ask of two sets of samples.

    Attributes
    ----------
    inner : (n, m) array
        Inner products a_i . b_j.
    sqdist : (n, m) array
        Squared distances ||a_i - b_j||^2.
    """

    inner: Array
    sqdist: Array

    def against(self, rows: IntArray) -> Products:
        """Only those with some of the second samples."""
        return Products(self.inner[:, rows], self.sqdist[:, rows])


class Kernel(Protocol):
    def values(self, products: Products) -> Array:
        """K between two sets of samples."""
        ...


# ---------------------------------------------------------------------------- distances, bandwidths


def products(source: Source, rows: IntArray | None = None) -> Products:
    """Inner products and squared distances of all samples with each other, or with some of them.

    Summed over column blocks: nothing wider than a block is held.
    """
    n = source.shape[0]
    total = _Total(n, n if rows is None else len(rows))
    if source.runner is not None:
        for _, part in each_block(source, lambda _: partial(_total_of, rows)):
            total.merge(part)
    else:  # one sum, not one per block: n x n each
        for _, block in source.blocks():
            total.add(block, block if rows is None else block[rows])
    return total.products()


def _total_of(rows: IntArray | None, block: Array) -> _Total:
    total = _Total(len(block), len(block) if rows is None else len(rows))
    total.add(block, block if rows is None else block[rows])
    return total


def source_products(A: Source, B: Source) -> Products:
    """The same between the rows of two sources with the same columns."""
    total = _Total(A.shape[0], B.shape[0])
    for where, block in A.blocks():
        total.add(block, B.columns(np.arange(where.start, where.stop)))
    return total.products()


def squared_distances(A: Array, B: Array) -> Array:
    """||a_i - b_j||^2, (len(A), len(B))."""
    mean = B.mean(axis=0)
    A, B = A - mean, B - mean
    return _apart(A @ B.T, np.einsum("ij,ij->i", A, A), np.einsum("ij,ij->i", B, B))


def _apart(inner: Array, norms_a: Array, norms_b: Array) -> Array:
    """Squared distances from inner products and squared norms, of data about the origin."""
    size = norms_a[:, None] + norms_b
    sqdist = size - 2.0 * inner
    # rounding leaves equal rows some 1e-16 of their norm apart: put them at distance zero
    sqdist[sqdist <= 1e-13 * size] = 0.0
    return sqdist


class _Total:
    """Products summed over column blocks, each block centred at the mean of B.

    Distances do not change with the origin but lose digits far from it: data around 10^6 with unit
    spread would keep four. Inner products are put together again from the centred ones.
    """

    def __init__(self, n: int, m: int) -> None:
        self.centred = np.zeros((n, m))
        self.norms = np.zeros(n), np.zeros(m)
        self.shift = np.zeros(n), np.zeros(m)
        self.origin = 0.0

    def add(self, A: Array, B: Array) -> None:
        mean = B.mean(axis=0)
        right = B - mean
        parts = right if A is B else A - mean, right
        self.centred += parts[0] @ parts[1].T
        for part, norm, shift in zip(parts, self.norms, self.shift):
            norm += np.einsum("ij,ij->i", part, part)
            shift += part @ mean
        self.origin += float(mean @ mean)

    def merge(self, other: _Total) -> None:
        self.centred += other.centred
        for mine, theirs in zip((*self.norms, *self.shift), (*other.norms, *other.shift)):
            mine += theirs
        self.origin += other.origin

    def products(self) -> Products:
        inner = self.centred + self.shift[0][:, None] + self.shift[1] + self.origin
        return Products(inner, _apart(self.centred, *self.norms))


def median_distance(sqdist: Array, sample_weight: Array | None = None) -> float:
    """Median distance between samples at distinct places; 1 if there is only one place.

    Pairs count with the product of their sample weights, so a weight of two equals a repeated row.
    """
    apart = sqdist > 0.0
    if not apart.any():
        return 1.0
    d = sqdist[apart]
    if sample_weight is None or np.ptp(sample_weight) == 0.0:
        return float(np.sqrt(np.median(d)))
    order = np.argsort(d, kind="stable")
    total = np.cumsum(np.multiply.outer(sample_weight, sample_weight)[apart][order])
    middle = [np.searchsorted(total, total[-1] / 2, side=side) for side in ("left", "right")]
    return float(np.sqrt(d[order][np.minimum(middle, len(d) - 1)].mean()))


@dataclass(frozen=True)
class TheoryRate:
    """The paper's bandwidth s = n^(-1 / (2 (d + 2 + 2 theta))) of theorems 1 and 2.

    Parameters
    ----------
    dim : int
        Intrinsic dimension d: the number of columns, or the dimension of the manifold.
    theta : float
        Smoothness of the density, in (0, 1].

    Examples
    --------
    >>> round(TheoryRate(dim=2)(1000), 3)
    0.562
    """

    dim: int
    theta: float = 1.0

    def __call__(self, n_samples: int) -> float:
        return float(n_samples ** (-0.5 / (self.dim + 2 + 2 * self.theta)))

    def alpha(self, n_samples: int) -> float:
        """The penalty that goes with it, lambda = n^(-theta / (d + 2 + 2 theta)).

        The proof divides it by s^(d + 2): it is meant for weights scaled to a fixed mass,
        w / s^(d + 2). With weights as printed, use alpha(n) * s^(d + 2).
        """
        return float(n_samples ** (-self.theta / (self.dim + 2 + 2 * self.theta)))


ScaleRule: TypeAlias = float | Literal["half-median", "theory"] | TheoryRate


def bandwidth(
    rule: ScaleRule,
    sqdist: Array,
    n_features: int,
    sample_weight: Array | None = None,
    *,
    n_samples: int | None = None,
) -> float:
    """A number from a rule: 'half-median', 'theory', a `TheoryRate`, or the number itself.

    `sqdist` may be the distances of a few samples only; `n_samples` then tells how many there are.
    """
    if rule == "half-median":
        return 0.5 * median_distance(sqdist, sample_weight)
    if rule == "theory":
        rule = TheoryRate(n_features)
    if isinstance(rule, TheoryRate):
        return rule(len(sqdist) if n_samples is None else n_samples)
    if isinstance(rule, str) or not np.isfinite(rule) or rule <= 0:
        raise ValueError(
            f"scale={rule!r} is not a bandwidth. Use a positive number, 'half-median', 'theory' "
            "or TheoryRate(dim=...)."
        )
    return float(rule)


# ---------------------------------------------------------------------------- kernels


@dataclass(frozen=True)
class Affine:
    """K(x, z) = 1 + x . z."""

    def values(self, products: Products) -> Array:
        return 1.0 + products.inner


@dataclass(frozen=True)
class Linear:
    """K(x, z) = x . z."""

    def values(self, products: Products) -> Array:
        return products.inner


@dataclass(frozen=True)
class Gaussian:
    """K(x, z) = exp(-||x - z||^2 / (2 s^2)); as pair weights, the paper's plain form.

    Parameters
    ----------
    scale : float, 'half-median', 'theory' or TheoryRate
        The bandwidth s, or the rule that finds it from the training samples.
    """

    scale: ScaleRule = "half-median"

    def resolve(
        self,
        sqdist: Array,
        n_features: int,
        sample_weight: Array | None,
        *,
        n_samples: int | None = None,
    ) -> Gaussian:
        """The same kernel with its scale as a number; arguments as in `bandwidth`."""
        scale = bandwidth(self.scale, sqdist, n_features, sample_weight, n_samples=n_samples)
        return replace(self, scale=scale)

    def of_distances(self, sqdist: Array) -> Array:
        if not isinstance(self.scale, (int, float)):
            raise TypeError(f"scale={self.scale!r} is a rule: call resolve() first")
        return np.exp(sqdist / (-2.0 * self.scale**2))

    def values(self, products: Products) -> Array:
        return self.of_distances(products.sqdist)


@dataclass(frozen=True)
class Constant:
    """K = 1: one gradient for all samples, a lasso on weighted pair differences."""

    def values(self, products: Products) -> Array:
        return np.ones_like(products.inner)


@dataclass(frozen=True)
class Delta:
    """K(x, z) = 1 where x = z: a free gradient at every sample (OPG, when alpha = 0)."""

    def values(self, products: Products) -> Array:
        return (products.sqdist == 0.0).astype(float)


@dataclass(frozen=True, eq=False)
class Precomputed:
    """Kernel values between the training samples, given as a symmetric (n, n) matrix.

    The field is then known at the training samples only: `gradient` and a classifier's `predict` at
    new samples need kernel values that nobody gave.

    Parameters
    ----------
    matrix : (n, n) array
    """

    matrix: Array

    def take(self, rows: IntArray) -> Precomputed:
        return Precomputed(np.asarray(self.matrix)[np.ix_(rows, rows)])


@dataclass(frozen=True)
class Function:
    """Any function(A, B) -> (len(A), len(B)) of two arrays of samples."""

    function: Callable[[Array, Array], Array]


@dataclass(frozen=True)
class Landmarks:
    """A kernel whose factor is built on a few samples (Nystroem); exact where its rank is no more.

    The affine kernel of p columns has rank p + 1: that many landmarks give it exactly.

    Parameters
    ----------
    kernel : str or kernel
    count : int
        Number of samples, taken evenly spread along the response.
    """

    kernel: object = "affine"
    count: int = 200


AnyKernel: TypeAlias = Affine | Linear | Gaussian | Constant | Delta | Precomputed | Function

KERNELS: dict[str, AnyKernel] = {
    "affine": Affine(),
    "linear": Linear(),
    "gaussian": Gaussian(),
    "constant": Constant(),
    "delta": Delta(),
}


def as_kernel(kernel: object) -> AnyKernel:
    """A kernel from its short name, a matrix, a function, or itself; out of its `Landmarks`."""
    if isinstance(kernel, Landmarks):
        return as_kernel(kernel.kernel)
    if isinstance(kernel, str) and kernel in KERNELS:
        return KERNELS[kernel]
    if isinstance(kernel, (Precomputed, Function)) or hasattr(kernel, "values"):
        return kernel  # type: ignore[return-value]
    if isinstance(kernel, np.ndarray):
        return Precomputed(kernel)
    if isinstance(kernel, str) and kernel == "precomputed":
        raise ValueError(
            "kernel='precomputed' does not say which matrix: pass kernel=Precomputed(K) or the "
            "(n, n) array itself."
        )
    if callable(kernel):
        return Function(kernel)
    raise ValueError(
        f"kernel={kernel!r} is not a kernel. Use one of {sorted(KERNELS)}, Gaussian(scale=...), "
        "Precomputed(K), an (n, n) array, or a function of two sample arrays."
    )


def training_kernel(
    kernel: AnyKernel, source: Source, given: Products, landmarks: IntArray | None = None
) -> Array:
    """K between the training samples and all of them, (n, n), or their landmarks, (n, r).

    `given` are their products with the same samples.
    """
    n = len(given.inner)
    if isinstance(kernel, Precomputed):
        K = np.asarray(kernel.matrix, dtype=float)
    elif isinstance(kernel, Function):
        X = source.columns(np.arange(source.shape[1]))
        if landmarks is not None:
            return np.asarray(kernel.function(X, X[landmarks]), dtype=float)
        K = np.asarray(kernel.function(X, X), dtype=float)
    else:
        return kernel.values(given)
    if K.shape != (n, n):
        raise ValueError(
            f"the kernel matrix has shape {K.shape} but there are {n} samples: need ({n}, {n})."
        )
    if not np.allclose(K, K.T, rtol=1e-8, atol=1e-10):
        raise ValueError("the kernel matrix is not symmetric: K[i, j] must equal K[j, i].")
    K = 0.5 * (K + K.T)
    return K if landmarks is None else K[:, landmarks]


def cross_kernel(kernel: AnyKernel, A: Source | Array, B: Source | Array) -> Array:
    """K between new samples A and reference samples B."""
    if isinstance(kernel, Precomputed):
        raise ValueError(
            "this model was fitted with a precomputed kernel, so it knows no kernel values between "
            "new and training samples. Fit with a named kernel or a function instead."
        )
    if isinstance(kernel, Function):
        everything = np.arange(A.shape[1])
        K = kernel.function(*(open_source(part).columns(everything) for part in (A, B)))
        return np.asarray(K, dtype=float)
    return kernel.values(source_products(open_source(A), open_source(B)))
