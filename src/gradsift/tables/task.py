"""Whether the target is one of numbers or of classes, why, and how to ask for the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.stats import f as f_distribution

from gradsift.data.categories import number_text, text_levels
from gradsift.data.source import windows
from gradsift.data.text import BEWARE
from gradsift.protocols import Array, IntArray
from gradsift.tables.recipe import Task

MOST_CLASSES = 10
"""Distinct whole numbers up to which a target is taken for class numbers."""
LEAST_RATINGS = 4
"""Whole numbers in a row, from which on they look like ratings or counts."""
SURE = 0.01
"""Expected number of columns of pure noise whose class means differ as much."""
IN_ORDER = 0.8
"""Part of the differences between class means that a straight line must account for."""
WIDTH = 8192


@dataclass(frozen=True)
class Reading:
    """How a target is read.

    Attributes
    ----------
    task : {'regression', 'classification'}
    note : str
        Which reading was taken, why, and the option for the other. Empty where the user chose.
    whole : bool
        Whether whole numbers were taken for classes, three at least.
    """

    task: Task
    note: str = ""
    whole: bool = False


def read_target_as(y: Array | NDArray[Any], asked: str, target: str) -> Reading:
    """The task, and a sentence on why.

    Parameters
    ----------
    y : (n,) array of numbers, or of texts
    asked : {'auto', 'regression', 'classification'}
    target : str
        The name of the column.

    Examples
    --------
    >>> read_target_as(np.repeat([1.0, 2.0, 3.0], 9), "auto", "grade").task
    'classification'
    """
    if asked in ("regression", "classification"):
        return Reading(cast(Task, asked))
    if asked != "auto":
        raise ValueError(f"--task {asked}: use auto, regression or classification.")
    if y.dtype.kind == "O":
        count = len(text_levels(y))
        return Reading("classification", f"task: classification, because {target!r} holds "
                       f"{count} different texts")  # fmt: skip
    distinct = np.unique(np.asarray(y, dtype=float))
    count, whole = len(distinct), bool((distinct == np.round(distinct)).all())
    what = f"{target!r} has {count} different {'whole numbers' if whole else 'numbers'}"
    as_numbers = "--task regression reads them as amounts"
    if count == 2:
        return Reading("classification", f"task: classification, because {target!r} has two "
                       f"values ({as_numbers})")  # fmt: skip
    if whole and count <= min(MOST_CLASSES, len(y) / 5):
        span = f"{number_text(distinct[0])} to {number_text(distinct[-1])}"
        note = f"task: classification, because {what} only ({span}), read as classes without order"
        if count >= LEAST_RATINGS and np.ptp(distinct) == count - 1:
            note += f"; if they are ratings or counts, {as_numbers}"
        else:
            note += f" ({as_numbers})"
        return Reading("classification", note, whole=count > 2)
    other = " (--task classification reads them as classes)" if whole and count <= 30 else ""
    return Reading("regression", f"task: regression, because {what}{other}")


def order_note(y: Array, X: Array, names: Any, target: str) -> str | None:
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
    return (
        f"{BEWARE}the classes of {target!r} follow an order: {names[best]!r} rises or falls from "
        "class to class. If the numbers are ratings or amounts, --task regression is the better "
        "reading"
    )


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
