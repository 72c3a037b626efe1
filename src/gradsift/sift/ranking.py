"""One ranking of all p columns, selected or not, as scores (p,).

The selected variables come first, ordered by how much worse the model fits without each of them.
Every other variable is ranked by the smallest of these log p-values (tails of chi-square):

* that of its univariate groups, or of its best product, given the response itself,
* the same given the residual of the selected variables,
* if the fit at relaxed levels holds it, that of the loss of fit without it, but no smaller than the
  level at which it was not selected.

Where some column that is not selected is associated with the response along a line, the first
places after the selected ones go, one after the other, to the column that adds most to those before
it (`forward_ranking`), so that near-copies do not follow each other.

Evidence against the response alone ranks copies of selected variables highest. Evidence against the
residual alone is mostly noise when n << p and many correlated variables carry the signal. The
smallest p-value serves in both cases.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gradsift.numerics.statistics import benjamini_hochberg
from gradsift.protocols import Array, IntArray
from gradsift.sift.criterion import SiftResponse, log_det, normal_equations, robust_fit
from gradsift.sift.features import Columns
from gradsift.sift.groups import Groups, Support, chi2_log_sf, univariate_log_p
from gradsift.sift.products import Screen
from gradsift.sift.rows import Rows
from gradsift.sift.settings import SiftSettings

# An order of columns in which each adds to those before it.
#
# Columns that say the same follow each other when they are ordered by their own evidence. Here
# the next column is the one with the largest
#
#     sqrt( a_j (b_j + 2 log p) ),
#
# a_j being its evidence (minus the log tail), b_j its squared correlation, times n, with what a
# ridge on the columns before it leaves of the response. The best of p columns of noise reaches 2
# log p: where nothing is left but noise, the order is that of the evidence.


@dataclass(frozen=True)
class Evidence:
    """Statistics of all groups against residuals of unit covariance."""

    R: Array
    """(n, q) the residuals, rows scaled."""
    univariate: Array
    """(3, p) statistics of the univariate groups of all columns."""
    products: Screen | None = None
    """The products of two columns; None without interactions."""


def is_left_over(
    statistic: Array, selected: IntArray, n_columns: int, response: SiftResponse
) -> bool:
    """Whether some column that is not selected is associated with the response along a line, by the
    univariate statistics (3, p) of all columns, of which `n_columns` vary: correlations, by which
    the next column is chosen, say nothing of others.
    """
    least = max(response.settings.left_over, 1e-300)
    log_p = chi2_log_sf(statistic[0], response.Y.shape[1])
    likely = np.flatnonzero(log_p <= np.log(least))
    q_values = benjamini_hochberg(log_p[likely], n_columns)
    return bool(np.any(q_values[~np.isin(likely, selected)] <= least))


def forward_ranking(
    table: Columns, Y: Array, evidence: Array, first: IntArray, n_columns: int
) -> IntArray:
    """The first places of a ranking: the columns `first`, then those that add most to what is
    before them, by their evidence (p,) and the response Y (n, q).

    Where the columns of a long table would take much memory, fewer columns are compared, and none
    where these would be fewer than the places.
    """
    settings, rows, p = table.settings, table.rows, len(evidence)
    places = min(2 * settings.n_known, p)
    room = settings.limits.free_values // (8 * max(rows.count, 1))
    if room < places or len(first) >= places:
        return first
    order = np.argsort(-evidence, kind="stable")[:room]
    columns = np.union1d(order, first).astype(np.intp)
    Z = unit_columns(table.clipped(columns), rows)
    at = np.searchsorted(columns, first)
    floor = 2.0 * np.log(max(n_columns, 1))
    found = greedy(Z, Y, evidence[columns], at, places, floor, rows.total, settings)
    return columns[found]


def unit_columns(X: Array, rows: Rows) -> Array:
    """Centred columns of length 1, rows scaled; constant ones are zero."""
    Z = rows.centred(X) * rows.column_root
    length = np.sqrt(np.square(Z).sum(axis=0))
    return np.asarray(Z / np.where(length > 1e-9, length, np.inf))


def greedy(
    Z: Array,
    Y: Array,
    evidence: Array,
    first: IntArray,
    places: int,
    floor: float,
    n: float,
    settings: SiftSettings,
) -> IntArray:
    """Numbers of unit columns Z (n, m): `first`, then each by its evidence (m,) and by what it
    explains of what a ridge on those before it leaves of Y (n, q).
    """
    Y = Y / np.maximum(np.sqrt(np.square(Y).sum(axis=0)), 1e-300)
    chosen = first.tolist()
    free = np.ones(Z.shape[1], dtype=bool)
    free[chosen] = False
    while len(chosen) < min(places, Z.shape[1]):
        R = ridge_residual(Z[:, chosen], Y, settings.forward_ridge * (len(chosen) + 1))
        explained = n * np.square(Z.T @ R).sum(axis=1)
        score = np.where(free, np.round(evidence * (explained + floor), 7), -1.0)
        best = int(np.argmax(score))
        if score[best] <= 0.0:  # no evidence at all: their order stays as it is
            break
        free[best] = False
        chosen.append(best)
    return np.array(chosen, dtype=np.intp)


def ridge_residual(W: Array, Y: Array, ridge: float) -> Array:
    """Residual of a ridge of Y on unit columns W, scaled to columns of length 1."""
    if W.shape[1]:
        G = W.T @ W
        G.flat[:: len(G) + 1] += ridge
        Y = Y - W @ np.linalg.solve(G, W.T @ Y)
    return np.asarray(Y / np.maximum(np.sqrt(np.square(Y).sum(axis=0)), 1e-12))


def loss_without(groups: Groups, support: Support, Y: Array, leave_out: list[Support]) -> Array:
    """Rise of log det of the residual covariance of Y (n, q) when each of these sub-supports is
    left out.
    """
    equations = normal_equations(groups, support, Y)
    base = log_det(equations.fit(support)[1])
    rest = [tuple(g for g in support if g not in out) for out in leave_out]
    return np.array([max(log_det(equations.fit(T)[1]) - base, 0.0) for T in rest])


class Losses(NamedTuple):
    """What a fit loses without each of its variables."""

    variables: list[int]
    loss: Array
    """Rise of log det of the residual covariance."""
    log_p: Array
    """Log chi-square(df q) tail of it, which puts losses with different df on one scale."""


def variable_losses(groups: Groups, support: Support, Y: Array) -> Losses:
    """What the fit of a support to its pseudo-response Y (n, q) loses without each variable."""
    variables = groups.variables(support)
    own = [tuple(g for g in support if v in groups.index.parents(g)) for v in variables]
    loss = loss_without(groups, support, Y, own)
    df = np.array([groups.size[list(gs)].sum() for gs in own], dtype=float)
    ratio = np.array([groups.ratio[list(gs)].mean() for gs in own])
    log_p = chi2_log_sf(groups.rows.total * loss / ratio, np.maximum(df, 1) * Y.shape[1])
    return Losses(variables, loss, log_p)


def log_evidence(found: Evidence, groups: Groups, n_selected: int) -> Array:
    """Smallest log tail of each column, (p,): of its univariate groups and of its best product."""
    q, settings, interactions = found.R.shape[1], groups.table.settings, found.products is not None
    univariate = found.univariate
    if groups.inflation is not None:
        univariate = univariate / typical_ratios(groups, univariate.shape[1])
    evidence = univariate_log_p(univariate, q, interactions, settings)
    if groups.joint is not None:
        total = groups.rows.total
        evidence = groups.joint.log_evidence(evidence, found.R, total, interactions, settings)
    if found.products is not None:
        # of a best product, times the number of partners: of any column, or of a selected one
        columns = found.products.columns
        every = chi2_log_sf(found.products.best, q) + np.log(max(len(columns), 1))
        some = chi2_log_sf(found.products.best_selected, q) + np.log(max(n_selected, 1))
        pairs = np.minimum(every, some) - np.log(settings.shares[3])
        # both columns of a product have its evidence: their own evidence says which comes first
        alone = evidence[columns]
        evidence[columns] = np.minimum(alone, pairs + 1e-4 * alone)
    return evidence


def typical_ratios(groups: Groups, p: int) -> Array:
    """(3, p) by how much clusters of rows inflate univariate statistics; columns outside of the
    pool are taken to be like those in it.
    """
    ratio = groups.ratio[: groups.index.first_joint].reshape(3, -1)
    out = np.ones((3, p))
    if ratio.shape[1]:
        out *= ratio.mean(axis=1, keepdims=True)
        out[:, groups.columns] = ratio
    return out


def column_scores(
    groups: Groups,
    own: Losses,
    relaxed: Support,
    response: SiftResponse,
    evidence: tuple[Evidence, Evidence],
    false_positives: float,
    n_columns: int,
) -> Array:
    """Score of every column, (p,): in (1, 2] selected, in [0, 1) the others.

    Parameters
    ----------
    groups : Groups
    own : Losses
        Of the support.
    relaxed : support
        The relaxed one.
    response : SiftResponse
    evidence : pair of Evidence
        Against the residual of the support, and against the response.
    false_positives : float
    n_columns : int
        Columns that vary.
    """
    found, marginal = (log_evidence(one, groups, len(own.variables)) for one in evidence)
    np.minimum(found, marginal, out=found)
    variables, _, log_p = variable_losses(groups, relaxed, robust_fit(groups, relaxed, response)[1])
    # What the true levels refuse cannot claim more than they ask: a nearly perfect fit would
    # otherwise lend its members any tail. The last term keeps their order.
    cap = np.log(min(false_positives, 1.0) / max(n_columns, 1))
    found[variables] = np.minimum(found[variables], np.maximum(log_p, cap) + 1e-4 * log_p)
    variables = own.variables
    strength = np.maximum(-found, 1e-9)
    score: Array = np.subtract(found.max(initial=0.0), found, out=found)
    score /= 1.0 + score.max(initial=0.0)
    # columns of the same product alone lose the same: their own statistics say which comes first
    statistic = evidence[1].univariate
    alone = statistic[:, variables].sum(axis=0) / groups.rows.total
    score[variables] = selected_scores(own.loss + 1e-5 * alone)
    if groups.inflation is not None:
        statistic = statistic / typical_ratios(groups, len(score))
    if is_left_over(statistic, np.array(variables, dtype=np.intp), n_columns, response):
        order = np.argsort(ranks(score))
        best = order[: len(variables)]
        first = forward_ranking(groups.table, evidence[1].R, strength, best, n_columns)
        score = in_this_order(score, order, first)
    return score


def selected_scores(loss: Array) -> Array:
    """Scores in (1, 2] of the selected variables, from what the fit loses without each."""
    return np.asarray(1.0 + (loss + 1e-9) / (loss.max(initial=0.0) + 1e-9))


def in_this_order(score: Array, order: IntArray, first: IntArray) -> Array:
    """The same scores in another order: the largest for the columns `first`, then for the others in
    their `order`.
    """
    rest = order[~np.isin(order, first)]
    out = np.empty_like(score)
    out[np.concatenate([first, rest])] = score[order]
    return out


def ranks(score: Array) -> IntArray:
    """1 = best; scores that differ by rounding only are in order of the columns."""
    out = np.empty(len(score), dtype=np.intp)
    out[np.argsort(-np.round(score, 7), kind="stable")] = np.arange(1, len(score) + 1)
    return out
