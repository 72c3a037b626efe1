"""Predictions of a fitted sift: from its columns, its covariates and its offset."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.utils.validation import check_is_fitted

from gradsift._run.threads import same_bits
from gradsift._typing import Array, Source
from gradsift.estimators._sift_base import Sifting
from gradsift.estimators._tasks import (
    LabelPredictions,
    most_likely,
    probabilities,
    score_predicted,
)


class Adjusted(Sifting):
    """What the predictions of both tasks share: their score."""

    predict: Callable[[Any, Any, Any], Array]

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        covariates: Any = None,
        offset: Any = None,
    ) -> float:
        """R² of predicted numbers, or the share of labels that are predicted right.

        Parameters
        ----------
        X : (n, p) array or data frame
        y : (n,) array
        sample_weight : (n,) array, optional
        covariates, offset
            As in `predict`.

        Returns
        -------
        score : float
        """
        return score_predicted(self, self.predict(X, covariates, offset), y, sample_weight)


class AdjustedNumbers(Adjusted):
    """Predictions of numbers."""

    @same_bits
    def predict(self, X: Any, covariates: Any = None, offset: Any = None) -> Array:
        """Predict the response.

        Parameters
        ----------
        X : (n, p) array or data frame
        covariates : array, data frame or dict of columns, optional
            Of these rows, where the model was fitted with covariates; ``"mean"`` predicts for rows
            whose covariates are as in the mean of the fit.
        offset : (n,) array or number, optional
            Of these rows, where the model was fitted with an offset.

        Returns
        -------
        y : (n,) array
        """
        check_is_fitted(self)
        X = self._new_samples(X)
        own = self._blend(self.refit_.predict(self.field_.columns(X)), X)
        return (own[:, None] + self._shift(len(own), covariates, offset))[:, 0]


class AdjustedLabels(Adjusted, LabelPredictions):
    """Predictions of labels."""

    def _scores(self, X: Source) -> Array:
        scores = self._blend(self.refit_.decision_function(self.field_.columns(X)), X)
        return scores[:, None] if scores.ndim == 1 else scores

    @same_bits
    def decision_function(self, X: Any, covariates: Any = None, offset: Any = None) -> Array:
        """Log odds of the second class, or one score per class when there are more than two.

        Parameters
        ----------
        X : (n, p) array or data frame
        covariates, offset
            As in `predict`.

        Returns
        -------
        scores : (n,) array, or (n, n_classes)
        """
        check_is_fitted(self)
        scores = self._scores(self._new_samples(X))
        return self._weighted(scores + self._shift(len(scores), covariates, offset))

    def predict_proba(self, X: Any, covariates: Any = None, offset: Any = None) -> Array:
        """Class probabilities.

        Parameters
        ----------
        X : (n, p) array or data frame
        covariates, offset
            As in `predict`.

        Returns
        -------
        probabilities : (n, n_classes) array
        """
        return probabilities(self.decision_function(X, covariates, offset))

    def predict(self, X: Any, covariates: Any = None, offset: Any = None) -> Array:
        """Most likely class.

        Parameters
        ----------
        X : (n, p) array or data frame
        covariates : array, data frame or dict of columns, optional
            Of these rows, where the model was fitted with covariates; ``"mean"`` predicts for rows
            whose covariates are as in the mean of the fit.
        offset : (n,) array or number, optional
            Of these rows, where the model was fitted with an offset.

        Returns
        -------
        labels : (n,) array
        """
        return most_likely(self.decision_function(X, covariates, offset), self.classes_)
