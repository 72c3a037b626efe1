"""The response that predictions are scored against, for each kind of response.

Predictions are (m,) numbers, expected counts or risks, or (m, c) probabilities of all classes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, is_classifier

from gradsift.data.arrays import array_like
from gradsift.data.responses import check_all_known, to_floats
from gradsift.estimators.splits import SampleParams
from gradsift.evaluate.baselines import (
    baseline_model,
    predict_by_likelihood,
    predict_by_ridge,
    predict_from_covariates,
)
from gradsift.evaluate.scores import (
    fresh_variance,
    score_counts,
    score_labels,
    score_numbers,
    score_ordered,
    score_outcomes,
)
from gradsift.protocols import Array, IntArray
from gradsift.responses import Counts, Likelihood, Ordinal, Survival
from gradsift.responses.ordinal import OrderedLabels
from gradsift.responses.survival import concordance

Kind = Literal[
    "numbers", "several outcomes", "classes", "ordered classes", "counts", "survival times"
]


class Words(NamedTuple):
    """The score to quote, the score to compare by, and what baselines are called."""

    metric: str
    loss: str
    tool: str
    guess: str


WORDS: dict[Kind, Words] = {
    "numbers": Words("R²", "RMSE", "ridge regression", "mean of {}"),
    "several outcomes": Words("R²", "R²", "ridge regression", "mean of each outcome"),
    "classes": Words("accuracy", "log loss", "logistic regression", "most frequent class"),
    "ordered classes": Words(
        "accuracy", "ranked probability score", "ridge cumulative logits", "class shares"
    ),
    "counts": Words("deviance explained", "mean deviance", "ridge log-linear model", "mean of {}"),
    "survival times": Words("concordance", "concordance", "ridge Cox regression", "same risk"),
}
LIKELIHOODS: dict[Kind, type[Likelihood]] = {
    "ordered classes": Ordinal,
    "counts": Counts,
    "survival times": Survival,
}


@dataclass(frozen=True, eq=False)
class Truth:
    """The response of some rows.

    Attributes
    ----------
    kind : str
    y : (n,) array, (n, q) array of several outcomes, or OrderedLabels
        In a form that `fit` takes and rows can be taken of.
    classes : (c,) array or None
        All labels, in order.
    variance : float or (q,) array
        Of numbers or outcomes, that of fresh rows: what R² compares with. NaN = that of these rows.
    """

    kind: Kind
    y: Any
    classes: Array | None = None
    variance: float | Array = float("nan")

    @classmethod
    def of(cls, estimator: BaseEstimator, y: ArrayLike) -> Self:
        """The response that an estimator takes y for."""
        response_type = getattr(estimator, "_response_type", lambda _: None)(y)
        if response_type is not None and issubclass(response_type, Survival):
            return cls("survival times", Survival.records(y))
        if response_type is not None and issubclass(response_type, Ordinal):
            labels = OrderedLabels.of(y)
            if labels is None:
                response = Ordinal.of(np.ravel(check_all_known(y)))
                labels = OrderedLabels(np.asarray(response.y), response.classes)
            return cls("ordered classes", labels, labels.classes)
        several = None if response_type is None else response_type.records(y)
        if several is not None and several.ndim == 2:
            return cls("several outcomes", several)
        y = array_like(y, "y")
        if np.ndim(y) == 2 and np.shape(y)[1] > 1:
            raise ValueError("this estimator takes one outcome at a time: pass one column of y.")
        values = np.ravel(check_all_known(y))
        if response_type is not None and issubclass(response_type, Counts):
            return cls("counts", to_floats(values, "y"))
        if is_classifier(estimator):
            return cls("classes", values, np.unique(values))
        return cls("numbers", to_floats(values, "y"))

    def __len__(self) -> int:
        return len(self.y)

    @property
    def words(self) -> Words:
        return WORDS[self.kind]

    @property
    def strata(self) -> tuple[Array, bool]:
        """What folds are made alike in, (n,), and whether that is labels."""
        if self.kind == "survival times":
            event = self.y["event"]
            return (self.y["time"], False) if event.all() else (event, True)
        y = np.asarray(self.y)
        return y if y.ndim == 1 else y[:, 0], self.classes is not None

    @property
    def codes(self) -> IntArray:
        """(n,) numbers of the classes."""
        if isinstance(self.y, OrderedLabels):
            return self.y.codes
        assert self.classes is not None
        return np.searchsorted(self.classes, self.y)

    @property
    def positive(self) -> int | None:
        """The rarer of two classes without an order; None where there are more."""
        if self.kind != "classes" or self.classes is None or len(self.classes) != 2:
            return None
        counts = np.bincount(self.codes, minlength=2)
        return int(counts[1] <= counts[0])

    def label(self, code: int) -> object:
        """The label of a class."""
        assert self.classes is not None
        return self.classes[code]

    def take(self, rows: IntArray) -> Self:
        return replace(self, y=self.y[rows])

    def with_variance(self, rows: IntArray, groups: IntArray | None) -> Self:
        """With the variance of some rows: those of one fold are few, and those of a few groups vary
        less about their own mean.
        """
        if self.kind not in ("numbers", "several outcomes"):
            return self
        some = None if groups is None else groups[rows]
        each = [fresh_variance(y, some) for y in np.atleast_2d(self.y[rows].T)]
        return replace(self, variance=np.array(each))

    def scores(self, predicted: Array, constant: Array) -> dict[str, float]:
        """The scores of predictions of these rows; `constant` is what no column predicts."""
        if self.kind == "survival times":
            return {"concordance": concordance(self.y, predicted)}
        if self.kind == "counts":
            return score_counts(self.y, predicted, constant)
        if self.kind == "ordered classes":
            return score_ordered(self.codes, predicted)
        if self.kind == "classes":
            return score_labels(self.codes, predicted, self.positive)
        if self.kind == "several outcomes":
            variances = np.broadcast_to(self.variance, self.y.shape[1])
            return score_outcomes(self.y, predicted, variances)
        return score_numbers(self.y, predicted, float(np.ravel(self.variance)[0]))

    # Baselines, learned from these rows.

    def in_all_classes(self, probabilities: Array, known: Array) -> Array:
        """(m, c) probabilities: zero of classes that are not `known`."""
        assert self.classes is not None
        out = np.zeros((len(probabilities), len(self.classes)))
        place = {label: k for k, label in enumerate(self.classes.tolist())}
        out[:, [place[label] for label in np.asarray(known).tolist()]] = probabilities
        return out

    def constant(self, params: SampleParams, new: SampleParams, count: int) -> Array:
        """What no column at all predicts for new rows."""
        if self.kind in ("numbers", "several outcomes"):
            return np.repeat(np.mean(self.y, axis=0, keepdims=True), count, axis=0)
        if self.kind == "classes":
            assert self.classes is not None
            shares = np.bincount(self.codes, minlength=len(self.classes)) / len(self)
            return np.tile(shares, (count, 1))
        empty = np.zeros((len(self), 0)), np.zeros((count, 0))
        return self.of_covariates(*empty, params, new)

    def of_covariates(self, C: Array, D: Array, params: SampleParams, new: SampleParams) -> Array:
        """What covariates, an offset and an exposure alone predict for new rows D."""
        if self.kind not in LIKELIHOODS:
            return predict_from_covariates(C, self.y, params.offset, D, new.offset, self.classes)
        response = self.likelihood(params)
        found = predict_by_likelihood(response, C, D, known_part(new, len(D)))
        return self.completed(found, response)

    def of_ridge(self, X: Array, Z: Array, params: SampleParams, new: SampleParams) -> Array:
        """What a ridge model of all columns predicts for new rows Z."""
        if self.kind in LIKELIHOODS:
            response = self.likelihood(params)
            found = predict_by_ridge(response, X, Z, known_part(new, len(Z)), params.groups)
            return self.completed(found, response)
        labels = self.kind == "classes"
        if self.kind == "several outcomes":  # each has a penalty of its own
            each = [Truth("numbers", y).of_ridge(X, Z, params, new) for y in self.y.T]
            return np.column_stack(each)
        model = baseline_model(X, self.y, labels, params.groups).fit(X, self.y)
        if not labels:
            return np.asarray(model.predict(Z), dtype=float)
        return self.in_all_classes(model.predict_proba(Z), model.classes_)

    def likelihood(self, params: SampleParams) -> Likelihood:
        """The response of these rows, given its offset and exposure."""
        return LIKELIHOODS[self.kind].of(self.y).given(known_part(params, len(self)))

    def completed(self, found: Array, response: Likelihood) -> Array:
        return self.in_all_classes(found, response.classes) if found.ndim == 2 else found  # type: ignore[attr-defined]


def known_part(params: SampleParams, n: int) -> Array:
    """(n, 1) offset and log exposure of some rows."""
    part = np.zeros(n) if params.offset is None else np.ravel(params.offset) * np.ones(n)
    if params.exposure is not None:
        part = part + np.log(np.asarray(params.exposure, dtype=float))
    return np.asarray(part)[:, None]
