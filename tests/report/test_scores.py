"""Scores on the page: of which way of predicting each one is, and when to doubt it."""

import warnings
from copy import copy
from dataclasses import replace

import numpy as np
import pytest

from gradsift import GradientSiftClassifier, GradientSiftRegressor
from gradsift.evaluate import held_out
from gradsift.exceptions import NothingSelectedWarning
from gradsift.report import Findings, _score_words, build_report, summarise


def many_small_effects(rng):
    """A table whose ridge has a part in the predictions."""
    X = rng.normal(size=(80, 200))
    return X, X[:, 0] + X[:, 1:101] @ rng.normal(size=100) / 8


@pytest.fixture(scope="module")
def blended():
    X, y = many_small_effects(np.random.default_rng(0))
    model = GradientSiftRegressor()
    return Findings(model.fit(X, y), X, y, target="yield", held_out=held_out(model, X, y, 3))


def test_both_scores_are_said_and_named(blended):
    summary = summarise(blended)
    ways, held = summary["scores"]["ways"], blended.held_out
    assert list(ways) == ["selected", "together", "simple", "baseline"]
    assert ways["selected"]["mean"]["R²"] == held.selected.mean("R²") == summary["held_out"]
    assert ways["together"]["mean"]["R²"] != ways["selected"]["mean"]["R²"]
    ensemble = blended.model.predictor_
    members = zip(ensemble.members, ensemble.shares, strict=True)
    parts = [(m.kind, share, m.n_columns) for m, share in members]
    for kind, _, count in parts:
        assert f"a {kind} on {count} columns" in ways["together"]["detail"]
    assert summary["ensemble"]["used"]
    assert [tuple(part.values()) for part in summary["ensemble"]["members"]] == parts
    said = summary["found"][2]
    assert "the selected variables alone" in said
    assert "all columns together" in said
    assert "ridge regression on all columns" in said
    page = build_report(blended)
    for name in ("selected variables alone", "all columns together", "mean of yield", "RMSE"):
        assert name in page


def test_the_model_says_what_it_predicts_with(blended):
    both = summarise(blended)["predicts_with"]
    assert "averaged with a " in both
    alone = copy(blended.model).set_params(predict_with="selected")
    assert summarise(replace(blended, model=alone))["predicts_with"] == (
        "the selected variables alone"
    )


@pytest.mark.parametrize("words", ["no variable, as none was selected", "nothing"])
def test_a_model_without_variables_still_has_predictions(rng, monkeypatch, words):
    X, y = rng.normal(size=(80, 5)), rng.normal(size=80)
    with pytest.warns(NothingSelectedWarning):
        model = GradientSiftRegressor(predict_with="selected").fit(X[:40], y[:40])
    monkeypatch.setattr(_score_words, "predictor_name", lambda model: words)
    findings = Findings(model, X, y, unseen=np.arange(80) >= 40)
    said = "On 40 rows that the fit has not seen (40 others are rows of the fit and do not count"
    assert _score_words.quality(findings).startswith(f"{said} here), predictions reach R²")


def test_a_rare_class_is_not_called_no_better_than_chance(rng):
    """2 % positives: accuracy can hardly beat the most frequent class, log loss does."""
    X = rng.normal(size=(600, 5))
    y = np.where(X[:, 1] + 0.3 * rng.normal(size=600) > 2.1, "ill", "well")
    assert 0.005 < (y == "ill").mean() < 0.04
    model = GradientSiftClassifier()
    found = Findings(model.fit(X, y), X, y, held_out=held_out(model, X, y, 3))
    said = summarise(found)
    assert "no better" not in said["found"][2]
    values = said["scores"]["ways"]["selected"]["mean"]
    assert values["ROC AUC"] > 0.9
    assert said["scores"]["average_precision_of"] == "ill"
    confusion = np.array(said["scores"]["ways"]["selected"]["confusion"])
    assert confusion.sum() == 600
    assert confusion.sum(axis=1).tolist() == [(y == "ill").sum(), (y == "well").sum()]
    assert "Held-out rows by their class" in build_report(found)


def test_suspiciously_good_answers_are_said_loudly(rng):
    X = rng.normal(size=(120, 5))
    y = 3 * X[:, 2] + 1e-3 * rng.normal(size=120)
    model = GradientSiftRegressor()
    found = Findings(model.fit(X, y), X, y, target="dose", held_out=held_out(model, X, y, 3))
    beware = summarise(found)["beware"]
    assert beware[0][0] == "Too good to be true?"
    assert "R² 0.99" in beware[0][1] or "R² 1.00" in beware[0][1]
    assert beware[1] == [
        "A possible leak",
        "x2 alone reproduces dose in these rows. A true cause or marker can do so too; what was "
        "made from dose, or is known only after it, must be left out (--drop).",
    ]
    labels = np.where(X[:, 2] > 0.3, "a", "b")
    model = GradientSiftClassifier()
    found = Findings(model.fit(X, labels), X, labels, held_out=held_out(model, X, labels, 3))
    assert "A possible leak" in dict(summarise(found)["beware"])


def test_good_answers_are_not_suspected(findings):
    for kind in ("regressor", "two", "three"):
        titles = dict(summarise(findings[kind])["beware"])
        assert not {"Too good to be true?", "A possible leak"} & set(titles)


def test_nothing_selected_is_not_called_the_selected_variables():
    """Where only predictors on all columns have a part."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 200)) + rng.normal(size=(80, 1)) / 2
    y = X.mean(axis=1) + 0.2 * rng.normal(size=80)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GradientSiftRegressor(false_positives=1e-6).fit(X, y)
    assert model.predictor_.members
    assert not model.get_support().any()
    name = _score_words.predictor_name(model)
    assert name.startswith("a ")
    assert name.endswith("as no variable was selected")
