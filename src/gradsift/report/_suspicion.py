"""Signs of a leak: a held-out score near perfect, or one column that alone gives the target."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradsift.data.slices import take_columns
from gradsift.evaluate import HeldOut
from gradsift.protocols import Array

TOO_GOOD_R2 = 0.995
TOO_GOOD_AUC = 0.999
FEWEST = 10
"""Rows below which anything fits."""


def too_good(held: HeldOut) -> str | None:
    """The score on held-out rows that is beyond belief, in words; None where none is."""
    name, bar = ("ROC AUC", TOO_GOOD_AUC) if held.classes else ("R²", TOO_GOOD_R2)
    best = held.selected.mean(name)
    return f"{name} {best:.4f}" if best > bar else None


def reproduces(x: Array, y: Any, labels: bool) -> bool:
    """Whether one column alone gives the target: each row from its neighbours along the column.

    Numbers: rows are predicted by the mean of other rows with the same value, or by the line
    through the two next to them, and R² is beyond belief. Labels: sorted by the column, every class
    lies in one piece.

    Examples
    --------
    >>> x = np.linspace(0, 1, 200)
    >>> reproduces(x, x**2, labels=False), reproduces(x, np.cos(900 * x), labels=False)
    (True, False)
    """
    there = np.isfinite(x)
    x, y = x[there], np.asarray(y)[there]
    if len(x) < FEWEST or len(np.unique(y)) < 2:
        return False
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    start = np.flatnonzero(np.r_[True, np.diff(x) > 0])
    size = np.diff(np.r_[start, len(x)])
    if labels:
        codes = np.unique(y, return_inverse=True)[1]
        alike = np.minimum.reduceat(codes, start) == np.maximum.reduceat(codes, start)
        return bool(alike.all() and (np.diff(codes) != 0).sum() == codes.max())
    y = y.astype(float)
    total = np.add.reduceat(y, start)
    again = np.repeat(size, size)
    others = (np.repeat(total, size) - y) / np.maximum(again - 1, 1)
    guess = np.where(again > 1, others, np.repeat(between(x[start], total / size), size))
    left = np.square(y - guess).sum() / np.square(y - y.mean()).sum()
    return bool(1.0 - left > TOO_GOOD_R2)


def between(x: Array, y: Array) -> Array:
    """Each y on the straight line through its two neighbours along x, which is strictly rising."""
    if len(x) < 3:
        return np.full(len(x), y.mean())
    a = np.r_[1, np.arange(len(x) - 2), len(x) - 3]
    b = np.r_[2, np.arange(2, len(x)), len(x) - 2]
    return np.asarray(y[a] + (x - x[a]) / (x[b] - x[a]) * (y[b] - y[a]))


def giveaways(X: Any, y: Any, columns: list[int], labels: bool) -> list[int]:
    """Of some columns, those each of which alone reproduces the target."""
    values = take_columns(X, np.array(columns, dtype=np.intp))
    return [k for j, k in enumerate(columns) if reproduces(values[:, j], y, labels)]
