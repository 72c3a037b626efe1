"""Ordered classes: the cumulative logit likelihood, and the classifier on it."""

import numpy as np
import pandas as pd
import pytest

from gradsift import GradientSiftClassifier, findings
from gradsift.responses import Ordinal


def table(rng, n=300, p=30, classes=4):
    X = rng.normal(size=(n, p))
    eta = 1.5 * X[:, min(3, p - 1)] + X[:, min(7, p - 2)] ** 2
    latent = eta + rng.logistic(size=n)
    return X, np.searchsorted(np.quantile(latent, np.arange(1, classes) / classes), latent), eta


def test_coefficients_and_cuts_are_those_of_statsmodels(rng):
    ordinal = pytest.importorskip("statsmodels.miscmodels.ordinal_model")
    X, y, _ = table(rng, p=3)
    response = Ordinal.of(y)
    beta = response.fit(X, np.ones(300), penalty=0.0)
    model = ordinal.OrderedModel(y, X, distr="logit")
    other = model.fit(method="bfgs", disp=0)
    np.testing.assert_allclose(beta[:, 0], other.params[:3], atol=1e-4)
    cuts = model.transform_threshold_params(other.params)[1:-1]
    np.testing.assert_allclose(response.link(X @ beta, np.ones(300)).cuts, cuts, atol=1e-3)


def test_the_curvature_is_the_derivative_of_the_score(rng):
    X, y, _ = table(rng, n=60, p=3)
    response, weight = Ordinal.of(y), rng.uniform(0.5, 2.0, 60)
    beta, h = 0.3 * np.ones((3, 1)), 1e-5
    for j in range(3):
        up, down = beta.copy(), beta.copy()
        up[j], down[j] = up[j] + h, down[j] - h
        slopes = [X.T @ (weight[:, None] * response.score(X @ b, weight)) for b in (up, down)]
        column = -(slopes[0] - slopes[1])[:, 0] / (2 * h)
        np.testing.assert_allclose(
            response.curvature(X, X @ beta, weight)[:, j], column, rtol=1e-3, atol=1e-4
        )


def test_ordered_classes_are_found_and_predicted(rng):
    X, y, eta = table(rng)
    model = GradientSiftClassifier(ordered=True).fit(X, y)
    assert {3, 7} <= set(model.get_support(indices=True).tolist())
    chances = model.predict_proba(X)
    assert chances.shape == (300, 4)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert np.corrcoef(chances @ np.arange(4), eta)[0, 1] > 0.85
    assert model.score(X, y) > 0.45
    assert model.gradient(X).shape == X.shape
    np.testing.assert_array_equal(model.predict(X), chances.argmax(axis=1))
    clear = {f.representative for f in findings(model, X, y) if f.confidence > 0.95}
    assert clear == {3, 7}


def test_an_order_finds_more_than_classes_without_one(rng):
    found = {True: 0, False: 0}
    for _ in range(4):
        X, y, _ = table(rng, n=60, p=40, classes=5)
        for ordered in found:
            model = GradientSiftClassifier(ordered=ordered).fit_for("support", X, y)
            found[ordered] += np.isin([3, 7], model.get_support(indices=True)).sum()
    assert found[True] > found[False]


def test_an_ordered_category_says_its_order(rng):
    X, y, _ = table(rng, classes=3)
    words = np.array(["never", "often", "always"])
    category = pd.Categorical(words[y], categories=[*words, "unknown"], ordered=True)
    for labels in (category, pd.Series(category)):
        model = GradientSiftClassifier().fit(X, labels)
        assert model.classes_.tolist() == words.tolist()
        assert {3, 7} <= set(model.get_support(indices=True).tolist())
        assert model.score(X, labels) > 0.5
    plain = GradientSiftClassifier(ordered=False).fit(X, category)
    assert plain.classes_.tolist() == sorted(words)


def test_an_ordered_polars_category_says_its_order(rng):
    polars = pytest.importorskip("polars")
    X, y, _ = table(rng, classes=3)
    words = ["never", "often", "always"]
    labels = polars.Series(np.array(words)[y].tolist(), dtype=polars.Enum(words))
    assert GradientSiftClassifier().fit(X, labels).classes_.tolist() == words


def test_two_ordered_classes_are_two_classes(rng):
    X, y, _ = table(rng, classes=2)
    model = GradientSiftClassifier(ordered=True).fit(X, y)
    assert {3, 7} <= set(model.get_support(indices=True).tolist())
    scores = model.decision_function(X)
    assert scores.shape == (300,)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-scores)))


def test_a_class_weight_moves_ordered_predictions(rng):
    X, y, _ = table(rng, classes=3)
    plain = GradientSiftClassifier(ordered=True).fit(X, y).predict(X)
    weighted = GradientSiftClassifier(ordered=True, class_weight={2: 4.0, 0: 1.0, 1: 1.0})
    assert (weighted.fit(X, y).predict(X) == 2).sum() > (plain == 2).sum()


def test_texts_have_no_order_and_missing_labels_are_refused(rng):
    X, y, _ = table(rng, n=60, classes=3)
    words = np.array(["low", "medium", "high"])[y]
    with pytest.raises(ValueError, match="whose order is not known"):
        GradientSiftClassifier(ordered=True).fit(X, words)
    labels = pd.Categorical(words, categories=["low", "medium"], ordered=True)
    with pytest.raises(ValueError, match="y is missing in row"):
        GradientSiftClassifier().fit(X, labels)
