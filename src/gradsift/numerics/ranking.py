"""From sizes to an order of all variables, and from scores along a path to one alpha."""

from __future__ import annotations

from typing import Literal

import numpy as np

from gradsift._typing import Array, IntArray


def rank_variables(importances: Array, runner_up: Array) -> IntArray:
    """Rank of every variable, 1 = best: selected ones by importance, the others by `runner_up`.

    Ties, up to rounding, go to the lower column number, so that the ranking is a permutation of
    1 .. p, and the same on every processor.

    Examples
    --------
    >>> rank_variables(np.array([0.0, 2.0, 0.0, 3.0]), np.array([0.5, 1.0, 0.7, 1.0]))
    array([4, 2, 3, 1])
    """
    order = np.lexsort((-_rounded(runner_up), -_rounded(importances), importances <= 0.0))
    ranking = np.empty(len(order), dtype=int)
    ranking[order] = np.arange(1, len(order) + 1)
    return ranking


def _rounded(sizes: Array) -> Array:
    """Sizes to nine digits after the point, in units of the largest."""
    top = sizes.max(initial=0.0)
    return np.round(sizes / top, 9) if 0.0 < top < np.inf else sizes


def choose_alpha(scores: Array, rule: Literal["min", "1se"]) -> int:
    """Index of the alpha with the best mean score, or the largest one within one standard error.

    Parameters
    ----------
    scores : (k, folds) array
        Larger is better; rows in order of decreasing alpha.
    """
    scores = scores / (np.abs(scores).max(initial=0.0) or 1.0)  # squares of huge ones overflow
    mean = scores.mean(axis=1)
    best = int(np.argmax(mean))
    if rule == "min" or scores.shape[1] < 2:
        return best
    error = scores[best].std(ddof=1) / np.sqrt(scores.shape[1])
    return int(np.flatnonzero(mean >= mean[best] - error)[0])
