"""Own-coordinate features: what a variable can do to the response by itself.

The own part of the k-th partial derivative is a combination of [1, x, bump_1(x) .. bump_J(x)], with
Gaussian bumps of width w = 3.5 / J at the J mid-quantiles q_j of the variable. The potential needs
their antiderivatives

    [x,  x^2,  erf((x - q_j) / (w sqrt 2)), j = 1..J],

made orthonormal in this order (ordered Cholesky): the first is the linear part, the second what a
quadratic adds to it, the others what local terms add to both. Orthonormal features have an exact
null: for residuals r independent of x with variance s^2, the vector Z r / (s sqrt n) has identity
covariance, so the squared length of a group of m features is chi2(m) to the accuracy of the central
limit theorem, whatever the distribution of the variable.
"""

from __future__ import annotations

import numpy as np
from scipy.special import erf

from gradsift.sift.rows import Array, Rows

N_BUMPS = 8
N_FEATURES = 2 + N_BUMPS
PARTS = (slice(0, 1), slice(1, 2), slice(2, N_FEATURES))
"""Linear, quadratic and local features of one variable."""
PART_SIZES = (1, 1, N_BUMPS)

CLIP = 3.0
"""Columns are cut off here (in standard deviations): one outlying row must not own a feature."""
RIDGE = 1e-3
"""Added to the correlation matrix before whitening; tames features that ties make (nearly)
dependent.
"""
_WIDTH = 3.5 / N_BUMPS
LEVELS = (np.arange(N_BUMPS) + 0.5) / N_BUMPS


def clipped(X: Array, rows: Rows) -> Array:
    """Kept rows of standardised columns, clipped at +-3, centred, unit variance; a constant column
    is zero.
    """
    X = np.clip(rows.take(X), -CLIP, CLIP)
    X -= rows.mean(X)
    sd = np.sqrt(rows.mean(X * X))
    X /= np.where(sd > 1e-12, sd, np.inf)
    return X


def knots(X: Array, rows: Rows) -> Array:
    """Centres of the bumps, (J, width): the mid-quantiles of each column."""
    return rows.quantiles(X, LEVELS)


def antiderivatives(X: Array, centres: Array) -> Array:
    """[x, x^2, erf((x - q_j)/(w sqrt 2))] of every column: (width, 2 + J, n)."""
    x = X.T[:, None, :]
    bumps = erf((x - centres.T[:, :, None]) / (_WIDTH * np.sqrt(2)))
    return np.concatenate([x, x * x, bumps], axis=1)


def derivatives(X: Array, centres: Array) -> Array:
    """d/dx of `antiderivatives`: [1, 2x, sqrt(2/pi)/w exp(-(x - q_j)^2/(2 w^2))], (width, 2 + J,
    n).
    """
    x = X.T[:, None, :]
    z = (x - centres.T[:, :, None]) / _WIDTH
    bumps = np.sqrt(2 / np.pi) / _WIDTH * np.exp(-z * z / 2)
    return np.concatenate([np.ones_like(x), 2 * x, bumps], axis=1)


def whitening(P: Array, rows: Rows) -> tuple[Array, Array]:
    """Means (width, m) and T (width, m, m), lower triangular, with T (P - mean) orthonormal.

    T = L^-1 diag(1/sd) with C + ridge I = L L' and C the correlation matrix, so row j of T uses
    features up to j only.
    """
    weight = np.full(P.shape[2], 1.0) if rows.weight is None else rows.weight
    mean = P @ weight / rows.total
    centred = P - mean[:, :, None]
    return mean, whitener((centred * weight) @ centred.transpose(0, 2, 1) / rows.total)


def whitener(cov: Array) -> Array:
    """T (width, m, m) of features with these covariances."""
    sd = np.sqrt(np.einsum("kjj->kj", cov))
    scale = 1 / np.where(sd > 1e-10, sd, np.inf)
    corr = cov * scale[:, :, None] * scale[:, None, :] + RIDGE * np.eye(cov.shape[1])
    return np.asarray(np.linalg.inv(np.linalg.cholesky(corr)) * scale[:, None, :])


def own_features(X: Array, rows: Rows, *, weighted: bool = True) -> Array:
    """Whitened features of clipped columns X (n, width): (width, 2 + J, n), their rows scaled by
    root weight unless told otherwise.
    """
    P = antiderivatives(X, knots(X, rows))
    mean, T = whitening(P, rows)
    P -= mean[:, :, None]
    Z = T @ P
    if weighted:
        Z *= rows.root
    return Z


def product_feature(X: Array, rows: Rows) -> Array:
    """x_1 x_2 of the two columns of X, made orthogonal to x and x^2 of both, unit variance, (n,),
    root-weighted.
    """
    own = np.concatenate([X, X * X], axis=1)
    own = (own - rows.mean(own)) * np.reshape(rows.root, (-1, 1))
    product = X[:, 0] * X[:, 1]
    product = (product - rows.mean(product)) * rows.root
    product = product - own @ np.linalg.lstsq(own, product, rcond=1e-10)[0]
    sd = float(np.sqrt(product @ product / rows.total))
    return np.asarray(product / max(sd, 1e-9))
