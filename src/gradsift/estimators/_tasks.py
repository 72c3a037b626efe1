"""The two tasks: a checked sample from what a user passed, and what a field predicts."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import is_classifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from gradsift._run.threads import same_bits
from gradsift._typing import Array, Source
from gradsift.data import stack_rows, take_rows
from gradsift.data.responses import check_all_known, to_floats
from gradsift.estimators._sample_weight import check_weights, read_weights
from gradsift.estimators._validation import (
    check_fit_X,
    check_labels,
    check_new_X,
    check_numbers,
)
from gradsift.pairwise.assemble import Response
from gradsift.pairwise.field import KernelField
from gradsift.pairwise.fitting import Predictor, Sample


def numbers_sample(
    door: Any, X: Any, y: Any, sample_weight: Any, X_unlabeled: Any = None
) -> Sample:
    """Training data for numbers; `door` is told about the columns (see `blank`)."""
    X, y = check_fit_X(door, X, y)
    kept, weight = check_weights(sample_weight, X)
    response = Response.numbers(check_numbers(y[kept]))
    unlabeled = None if X_unlabeled is None else check_new_X(door, X_unlabeled)
    return Sample(take_rows(X, kept), response, weight, kept, X.shape[0], unlabeled)


def labels_sample(
    door: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    X_unlabeled: Any = None,
    unlabeled_mark: Any = None,
) -> tuple[Array, Sample]:
    """The classes, and training data for labels; `door` is told about the columns.

    Rows whose numeric label is `unlabeled_mark` join those of `X_unlabeled`.
    """
    X, y = check_fit_X(door, X, y)
    kept, weight = check_weights(sample_weight, X)
    extra = [] if X_unlabeled is None else [check_new_X(door, X_unlabeled)]
    if unlabeled_mark is not None and y.dtype.kind in "iuf":
        labelled = y[kept] != unlabeled_mark
        extra.append(take_rows(X, kept[~labelled]))
        weight = None if weight is None else weight[labelled]
        kept = kept[labelled]
    classes, codes = check_labels(y[kept])
    extra = [part for part in extra if part.shape[0]]
    unlabeled = reduce(stack_rows, extra) if extra else None
    response = Response.labels(codes, len(classes))
    return classes, Sample(take_rows(X, kept), response, weight, kept, X.shape[0], unlabeled)


def score_predicted(model: Any, predicted: Array, y: Any, sample_weight: Any) -> float:
    """scikit-learn's score, of responses that are all known."""
    y = check_all_known(y)
    measure, y = (accuracy_score, y) if is_classifier(model) else (r2_score, to_floats(y, "y"))
    weight = None if sample_weight is None else read_weights(sample_weight, np.ravel(y))
    return float(measure(y, predicted, sample_weight=weight))


class Scored:
    """Mixin: the score of predictions."""

    predict: Callable[[Any], Array]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² of predicted numbers, or the share of labels that are predicted right.

        Parameters
        ----------
        X : (n, p) array or data frame
        y : (n,) array
        sample_weight : (n,) array, optional

        Returns
        -------
        score : float
        """
        return score_predicted(self, self.predict(X), y, sample_weight)


class NumberPredictions(Scored):
    """Mixin: `predict` from the columns that `field_` depends on, by `predictor_`."""

    field_: KernelField
    predictor_: Predictor

    @same_bits
    def predict(self, X: Any) -> Array:
        """Predict the response.

        Parameters
        ----------
        X : (n, p) array or data frame

        Returns
        -------
        y : (n,) array
        """
        check_is_fitted(self)
        index = self.field_.index
        columns = check_new_X(self, X).columns(index)
        return self.predictor_(self.field_.scaling.apply(columns, index))[0]


def has_probabilities(estimator: Any) -> bool:
    """Scores are log odds under the logistic loss only."""
    if getattr(estimator, "loss", None) is not None:
        raise AttributeError(
            "there are no probabilities with a loss of your own: its scores are no log odds. Use "
            "decision_function."
        )
    return True


def class_weights(class_weight: Any, classes: Array, y: Array, weight: Array | None) -> Array:
    """One positive number per class from None, 'balanced' or a dict, as in scikit-learn.

    'balanced' is inversely proportional to the number of samples of the class.
    """
    weight = np.ones(len(y)) if weight is None else weight
    if isinstance(class_weight, str) and class_weight == "balanced":
        counts = np.array([weight[y == label].sum() for label in classes])
        return np.asarray(counts.sum() / (len(classes) * counts))
    if class_weight is not None and not isinstance(class_weight, dict):
        raise ValueError(
            f"class_weight={class_weight!r}: use None, 'balanced' or a dict from labels to weights."
        )
    found = compute_class_weight(class_weight, classes=classes, y=y)
    if not (np.isfinite(found).all() and (found > 0.0).all()):
        raise ValueError(f"class_weight={class_weight!r}: weights are finite and positive.")
    return np.asarray(found)


def sample_class_weights(class_weight: Any, classes: Array, sample: Sample) -> Array:
    """The same for a checked sample."""
    return class_weights(class_weight, classes, classes[sample.response.codes()], sample.weight)


class LabelPredictions(Scored):
    """Mixin: scores, probabilities and labels from `_scores`, `classes_` and `class_weight_`.

    A class that counts w times as much has odds w times as large: its score is log w higher. That
    moves the boundary between classes and nothing else.
    """

    classes_: Array
    class_weight_: Array

    _new_samples: Callable[[Any], Source]

    def _scores(self, X: Source) -> Array:
        """(n, 1) log odds of the second class, or (n, n_classes) scores, before class weights."""
        raise NotImplementedError

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
        return self._weighted(self._scores(self._new_samples(X)))

    def _weighted(self, scores: Array) -> Array:
        """Scores (n, q) of a fit with the weights of the classes, as users get them."""
        shift = np.log(self.class_weight_)
        scores = scores + (shift if scores.shape[1] > 1 else shift[1:] - shift[:1])
        return scores[:, 0] if len(self.classes_) == 2 else scores

    @available_if(has_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Class probabilities.

        Parameters
        ----------
        X : (n, p) array or data frame

        Returns
        -------
        probabilities : (n, n_classes) array
        """
        return probabilities(self.decision_function(X))

    def predict(self, X: Any) -> Array:
        """Most likely class.

        Parameters
        ----------
        X : (n, p) array or data frame

        Returns
        -------
        labels : (n,) array
        """
        return most_likely(self.decision_function(X), self.classes_)


def probabilities(scores: Array) -> Array:
    """(n, n_classes) from log odds (n,) or scores (n, n_classes)."""
    if scores.ndim == 1:
        return np.column_stack([expit(-scores), expit(scores)])
    return np.asarray(softmax(scores, axis=1))


def most_likely(scores: Array, classes: Array) -> Array:
    """The label of each row, from log odds (n,) or scores (n, n_classes)."""
    best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
    return np.asarray(classes[best])


class OffsetScores(LabelPredictions):
    """Mixin: scores are the fitted offset function of `field_`."""

    field_: KernelField

    def _scores(self, X: Source) -> Array:
        return self.field_.offset(X)


class IndexScores(OffsetScores):
    """Mixin: scores by `predictor_` from the selected columns; without one, the offset function."""

    predictor_: Predictor | None

    def _scores(self, X: Source) -> Array:
        if self.predictor_ is None:
            return super()._scores(X)
        index = self.field_.index
        return self.predictor_(self.field_.scaling.apply(X.columns(index), index)).T
