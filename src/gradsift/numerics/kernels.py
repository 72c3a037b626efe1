"""Kernels of the space the partial derivatives live in, and bandwidth rules.

A kernel is a function of the inner products and squared distances of samples (`Products`). They add
up over column blocks: nothing wider than a block is ever needed.

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
from typing import Literal, TypeAlias

import numpy as np

from gradsift.data import open_source
from gradsift.numerics.distances import Products, median_distance, source_products
from gradsift.protocols import Array, IntArray, Source

# Factors of the kernel, K = L L': coordinates in which ||f||_K is a plain Euclidean norm.
#
# A function of the kernel's space is f(x) = L(x) . b with ||f||_K = ||b||. With landmarks R among
# the samples, L(x) = K(x, R) T where T = V Lambda^(-1/2) from the eigendecomposition of K(R, R).
# All rows as landmarks give the exact factor; fewer give the Nystroem approximation.


LEAST_EIGENVALUE = 1e-10
"""Rounding: eigenvalues below this part of the largest one are dropped."""


@dataclass(frozen=True)
class Factor:
    """L for the training samples, and what extends it to new ones.

    Attributes
    ----------
    L : (n, m) array
    landmarks : (r,) int array
        Rows the kernel is evaluated against.
    T : (r, m) array
        L(x) = K(x, landmarks) T.
    """

    L: Array
    landmarks: IntArray
    T: Array

    def extend(self, K_new: Array) -> Array:
        """L at new samples, from their kernel values against the landmarks."""
        return K_new @ self.T


def nystroem_factor(K: Array, landmarks: IntArray) -> Factor:
    """Factor of a positive semidefinite kernel through landmarks; exact where all rows are.

    Parameters
    ----------
    K : (n, r) array
        Kernel values of all samples against the landmarks.
    landmarks : (r,) int array
    """
    values, vectors = np.linalg.eigh(K[landmarks])
    largest = max(values[-1], 0.0)
    if largest == 0.0:
        raise ValueError("the kernel is zero at every sample: no gradient can be represented.")
    if values[0] < -1e-6 * largest:
        raise ValueError(
            f"the kernel is not positive semidefinite: its smallest eigenvalue is {values[0]:.3g} "
            f"next to a largest of {largest:.3g}."
        )
    keep = np.flatnonzero(values > LEAST_EIGENVALUE * largest)[::-1]
    T = vectors[:, keep] / np.sqrt(values[keep])
    return Factor(K @ T, landmarks, T)


# ---------------------------------------------------------------------------- bandwidths


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


Kernel: TypeAlias = Callable[[Products], Array]


@dataclass(frozen=True)
class Affine:
    """K(x, z) = 1 + x . z."""

    def __call__(self, products: Products) -> Array:
        return 1.0 + products.inner


@dataclass(frozen=True)
class Linear:
    """K(x, z) = x . z."""

    def __call__(self, products: Products) -> Array:
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
        return np.asarray(np.exp(sqdist / (-2.0 * self.scale**2)))

    def __call__(self, products: Products) -> Array:
        return self.of_distances(products.sqdist)


@dataclass(frozen=True)
class Constant:
    """K = 1: one gradient for all samples, a lasso on weighted pair differences."""

    def __call__(self, products: Products) -> Array:
        return np.ones_like(products.inner)


@dataclass(frozen=True)
class Delta:
    """K(x, z) = 1 where x = z: a free gradient at every sample (OPG, when alpha = 0)."""

    def __call__(self, products: Products) -> Array:
        return np.asarray(products.sqdist == 0.0, dtype=float)


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


KERNELS: dict[str, Kernel] = {
    "affine": Affine(),
    "linear": Linear(),
    "gaussian": Gaussian(),
    "constant": Constant(),
    "delta": Delta(),
}


def as_kernel(kernel: object) -> Kernel:
    """A kernel from its short name, or itself; out of its `Landmarks`."""
    if isinstance(kernel, Landmarks):
        return as_kernel(kernel.kernel)
    if isinstance(kernel, str) and kernel in KERNELS:
        return KERNELS[kernel]
    if callable(kernel) and not isinstance(kernel, type):
        return kernel
    raise ValueError(
        f"kernel={kernel!r} is not a kernel. Use one of {sorted(KERNELS)}, Gaussian(scale=...), or "
        "a function of the inner products and squared distances of samples, such as "
        "lambda products: (1 + products.inner) ** 2."
    )


def cross_kernel(kernel: Kernel, A: Source | Array, B: Source | Array) -> Array:
    """K between new samples A and reference samples B."""
    return np.asarray(kernel(source_products(open_source(A), open_source(B))), dtype=float)
