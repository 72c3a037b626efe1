"""Is a column associated with the response, whatever the other columns do?

Its linear, quadratic and local features are each tested against the response by Pillai's trace: of
m features and q responses of unit variance, with s = min(m, q), trace / s is

    Beta(d_1 / 2, d_2 / 2),   d_1 = s max(m, q),   d_2 = s (n - 1 - max(m, q)),

exactly for normal responses where s = 1. The smallest p-value over its share is that of the column.

These tails hold for a response that is cut off at some robust standard deviations. They do not for
few cases among many rows or for amounts with many zeros: with skewed features such p-values are up
to 50 times too small. There, `exchangeable_log_p` approximates how often random permutations of the
rows give as much.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betainc

from gradsift.protocols import Array, IntArray, Source
from gradsift.sift.feature_store import feature_pieces
from gradsift.sift.features import summed_squares
from gradsift.sift.levels import AT_A_TIME, shares
from gradsift.sift.rows import Rows
from gradsift.sift.saddlepoint import permutation_ratio
from gradsift.sift.settings import DEFAULT, SiftSettings


def association_log_p(
    statistic: Array, n: float, q: int, settings: SiftSettings = DEFAULT
) -> Array:
    """log p-values (p,) from the statistics (3, p) of linear, quadratic and local features against
    q responses of unit variance in n rows.
    """
    out, part = np.zeros(statistic.shape[1]), shares(False, settings)[:3]
    for start in range(0, len(out), AT_A_TIME):
        where = slice(start, start + AT_A_TIME)
        for one, m, share in zip(statistic, settings.part_sizes, part, strict=True):
            log_p = pillai_log_p(one[where].astype(np.float64) / n, n, m, q)
            np.minimum(out[where], log_p - np.log(share), out=out[where])
    return out


def pillai_log_p(trace: Array, n: float, m: int, q: int) -> Array:
    """log P(Pillai's trace of m features and q responses in n rows is this or more)."""
    s, larger = min(m, q), max(m, q)
    second = s * (n - 1 - larger)
    if second <= 0:
        return np.zeros(len(trace))
    tail = betainc(second / 2, s * larger / 2, np.clip(1.0 - trace / s, 0.0, 1.0))
    return np.asarray(np.log(np.maximum(tail, 1e-300)))


def exchangeable_log_p(
    source: Source,
    columns: IntArray,
    R: Array,
    rows: Rows,
    n: float,
    settings: SiftSettings = DEFAULT,
) -> Array:
    """log p-values (k,) of some columns, for a response R (n, q) of unit variance and any
    distribution whose rows are exchangeable; never below those of `association_log_p`.

    Parts are taken in the order of their Beta tails, and left out where these are not below the
    p-value found so far: permutations only raise them.
    """
    q, share = R.shape[1], np.log(shares(False, settings)[:3])
    root = np.reshape(rows.root, (-1, 1))
    weight = np.ones(len(R)) if rows.weight is None else rows.weight
    out = np.zeros(len(columns))
    for where, Z in feature_pieces(source, columns, rows, settings):
        along = Z @ R / rows.total
        trace = summed_squares(along, rows, settings) * rows.total
        sizes = zip(trace, settings.part_sizes, strict=True)
        raw = np.stack([pillai_log_p(one, n, m, q) for one, m in sizes]) - share[:, None]
        for k, z, U, each, size in zip(range(where.start, where.stop), Z, along, raw.T, trace.T):
            for j in np.argsort(each, kind="stable"):
                if each[j] >= out[k]:
                    break
                part, m = settings.parts[j], settings.part_sizes[j]
                most = min(m, q)
                gain = -n * most * np.log1p(-min(size[j] / most, 0.999999))
                gain *= permutation_ratio(z[part].T @ U[part] / root, R / root, weight, gain)
                trace_left = -most * np.expm1(np.array([-gain / (n * most)]))
                log_p = pillai_log_p(trace_left, n, m, q)[0] - share[j]
                out[k] = min(out[k], max(log_p, each[j]))
    return out
