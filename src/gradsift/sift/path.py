"""The path: supports of a group lasso with MCP weights, from the empty one down.

    minimise over B   ||Y - sum_g Z_g' B_g||_F^2 / (2 n)  +  sum_g lambda_g ||B_g||_F,    lambda_g =
    u_g s t_g / sqrt n

for a falling scale s. t_g is the level of the group, so that groups of different size enter on
equal terms; u_g in [0, 1] falls with ||B_g|| (one local linear approximation of the MCP per
solve), so that strong groups stop masking weak ones. The path proposes supports, nothing else: none
of its coefficients is used, and no certificate is needed.

Why not `gradsift.solver`? Its groups are rows of B, one column of the table each. A local group is
eight features here, which its problem cannot state; and a certified path takes about 20 times as
long. Why a path at all beside the search? Without
it, many equal weak effects are not found together (`benchmarks/ablation`).
"""

from __future__ import annotations

import numpy as np

from gradsift._typing import Array, IntArray
from gradsift.sift.groups import Groups, Support
from gradsift.sift.response import Response

MOST_NEW = 20
TOL = 1e-3


def group_lasso(
    gram: Array,
    corr: Array,
    owner: IntArray,
    penalty: Array,
    start: Array,
    tol: float = TOL,
    max_iter: int = 500,
) -> Array:
    """Minimise B'(gram)B/2 - <corr, B> + sum_g penalty_g ||B_g||: FISTA with restarts.

    `owner` (df,) numbers the group of each row of B (df, q), consecutive from zero.
    """
    first = np.flatnonzero(np.r_[True, np.diff(owner) > 0])
    step = 1 / np.linalg.eigvalsh(gram)[-1]
    B, V, t = start, start, 1.0
    for _ in range(max_iter):
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
    groups: Groups, Y: Array, penalty: Array, start: dict[int, Array], tol: float = TOL
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
            B = group_lasso(Z @ Z.T / n, Z @ Y / n, owner, penalty[working], B0, tol)
            R = Y - Z.T @ B
            pieces = np.split(B, np.cumsum(sizes)[:-1])
            active = {g: b for g, b in zip(working, pieces, strict=True) if b.any()}
        ratio = np.sqrt(groups.squared_norms(R) / n) / np.maximum(penalty, 1e-300)
        ratio[working] = 0.0
        above = np.flatnonzero(ratio > 1.001)
        new = above[np.argsort(-ratio[above], kind="stable")[:MOST_NEW]]
        if len(new) == 0 or len(working) >= groups.settings.limits.least_columns:
            return active, R
        working = sorted({*working, *new.tolist()})


def path(groups: Groups, response: Response, fixed: Support, tol: float = TOL) -> list[Support]:
    """Distinct supports met while the scale falls from the empty solution to `path_end` of it, or
    to `most_df` n coefficients.
    """
    n, settings = groups.rows.total, groups.settings
    level = np.sqrt(groups.level / n)
    Y = response.start
    free = np.ones(len(level))
    free[list(fixed)] = 0.0
    active: dict[int, Array] = {}
    ratio = np.sqrt(groups.squared_norms(Y) / n) * free / np.maximum(level, 1e-300)
    top = scale = float(ratio.max())
    found: dict[Support, None] = {tuple(fixed): None}
    while scale > settings.path_end * top and top > 0:
        scale *= settings.path_step
        for _ in range(2):
            penalty = scale * level * free
            for g, b in active.items():
                if penalty[g] > 0:
                    weight = 1 - np.linalg.norm(b) / (settings.mcp * penalty[g])
                    penalty[g] *= max(weight, 0.0)
            active, R = solve(groups, Y, penalty, active, tol)
            Y = response.adapted(Y - R)
        found[tuple(sorted({*active, *fixed}))] = None
        if sum(len(b) for b in active.values()) > settings.most_df * n:
            break
    return list(found)
