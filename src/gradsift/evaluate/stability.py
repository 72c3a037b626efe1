"""The selection repeated on half samples of the rows.

Subsamples of half the rows, drawn without replacement, as in stability selection
:cite:`meinshausen-2010`; nothing is
selected by the frequencies here, they are shown.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone

from gradsift._run.processes import Batch
from gradsift.data.row_groups import group_codes
from gradsift.data.slices import check_rows, take_rows
from gradsift.estimators.splits import SampleParams, half_samples
from gradsift.evaluate.truth import Truth
from gradsift.exceptions import FewGroupsWarning, NothingSelectedWarning
from gradsift.protocols import Array, IntArray, TableLike


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


def _support(
    estimator: BaseEstimator, X: TableLike, truth: Truth, fit_params: dict[str, Any]
) -> IntArray:
    strata = truth.strata[0]
    if (strata == strata[0]).all():
        return np.zeros(0, dtype=int)  # no change to explain
    with warnings.catch_warnings():
        # nothing found in half the rows is an answer, counted below
        warnings.simplefilter("ignore", NothingSelectedWarning)
        warnings.simplefilter("ignore", FewGroupsWarning)  # said of all rows, once
        model = clone(estimator).fit_for("support", X, truth.y, **fit_params)
        return np.asarray(model.get_support(indices=True), dtype=int)


def stability(
    estimator: BaseEstimator,
    X: Any,
    y: ArrayLike,
    n_subsamples: int = 20,
    random_state: int | None = None,
    n_jobs: int | None = None,
    *,
    groups: ArrayLike | None = None,
    covariates: TableLike | None = None,
    offset: ArrayLike | None = None,
    exposure: ArrayLike | None = None,
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
    groups : (n,) array of labels, optional
        Rows that belong together: half of the groups are drawn as a whole, and passed to estimators
        that take groups.
    covariates, offset, exposure : optional
        As in `fit`.

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
    truth = Truth.of(estimator, y)
    check_rows(X, truth.y)
    codes = None if groups is None else group_codes(groups, len(truth))
    params = SampleParams(codes, covariates, offset, exposure)
    halves = half_samples(*truth.strata, n_subsamples, random_state, codes)
    calls = [
        (estimator, take_rows(X, h), truth.take(h), params.take(h).for_fit(estimator))
        for h in halves
    ]
    found = Batch.begin(_support, calls, n_jobs).results()
    return Stability(tuple(found), np.shape(X)[1], len(halves[0]))
