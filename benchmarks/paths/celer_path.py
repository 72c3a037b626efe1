"""celer's multi-task lasso at the same size: n tasks, as the field has n (or m) coordinates."""

from __future__ import annotations

import warnings

import numpy as np
from paths.problems import Array


def celer_path(X: Array, y: Array, L: Array, n_alphas: int = 50, eps: float = 0.1) -> Array:
    """Coefficients (p, tasks, alphas) for the responses y_i L_i, one task per coordinate."""
    from celer.homotopy import mtl_path

    X = np.asfortranarray(X)
    Y = np.asfortranarray(y[:, None] * L)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says so itself where it stops short of tol
        return mtl_path(X, Y, eps=eps, n_alphas=n_alphas, tol=1e-4)[1]
