"""The choice of a support: a local search for the least criterion.

Problem: minimise `criterion` over supports, that is, sets of groups of features. A move adds, drops
or replaces one group; several are made at once where their gains add up. The search starts from
supports on a group lasso path (:cite:`yuan-2006`; solved by FISTA, :cite:`beck-2009`,
with restarts, :cite:`odonoghue-2015`). The groups of its result are tested against permutations of
the rows (`saddlepoint`), and the search is repeated without those that fail.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradsift.protocols import Array, IntArray
from gradsift.sift.criterion import (
    Move,
    NormalEquations,
    SiftResponse,
    after_move,
    complexities,
    complexity,
    inverse_root,
    log_det,
    log_dets,
    neighbours,
    normal_equations,
    robust_fit,
)
from gradsift.sift.groups import JOINT, Groups, Support, relaxed_levels
from gradsift.sift.saddlepoint import permutation_ratio

# The path: supports of a group lasso, from the empty one down.
#
#     minimise over B   ||Y - sum_g Z_g' B_g||_F^2 / (2 n)  +  sum_g lambda_g ||B_g||_F,
#     lambda_g = s t_g / sqrt n
#
# for a falling scale s. t_g is the level of the group, so that groups of different size enter on
# equal terms. The path proposes supports, nothing else: none of its coefficients is used, and no
# certificate is needed.
#
# Why not `gradsift.solver`? Its groups are rows of B, one column of the table each. A local group
# is eight features here, which its problem cannot state; and a certified path takes about 20
# times as long. Why a path at all before the search? Without it, many equal weak effects are not
# found together (record `ablation/table`).


MOST_NEW = 20
"""Time: groups that join the working set at a time; changes solutions by less than `tol`."""
TOL, MOST_STEPS = 1e-3, 500
"""Time: accuracy of a solution on the path, which only proposes supports; and steps at most."""


def group_lasso(
    gram: Array,
    corr: Array,
    owner: IntArray,
    penalty: Array,
    start: Array,
    tol: float = TOL,
) -> Array:
    """Minimise B'(gram)B/2 - <corr, B> + sum_g penalty_g ||B_g||: FISTA with restarts.

    `owner` (df,) numbers the group of each row of B (df, q), consecutive from zero.
    """
    first = np.flatnonzero(np.r_[True, np.diff(owner) > 0])
    step = 1 / np.linalg.eigvalsh(gram)[-1]
    B, V, t = start, start, 1.0
    for _ in range(MOST_STEPS):
        U = V - step * (gram @ V - corr)
        norms = np.sqrt(np.add.reduceat((U * U).sum(axis=1), first))
        shrink = np.maximum(0.0, 1 - step * penalty / np.maximum(norms, 1e-300))
        new = shrink[owner][:, None] * U
        move = new - B
        if np.vdot(V - new, move) > 0:  # momentum points uphill: start it again
            t = 1.0
        t_new = (1 + np.sqrt(1 + 4 * t * t)) / 2
        V = new + (t - 1) / t_new * move
        B, t = new, t_new
        if np.abs(move).max() < tol * step:
            break
    return B


def solve(
    groups: Groups, Y: Array, penalty: Array, start: dict[int, Array]
) -> tuple[dict[int, Array], Array]:
    """Group lasso over all groups by working sets: active coefficients {group: (m, q)} and the
    residual.
    """
    n = groups.rows.total
    working = sorted(start)
    active, R = start, Y
    while True:
        if working:
            Z = groups.stack(tuple(working))
            sizes = groups.size[working]
            owner = np.repeat(np.arange(len(working)), sizes)
            B0 = np.concatenate(
                [active.get(g, np.zeros((groups.size[g], Y.shape[1]))) for g in working]
            )
            B = group_lasso(Z @ Z.T / n, Z @ Y / n, owner, penalty[working], B0)
            R = Y - Z.T @ B
            pieces = np.split(B, np.cumsum(sizes)[:-1])
            active = {g: b for g, b in zip(working, pieces, strict=True) if b.any()}
        ratio = np.sqrt(groups.squared_norms(R) / n) / np.maximum(penalty, 1e-300)
        ratio[working] = 0.0
        above = np.flatnonzero(ratio > 1.001)
        new = above[np.argsort(-ratio[above], kind="stable")[:MOST_NEW]]
        if len(new) == 0 or len(working) >= groups.table.settings.limits.least_columns:
            return active, R
        working = sorted({*working, *new.tolist()})


def path(groups: Groups, response: SiftResponse, fixed: Support) -> list[Support]:
    """Distinct supports met while the scale falls from the empty solution to `path_end` of it, or
    to `most_df` n coefficients.
    """
    n, settings = groups.rows.total, groups.table.settings
    level = np.sqrt(groups.levels.new / n)
    Y = response.start
    free = np.ones(len(level))
    free[list(fixed)] = 0.0
    active: dict[int, Array] = {}
    ratio = np.sqrt(groups.squared_norms(Y) / n) * free / np.maximum(level, 1e-300)
    top = scale = float(ratio.max())
    found: dict[Support, None] = {tuple(fixed): None}
    while scale > settings.path_end * top and top > 0:
        scale *= settings.path_step
        active, R = solve(groups, Y, scale * level * free, active)
        Y = response.adapted(Y - R)
        found[tuple(sorted({*active, *fixed}))] = None
        if sum(len(b) for b in active.values()) > settings.most_df * n:
            break
    return list(found)


TIE = 1e-6
"""Rounding: criteria that differ by less are equal, whatever the processor."""
COPY = 1e-9
"""Rounding: columns are copies of each other if their correlation is so close to 1 or -1."""
REMEMBERED_FITS = 32
"""Memory: fits of which residual and pseudo-response are kept, for searches that meet them again.
"""


def levels_given(groups: Groups, support: Support) -> Array:
    """Squared level of every group given this support."""
    level, further = groups.levels.new.copy(), groups.levels.further
    if groups.joint is not None:
        owners = [v for g in support for v in groups.owners_of(g)]
        labels, members = groups.joint.labels, groups.joint.members
        variable = np.r_[np.tile(labels[groups.columns], 3), [labels[m[0]] for m in members]]
        known = np.flatnonzero(np.isin(variable, owners))
        level[known] = further[known]
        return level
    for v in groups.variables(support):
        if (j := groups.index.number(0, (v,))) is not None:
            univariate = slice(j, groups.index.first_joint, len(groups.columns))
            level[univariate] = further[univariate]
    return level


def entering(groups: Groups, R: Array, mix: Array, exclude: Support, count: int) -> IntArray:
    """For each residual R_i = R mix_i of unit covariance: the `count` groups with the largest
    statistic over level, (b, count).
    """
    ratio = groups.squared_norms(R, mix) / np.maximum(levels_given(groups, exclude), 1e-9)
    ratio[:, list(exclude)] = -1.0
    count = min(count, ratio.shape[1])
    best: IntArray = np.argpartition(-ratio, count - 1, axis=1)[:, :count]
    order = np.argsort(-np.take_along_axis(ratio, best, axis=1), axis=1, kind="stable")
    return np.take_along_axis(best, order, axis=1)


class Fits:
    """Robust fits on supports of some groups, whatever their levels: the last ones are remembered,
    and the first term of the criterion of all.
    """

    def __init__(self, groups: Groups, response: SiftResponse) -> None:
        self.groups, self.response = groups, response
        self.last: dict[Support, tuple[Array, Array]] = {}
        self.lacks: dict[Support, float] = {}

    def __getitem__(self, support: Support) -> tuple[Array, Array]:
        """Residual and pseudo-response."""
        known = self.last.pop(support, None)
        if known is None:
            known = robust_fit(self.groups, support, self.response)
        self.last[support] = known  # at the end: what was used last is forgotten last
        if len(self.last) > REMEMBERED_FITS:
            del self.last[next(iter(self.last))]
        return known


@dataclass(frozen=True)
class Search:
    """Searches for the support of least criterion at the levels of `groups`."""

    groups: Groups
    response: SiftResponse
    fixed: Support
    """Groups that never leave."""
    fits: Fits
    """Of groups with the same features, at any levels."""

    def criterion(self, support: Support) -> float:
        cost = complexity(self.groups, support, self.response.Y.shape[1])
        if np.isinf(cost):
            return cost
        lacks = self.fits.lacks
        if support not in lacks:
            lacks[support] = self.response.lack_of_fit(*self.fits[support])
        return lacks[support] + cost

    def better(self, support: Support) -> Support | None:
        """A support with a smaller criterion, by moves that add, drop or replace groups; None if no
        move lowers the criterion.

        Additions, removals and replacements are compared with each other. If additions came first,
        the support would fill with columns that are correlated with a true one before the true one
        was tried in their place. Candidates are searched for once, and moves are made among them
        until none lowers the criterion for the pseudo-response of the support.
        """
        groups, q = self.groups, self.response.Y.shape[1]
        R, Y = self.fits[support]
        leave = [g for g in support if g not in self.fixed]
        left, mix = residuals_without(groups, support, R, Y, leave)
        enter = entering(groups, left, mix, support, groups.table.settings.breadth).tolist()
        # moves are judged by the residual, also where the criterion has a deviance
        equations = normal_equations(groups, {*support, *(g for new in enter for g in new)}, Y)
        bases = list(zip([None, *leave], enter, strict=True))
        now = support
        following: Support | None = support
        while following is not None:
            now = following
            moves: list[Move] = [(g, None) for g in now if g not in self.fixed]
            for out, new in bases:
                if out is None or out in now:
                    moves += [(out, g) for g in new if g not in now]
            following = best_moves(groups, now, moves, equations, q)
        return None if now == support else now

    def search(self, support: Support, ends: dict[Support, Support] | None = None) -> Support:
        """Go to `better` supports until there is none.

        A move is judged with the pseudo-response of the support it starts from, which another
        support may change: supports can follow each other in a circle, of which the best is taken.
        `ends` remembers where supports lead to, for further searches.
        """
        ends = {} if ends is None else ends
        trail: list[Support] = []
        while support not in ends:
            if support in trail:
                circle = trail[trail.index(support) :]
                support = first_of_least(self.groups, circle, list(map(self.criterion, circle)))
                break
            trail.append(support)
            following = self.better(support)
            if following is None:
                break
            support = following
        end = ends.get(support, support)
        ends |= dict.fromkeys(trail, end)
        return end

    def best(self, supports: list[Support], count: int) -> list[Support]:
        """The `count` supports with the smallest criterion, best first; of those that tie, the ones
        with the first columns.
        """
        value = {T: np.round(self.criterion(T) / TIE) for T in supports}
        return sorted(value, key=lambda T: (value[T], in_order(self.groups, T)))[:count]

    def choose(self, starts: list[Support]) -> Support:
        """The best end of searches from some supports."""
        ends: dict[Support, Support] = {}
        found = [self.search(T, ends) for T in starts]
        return self.first_copies(self.best(found, 1)[0])

    def first_copies(self, support: Support) -> Support:
        """The support with each variable replaced by the first column that is a copy of it.

        Copies fit equally well, so that rounding would choose among them, and differently on
        another processor. A mirrored copy counts where the support does not get worse by it.
        """
        groups, most = self.groups, self.criterion(support) + TIE * self.groups.rows.total
        kept = groups.variables(self.fixed)
        for variable, earlier in earlier_copies(groups, groups.variables(support)).items():
            for other in earlier:
                used = groups.variables(support)
                moved = exchanged(groups, support, variable, other)
                if variable in kept or other in used or moved is None:
                    continue
                if self.criterion(moved) <= most:
                    support = moved
                    break
        return support


def residuals_without(
    groups: Groups, support: Support, R: Array, Y: Array, leave: list[int]
) -> tuple[Array, Array]:
    """The residual R, and those of the response Y when one group is left out: all of unit
    covariance, as mixtures (1 + b, w, q) of the columns of a matrix (n, w).
    """
    n, q = groups.rows.total, Y.shape[1]
    near = neighbours(normal_equations(groups, support, Y), support)
    B, cov = near.after([(g, None) for g in leave])
    root = inverse_root(cov)
    mix = np.zeros((1 + len(leave), 2 * q + len(near.B), q))
    mix[0, :q] = inverse_root(R.T @ R / n)
    mix[1:, q : 2 * q] = root
    mix[1:, 2 * q :] = -B @ root
    return np.column_stack([R, Y, groups.stack(support).T]), mix


def best_moves(
    groups: Groups, support: Support, moves: list[Move], equations: NormalEquations, q: int
) -> Support | None:
    """The support that the best move leads to, or the best moves together where their gains add up;
    None if no move lowers the criterion.
    """
    n, stay = groups.rows.total, (None, None)
    cost = complexities(groups, support, [stay, *moves], q)
    allowed = np.isfinite(cost[1:])
    moves = [move for move, fits in zip(moves, allowed, strict=True) if fits]
    values = n * log_dets(neighbours(equations, support).after([stay, *moves])[1])
    now, values = float(values[0] + cost[0]), values[1:] + cost[1:][allowed]
    if values.min(initial=np.inf) >= now - TIE:
        return None
    gains = now - values
    together, moved = list[int](), set[int | None]()
    for i in np.argsort(values, kind="stable").tolist():
        if TIE < gains[i] < np.inf and moved.isdisjoint(moves[i]):
            together.append(i)
            moved |= {*moves[i]} - {None}
    while len(together) > 1:
        after = support
        for i in together:
            after = after_move(after, moves[i])
        value = n * log_det(equations.fit(after)[1]) + complexity(groups, after, q)
        if now - value >= gains[together].sum():
            return after
        together = together[: len(together) // 2]
    tied = np.flatnonzero(values <= values.min() + TIE)
    supports = [after_move(support, moves[i]) for i in tied]
    return first_of_least(groups, supports, values[tied].tolist())


def in_order(groups: Groups, support: Support) -> tuple[Any, ...]:
    """Supports sort by their variables, then by what they use of them."""
    return groups.variables(support), sorted((groups.index.parents(g), g) for g in support)


def first_of_least(groups: Groups, supports: list[Support], values: list[float]) -> Support:
    """The support with the least value; of those that tie, the one with the first columns."""
    most = min(values) + TIE
    tied = [T for T, value in zip(supports, values, strict=True) if value <= most]
    return min(tied, key=lambda T: in_order(groups, T))


def earlier_copies(groups: Groups, variables: list[int]) -> dict[int, list[int]]:
    """The columns of the pool before each variable that are copies of it, mirrored or not."""
    places = [j for v in variables if (j := groups.index.number(0, (v,))) is not None]
    if not places:
        return {}
    linear = groups.stack(tuple(places))
    # first roughly, from the statistics of all columns, then from exact features
    rough = groups.squared_norms(linear.T, np.eye(len(places))[:, :, None])
    out: dict[int, list[int]] = {}
    for j, z, found in zip(places, linear, rough, strict=True):
        near = np.flatnonzero(found[:j] > 0.9 * found[j])
        others = groups.stack(tuple(near.tolist()))
        sizes = np.sqrt(np.einsum("in,in->i", others, others) * (z @ z))
        same = np.abs(others @ z) >= (1.0 - COPY) * sizes
        out[int(groups.columns[j])] = [int(groups.columns[i]) for i in near[same]]
    return out


def exchanged(groups: Groups, support: Support, variable: int, other: int) -> Support | None:
    """The support with one variable in the place of another; None where a product is missing, or
    one of the columns is part of a joint group.
    """
    index, out = groups.index, list[int]()
    for g in support:
        parents, part = index.parents(g), index.part(g)
        moved = tuple(sorted(other if v == variable else v for v in parents))
        found = index.number(part, moved) if part != JOINT or moved == parents else None
        if found is None:
            return None
        out.append(found)
    return tuple(sorted(out))


# The check of a chosen support: do its gains reach their levels when rows are exchangeable?
#
# The chi-square levels hold where sums of features and residuals are nearly normal. A support is
# searched for as if they were; then every group of it, and every variable as a whole, is judged
# by `saddlepoint.permutation_ratio`. What is refused is out, and the search begins again without
# it. What is returned has passed.


def choose_supports(
    groups: Groups,
    supports: list[Support],
    response: SiftResponse,
    fixed: Support,
    false_positives: float,
) -> tuple[Support, Support]:
    """The best support that passes, and the best at relaxed levels, which need not: there, each
    group of noise passes `relaxed / false_positives` times as often.

    Where many weak groups only pay together, add-one moves from a small support never reach them;
    the relaxed optimum does, and is a second start for the search at the true levels. A proposal of
    more than `n_known` groups that together explain less than they cost is no start: nearly all of
    them would have to be dropped, one by one.
    """
    df, ratio = groups.size * response.Y.shape[1], groups.ratio
    factor = max(groups.table.settings.relaxed / false_positives, 1.0)
    levels = groups.levels.map(lambda level: relaxed_levels(level / ratio, df, factor) * ratio)
    search = Search(groups, response, fixed, Fits(groups, response))
    lenient = replace(search, groups=replace(groups, levels=levels))
    settings = groups.table.settings
    first, *starts = lenient.best(supports, settings.breadth)
    idle = lenient.criterion(fixed)
    starts = [T for T in starts if len(T) <= settings.n_known or lenient.criterion(T) < idle]
    loose = lenient.choose([first, *starts])
    further = [loose]
    while True:
        support = search.choose([*search.best(supports, 1), *further])
        out = refused(search, support)
        if not out:
            return support, loose
        search = replace(search, groups=search.groups.excluding(out))
        supports, further = without(out, supports), without(out, [further[0], support])


def without(out: set[int], supports: list[Support]) -> list[Support]:
    """Supports without some groups."""
    return [tuple(g for g in support if g not in out) for support in supports]


def refused(search: Search, support: Support) -> set[int]:
    """Groups of a support whose gain, as permutations confirm it, is less than their cost.

    Backward elimination: the group that falls shortest is left out, the others are judged again,
    until all pass. In a support with many false groups, a true one may fall short too, because its
    effect is divided among them. Every group that was left out is therefore judged once more with
    those that passed, and only those that fall short again are refused; if none does, the first
    that was left out is.
    """
    out: list[int] = []
    left = support
    while (worst := least_confirmed(search, left)) is not None:
        out.append(worst)
        left = tuple(g for g in left if g != worst)
    short = {g for g in out if least_confirmed(search, tuple(sorted((*left, g)))) is not None}
    return short or set(out[:1])


def least_confirmed(search: Search, support: Support) -> int | None:
    """The group of a support whose gain falls shortest of its cost; None if none falls short.

    Groups are judged one by one, then all groups of a variable together. Where these fall short
    together, the group is named whose gain is least confirmed by exchangeable rows.
    """
    groups, response = search.groups, search.response
    n, q, root = groups.rows.total, response.Y.shape[1], groups.rows.column_root
    Y = search.fits[support][1]
    fits = normal_equations(groups, support, Y)
    Z = groups.stack(support)
    B, cov = fits.fit(support)
    cost, least = complexity(groups, support, q), log_det(cov)

    def judge(leave: Support, *, whole: bool = False) -> tuple[float, float]:
        """Cost less confirmed gain of some groups, and the share of the gain that permutations
        confirm; a lower bound of it where gain exceeds cost, unless the `whole` share is asked for.
        """
        rest = tuple(g for g in support if g not in leave)
        B_rest, cov_rest = fits.fit(rest)
        own = fits.index(leave)
        gain = max(n * (log_det(cov_rest) - least), 0.0)  # the ridge can make it negative
        asked = cost - complexity(groups, rest, q)
        a = Z[own].T @ B[own] / root
        R = (Y - Z[fits.index(rest)].T @ B_rest) / root
        enough = asked / gain if gain > 0.0 and not whole else np.inf
        part = permutation_ratio(a, R, groups.rows.weights, gain, enough)
        return asked - gain * part, part

    short: dict[int, float] = {}
    for leave in to_check(groups, support, search.fixed):
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
