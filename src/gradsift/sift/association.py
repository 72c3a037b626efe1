"""Is a column associated with the response, whatever the other columns do?

Its linear, quadratic and local features are each tested against the response by Pillai's trace: of
m features and q responses of unit variance, with s = min(m, q), trace / s is

    Beta(d_1 / 2, d_2 / 2),   d_1 = s max(m, q),   d_2 = s (n - 1 - max(m, q)),

exactly for normal responses where s = 1. The smallest p-value over its share is that of the column.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betainc

from gradsift._typing import Array
from gradsift.sift.levels import AT_A_TIME, shares
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
