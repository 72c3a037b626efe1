"""What a prediction is worth on rows that it has not seen: the usual scores, fold by fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import (
    average_precision_score,
    mean_absolute_error,
    mean_poisson_deviance,
    mean_squared_error,
    roc_auc_score,
)

from gradsift.protocols import Array, IntArray

NUMBERS = ("R²", "RMSE", "MAE")
LABELS = ("accuracy", "balanced accuracy", "ROC AUC", "average precision", "log loss")
OUTCOME = "R² of outcome {}"
"""Score of one of several outcomes."""
LOSSES = frozenset({"RMSE", "MAE", "log loss", "mean deviance", "ranked probability score"})
"""Scores of which less is better."""
LEAST_PROBABILITY = 1e-15


@dataclass(frozen=True, eq=False)
class Scores:
    """What one way to predict reaches.

    Attributes
    ----------
    values : mapping
        Name of a score -> (folds,) array; NaN in a fold where it has no meaning.
    rows : (folds,) int array or None
        Held-out rows of each fold, by which means are weighted; None = as many in each.
    """

    values: Mapping[str, Array]
    rows: IntArray | None = None

    def mean(self, name: str) -> float:
        """The mean over the folds in which the score has a meaning, weighted by their rows."""
        known = np.isfinite(self.values[name])
        weights = None if self.rows is None else self.rows[known]
        values = self.values[name][known]
        return float(np.average(values, weights=weights)) if len(values) else float("nan")

    def spread(self, name: str) -> float:
        """The standard deviation over these folds."""
        known = self.values[name][np.isfinite(self.values[name])]
        return float(known.std(ddof=1)) if len(known) > 1 else float("nan")

    def cell(self, name: str) -> str:
        """Mean and standard deviation over the folds, as they are shown: '0.43 ± 0.20'."""
        mean, spread = self.mean(name), self.spread(name)
        if not np.isfinite(mean):
            return "–"
        # losses may be small or large; all other scores are shares
        form = ".3g" if name in LOSSES and not 0.01 <= mean < 1000.0 else ".2f"
        some = [mean, spread] if np.isfinite(spread) else [mean]
        return " ± ".join(f"{value:z{form}}" for value in some).replace("-", "\u2212")


def fresh_variance(y: Array, groups: IntArray | None = None) -> float:
    """The variance of numbers on fresh rows of fresh groups, without bias: half the mean squared
    difference of two rows that do not belong together.

    Parameters
    ----------
    y : (n,) array
    groups : (n,) int array, optional
        Rows that belong together; None = each is its own group.

    Examples
    --------
    >>> fresh_variance(np.array([1.0, 3.0])), fresh_variance(np.array([1, 1, 3, 3]), [0, 0, 1, 1])
    (2.0, 2.0)
    """
    codes = np.arange(len(y)) if groups is None else np.unique(groups, return_inverse=True)[1]
    size = np.bincount(codes)
    means = np.bincount(codes, y) / size
    inside = np.bincount(codes, np.square(y - means[codes]))
    pairs = float(len(y) ** 2 - np.square(size).sum())
    apart = len(y) * float(np.square(y - np.mean(y)).sum()) - float(size @ inside)
    return apart / pairs if pairs > 0 else float("nan")


def score_numbers(y: Array, predicted: Array, variance: float = np.nan) -> dict[str, float]:
    """R², RMSE and MAE of predicted numbers.

    Parameters
    ----------
    y, predicted : (n,) arrays
    variance : float, optional
        What R² compares the mean squared error with; NaN = the variance of y about its own mean,
        which a few rows, or rows that belong together, make too small.

    Examples
    --------
    >>> score_numbers(np.array([0.0, 2.0]), np.array([0.0, 1.0]))
    {'R²': 0.5, 'RMSE': 0.70..., 'MAE': 0.5}
    >>> score_numbers(np.array([0.0, 2.0]), np.array([0.0, 1.0]), variance=2.0)["R²"]
    0.75
    """
    if np.isnan(variance):
        # the variance of equal numbers is rounding, and not always zero
        variance = float(np.var(y)) if np.ptp(y) > 0.0 else 0.0
    error = float(mean_squared_error(y, predicted))
    return {
        "R²": 1.0 - error / variance if variance > 0.0 else float("nan"),
        "RMSE": float(np.sqrt(error)),
        "MAE": float(mean_absolute_error(y, predicted)),
    }


def score_outcomes(y: Array, predicted: Array, variances: Array) -> dict[str, float]:
    """R² of several outcomes: their mean, and that of each by its number.

    Parameters
    ----------
    y, predicted : (n, q) arrays
    variances : (q,) array
        As in `score_numbers`; NaN = the variance of these rows.

    Examples
    --------
    >>> Y = np.array([[0.0, 1.0], [2.0, 3.0]])
    >>> score_outcomes(Y, Y - [[0.0, 0.0], [1.0, 0.0]], np.full(2, np.nan))
    {'R²': 0.75, 'R² of outcome 0': 0.5, 'R² of outcome 1': 1.0}
    """
    each = [score_numbers(*columns)["R²"] for columns in zip(y.T, predicted.T, variances)]
    return {"R²": _mean(each)} | {OUTCOME.format(j): r2 for j, r2 in enumerate(each)}


def score_labels(codes: IntArray, probabilities: Array, positive: int | None) -> dict[str, float]:
    """Accuracy, balanced accuracy, ROC AUC, average precision and log loss of class numbers.

    Parameters
    ----------
    codes : (n,) int array
        Class numbers 0 .. C - 1.
    probabilities : (n, C) array
    positive : int or None
        The class whose average precision is given; None = the mean over the classes, as for the
        area under the ROC curve, each against the rest.

    Examples
    --------
    >>> P = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]])
    >>> found = score_labels(np.array([0, 1, 1]), P, positive=1)
    >>> found["accuracy"], found["ROC AUC"], found["balanced accuracy"]
    (0.66..., 1.0, 0.75)
    """
    right = probabilities.argmax(axis=1) == codes
    there = [c for c in range(probabilities.shape[1]) if 0 < (codes == c).sum() < len(codes)]
    asked = there if positive is None else [c for c in there if c == positive]
    own = probabilities[np.arange(len(codes)), codes]
    return {
        "accuracy": float(right.mean()),
        "balanced accuracy": float(np.mean([right[codes == c].mean() for c in np.unique(codes)])),
        "ROC AUC": _mean([roc_auc_score(codes == c, probabilities[:, c]) for c in there]),
        "average precision": _mean(
            [average_precision_score(codes == c, probabilities[:, c]) for c in asked]
        ),
        "log loss": float(-np.log(np.maximum(own, LEAST_PROBABILITY)).mean()),
    }


def score_ordered(codes: IntArray, probabilities: Array) -> dict[str, float]:
    """Accuracy, mean distance in classes, and the ranked probability score: the mean squared error
    of the probabilities of a class or any lower one (Epstein, J. Applied Meteorology 8, 1969).

    Examples
    --------
    >>> score_ordered(np.array([0, 2]), np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))
    {'accuracy': 0.5, 'ranked probability score': 0.25, 'mean distance': 0.5}
    """
    likely = probabilities.argmax(axis=1)
    below = np.cumsum(probabilities, axis=1)[:, :-1]
    true = codes[:, None] <= np.arange(below.shape[1])
    return {
        "accuracy": float((likely == codes).mean()),
        "ranked probability score": float(np.square(below - true).mean()),
        "mean distance": float(np.abs(likely - codes).mean()),
    }


def score_counts(y: Array, predicted: Array, constant: Array) -> dict[str, float]:
    """The share of the deviance of Poisson's law about `constant` that predicted counts explain,
    their mean deviance, and RMSE.

    Examples
    --------
    >>> y = np.array([0.0, 4.0])
    >>> found = score_counts(y, np.array([1.0, 3.0]), np.array([2.0, 2.0]))
    >>> round(found["deviance explained"], 2)
    0.58
    """
    deviance, null = (mean_poisson_deviance(y, np.maximum(m, 1e-12)) for m in (predicted, constant))
    return {
        "deviance explained": float(1.0 - deviance / null) if null > 0.0 else float("nan"),
        "mean deviance": float(deviance),
        "RMSE": float(np.sqrt(mean_squared_error(y, predicted))),
    }


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else float("nan")


def gather(folds: Sequence[dict[str, float]], rows: Sequence[int] | None = None) -> Scores:
    """The scores of all folds as one."""
    values = {name: np.array([fold[name] for fold in folds]) for name in folds[0]}
    return Scores(values, None if rows is None else np.array(rows))
