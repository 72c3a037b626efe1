"""The choice of a support: a local search for the least criterion.

A step adds, drops or replaces one group. Searches begin at supports that a path proposes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradsift._typing import Array, IntArray
from gradsift.sift.criterion import (
    Move,
    complexities,
    criterion,
    inverse_root,
    normal_equations,
    robust_fit,
)
from gradsift.sift.groups import Groups, Support
from gradsift.sift.moves import after_move, neighbours
from gradsift.sift.response import Response

TIE = 1e-6
"""Criteria that differ by less are equal: rounding, which is another on another processor."""
COPY = 1e-9
"""Columns are copies of each other if their correlation is so close to 1 or -1."""


def levels_given(groups: Groups, support: Support) -> Array:
    """Squared level of every group beside this support."""
    k = len(groups.columns)
    level = groups.level.copy()
    if groups.joint is not None:
        owners = [v for g in support for v in groups.owners_of(g)]
        labels, members = groups.joint.labels, groups.joint.members
        own = np.r_[np.tile(labels[groups.columns], 3), [labels[m[0]] for m in members]]
        beside = np.flatnonzero(np.isin(own, owners))
        level[beside] = groups.level_if_selected[beside]
        return level
    for v in groups.variables(support):
        if (j := groups.place_of(v)) is not None:
            own = [j, k + j, 2 * k + j]
            level[own] = groups.level_if_selected[own]
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


def better(groups: Groups, support: Support, response: Response, fixed: Support) -> Support | None:
    """The best support that adds, drops or replaces one group; None if none lowers the criterion.

    Additions, removals and replacements are compared with each other. If additions came first, the
    support would fill with columns that are correlated with a true one before the true one was
    tried in their place.
    """
    R, Y = robust_fit(groups, support, response)
    now = criterion(groups, support, response)
    leave = [g for g in support if g not in fixed]
    left, mix = residuals_without(groups, support, R, Y, leave)
    enter = entering(groups, left, mix, support, groups.settings.breadth).tolist()
    bases = zip([None, *leave], enter, strict=True)
    moves: list[Move] = [(g, None) for g in leave]
    moves += [(out, g) for out, new in bases for g in new if g not in support]
    return best_move(groups, support, moves, Y, now)


def residuals_without(
    groups: Groups, support: Support, R: Array, Y: Array, leave: list[int]
) -> tuple[Array, Array]:
    """The residual R, and those of the response Y when one group is left out: all of unit
    covariance, as mixtures (1 + b, w, q) of the columns of a matrix (n, w).
    """
    n, q = groups.rows.total, Y.shape[1]
    near = neighbours(normal_equations(groups, support, Y), support)
    B, cov = near.without(leave)
    root = inverse_root(cov)
    mix = np.zeros((1 + len(leave), 2 * q + near.m, q))
    mix[0, :q] = inverse_root(R.T @ R / n)
    mix[1:, q : 2 * q] = root
    mix[1:, 2 * q :] = -B @ root
    return np.column_stack([R, Y, groups.stack(support).T]), mix


def best_move(
    groups: Groups, support: Support, moves: list[Move], Y: Array, now: float
) -> Support | None:
    """The support with the smallest criterion for the stand-in response Y, if below `now`."""
    n, q = groups.rows.total, Y.shape[1]
    cost = complexities(groups, support, moves, q)
    allowed = np.flatnonzero(np.isfinite(cost))
    if not len(allowed):
        return None
    moves = [moves[i] for i in allowed]
    equations = normal_equations(groups, {*support, *(g for _, g in moves if g is not None)}, Y)
    values = n * neighbours(equations, support).log_dets(moves) + cost[allowed]
    if values.min() >= now - TIE:
        return None
    tied = np.flatnonzero(values <= values.min() + TIE)
    supports = [after_move(support, moves[i]) for i in tied]
    return first_of_least(groups, supports, values[tied].tolist())


def in_order(groups: Groups, support: Support) -> tuple[Any, ...]:
    """Supports sort by their variables, then by what they use of them."""
    return groups.variables(support), sorted((groups.parents_of(g), g) for g in support)


def first_of_least(groups: Groups, supports: list[Support], values: list[float]) -> Support:
    """The support with the least value; of those that tie, the one with the first columns."""
    most = min(values) + TIE
    tied = [T for T, value in zip(supports, values, strict=True) if value <= most]
    return min(tied, key=lambda T: in_order(groups, T))


def search(
    groups: Groups,
    support: Support,
    response: Response,
    fixed: Support,
    ends: dict[Support, Support] | None = None,
) -> Support:
    """Go to `better` supports until there is none.

    A move is judged with the stand-in response of the support it starts from, which another support
    may change: supports can follow each other in a circle, of which the best is taken. `ends`
    remembers where supports lead to, for further searches with the same groups.
    """
    ends = {} if ends is None else ends
    trail: list[Support] = []
    while support not in ends:
        if support in trail:
            circle = trail[trail.index(support) :]
            values = [criterion(groups, T, response) for T in circle]
            support = first_of_least(groups, circle, values)
            break
        trail.append(support)
        following = better(groups, support, response, fixed)
        if following is None:
            break
        support = following
    end = ends.get(support, support)
    ends |= dict.fromkeys(trail, end)
    return end


def best_supports(
    groups: Groups,
    supports: list[Support],
    response: Response,
    count: int,
    fitted: dict[Support, float],
) -> list[Support]:
    """The `count` supports with the smallest criterion, best first; of those that tie, the ones
    with the first columns. `fitted`: as in `criterion`.
    """
    value = {T: np.round(criterion(groups, T, response, fitted) / TIE) for T in supports}
    return sorted(value, key=lambda T: (value[T], in_order(groups, T)))[:count]


def choose(
    groups: Groups,
    starts: list[Support],
    response: Response,
    fixed: Support,
    fitted: dict[Support, float],
) -> Support:
    """The best end of searches from some supports."""
    ends: dict[Support, Support] = {}
    found = [search(groups, T, response, fixed, ends) for T in starts]
    best = best_supports(groups, found, response, 1, fitted)[0]
    return first_copies(groups, best, response, fixed)


def first_copies(groups: Groups, support: Support, response: Response, fixed: Support) -> Support:
    """The support with each variable replaced by the first column that is a copy of it.

    Copies fit equally well, so that rounding would choose among them, and differently on another
    processor. A mirrored copy counts where the support does not get worse by it.
    """
    n = groups.rows.total
    value = criterion(groups, support, response)
    kept = groups.variables(fixed)
    for variable, earlier in earlier_copies(groups, groups.variables(support)).items():
        for other in earlier:
            used = groups.variables(support)
            moved = exchanged(groups, support, variable, other)
            if variable in kept or other in used or moved is None:
                continue
            if criterion(groups, moved, response) <= value + TIE * n:
                support = moved
                break
    return support


def earlier_copies(groups: Groups, variables: list[int]) -> dict[int, list[int]]:
    """The columns of the pool before each variable that are copies of it, mirrored or not."""
    k = len(groups.columns)
    places = [j for v in variables if (j := groups.place_of(v)) is not None]
    if not places:
        return {}
    linear = groups.stack(tuple(places))
    # first roughly, from the statistics of all columns, then from exact features
    rough = groups.squared_norms(linear.T, np.eye(len(places))[:, :, None])[:, :k]
    out: dict[int, list[int]] = {}
    for j, z, found in zip(places, linear, rough, strict=True):
        near = np.flatnonzero(found[:j] > 0.9 * found[j])
        others = groups.stack(tuple(near.tolist()))
        sizes = np.sqrt(np.einsum("in,in->i", others, others) * (z @ z))
        same = np.abs(others @ z) >= (1.0 - COPY) * sizes
        out[int(groups.columns[j])] = [int(groups.columns[i]) for i in near[same]]
    return out


def exchanged(groups: Groups, support: Support, variable: int, other: int) -> Support | None:
    """The support with one variable in the place of another; None where a product is not there, or
    one of the columns is part of a joint group.
    """
    k = len(groups.columns)
    shift = (groups.place_of(other) or 0) - (groups.place_of(variable) or 0)
    out = []
    for g in support:
        parents = groups.parents_of(g)
        if variable not in parents:
            out.append(g)
        elif g < 3 * k:
            out.append(g + shift)
        elif g < groups.first_product:
            return None
        else:
            pair = tuple(sorted(other if v == variable else v for v in parents))
            if pair not in groups.parents:
                return None
            out.append(groups.first_product + groups.parents.index(pair))
    return tuple(sorted(out))
