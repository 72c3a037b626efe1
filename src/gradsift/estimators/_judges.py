"""Scores of held-out rows: by any scorer of scikit-learn, of any estimator on what was selected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import get_scorer

from gradsift._typing import Array
from gradsift.pairwise.assemble import Response
from gradsift.pairwise.fitting import PredictWith, directions_of
from gradsift.pairwise.folds import HeldOut, Judge, OwnLoss, predict_held_out


@dataclass(frozen=True)
class ScoringJudge:
    """A score of scikit-learn, of the estimator's own predictions or of another estimator's.

    Attributes
    ----------
    scoring : str, callable or None
        None = the `score` of `estimator`.
    estimator : estimator or None
        Fitted on what was selected in the training rows; None = the fold's own predictions.
    on : {'selected', 'directions'}
        Whether it sees the selected columns or the coordinates of the sparse directions.
    classes : array or None
        Labels of the classes; None = numbers.
    """

    scoring: Any
    estimator: Any
    on: Literal["selected", "directions"]
    classes: Array | None
    n_components: int | Literal["auto"]
    predict_with: PredictWith

    def __call__(self, fold: HeldOut) -> float:
        y = self._answers(fold.truth)
        if self.estimator is None:
            model, X = self._own(fold), np.arange(len(y), dtype=float)[:, None]
        else:
            train, X = self._features(fold)
            model = self._model(train.shape[1]).fit(
                _some(train), self._answers(fold.assembly.response)
            )
            X = _some(X)
        score = float(model.score(X, y) if self.scoring is None else self._scorer(model, X, y))
        if not np.isfinite(score):
            raise ValueError(
                f"scoring={self.scoring!r} gives {score} on a fold of {len(y)} row(s). Use larger "
                "folds, or a score that one row has, e.g. 'neg_mean_squared_error' or 'accuracy'."
            )
        return score

    @property
    def _scorer(self) -> Any:
        return get_scorer(self.scoring) if isinstance(self.scoring, str) else self.scoring

    def _answers(self, response: Response) -> Array:
        return response.values[0] if self.classes is None else self.classes[response.codes()]

    def _own(self, fold: HeldOut) -> Any:
        guess = predict_held_out(fold, self.predict_with)
        return GivenNumbers(guess[0]) if self.classes is None else GivenScores(guess, self.classes)

    def _features(self, fold: HeldOut) -> tuple[Array, Array]:
        rows = fold.solution.rows.drop_zeros()
        train = fold.assembly.source.columns(rows.index)
        test = fold.rows.columns(rows.index)
        if self.on == "selected":
            return train, test
        found = directions_of(fold.assembly, rows, self.n_components).directions
        back = found.components[:, rows.index].T
        return train @ back, test @ back

    def _model(self, n_features: int) -> Any:
        """The estimator; with nothing selected, the mean or the class shares."""
        if n_features:
            return clone(self.estimator)
        return DummyRegressor() if self.classes is None else DummyClassifier(strategy="prior")


def _some(X: Array) -> Array:
    """X, or a column of zeros where X has none."""
    return X if X.shape[1] else np.zeros((len(X), 1))


class GivenNumbers(RegressorMixin, BaseEstimator):
    """Predictions that were made already, for row numbers."""

    def __init__(self, values: Array) -> None:
        self.values = values

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Array) -> Array:
        return self.values[X[:, 0].astype(int)]


class GivenScores(ClassifierMixin, BaseEstimator):
    """Scores (c, n) that were made already, for row numbers."""

    def __init__(self, scores: Array, classes: Array) -> None:
        self.scores = scores
        self.classes = classes

    @property
    def classes_(self) -> Array:
        return self.classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def decision_function(self, X: Array) -> Array:
        scores = self.scores[:, X[:, 0].astype(int)].T
        return scores[:, 0] if len(self.classes) == 2 else scores

    def predict_proba(self, X: Array) -> Array:
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        return np.asarray(softmax(scores, axis=1))

    def predict(self, X: Array) -> Array:
        return np.asarray(self.classes[self.predict_proba(X).argmax(axis=1)])


def make_judge(
    scoring: Any,
    judge: Any,
    judge_on: Literal["selected", "directions"],
    classes: Array | None,
    n_components: int | Literal["auto"],
    predict_with: PredictWith,
) -> Judge:
    """The judge that an estimator's parameters ask for."""
    if judge_on not in ("selected", "directions"):
        raise ValueError(f"judge_on={judge_on!r}: use 'selected' or 'directions'.")
    if scoring is None and judge is None:
        return OwnLoss(predict_with)
    return ScoringJudge(scoring, judge, judge_on, classes, n_components, predict_with)
