"""Marginal tests: which columns are associated with the response, each tested without the others.

Problem: for each of p columns, the null hypothesis that the response (n, q) is independent of x_k
(given the columns that are always kept). This is a weaker question than whether k acts given all
others: near-copies of columns that act, and columns that share a cause with them, are associated
too. Where each of many columns has a small effect, this question can be answered for hundreds of
columns, and the stronger one for few.

The p-value is the smallest of three tests (linear, quadratic, local) by Pillai's trace, corrected
for their number (`sift.groups.association_log_p`). Small p-values (p,) are checked against
permutations of the rows. q-values are those of Benjamini and Hochberg over all columns.

References
----------
:cite:`benjamini-1995`, :cite:`pillai-1955`
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from gradsift.inference.settings import TESTS, ColumnTestSettings
from gradsift.numerics.statistics import benjamini_hochberg
from gradsift.protocols import Array, IntArray
from gradsift.sift.criterion import robust_fit, whiten_residual
from gradsift.sift.groups import association_log_p
from gradsift.sift.procedure import SiftFit
from gradsift.sift.saddlepoint import exchangeable_log_p

RATE = 0.1
"""Words: false discovery rate of the list of associated columns, where no rate is given."""


@dataclass(frozen=True, eq=False)
class Association:
    """p- and q-values of every column by itself.

    Attributes
    ----------
    p_values : (p,) array
        Of independence between the response and the column, without regard to other columns. NaN
        for columns that are always kept: the others were tested given these.
    q_values : (p,) array
        The smallest false discovery rate at which the column is on the list.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import GradientSiftRegressor
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.normal(size=(100, 1))
    >>> X = np.hstack([cause + rng.normal(size=(100, 5)), rng.normal(size=(100, 95))])
    >>> model = GradientSiftRegressor().fit(X, cause[:, 0] + rng.normal(size=100))
    >>> sorted(model.association_.associated(0.1).tolist())
    [0, 1, 2, 3, 4]
    """

    p_values: Array
    q_values: Array

    def associated(self, false_discovery_rate: float = RATE) -> IntArray:
        """Columns with a q-value up to this, most certain first."""
        found = np.flatnonzero(self.q_values <= false_discovery_rate)
        return found[np.argsort(self.p_values[found], kind="stable")]


def column_association(
    fit: SiftFit, n_columns: int, settings: ColumnTestSettings = TESTS
) -> Association | None:
    """p- and q-values of the first `n_columns` columns of a sift; those that follow are covariates.
    None where rows belong together, because the tests assume independent rows.
    """
    sift, groups = fit.problem, fit.groups
    q = sift.response.Y.shape[1]
    if groups.rows.clusters is not None:
        return None
    statistic, R = fit.marginal, sift.unit_response
    if sift.always:
        residual = robust_fit(groups, sift.fixed(groups), sift.response)[0]
        R = whiten_residual(residual, groups.rows.total)
        statistic = sift.univariate_statistics(groups, R)
    rows = groups.rows.total - len(sift.always)
    log_p = association_log_p(statistic, rows, q, sift.settings)[:n_columns]
    tested = ~np.isin(np.arange(n_columns), sift.always)
    labels = None if sift.labels is None else sift.labels[:n_columns]
    counted = tested & np.isin(np.arange(n_columns), sift.varying)
    near = np.flatnonzero(q_values(log_p, labels, counted) <= settings.checked_q_value)
    # a column that differs from its median in k of n rows has C(n, k) different permutations
    n = groups.rows.total
    k = np.minimum(sift.table.odd_rows(near), n / 2)
    log_p[near] = np.maximum(log_p[near], gammaln(k + 1) + gammaln(n - k + 1) - gammaln(n + 1))
    if not sift.response.robust:
        log_p[near] = np.maximum(log_p[near], exchangeable_log_p(sift.table, near, R, rows))
    q_found = q_values(log_p, labels, counted)
    p_found = np.exp(by_label(log_p, labels))
    return Association(np.where(tested, p_found, np.nan), np.where(tested, q_found, np.nan))


def by_label(log_p: Array, labels: IntArray | None, divided: IntArray | None = None) -> Array:
    """log p-value of the variable of each column: the smallest of its columns, by Bonferroni's
    correction for their number, or for that in `divided` (p,). Without labels, each column is one
    variable.
    """
    if labels is None:
        return log_p
    _, number, count = np.unique(labels, return_inverse=True, return_counts=True)
    best = np.zeros(len(count))
    tests: IntArray = count[number] if divided is None else divided
    np.minimum.at(best, number, np.minimum(log_p + np.log(tests), 0.0))
    return best[number]


def q_values(
    log_p: Array,
    labels: IntArray | None,
    tested: NDArray[np.bool_],
    divided: IntArray | None = None,
) -> Array:
    """q-values (p,) over the variables that were tested; 1 for the others."""
    out = np.ones(len(log_p))
    if labels is None:
        out[tested] = benjamini_hochberg(log_p[tested])
        return out
    _, first, number = np.unique(labels[tested], return_index=True, return_inverse=True)
    best = by_label(log_p[tested], labels[tested], None if divided is None else divided[tested])
    out[tested] = benjamini_hochberg(best[first])[number]
    return out
