"""The linear part of covariates in a predictor.

Problem: coefficients (k, q) of covariates C (n, k) in a response (n, q), adjusted for the effects
of the selected columns. They are those of a regression (least squares, or logistic for labels) on
the covariates together with curves and products of the selected columns. The curves are natural
cubic splines (Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, 2009, section
5.2.1).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradsift.estimators.sample import Sample
from gradsift.numerics.statistics import middle_quantiles, natural_splines
from gradsift.protocols import Array, IntArray
from gradsift.sift import SiftResult

CURVE = np.array([0.1, 0.5, 0.9])
"""Theory: quantiles of a selected column at which its curve bends, those of three knots in
Harrell, Regression Modeling Strategies, 2015, table 2.3.
"""
ROWS_PER_COLUMN = 5
"""Rows per column of the regression; curves that need more rows are left out."""


def without_covariates(
    sample: Sample, Z: Array, rows: IntArray, found: SiftResult
) -> tuple[Sample, Array, float]:
    """The sample given the part of its covariates, the coefficients of that part, and the share of
    the response that covariates explain alone.

    Parameters
    ----------
    Z : (m, k) array
        Selected columns of some rows, standardised.
    rows : (m,) int array
        Which rows these are.
    """
    C, weight = np.asarray(sample.covariates), sample.weight
    place = {int(k): j for j, k in enumerate(found.selected)}
    pairs = [(place[a], place[b]) for a, b, _ in found.interactions if {a, b} <= place.keys()]
    some = None if weight is None else weight[rows]
    room = max(0, len(rows) // ROWS_PER_COLUMN - C.shape[1] - 1)
    effects = effect_columns(Z, pairs, room, some)
    coefficients = sample.response.take(rows).coefficients(C[rows], effects, some)
    share = explained_share(C, sample.response.start(), weight)
    return replace(sample, response=sample.response.given(C @ coefficients)), coefficients, share


def effect_columns(
    Z: Array, pairs: list[tuple[int, int]], room: int, weight: Array | None = None
) -> Array:
    """Columns (n, m) for the effects of the selected columns Z: themselves, products of `pairs` and
    curves, m <= `room`.
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


def explained_share(C: Array, Y: Array, weight: Array | None) -> float:
    """Share of the variance of responses Y (n, q) that least squares on C explains."""
    weight = np.ones(len(Y)) if weight is None else weight
    root = np.sqrt(weight)[:, None]
    Y = (Y - weight @ Y / weight.sum()) * root
    A = (C - weight @ C / weight.sum()) * root
    rest = Y - A @ np.linalg.lstsq(A, Y, rcond=None)[0]
    total = float((Y * Y).sum())
    return max(0.0, 1.0 - float((rest * rest).sum()) / total) if total > 0.0 else 0.0
