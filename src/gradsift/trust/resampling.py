"""How sure: the selection repeated on half samples, and the score on held-out rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone, is_classifier
from sklearn.model_selection import KFold, StratifiedKFold, check_cv, cross_val_score
from sklearn.utils import check_random_state

from gradsift._typing import Array, IntArray
from gradsift.data.slices import take_rows
from gradsift.exceptions import NothingSelectedWarning, RareClassWarning


@dataclass(frozen=True)
class Stability:
    """How often each variable was selected again.

    Attributes
    ----------
    selections : tuple of int arrays
        The variables each subsample selected.
    n_features, n_rows : int
        Columns of the table, rows in a subsample.
    frequencies : (p,) array
        Share of the subsamples in which a variable was selected.
    """

    selections: tuple[IntArray, ...]
    n_features: int
    n_rows: int

    @property
    def n_subsamples(self) -> int:
        return len(self.selections)

    @property
    def frequencies(self) -> Array:
        counts = np.bincount(np.concatenate(self.selections), minlength=self.n_features)
        return np.asarray(counts / len(self.selections))

    def frequency_of_any(self, columns: IntArray) -> float:
        """Share of the subsamples that selected at least one of these columns."""
        return float(np.mean([np.isin(columns, s).any() for s in self.selections]))


@dataclass(frozen=True)
class HeldOut:
    """Scores on rows that neither selection nor fit has seen.

    Attributes
    ----------
    metric : str
        'R²' or 'accuracy'.
    scores : (folds,) array
    baseline : float
        What the mean of y, or always the most frequent class, would score.
    """

    metric: str
    scores: Array
    baseline: float

    @property
    def mean(self) -> float:
        return float(np.mean(self.scores))


def half_samples(y: Array, labels: bool, count: int, random_state: Any) -> list[IntArray]:
    """Rows of `count` subsamples of half the table, drawn within classes where there are labels."""
    rng = check_random_state(random_state)
    strata = np.unique(y, return_inverse=True)[1] if labels else np.zeros(len(y), dtype=int)
    out = []
    for _ in range(count):
        parts = []
        for stratum in range(strata.max() + 1):
            rows = rng.permutation(np.flatnonzero(strata == stratum))
            parts.append(rows[: (len(rows) + 1) // 2])
        out.append(np.sort(np.concatenate(parts)))
    return out


def _support(estimator: Any, X: Any, y: Array) -> IntArray:
    with warnings.catch_warnings():
        # nothing found in half the rows is an answer, counted below
        warnings.simplefilter("ignore", NothingSelectedWarning)
        return np.asarray(clone(estimator)._find_support(X, y), dtype=int)


def stability(
    estimator: Any,
    X: Any,
    y: Any,
    n_subsamples: int = 20,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Stability:
    """Repeat the selection on random halves of the rows.

    A variable that carries signal comes back in most halves; one that was let in by luck, or that
    has a near-copy to share the work with, does not. Half the rows hold less evidence than all of
    them, so weak but true variables come back less often too: a low share is a reason to look, not
    a proof of chance.

    Parameters
    ----------
    estimator : estimator
        Any estimator of this package, fitted or not; clones of it are fitted.
    X : (n, p) array or data frame
    y : (n,) array
    n_subsamples : int, default=20
    random_state : int or RandomState, optional
    n_jobs : int, optional
        Subsamples fitted at a time; the answer does not depend on it.

    Returns
    -------
    stability : Stability

    Examples
    --------
    >>> from gradsift import GradientSiftRegressor
    >>> X = np.random.default_rng(0).normal(size=(120, 10))
    >>> found = stability(GradientSiftRegressor(), X, X[:, 2] ** 2, n_subsamples=4, random_state=0)
    >>> float(found.frequencies[2])
    1.0
    """
    if n_subsamples < 1:
        raise ValueError(f"n_subsamples={n_subsamples}: at least one half sample is needed.")
    y = np.asarray(y)
    halves = half_samples(y, is_classifier(estimator), n_subsamples, random_state)
    found = Parallel(n_jobs=n_jobs)(
        delayed(_support)(estimator, take_rows(X, h), y[h]) for h in halves
    )
    return Stability(tuple(found), np.shape(X)[1], len(halves[0]))


def held_out(estimator: Any, X: Any, y: Any, cv: Any = 5, n_jobs: int | None = None) -> HeldOut:
    """Cross-validated score of the whole procedure, selection included in every fold.

    Parameters
    ----------
    estimator : estimator
        Any estimator of this package; clones of it are fitted.
    X : (n, p) array or data frame
    y : (n,) array
    cv : int, splitter or iterable, default=5
        A number of folds shuffles the rows first, always in the same way.
    n_jobs : int, optional

    Returns
    -------
    held_out : HeldOut

    Examples
    --------
    >>> from gradsift import GradientSiftRegressor
    >>> X = np.random.default_rng(0).normal(size=(90, 10))
    >>> bool(held_out(GradientSiftRegressor(), X, X[:, 2] ** 2, cv=3).mean > 0.9)
    True
    """
    y = np.asarray(y)
    labels = is_classifier(estimator)
    if isinstance(cv, (int, np.integer)):
        cv = (StratifiedKFold if labels else KFold)(int(cv), shuffle=True, random_state=0)
    splitter = check_cv(cv, y, classifier=labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingSelectedWarning)
        warnings.simplefilter("ignore", RareClassWarning)
        scores = cross_val_score(clone(estimator), X, y, cv=splitter, n_jobs=n_jobs)
    share = float(np.unique(y, return_counts=True)[1].max() / len(y)) if labels else 0.0
    return HeldOut("accuracy" if labels else "R²", scores, share)
