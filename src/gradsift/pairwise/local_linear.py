"""Outer product of gradients (OPG): an independent local linear fit at every sample.

Least squares without a ridge, hence no part of the solvers in `solver.ridge` and `refit.ridge`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gradsift._typing import Array


def local_gradients(
    X: Array, y: Array, W: Array | sparse.csr_array[Any], *, intercept: bool = False
) -> Array:
    """Slopes of weighted linear fits around every sample, (n, p).

    At sample i: minimise over g (and a) sum_j w_ij (y_j - a - g . (x_j - x_i))^2, with a = y_i
    without `intercept`: that is sparse gradient learning with K = delta and alpha = 0. Where fewer
    neighbours than columns leave it underdetermined, the smallest slope is taken.
    """
    n, p = X.shape
    out = np.empty((n, p))
    for i in range(n):
        if sparse.issparse(W):
            seen = W.indices[W.indptr[i] : W.indptr[i + 1]]  # type: ignore[union-attr]
            w = W.data[W.indptr[i] : W.indptr[i + 1]]  # type: ignore[union-attr]
        else:
            w = W[i]
            seen = np.flatnonzero(w > 1e-14 * w.max())
            w = w[seen]
        root = np.sqrt(w)
        design = (X[seen] - X[i]) * root[:, None]
        if intercept:
            design = np.column_stack([design, root])
            slope = np.linalg.lstsq(design, root * y[seen], rcond=None)[0][:p]
        else:
            slope = np.linalg.lstsq(design, root * (y[seen] - y[i]), rcond=None)[0]
        # a column that does not vary here has no slope: exactly none, whatever the rounding
        out[i] = np.where(design[:, :p].any(axis=0), slope, 0.0)
    return out
