"""Dimension reduction of others, short implementations: each gives d directions of a table.

X (n, p) has standardised columns; the columns of the answer are orthonormal, (p, d).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from designs.selection import Array
from scipy.spatial.distance import cdist, pdist
from sklearn.linear_model import LassoCV

from gradsift import (
    GradientSiftRegressor,
    MinimumAverageVariance,
    OuterProductGradient,
    PrincipalHessianDirections,
    SlicedAverageVariance,
    SlicedInverseRegression,
    SparseGradientRegressor,
)

Finder = Callable[[Array, Array, int], Array]


def of(estimator: Callable[..., object]) -> Finder:
    """The directions of an estimator of this package."""

    def find(X: Array, y: Array, d: int) -> Array:
        found = estimator(n_components=d).fit(X, y).components_
        return np.linalg.qr(found.T)[0] if len(found) else np.zeros((X.shape[1], 0))

    return find


def whitened(X: Array) -> tuple[Array, Array]:
    """Columns of unit covariance, and the map back of directions."""
    sizes, axes = np.linalg.eigh(np.cov(X.T))
    root = axes / np.sqrt(np.maximum(sizes, 1e-8 * sizes[-1]))
    return (X - X.mean(axis=0)) @ root, root


def leading(M: Array, d: int, back: Array | None = None) -> Array:
    axes = np.linalg.eigh(M)[1][:, ::-1][:, :d]
    return np.linalg.qr(axes if back is None else back @ axes)[0]


def contour_regression(X: Array, y: Array, d: int, share: float = 0.05) -> Array:
    """Li, Zha and Chiaromonte 2005, simple form: directions in which rows of nearly the same
    response differ least.
    """
    Z, back = whitened(X)
    first, second = np.triu_indices(len(y), 1)
    near = np.argsort(np.abs(y[first] - y[second]), kind="stable")[: int(share * len(first))]
    apart = Z[first[near]] - Z[second[near]]
    return leading(-(apart.T @ apart), d, back)


def kernel_gradients(X: Array, y: Array, d: int) -> Array:
    """gKDR (Fukumizu and Leng 2014), the gradient form of kernel dimension reduction; Gaussian
    kernels at the median distance.
    """
    n, p = X.shape
    s, t = np.median(pdist(X)), np.median(pdist(y[:, None]))
    K = np.exp(-cdist(X, X, "sqeuclidean") / (2 * s**2))
    L = np.exp(-cdist(y[:, None], y[:, None], "sqeuclidean") / (2 * t**2))
    inverse = np.linalg.inv(K + 1e-5 * n * np.eye(n))
    middle = inverse @ L @ inverse
    M = np.zeros((p, p))
    for i in range(n):
        slopes = (X - X[i]) * K[:, [i]] / s**2
        M += slopes.T @ middle @ slopes
    return leading(M, d)


def average_derivative(X: Array, y: Array, d: int) -> Array:
    """Haerdle and Stoker 1989: the mean gradient (of local linear fits), one direction."""
    mean = OuterProductGradient().fit(X, y).gradient(X).mean(axis=0)
    return (mean / np.linalg.norm(mean))[:, None]


def lasso_sir(X: Array, y: Array, d: int, slices: int = 10) -> Array:
    """Lin, Zhao and Liu 2019: a lasso of the artificial responses of SIR, for p > n."""
    n = len(y)
    member = np.argsort(np.argsort(y, kind="stable")) * slices // n
    M = np.eye(slices)[member] / np.sqrt(np.bincount(member)[member])[:, None]
    C = X - X.mean(axis=0)
    U, sizes, _ = np.linalg.svd(M.T @ C, full_matrices=False)
    found = []
    for k in range(d):
        artificial = M @ (M.T @ (C @ (C.T @ (M @ U[:, k])))) / sizes[k] ** 2
        found.append(LassoCV(cv=5, alphas=30).fit(C, artificial / artificial.std()).coef_)
    B = np.array(found).T
    kept = np.linalg.norm(B, axis=0) > 0
    return np.linalg.qr(B[:, kept])[0] if kept.any() else np.zeros((X.shape[1], 0))


FINDERS: dict[str, Finder] = {
    "GradientSift": of(lambda **k: GradientSiftRegressor(predict_with="selected", **k)),
    "SparseGradient": of(SparseGradientRegressor),
    "MAVE": of(MinimumAverageVariance),
    "OPG": of(OuterProductGradient),
    "SIR": of(SlicedInverseRegression),
    "SAVE": of(SlicedAverageVariance),
    "pHd": of(PrincipalHessianDirections),
    "contour regression": contour_regression,
    "gKDR": kernel_gradients,
    "average derivative": average_derivative,
    "LassoSIR": lasso_sir,
}
WIDE = ("GradientSift", "SparseGradient", "LassoSIR")
