"""The linear part of covariates in a predictor, and findings without them.

The part is estimated by least squares, or by logistic regression, on the covariates and on curves
and products of the selected columns together: effects that both could explain are divided as in any
multiple regression.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradsift.numerics.logistic import fit_binary, fit_multinomial, with_ones
from gradsift.numerics.robust import middle_quantiles, winsorise
from gradsift.numerics.statistics import natural_splines
from gradsift.protocols import Array, IntArray
from gradsift.sift import SiftResult

CLIP = 3.0
"""Robust standard deviations beyond which a residual is cut off, as in the sift."""
CURVE = np.array([0.1, 0.5, 0.9])
"""Quantiles of a selected column at which its curve bends."""
ROWS_PER_COLUMN = 5
"""Rows for each column of the regression; curves that ask for more are left out."""
RIDGE = 0.1
"""Penalty of the logistic regression, in rows: finite where covariates separate the classes."""


def beside_selected(
    Z: Array, pairs: list[tuple[int, int]], room: int, weight: Array | None = None
) -> Array:
    """Columns (n, m) for the effects of selected ones: themselves, their products, their curves, as
    far as there is room.
    """
    products = [Z[:, [a]] * Z[:, [b]] for a, b in pairs]
    curves = []
    for z in Z.T:
        knots = np.unique(middle_quantiles(z, CURVE, weight))
        if len(knots) == len(CURVE):
            curves.append(natural_splines(z, knots))
    out = Z[:, :room]
    for more in (*products, *curves):
        if out.shape[1] + more.shape[1] <= room:
            out = np.column_stack([out, more])
    return out


def numbers_part(
    C: Array, Z: Array, y: Array, weight: Array | None, *, robust: bool = True
) -> Array:
    """Coefficients (k, 1) of covariates C beside other columns Z, for numbers. Outlying residuals
    are winsorised, if there may be any.
    """
    k, root = C.shape[1], np.ones(len(y)) if weight is None else np.sqrt(weight)
    A = with_ones(np.column_stack([C, Z]))
    target = y
    for _ in range(2 if robust else 1):
        beta = np.linalg.lstsq(A * root[:, None], target * root, rcond=None)[0]
        fit = A @ beta
        target = fit + winsorise(y - fit, CLIP, weight)
    return np.asarray(beta[:k, None])


def labels_part(C: Array, T: Array, offset: Array | None, weight: Array | None) -> Array:
    """Coefficients of columns C and, last, of the constant: (k + 1, 1) in the log odds, for
    indicators T (n, 1), or (k + 1, classes) in the scores, for indicators (n, classes).
    """
    A = with_ones(C)
    weight = np.ones(len(A)) if weight is None else weight
    start = np.zeros((A.shape[1], T.shape[1]))
    if T.shape[1] > 1:
        return fit_multinomial(A, T, weight, RIDGE, start, offset)
    own = None if offset is None else offset[:, 0]
    return fit_binary(A, T[:, 0], weight, RIDGE, start[:, 0], own).beta


def room_for(C: Array) -> int:
    """Columns that a regression on covariates C may have beside them."""
    return max(0, len(C) // ROWS_PER_COLUMN - C.shape[1] - 1)


def explained_part(C: Array, Y: Array, weight: Array | None) -> float:
    """Share of the variance of responses Y (n, q) that least squares on C explains."""
    weight = np.ones(len(Y)) if weight is None else weight
    root = np.sqrt(weight)[:, None]
    Y = (Y - weight @ Y / weight.sum()) * root
    A = (C - weight @ C / weight.sum()) * root
    rest = Y - A @ np.linalg.lstsq(A, Y, rcond=None)[0]
    total = float((Y * Y).sum())
    return max(0.0, 1.0 - float((rest * rest).sum()) / total) if total > 0.0 else 0.0


def own_result(found: SiftResult, p: int) -> SiftResult:
    """What was found among the first p columns."""
    if len(found.ranking) == p:
        return found
    own = found.selected < p
    ranking = np.empty(p, dtype=found.ranking.dtype)
    ranking[np.argsort(found.ranking[:p], kind="stable")] = np.arange(1, p + 1)
    return replace(
        found,
        selected=found.selected[own],
        ranking=ranking,
        scores=found.scores[:p],
        interactions=tuple(pair for pair in found.interactions if max(pair[:2]) < p),
        groups=tuple(term for term in found.groups if max(term.variables) < p),
        chi_square_tails=found.chi_square_tails[own],
    )


def own_support(selected: IntArray, p: int) -> IntArray:
    return selected[selected < p]
