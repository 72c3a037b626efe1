"""Whether the target is one of numbers or of classes, and what else it could be."""

from __future__ import annotations

from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from scipy.stats import f as f_distribution

from gradsift.data.categories import number_text
from gradsift.data.source import windows
from gradsift.protocols import Array, IntArray
from gradsift.tables.notes import Note, TableError

Task = Literal["regression", "classification"]
MOST_CLASSES = 10
"""Distinct whole numbers in a row up to which a target is taken for class numbers."""
MOST_CODES = 5
"""... where these are not in a row."""
LEAST_RATINGS = 4
"""Whole numbers in a row, from which on they look like ratings or counts."""
SURE = 0.01
"""Expected number of columns of pure noise whose class means differ as much."""
IN_ORDER = 0.8
"""Part of the differences between class means that a straight line must account for."""
WIDTH = 8192


def read_task(y: Array | NDArray[Any], asked: str, target: str) -> tuple[Task, list[Note]]:
    """The task, and what else the target may be.

    Texts, two values, and few whole numbers in a row are classes.

    Parameters
    ----------
    y : (n,) array of numbers, or of texts
    asked : {'auto', 'regression', 'classification'}
    target : str
        The name of the column.

    Examples
    --------
    >>> read_task(np.repeat([1.0, 2.0, 3.0], 9), "auto", "grade")[0]
    'classification'
    """
    if asked not in ("auto", "regression", "classification"):
        raise TableError(f"task {asked!r}: use auto, regression or classification.")
    if y.dtype.kind == "O":
        if asked == "regression":
            raise TableError(
                f"the target {target!r} holds text such as {y[0]!r}: it cannot be regressed on.",
                "task=classification",
            )
        return "classification", []
    distinct = np.unique(np.asarray(y, dtype=float))
    count, whole = len(distinct), bool((distinct == np.round(distinct)).all())
    in_a_row = whole and count > 1 and distinct[-1] - distinct[0] == count - 1
    most = min(MOST_CLASSES if in_a_row else MOST_CODES, len(y) / 5)
    few = count == 2 or (whole and count <= most)
    task: Task = "classification" if few else "regression"
    task = task if asked == "auto" else cast(Task, asked)
    notes = []
    span = f"{number_text(distinct[0])} to {number_text(distinct[-1])}"
    if few and count >= 3 and asked == "auto":
        other = ", perhaps ordered answers" if count >= LEAST_RATINGS else ""
        said = f"{target!r} holds the {count} whole numbers {span}: read as classes{other}"
        notes.append(Note("suggestion", said, (target,), "task=regression"))
    elif whole and task == "regression" and distinct[0] in (0, 1) and count > 2:
        mean, variance = float(np.mean(y)), float(np.var(y))
        if variance > mean and mean < 0.5 * distinct[-1] and len(np.unique(y)) < 0.5 * len(y):
            said = (
                f"{target!r} looks like a count ({span}): it is read as an amount; "
                "GradientSiftRegressor(family='poisson') explains counts"
            )
            notes.append(Note("suggestion", said, (target,)))
    return task, notes


def order_note(y: Array, X: Array, names: Any, target: str) -> Note | None:
    """A recommendation to read classes as numbers, where variables rise from class to class.

    Parameters
    ----------
    y : (n,) array
        Numbers of the classes.
    X : (n, p) array
    names : sequence of str
    target : str
    """
    values, codes = np.unique(y, return_inverse=True)
    if len(values) < 3 or len(y) <= len(values) + 1 or X.shape[1] == 0:
        return None
    between, straight, rising = class_trend(X, values, codes)
    n, k = len(y), len(values)
    level = SURE / X.shape[1]
    with np.errstate(divide="ignore"):
        strength = between / (k - 1) / ((1.0 - between) / (n - k))
    clear = np.flatnonzero(strength > f_distribution.isf(level, k - 1, n - k))
    if not len(clear):
        return None
    best = int(clear[np.argmax(between[clear])])
    if not rising[best] or straight[clear].sum() < IN_ORDER * between[clear].sum():
        return None
    said = (
        f"the classes of {target!r} follow an order: {names[best]!r} rises or falls from class to "
        "class, so that they may be amounts"
    )
    return Note("caution", said, (target, names[best]), "task=regression")


def class_trend(X: Array, values: Array, codes: IntArray) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Per column: the part of its variance between classes; in a straight line; monotone means.

    Missing values count as the mean of their column.
    """
    weight = np.bincount(codes) / len(codes)
    place = values - weight @ values
    place = place / np.sqrt(weight @ place**2)
    parts = []
    for where in windows(X.shape[1], WIDTH):
        block = np.array(X[:, where], dtype=np.float64)
        block[~np.isfinite(block)] = np.nan
        there = ~np.isnan(block)
        mean = np.where(there, block, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
        block = np.where(there, block - mean, 0.0)
        spread = np.sqrt((block**2).mean(axis=0))
        block /= np.where(spread > 0, spread, 1.0)
        sums = np.stack([block[codes == c].mean(axis=0) for c in range(len(values))])
        steps = np.sign(np.diff(sums, axis=0))
        monotone = (steps == steps[0]).all(axis=0) & (steps[0] != 0)
        parts.append((weight @ sums**2, ((weight * place) @ sums) ** 2, monotone))
    between, straight, rising = (np.concatenate(part) for part in zip(*parts))
    return np.minimum(between, 1.0 - 1e-12), straight, rising
