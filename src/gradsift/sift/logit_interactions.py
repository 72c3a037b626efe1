"""Which products of a support the log odds need, too: a score test (Rao 1948) for each.

Least squares on labels fits probabilities. Where the log odds are a sum of effects, probabilities
are not: they flatten out, and what a sum of effects misses looks like a product of two columns. A
product is an interaction of the columns if the log odds need it, too. That is asked by a score test
beside a (multinomial) logistic model of everything else in the support.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gradsift.numerics.logistic import fit_multinomial, score_statistic, with_ones
from gradsift.protocols import Array, IntArray
from gradsift.sift.groups import Groups, Support
from gradsift.sift.response import Response
from gradsift.sift.rows import Rows

SETTLED = 1e-12
"""Newton steps of the logistic models that promise less, for each sample, are not made."""


class Classes(NamedTuple):
    """The classes of rows whose contrasts are told beside a known part of the log odds."""

    codes: IntArray
    known: Array
    """(n, C - 1) that part, against the first class."""

    def take(self, rows: Rows) -> tuple[Array, Array]:
        """Indicators (n, C) and the known part of the rows that are kept."""
        codes = self.codes if rows.kept is None else self.codes[rows.kept]
        return np.eye(self.known.shape[1] + 1)[codes], rows.take(self.known)


def interactions_of(
    groups: Groups, support: Support, response: Response, classes: Classes | None = None
) -> list[int]:
    """Products of a support that are not made by the link; all of them for numbers."""
    products = list(groups.index.products_of(support))
    known = None
    if classes is None or groups.rows.clusters is not None:
        T = indicators(response.Y)
    else:
        T, known = classes.take(groups.rows)
    if T is None or not products:
        return products
    weight = np.ones(len(T)) if groups.rows.weight is None else groups.rows.weight
    Phi = with_ones((groups.stack(support) / groups.rows.root).T)
    statistic = score_statistics(Phi, T, weight, groups.settings.ridge, known, len(products))
    return [g for g, t in zip(products, statistic, strict=True) if t >= groups.levels.new[g]]


def score_statistics(
    Phi: Array, T: Array, weight: Array, ridge: float, known: Array | None, count: int
) -> list[float]:
    """Score statistic of each of the last `count` features of Phi (n, m + 1), before the constant,
    given all others. Every reduced model starts from the coefficients of the whole.
    """
    penalty, offset = ridge * weight.sum(), np.zeros_like(T)
    if known is not None:
        offset[:, 1:] = known

    def fitted(Phi: Array, start: Array) -> Array:
        return fit_multinomial(Phi, T, weight, penalty, start, offset, reference=True, tol=SETTLED)

    whole, out = fitted(Phi, np.zeros((Phi.shape[1], T.shape[1]))), []
    for place in range(Phi.shape[1] - 1 - count, Phi.shape[1] - 1):
        rest = np.delete(Phi, place, axis=1)
        beta = fitted(rest, np.delete(whole, place, axis=0))
        out.append(score_statistic(rest, T, weight, penalty, beta, Phi[:, place], offset))
    return out


def indicators(Y: Array) -> Array | None:
    """0/1 columns (n, C) of the C classes that contrasts (n, C - 1) stand for; None for numbers."""
    values, place = np.unique(Y.round(9), axis=0, return_inverse=True)
    if len(values) != Y.shape[1] + 1:
        return None
    return np.eye(len(values))[place.reshape(-1)]
