"""Own-coordinate features: what a variable can do to the response by itself.

The own part of the k-th partial derivative is a combination of [1, x, bump_1(x) .. bump_J(x)], with
Gaussian bumps of width w = `clip` / J at the J mid-quantiles q_j of the variable. The potential
needs their antiderivatives

    [x,  x^2,  erf((x - q_j) / (w sqrt 2)), j = 1..J],

made orthonormal in this order (ordered Cholesky): the first is the linear part, the second what a
quadratic adds to it, the others what local terms add to both. Orthonormal features have an exact
null: for residuals r independent of x with variance s^2, the vector Z r / (s sqrt n) has identity
covariance, so the squared length of a group of m features is chi2(m) to the accuracy of the central
limit theorem, whatever the distribution of the variable.

Where a value is missing (NaN), every feature has its mean over the known rows, so that it says
nothing there: the square of the mean is not the mean of the square.
"""

from __future__ import annotations

import numpy as np
from scipy.special import erf

from gradsift._typing import Array
from gradsift.numerics.robust import middle_quantiles
from gradsift.sift.rows import Rows
from gradsift.sift.settings import DEFAULT, SiftSettings


def clipped(X: Array, rows: Rows, settings: SiftSettings = DEFAULT) -> Array:
    """Kept rows of standardised columns, cut off, centred, unit variance; a constant column and a
    missing value are zero.
    """
    X = rows.take(X)
    if np.isnan(X).any():
        X = np.nan_to_num(unit_known(X, rows))
    X = np.clip(X, -settings.clip, settings.clip)
    return make_unit(X, rows)


def clipped_known(X: Array, rows: Rows, settings: SiftSettings = DEFAULT) -> Array:
    """The same with unit variance over the rows that are known, and NaN where they are not."""
    X = rows.take(X)
    holes = bool(np.isnan(X).any())
    if holes:
        X = unit_known(X, rows)
    X = np.clip(X, -settings.clip, settings.clip)
    return unit_known(X, rows) if holes else make_unit(X, rows)


def make_unit(X: Array, rows: Rows) -> Array:
    """Columns changed to mean zero and unit variance; constant ones to zero."""
    X -= rows.mean(X)
    sd = np.sqrt(rows.mean(X * X))
    X /= np.where(sd > 1e-12, sd, np.inf)
    return X


def unit_known(X: Array, rows: Rows) -> Array:
    """Columns less their mean over known rows, unit variance over these; constant ones are zero."""
    X = X - known_mean(X, rows)
    sd = np.sqrt(known_mean(X * X, rows))
    return np.asarray(X / np.where(sd > 1e-12, sd, np.inf))


def known_mean(X: Array, rows: Rows) -> Array:
    """Weighted mean of the columns of X (n, k) over the rows that are known; zero without any."""
    weight = np.ones(len(X)) if rows.weight is None else rows.weight
    count = weight @ ~np.isnan(X)
    return np.asarray(weight @ np.nan_to_num(X) / np.where(count > 0, count, 1.0))


def mean_filled(X: Array, rows: Rows) -> Array:
    """Columns X (n, k) with their mean over known rows in place of what is missing."""
    holes = np.isnan(X)
    return np.where(holes, known_mean(X, rows), X) if holes.any() else X


def oriented(X: Array, rows: Rows) -> tuple[Array, Array]:
    """Columns X (n, k) with signs for which their third moments are positive, and these signs (k,):
    features of a column and of its negative are then the same, to the last bit.
    """
    sign = np.where(known_mean(X * X * X, rows) < 0.0, -1.0, 1.0)
    return X * sign, sign


def knots(X: Array, rows: Rows, settings: SiftSettings = DEFAULT) -> Array:
    """Centres of the bumps, (J, width): the mid-quantiles of the known values of each column."""
    holes = np.isnan(X)
    if not holes.any():
        return rows.quantiles(X, settings.knot_levels)
    out = np.zeros((len(settings.knot_levels), X.shape[1]))
    for k, known in enumerate(~holes.T):
        if known.any():
            weight = None if rows.weight is None else rows.weight[known]
            out[:, k] = middle_quantiles(X[known, k], settings.knot_levels, weight)
    return out


def antiderivatives(X: Array, centres: Array, settings: SiftSettings = DEFAULT) -> Array:
    """[x, x^2, erf((x - q_j)/(w sqrt 2))] of every column: (width, 2 + J, n)."""
    x = X.T[:, None, :]
    bumps = erf((x - centres.T[:, :, None]) / (settings.bump_sd * np.sqrt(2)))
    return np.concatenate([x, x * x, bumps], axis=1)


def derivatives(X: Array, centres: Array, settings: SiftSettings = DEFAULT) -> Array:
    """d/dx of `antiderivatives`: [1, 2x, sqrt(2/pi)/w exp(-(x - q_j)^2/(2 w^2))], (width, 2 + J,
    n).
    """
    x = X.T[:, None, :]
    z = (x - centres.T[:, :, None]) / settings.bump_sd
    bumps = np.sqrt(2 / np.pi) / settings.bump_sd * np.exp(-z * z / 2)
    return np.concatenate([np.ones_like(x), 2 * x, bumps], axis=1)


def whitening(P: Array, rows: Rows, settings: SiftSettings = DEFAULT) -> tuple[Array, Array]:
    """Means (width, m) and T (width, m, m), lower triangular, with T (P - mean) orthonormal.

    T = L^-1 diag(1/sd) with C + ridge I = L L' and C the correlation matrix, so row j of T uses
    features up to j only.
    """
    weight = row_weights(P, rows)
    mean = P @ weight / rows.total
    return mean, whitener(covariances(P - mean[:, :, None], weight, rows.total), settings)


def row_weights(P: Array, rows: Rows) -> Array:
    """(n,) weights of the rows, ones without any."""
    return np.full(P.shape[2], 1.0) if rows.weight is None else rows.weight


def covariances(P: Array, weight: Array, total: float) -> Array:
    """(width, m, m) of centred features P (width, m, n)."""
    return np.asarray((P * weight) @ P.transpose(0, 2, 1) / total)


def whitener(cov: Array, settings: SiftSettings = DEFAULT) -> Array:
    """T (width, m, m) of features with these covariances."""
    sd = np.sqrt(np.einsum("kjj->kj", cov))
    scale = 1 / np.where(sd > 1e-10, sd, np.inf)
    corr = cov * scale[:, :, None] * scale[:, None, :]
    corr += settings.ridge * np.eye(cov.shape[1])
    return np.asarray(np.linalg.inv(np.linalg.cholesky(corr)) * scale[:, None, :])


def own_features(
    X: Array,
    rows: Rows,
    settings: SiftSettings = DEFAULT,
    *,
    weighted: bool = True,
    local: bool = True,
    lines: Array | None = None,
) -> Array:
    """Whitened features of columns X (n, width) from `clipped_known`: (width, 2 + J, n), their rows
    scaled by root weight unless `weighted` is False. Those that are not `local` are the first two
    alone, which do not depend on the others. The linear ones are the columns `lines` (n, width)
    where these are given.
    """
    X, sign = oriented(X, rows)
    if local:
        P = antiderivatives(X, knots(X, rows, settings), settings)
    else:
        P = np.stack([X.T, X.T * X.T], axis=1)
    if lines is not None:
        P[:, 0] = lines.T
    if np.isnan(X).any():
        P = mean_filled(P.reshape(-1, len(X)).T, rows).T.reshape(P.shape)
    if rows.clusters is None:
        mean, T = whitening(P, rows, settings)
        P -= mean[:, :, None]
    else:
        P = rows.clusters.centred(P)
        T = whitener(covariances(P, row_weights(P, rows), rows.total), settings)
    Z = T @ P
    Z[:, 0] *= sign[:, None]
    if weighted:
        Z *= rows.root
    return Z


def product_feature(X: Array, rows: Rows) -> Array:
    """x_1 x_2 of two columns X (n, 2) from `clipped_known`, made orthogonal to x and x^2 of both,
    unit variance, (n,), root-weighted.
    """
    terms = mean_filled(np.column_stack([X, X * X, X[:, 0] * X[:, 1]]), rows)
    own = rows.centred(terms[:, :4]) * np.reshape(rows.root, (-1, 1))
    product = rows.centred(terms[:, 4]) * rows.root
    product = product - own @ np.linalg.lstsq(own, product, rcond=1e-10)[0]
    sd = float(np.sqrt(product @ product / rows.total))
    return np.asarray(product / max(sd, 1e-9))
