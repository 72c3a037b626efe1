"""The check of a chosen support: is each of its gains worth its level when rows are exchangeable?

The chi-square levels hold where sums of features and residuals are nearly normal. A support is
searched for as if they were; then every group of it, and every variable as a whole, is judged by
`exchangeable.worth_of`. What is refused is out, and the search begins again without it. What is
returned has passed.
"""

from __future__ import annotations

import numpy as np

from gradsift.sift.criterion import complexity, log_det, normal_equations, robust_fit
from gradsift.sift.exchangeable import worth_of
from gradsift.sift.groups import Groups, Support
from gradsift.sift.response import Response
from gradsift.sift.search import best_supports, choose


def choose_supports(
    groups: Groups, relaxed: Groups, supports: list[Support], response: Response, fixed: Support
) -> tuple[Support, Support]:
    """The best support that passes, and the best at relaxed levels (same groups), which need not.

    Where many weak groups only pay together, add-one moves from a small support never reach them;
    the relaxed optimum does, and is a second start for the search at the true levels.
    """
    fitted: dict[Support, float] = {}
    starts = best_supports(relaxed, supports, response, groups.settings.breadth, fitted)
    loose = choose(relaxed, starts, response, fixed, fitted)
    further = [loose]
    while True:
        best = best_supports(groups, supports, response, 1, fitted)
        support = choose(groups, [*best, *further], response, fixed, fitted)
        out = refused(groups, support, response, fixed)
        if not out:
            return support, loose
        groups = groups.without(out)
        supports, further = without(out, supports), without(out, [further[0], support])


def without(out: set[int], supports: list[Support]) -> list[Support]:
    """Supports without some groups."""
    return [tuple(g for g in support if g not in out) for support in supports]


def refused(groups: Groups, support: Support, response: Response, fixed: Support) -> set[int]:
    """Groups of a support whose gain is worth less than their cost.

    Backward elimination: the group that falls shortest is left out, the others are judged again,
    until all pass. In a support with many false groups, a true one may fall short too, because its
    effect is divided among them. Every group that was left out is therefore judged once more beside
    those that passed, and only those that fall short again are refused; if none does, the first
    that was left out is.
    """
    out: list[int] = []
    left = support
    while (worst := least_worth(groups, left, response, fixed)) is not None:
        out.append(worst)
        left = tuple(g for g in left if g != worst)
    beside = {g: tuple(sorted((*left, g))) for g in out}
    short = {g for g in out if least_worth(groups, beside[g], response, fixed) is not None}
    return short or set(out[:1])


def least_worth(groups: Groups, support: Support, response: Response, fixed: Support) -> int | None:
    """The group of a support whose gain falls shortest of its cost; None if none falls short.

    Groups are judged one by one, then all groups of a variable together. Where these fall short
    together, the group is named whose gain is least confirmed by exchangeable rows.
    """
    n, q = groups.rows.total, response.Y.shape[1]
    Y = robust_fit(groups, support, response)[1]
    fits = normal_equations(groups, support, Y)
    Z = groups.stack(support)
    B, cov = fits.fit(support)
    cost, least = complexity(groups, support, q), log_det(cov)
    weight = np.ones(len(Y)) if groups.rows.weight is None else groups.rows.weight

    def judge(leave: Support, *, whole: bool = False) -> tuple[float, float]:
        """By how much the gain of some groups falls short, and the part of it that stands; where it
        does not fall short, a lower bound will do, unless the `whole` part is asked for.
        """
        rest = tuple(g for g in support if g not in leave)
        B_rest, cov_rest = fits.fit(rest)
        own = fits.index(leave)
        gain = max(n * (log_det(cov_rest) - least), 0.0)  # the ridge can make it negative
        asked = cost - complexity(groups, rest, q)
        a = Z[own].T @ B[own] / response.root
        R = (Y - Z[fits.index(rest)].T @ B_rest) / response.root
        enough = asked / gain if gain > 0.0 and not whole else np.inf
        part = worth_of(a, R, weight, gain, enough)
        return asked - gain * part, part

    short: dict[int, float] = {}
    for leave in to_check(groups, support, fixed):
        if short.keys().isdisjoint(leave):
            lacks, _ = judge(leave)
            if lacks > 0.0:
                named = leave[0]
                if len(leave) > 1:
                    named = min(leave, key=lambda g: judge((g,), whole=True)[1])
                short[named] = lacks
    return max(short, key=lambda g: short[g], default=None)


def to_check(groups: Groups, support: Support, fixed: Support) -> list[Support]:
    """Every group of a support by itself, then all groups of each variable that has several."""
    single: list[Support] = [(g,) for g in support if g not in fixed]
    owners = {g: groups.owners_of(g) for g in support}
    variables = sorted({v for g in support for v in owners[g]})
    whole = [tuple(g for g in support if v in owners[g]) for v in variables]
    return single + [gs for gs in whole if len(gs) > 1 and not set(gs) & set(fixed)]
