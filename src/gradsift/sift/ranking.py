"""One ranking of all variables, selected or not.

The selected variables come first, in the order of what the fit loses without them. Every other
variable is ranked by its best piece of evidence, the smallest log chi-square tail of

* its own groups or its best product against the response itself,
* the same against the residual of the selected variables,
* the loss of leaving it out of the relaxed fit, if it is in there (no better than the level that
  refused it).

Where some column that is not selected is associated with the response, the first places after the
selected ones are filled one after the other, each by the column that adds most to those before it
(`apart`): near-copies would follow each other otherwise.

Evidence against the response alone ranks copies of selected variables highest. Evidence against the
residual alone is mostly noise when n << p and many correlated variables carry the signal. The
smallest tail serves in both cases; all of them are on one scale.
"""

from __future__ import annotations

import numpy as np

from gradsift._typing import Array, IntArray
from gradsift.sift.apart import is_left_over, one_after_another
from gradsift.sift.criterion import log_det, normal_equations, robust_fit, whiten_residual
from gradsift.sift.groups import Groups, Support
from gradsift.sift.interaction_screen import pair_log_p
from gradsift.sift.levels import chi2_log_sf, own_log_p
from gradsift.sift.procedure import Sifted, Sifter
from gradsift.sift.response import Response


def loss_without(
    groups: Groups, support: Support, response: Response, leave_out: list[Support]
) -> Array:
    """Rise of log det of the residual covariance when each of these sub-supports is left out."""
    Y = robust_fit(groups, support, response)[1]
    equations = normal_equations(groups, support, Y)
    base = log_det(equations.fit(support)[1])
    rest = [tuple(g for g in support if g not in out) for out in leave_out]
    return np.array([max(log_det(equations.fit(T)[1]) - base, 0.0) for T in rest])


def groups_of(groups: Groups, support: Support, variable: int) -> Support:
    """Groups of the support that use a variable, its products included."""
    return tuple(g for g in support if variable in groups.parents_of(g))


def variable_losses(
    groups: Groups, support: Support, response: Response
) -> tuple[list[int], Array, Array]:
    """Variables of a support, what the fit loses without each, and the log chi-square(df q) tail of
    that loss, which puts losses with different df on one scale.
    """
    variables = groups.variables(support)
    own = [groups_of(groups, support, v) for v in variables]
    loss = loss_without(groups, support, response, own)
    df = np.array([groups.size[list(gs)].sum() for gs in own], dtype=float)
    ratio = np.array([groups.ratio[list(gs)].mean() for gs in own])
    log_p = chi2_log_sf(groups.rows.total * loss / ratio, np.maximum(df, 1) * response.Y.shape[1])
    return variables, loss, log_p


def log_evidence(sifter: Sifter, sifted: Sifted, R: Array, own: Array | None = None) -> Array:
    """Smallest log tail of each variable against unit-variance residuals R: own groups and best
    product, (p,).
    """
    q = R.shape[1]
    groups = sifted.groups
    if own is None:
        own = sifter.own(groups, R)
    if groups.inflation is not None:
        own = own / typical_ratios(groups, own.shape[1])
    evidence = own_log_p(own, q, sifter.interactions, sifter.settings)
    if groups.joint is not None:
        total = groups.rows.total
        evidence = groups.joint.log_evidence(
            evidence, R, total, sifter.interactions, sifter.settings
        )
    if sifter.interactions:
        selected = groups.variables(sifted.support)
        found = sifter.screened(groups, R, own, selected)
        pairs = pair_log_p(found, q, len(selected)) - np.log(sifter.settings.shares[3])
        # both columns of a product have its evidence: their own evidence says which comes first
        alone = evidence[found.columns]
        evidence[found.columns] = np.minimum(alone, pairs + 1e-4 * alone)
    return evidence


def typical_ratios(groups: Groups, p: int) -> Array:
    """(3, p) by how much clusters of rows inflate own statistics; columns outside of the pool are
    taken to be like those in it.
    """
    ratio = groups.ratio[: 3 * len(groups.columns)].reshape(3, -1)
    out = np.ones((3, p))
    if ratio.shape[1]:
        out *= ratio.mean(axis=1, keepdims=True)
        out[:, groups.columns] = ratio
    return out


def scores(sifter: Sifter, sifted: Sifted) -> Array:
    """Score of every variable, (p,): in (1, 2] selected, in [0, 1) the others."""
    response, groups = sifter.response, sifted.groups
    Y = whiten_residual(response.start, groups.rows.total)
    R = sifter.unit_residual(groups, sifted.support)
    evidence = log_evidence(sifter, sifted, R)  # first, as its screen was the last one made
    np.minimum(evidence, log_evidence(sifter, sifted, Y, sifted.marginal), out=evidence)
    variables, _, log_p = variable_losses(groups, sifted.relaxed, response)
    # What the true levels refuse cannot claim more than they ask: a nearly perfect fit would
    # otherwise lend its members any tail. The last term keeps their order.
    cap = np.log(min(sifter.alpha, 1.0) / max(sifter.n_columns, 1))
    evidence[variables] = np.minimum(evidence[variables], np.maximum(log_p, cap) + 1e-4 * log_p)
    variables, loss, _ = variable_losses(groups, sifted.support, response)
    strength = np.maximum(-evidence, 1e-9)
    score: Array = np.subtract(evidence.max(initial=0.0), evidence, out=evidence)
    score /= 1.0 + score.max(initial=0.0)
    # columns of the same product alone lose the same: their own statistics say which comes first
    alone = sifted.marginal[:, variables].sum(axis=0) / groups.rows.total
    score[variables] = selected_scores(loss + 1e-5 * alone)
    statistic = sifted.marginal
    if groups.inflation is not None:
        statistic = statistic / typical_ratios(groups, len(score))
    if is_left_over(statistic, np.array(variables, dtype=np.intp), sifter):
        order = np.argsort(ranks(score))
        first = one_after_another(sifter, Y, strength, order[: len(variables)])
        score = in_this_order(score, order, first)
    return score


def selected_scores(loss: Array) -> Array:
    """Scores in (1, 2] of the selected variables, from what the fit loses without each."""
    return np.asarray(1.0 + (loss + 1e-9) / (loss.max(initial=0.0) + 1e-9))


def in_this_order(score: Array, order: IntArray, first: IntArray) -> Array:
    """The same scores, dealt anew: largest to the columns `first`, then to the others in their
    `order`.
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
