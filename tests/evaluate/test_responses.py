"""Held-out scores of survival times, counts and ordered classes."""

import numpy as np
import pytest

from gradsift import GradientSiftClassifier, GradientSiftRegressor, GradientSiftSurvival
from gradsift.evaluate import held_out, score_model, stability
from gradsift.responses.survival import survival_records


def survival(rng, n=150, p=12):
    X = rng.normal(size=(n, p))
    death, end = rng.exponential(np.exp(-X[:, 3] - X[:, 7] ** 2)), rng.exponential(2.0, size=n)
    return X, survival_records(np.minimum(death, end), death <= end)


def counts(rng, n=150, p=12):
    X, exposure = rng.normal(size=(n, p)), rng.uniform(0.5, 4.0, n)
    return X, rng.poisson(exposure * np.exp(0.8 * X[:, 3])).astype(float), exposure


def ordered(rng, n=150, p=12):
    X = rng.normal(size=(n, p))
    latent = 2.0 * X[:, 3] + rng.logistic(size=n)
    return X, np.searchsorted([-1.5, 0.0, 1.5], latent)


def test_survival_times_are_scored_by_concordance_in_folds_of_equal_events(rng):
    X, y = survival(rng)
    found = held_out(GradientSiftSurvival(), X, y, cv=3)
    assert found.metric == found.loss == "concordance"
    assert found.mean > 0.78 > found.simple.mean("concordance")
    assert found.baseline.mean("concordance") == 0.5
    assert found.better_than_nothing
    assert "ridge Cox regression" in repr(found)
    model = GradientSiftSurvival().fit(X[:100], y[:100])
    scores = score_model(model, X[100:], y[100:])
    assert scores.mean("concordance") == pytest.approx(model.score(X[100:], y[100:]))
    covariates = {"age": X[:, 3]}
    found = held_out(GradientSiftSurvival(), X[:, 4:], y, cv=3, covariates=covariates)
    assert found.covariates.mean("concordance") > 0.55


def test_survival_times_without_censoring_have_folds_and_half_samples(rng):
    X, y = survival(rng)
    y["event"] = True
    assert held_out(GradientSiftSurvival(), X, y, cv=3).mean > 0.75
    assert 3 in np.argsort(stability(GradientSiftSurvival(), X, y, n_subsamples=4).frequencies)[-2:]


def test_counts_are_scored_by_the_deviance_that_predictions_explain(rng):
    X, y, exposure = counts(rng)
    model = GradientSiftRegressor(family="poisson")
    found = held_out(model, X, y, cv=3, exposure=exposure)
    assert found.metric == "deviance explained"
    assert found.mean > 0.25
    assert found.simple.mean("deviance explained") > 0.2
    assert abs(found.baseline.mean("deviance explained")) < 1e-12
    assert found.better_than_nothing
    scores = score_model(model.fit(X, y, exposure=exposure), X, y, exposure=exposure)
    assert scores.mean("deviance explained") > 0.3


def test_ordered_classes_are_scored_by_ranked_probabilities(rng):
    X, y = ordered(rng)
    model = GradientSiftClassifier(ordered=True)
    found = held_out(model, X, y, cv=3)
    assert (found.metric, found.loss) == ("accuracy", "ranked probability score")
    assert found.mean > 0.45
    assert found.simple.mean("accuracy") > 0.4
    assert found.better_than_nothing
    assert score_model(model.fit(X, y), X, y).mean("accuracy") == pytest.approx(model.score(X, y))


def test_half_samples_go_with_every_response(rng):
    for model, data in [
        (GradientSiftSurvival(), survival(rng)),
        (GradientSiftRegressor(family="poisson"), counts(rng)[:2]),
        (GradientSiftClassifier(ordered=True), ordered(rng)),
    ]:
        assert stability(model, *data, n_subsamples=2, random_state=0).frequencies[3] > 0
