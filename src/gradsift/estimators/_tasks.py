"""The two tasks: the door in, and what a field predicts. Mixins over any way to fit a field."""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from gradsift._run.threads import same_bits
from gradsift._typing import Array, IntArray, Source
from gradsift.data import stack_rows, take_rows
from gradsift.estimators._base import all_or_nothing, warn_nothing_selected
from gradsift.estimators._validation import (
    check_fit_X,
    check_labels,
    check_new_X,
    check_numbers,
    check_weights,
)
from gradsift.pairwise.assemble import Assembly, Response
from gradsift.pairwise.field import TaylorPredictor, taylor_predictor
from gradsift.solver import Rows


class Sample(NamedTuple):
    """Checked training data: rows of weight zero are gone, `kept` says which rows are left."""

    X: Source
    response: Response
    weight: Array | None
    kept: IntArray
    n_rows: int
    unlabeled: Source | None = None


class Answer(NamedTuple):
    """What `_fit(sample)` of a field estimator returns."""

    assembly: Assembly
    rows: Rows
    v: Array


class FieldRegressor(RegressorMixin):
    """fit and predict for numbers."""

    _predictor: TaylorPredictor

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the gradient field.

        Parameters
        ----------
        X : (n, p) array or data frame
        y : (n,) array
        sample_weight : (n,) array, optional
            Pair (i, j) counts w_ij times both weights.

        Returns
        -------
        self
        """
        return self._fit_numbers(X, y, sample_weight)

    @all_or_nothing
    @same_bits
    def _fit_numbers(self, X: Any, y: Any, sample_weight: Any, X_unlabeled: Any = None) -> Self:
        X, y = check_fit_X(self, X, y, y_numeric=True)
        kept, weight = check_weights(sample_weight, X)
        response = Response.numbers(check_numbers(y[kept]))
        unlabeled = None if X_unlabeled is None else check_new_X(self, X_unlabeled, seen=False)
        sample = Sample(take_rows(X, kept), response, weight, kept, X.shape[0], unlabeled)
        answer: Answer = self._fit(sample)
        self._predictor = taylor_predictor(*answer)
        self._index = answer.rows.index
        if len(self._index) == 0:
            warn_nothing_selected("the mean of y", "Use a smaller alpha, below alpha_max_.")
        return self

    @same_bits
    def predict(self, X: Any) -> Array:
        """Average the Taylor expansions around the training samples near in selected variables.

        Parameters
        ----------
        X : (n, p) array or data frame

        Returns
        -------
        y : (n,) array
        """
        check_is_fitted(self)
        X = check_new_X(self, X).columns(self._index)
        return self._predictor(self._scaling.apply(X, self._index))[0]


class LabelPredictions:
    """Probabilities and labels from `decision_function` and `classes_`."""

    classes_: Array

    def predict_proba(self, X: Any) -> Array:
        """Class probabilities.

        Parameters
        ----------
        X : (n, p) array or data frame

        Returns
        -------
        probabilities : (n, n_classes) array
        """
        scores = self.decision_function(X)  # type: ignore[attr-defined]
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        return np.asarray(softmax(scores, axis=1))

    def predict(self, X: Any) -> Array:
        """Most likely class.

        Parameters
        ----------
        X : (n, p) array or data frame

        Returns
        -------
        labels : (n,) array
        """
        scores = self.decision_function(X)  # type: ignore[attr-defined]
        best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[best])


class FieldClassifier(LabelPredictions, ClassifierMixin):
    """fit and predict for labels; scores are the fitted offset function."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the log odds and their gradient.

        Parameters
        ----------
        X : (n, p) array or data frame
        y : (n,) array of labels, of any type
        sample_weight : (n,) array, optional

        Returns
        -------
        self
        """
        return self._fit_labels(X, y, sample_weight)

    @all_or_nothing
    @same_bits
    def _fit_labels(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        X_unlabeled: Any = None,
        unlabeled_mark: Any = None,
    ) -> Self:
        X, y = check_fit_X(self, X, y)
        kept, weight = check_weights(sample_weight, X)
        extra = [] if X_unlabeled is None else [check_new_X(self, X_unlabeled, seen=False)]
        if unlabeled_mark is not None and y.dtype.kind in "iuf":
            labelled = y[kept] != unlabeled_mark
            extra.append(take_rows(X, kept[~labelled]))
            weight = None if weight is None else weight[labelled]
            kept = kept[labelled]
        self.classes_, codes = check_labels(y[kept])
        response = Response.labels(codes, len(self.classes_))
        extra = [part for part in extra if part.shape[0]]
        unlabeled = reduce(stack_rows, extra) if extra else None
        sample = Sample(take_rows(X, kept), response, weight, kept, X.shape[0], unlabeled)
        self._fit(sample)
        return self

    @same_bits
    def decision_function(self, X: Any) -> Array:
        """Log odds of the second class, or one score per class when there are more than two.

        Parameters
        ----------
        X : (n, p) array or data frame

        Returns
        -------
        scores : (n,) array, or (n, n_classes)
        """
        check_is_fitted(self)
        scores = self.field_.offset(check_new_X(self, X))
        return scores[:, 0] if len(self.classes_) == 2 else scores
