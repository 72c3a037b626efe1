"""Covariates in a fit: the choice of their terms, and the coefficients of these.

Problem: which functions of the covariates does a response (n, q) have to be adjusted for? Every
number has a linear term and every category an indicator. Curves and jumps of numbers, and products
of two covariates, are added by forward selection: in each step the term of the smallest p-value of
an F test given the terms before it, with Bonferroni's correction for the number of terms of its
kind, as long as this is below `NEEDLESS`. That level is generous, because terms of covariates are
not reported as findings: a column of X that is only correlated with a missing term has to reach a
much higher level to be selected.

Curves are cubic splines with knots at quantiles (Harrell, Regression Modeling Strategies, 2015,
section 2.4).

Predictions have a linear part in these columns C (n, k). Its coefficients (k, q) are adjusted for
the effects of the selected columns: they are those of a regression (least squares, or logistic for
labels) on C together with curves and products of the selected columns. These curves are natural
cubic splines (Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, 2009, section
5.2.1).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import f as f_distribution

from gradsift.data.categories import text_levels
from gradsift.data.row_groups import group_sums
from gradsift.estimators.covariates import Covariate, Covariates, products, read_columns
from gradsift.estimators.sample import Sample
from gradsift.numerics.logistic import with_ones
from gradsift.numerics.statistics import (
    cubic_splines,
    middle_quantiles,
    natural_splines,
    winsorise,
)
from gradsift.protocols import Array, IntArray, Source, TableLike
from gradsift.responses.numbers import CLIP
from gradsift.sift import SiftResult
from gradsift.tables.columns import Column

MOST_COLUMNS = 1 / 3
"""Words: columns of all covariates at most, as a part of the rows: more, which would overfit any
response, are refused.
"""
MOST_TERMS = 1 / 8
"""Columns of curves and products at most, as a part of the rows, or of the groups of rows."""
NEEDLESS = 0.05
"""Expected number of false curves, and of false products, where all effects are linear."""
BENDS = (1, 3, 7, 15)
"""Numbers of quantiles at which a curve may bend. Each set of quantiles holds the one before, so
that the curves are nested models.
"""
JUMPS = np.arange(4, 61) / 64
"""Quantiles at which an effect may jump; a sixteenth of the rows is on either side at least."""
CURVE = np.array([0.1, 0.5, 0.9])
"""Theory: quantiles of a selected column at which its curve bends, those of three knots in
Harrell, Regression Modeling Strategies, 2015, table 2.3.
"""
ROWS_PER_COLUMN = 5
"""Rows for each column of the regression at least, so that coefficients have small errors; curves
that would need more rows are left out.
"""
SAME = 1e-8
"""Rounding: relative length of a column given others, below which it is a linear combination of
these.
"""


def with_covariates(
    sample: Sample, covariates: TableLike, source: Source, kept: IntArray
) -> Sample:
    """The sample of the kept rows of a source, with its covariates as columns."""
    given = [(column, source.align_rows(values)) for column, values in read_columns(covariates)]
    wrong = [len(values) for _, values in given if len(values) != source.shape[0]]
    if wrong:
        raise ValueError(
            f"covariates has {wrong[0]} rows but X has {source.shape[0]}: give one row for each."
        )
    if not given:
        return sample
    names, values = [column.name for column, _ in given], [values[kept] for _, values in given]
    twice = [name for k, name in enumerate(names) if name in names[:k]]
    if twice:
        raise ValueError(f"two covariates are named {twice[0]!r}: rename one.")
    counts = np.ones(len(kept)) if sample.weight is None else sample.weight
    parts = tuple(learn(column, v, counts) for (column, _), v in zip(given, values, strict=True))
    found, adjusted = with_terms(sample, parts, (), values, counts)
    straight = len(found.used)
    if straight == 0:  # constant covariates say nothing
        return replace(sample, covariate_map=found)
    sample = adjusted
    if straight > MOST_COLUMNS * len(kept):
        raise ValueError(
            f"the covariates take {straight} columns, for {len(kept)} rows: at most a third as "
            "many columns as rows can be adjusted for. Leave some out, or join rare categories."
        )
    total = counts.sum() if sample.groups is None else len(np.unique(sample.groups))
    room = straight + MOST_TERMS * total
    while True:
        rows = sample.independent()
        Q, residual = unexplained(rows)
        best, chosen = np.log(NEEDLESS), None
        for tests, terms, block in candidates(found, values, counts):
            block = np.asarray(replace(sample, covariates=block).independent().covariates)
            log_p = np.log(tests) + log_p_value(block, Q, residual, rows, total, room)
            if log_p < best:
                best, chosen = log_p, terms
        if chosen is None:
            return replace(sample, covariate_map=found)
        found, sample = with_terms(sample, chosen.parts, chosen.products, values, counts)


def with_terms(
    sample: Sample,
    parts: tuple[Covariate, ...],
    pairs: tuple[tuple[int, int], ...],
    values: list[Any],
    counts: Array,
) -> tuple[Covariates, Sample]:
    """Covariates with these terms, and the sample with their columns, of mean zero."""
    every = Covariates(parts, pairs, np.zeros(0, dtype=np.intp), np.zeros(0), np.zeros((0, 1)))
    whole = every.whole(values)
    mean = counts @ whole / counts.sum()
    used = independent_columns(whole - mean)
    found = replace(every, used=used, mean=mean[used], coefficients=np.zeros((len(used), 1)))
    columns = replace(sample.columns, n_covariates=len(used))
    return found, replace(sample, covariates=(whole - mean)[:, used], columns=columns)


def candidates(
    found: Covariates, values: list[Any], counts: Array
) -> Iterator[tuple[float, Covariates, Array]]:
    """Terms that may be added: the number of tests to correct for, the covariates with the term,
    and its columns (n, d).
    """
    parts = found.parts
    straight = [replace(part, knots=(), jumps=()) for part in parts]
    amounts = [
        part.encode(value)[:, : part.n_amounts]
        for part, value in zip(straight, values, strict=True)
    ]
    numbers = [k for k, part in enumerate(parts) if not part.reference]
    for k in numbers:
        z, part = amounts[k][:, 0], parts[k]
        curves = [knots for knots in knot_sets(z, counts) if len(knots) > len(part.knots)]
        bent = [replace(part, knots=tuple(knots.tolist())) for knots in curves]
        blocks = [cubic_splines(z, knots) for knots in curves]
        cuts = np.unique(middle_quantiles(z, JUMPS, counts))
        split = [replace(part, jumps=(*part.jumps, cut)) for cut in cuts.tolist()]
        tests = [*(2.0 ** np.arange(2, 2 + len(bent))), *np.full(len(cuts), 2.0 * len(cuts))]
        blocks += [(z > cut)[:, None].astype(float) for cut in cuts]
        for count, changed, block in zip(tests, (*bent, *split), blocks, strict=True):
            terms = replace(found, parts=(*parts[:k], changed, *parts[k + 1 :]))
            yield count * len(numbers), terms, block
    every = list(combinations(range(len(parts)), 2))
    for k, j in every:
        if (k, j) not in found.products:
            terms = replace(found, products=(*found.products, (k, j)))
            yield len(every), terms, products(amounts[k], amounts[j])


def knot_sets(z: Array, counts: Array) -> list[Array]:
    """Sets of knots of a number z (n,), its smallest and largest value included; few, then more."""
    out: list[Array] = []
    for bends in BENDS:
        inner = middle_quantiles(z, np.arange(1, bends + 1) / (bends + 1), counts)
        knots = np.unique(np.r_[z.min(), inner, z.max()])
        if len(knots) > (len(out[-1]) if out else 2):
            out.append(knots)
    return out


def unexplained(rows: Sample) -> tuple[Array, Array]:
    """Orthonormal bases of covariates and a constant (n, k + 1), and of the residual of the
    response given these (n, q), winsorised where there may be outliers; rows are multiplied by the
    roots of their weights.
    """
    C, weight = np.asarray(rows.covariates), rows.weight
    rest = rows.response.adjusted_for(C, weight).start()
    rest = winsorise(rest, CLIP, weight) if rows.response.robust else rest
    root = np.sqrt(np.ones(len(C)) if weight is None else weight)[:, None]
    Q, R = np.linalg.qr(root * with_ones(C))[0], root * rest
    R = R - Q @ (Q.T @ R)
    values, vectors = np.linalg.eigh(R.T @ R)
    some = values > SAME * max(float(values.max()), 1e-300)
    return Q, np.asarray(R @ (vectors[:, some] / np.sqrt(values[some])))


def log_p_value(
    block: Array, Q: Array, residual: Array, rows: Sample, total: float, room: float
) -> float:
    """log p-value of columns (n, d) given the covariates with the orthonormal basis Q, by an F
    test; 0 where the covariates would have more than `room` columns. Where rows belong together,
    the statistic is divided by its design effect, and `total` is the number of groups.
    """
    counts = np.ones(len(block)) if rows.weight is None else rows.weight
    U = np.sqrt(counts)[:, None] * block
    size = float(np.linalg.norm(U))
    U = U - Q @ (Q.T @ U)
    U, values, _ = np.linalg.svd(U - Q @ (Q.T @ U), full_matrices=False)
    U = U[:, values > np.sqrt(SAME) * size]
    d, q, k = U.shape[1], residual.shape[1], Q.shape[1]
    left = total - k - d
    if d == 0 or q == 0 or left < 1 or k - 1 + d > room:
        return 0.0
    explained = float(np.square(U.T @ residual).sum())
    if rows.groups is not None:
        score = (U[:, :, None] * residual[:, None, :]).reshape(len(U), d * q)
        independent = float((np.square(score).sum(axis=1) / counts).sum())
        together = float(np.square(group_sums(score, rows.groups)).sum())
        explained /= max(1.0, together / max(independent, 1e-300))
    ratio = explained / d / ((q - explained) / (counts.sum() - k - d))
    return float(f_distribution.logsf(ratio, d * q, left * q))


def learn(column: Column, values: NDArray[Any], counts: Array) -> Covariate:
    """How a covariate becomes columns, from its values (n,) and the counts of rows (n,)."""
    name = column.name
    if values.dtype.kind == "O":
        levels = text_levels(values)
        if len(levels) > max(MOST_COLUMNS * len(values), 2):
            raise ValueError(
                f"covariate {name!r} holds {len(levels)} different texts in {len(values)} rows: "
                "too many for categories. Turn it into numbers, or leave it out."
            )
        number = {level: k for k, level in enumerate(levels)}
        most = int(np.bincount([number[value] for value in values], counts).argmax())
        others = (*levels[:most], *levels[most + 1 :])
        return Covariate(name, others, levels[most], column=column)
    there = ~np.isnan(values)
    if not there.any():
        raise ValueError(f"covariate {name!r} is missing in all {len(values)} rows.")
    values, counts = values[there], counts[there]
    mean = float(np.average(values, weights=counts))
    spread = float(np.sqrt(np.average((values - mean) ** 2, weights=counts)))
    scale = spread if spread > 1e-12 * float(np.abs(values).max()) else np.inf
    return Covariate(name, (), "", mean, scale, marked=not there.all(), column=column)


def independent_columns(C: Array) -> IntArray:
    """Columns that are not, but for rounding, linear combinations of those before them."""
    kept: list[int] = []
    basis = np.zeros((len(C), 0))
    for k, column in enumerate(C.T):
        size = float(np.linalg.norm(column))
        rest = column - basis @ (basis.T @ column)
        rest -= basis @ (basis.T @ rest)
        left = float(np.linalg.norm(rest))
        if size > SAME and left > SAME * size:
            kept.append(k)
            basis = np.column_stack([basis, rest / left])
    return np.array(kept, dtype=np.intp)


# The coefficients of covariates in predictions.


def without_covariates(sample: Sample, Z: Array, rows: IntArray, found: SiftResult) -> Sample:
    """The sample given the part of its covariates, whose coefficients and whose share of the
    response its `covariate_map` then has.

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
    assert sample.covariate_map is not None
    learned = replace(sample.covariate_map, coefficients=coefficients, explained=share)
    response = sample.response.given(C @ coefficients)
    return replace(sample, response=response, covariate_map=learned)


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
