"""Held-out scores: the same as fitting and predicting by hand."""

import numpy as np
import pytest
from helpers import make_data, make_response
from sklearn.metrics import log_loss

from gradsift import SolverSettings, SparseGradientRegressor
from gradsift.pairwise.assemble import Settings, paper_loss
from gradsift.pairwise.fit import Fold, fold_scores
from gradsift.solver import Solver

FOLD = Fold(np.arange(0, 22), np.arange(22, 30))


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_those_of_a_fit_on_the_training_rows(weighted):
    X, y = make_data("regression", n=30, p=5)
    w = np.random.default_rng(0).uniform(0.5, 2.0, 30) if weighted else None
    alphas = np.array([0.2, 0.05])
    got = fold_scores(X, make_response("regression", y), Settings(), FOLD, alphas, Solver(1e-8), w)
    for score, alpha in zip(got, alphas):
        model = SparseGradientRegressor(alpha, solver=SolverSettings(tol=1e-8))
        model.fit(X[FOLD.train], y[FOLD.train], None if w is None else w[FOLD.train])
        errors = (y[FOLD.test] - model.predict(X[FOLD.test])) ** 2
        by_hand = -np.average(errors, weights=None if w is None else w[FOLD.test])
        assert score == pytest.approx(by_hand, rel=1e-4)


def test_nothing_of_the_test_rows_leaks():
    """Wild values in the held-out rows change their score, not the fit: X scaled in the fold."""
    X, y = make_data("regression", n=30, p=5)
    far = X.copy()
    far[FOLD.test[0]] += 100.0
    a, b = (
        fold_scores(Z, make_response("regression", y), Settings(), Fold(FOLD.train, FOLD.test[1:]),
                    np.array([0.1]), Solver())
        for Z in (X, far)
    )  # fmt: skip
    assert a == b


def test_losses_of_labels_are_log_losses(rng):
    for task, classes in (("binary", 2), ("multiclass", 3)):
        y = rng.integers(0, classes, 20)
        scores = rng.normal(size=(1 if classes == 2 else 3, 20))
        full = np.vstack([0 * scores, scores]) if classes == 2 else scores
        proba = np.exp(full) / np.exp(full).sum(axis=0)
        truth = make_response(task, y)
        got = paper_loss(truth).value(scores, truth.values)
        assert got.shape == (20,)
        assert got.mean() == pytest.approx(log_loss(y, proba.T, labels=np.arange(classes)))


def test_informative_labels_beat_chance():
    X, y = make_data("binary", n=60, p=4)
    fold = Fold(np.arange(40), np.arange(40, 60))
    scores = fold_scores(
        X, make_response("binary", y), Settings(), fold, np.array([10.0, 1e-3]), Solver()
    )
    assert scores[1] > scores[0]  # nothing selected at 10: the class shares
