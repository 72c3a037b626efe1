"""A linear mixed model with a random intercept for every column, in closed form.

For a given correlation of rows of a group, the model is least squares on mapped rows
(`gradsift.sift.rows`). The likelihood is maximised over a grid of correlations, for every
column by itself, and the column tested by Wald's t: what `statsmodels.MixedLM` fits, without its
iterations.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from gradsift.sift.rows import make_rows

Array = NDArray[np.float64]
GRID = np.r_[0.0, np.linspace(0.01, 0.99, 99)]


def mixed_model_p_values(X: Array, y: Array, groups: NDArray[np.intp]) -> Array:
    """(p,) Wald p-values of each column, given a constant and a random intercept."""
    rows = make_rows(len(y), None, groups)
    X, y = rows.take(X).T, rows.take(y)
    n = len(y)
    best, z = np.full(len(X), -np.inf), np.zeros(len(X))
    for correlation in GRID:
        clusters = replace(rows.clusters, correlation=float(correlation))
        A, b = clusters.centred(X), clusters.centred(y)
        size = np.maximum((A * A).sum(axis=1), 1e-300)
        slope = A @ b / size
        left = np.maximum(b @ b - slope**2 * size, 1e-300) / n
        scale = (
            np.log(1.0 - correlation) * (n - len(clusters.size))
            + np.log(1.0 - correlation + clusters.size * correlation).sum()
        )
        constant = float(clusters.constant @ clusters.constant) / (1.0 - correlation)
        # restricted likelihood, up to what does not depend on the correlation
        fixed = np.log(constant) + np.log(size / (1.0 - correlation))
        likelihood = -0.5 * ((n - 2) * np.log(left / (1.0 - correlation)) + scale + fixed)
        better = likelihood > best
        best[better] = likelihood[better]
        z[better] = (slope * np.sqrt(size / (left * n / (n - 2))))[better]
    return 2.0 * norm.sf(np.abs(z))
