"""The main job: what is repeated in folds and halves, what counts, what the scores are of."""

import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gradsift import GradientSiftClassifier, GradientSiftRegressor
from gradsift.data.source import ArraySource
from gradsift.evaluate.baselines import ALPHAS
from gradsift.exceptions import NothingSelectedWarning
from gradsift.pipeline import Settings, record_training, select
from gradsift.pipeline._scores import prediction_of
from gradsift.pipeline._select import make_estimator
from gradsift.sift import Limits, SiftSettings
from gradsift.tables import Choices, Recipe, ResponseColumns, Table, prepare
from gradsift.tables.frame import make_frame

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


def table_of(columns, y, **choices):
    """A table of arrays; those of text become categories."""
    parts = [np.asarray(part) for part in (*columns.values(), y)]
    parts = [part.astype(object) if part.dtype.kind == "U" else part for part in parts]
    return prepare(make_frame([*columns, "y"], parts), Choices("y", **choices))


def notes(found, words):
    """The notes that hold some words."""
    return [note.text for note in found.answer.notes if words in note.text]


def test_note_says_among_which_columns_products_were_looked_for(rng, monkeypatch):
    columns = {f"x{k}": rng.normal(size=60) for k in range(30)}
    table = table_of(columns, rng.normal(size=60))
    quick = Settings(cv=0)
    assert not notes(select(table, quick), "Products")
    few = SiftSettings(limits=Limits(most_columns=12, most_products=0))
    monkeypatch.setattr(GradientSiftRegressor, "sift_settings", few)
    (note,) = notes(select(table, quick), "Products")
    assert "the 12 most promising of 30 columns" in note


# ------------------------------------------------------------------ folds repeat everything


def noise_with_texts(rng, n=100, count=150):
    letters = np.array(list("abcd"))
    columns = {f"t{k}": letters[rng.integers(4, size=n)] for k in range(count)}
    return table_of(columns, rng.normal(size=n))


def test_scores_are_honest_where_there_are_text_columns(rng):
    """Noise in 150 categories: whoever chooses levels outside the folds explains some of it."""
    table = noise_with_texts(rng)
    found = select(table, Settings(false_positives=3.0, interactions=False))
    folds = KFold(5, shuffle=True, random_state=0)
    predicted = np.empty(len(table.y))
    for train, test in folds.split(table.X):
        model = GradientSiftRegressor(
            3.0, interactions=False, feature_groups=table.feature_groups, predict_with="selected"
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NothingSelectedWarning)
            predicted[test] = model.fit(table.X[train], table.y[train]).predict(table.X[test])
    left = np.square(table.y - predicted)
    expected = [1 - left[test].mean() / table.y.var(ddof=1) for _, test in folds.split(table.X)]
    score = found.answer.prediction.score
    assert score.mean == pytest.approx(np.mean(expected), rel=1e-9)
    assert score.mean < 0.0
    assert found.answer.prediction.is_constant


def test_the_fit_leaves_the_procedure_as_it_was(rng):
    """What folds clone is what the user asked for, whatever was selected."""
    table = noise_with_texts(rng, n=80, count=5)
    settings = Settings(false_positives=1.0)
    before = make_estimator(table, settings).get_params()
    found = select(table, Settings(false_positives=1.0, cv=0))
    after = found.model.get_params()
    assert {**after, "predict_with": "auto", "inference": False} == before


# ------------------------------------------------------------------ what counts


def strong(rng, n=200):
    """Four strong variables, a category, an age."""
    columns = {name: rng.normal(size=n) for name in "abcdefg"}
    kind = rng.integers(3, size=n)
    columns["kind"] = np.array(["x", "y", "z"])[kind]
    columns["age"] = rng.normal(size=n)
    y = sum(k * columns[name] for k, name in enumerate("abcd", 2)) + 3.0 * (kind == 1)
    return columns, y + 0.5 * columns["age"] + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize("most", [1, 2, 4])
def test_at_most_so_many_are_returned_however_strong_the_others(rng, most):
    columns, y = strong(rng)
    table = table_of(columns, y, keep=("age",))
    settings = Settings(max_features=most, cv=2)
    found = select(table, settings)
    answer = found.answer
    assert len(answer.selected) == most
    assert answer.variables == 8
    assert "age" not in {f.name for f in answer.findings}
    assert answer.adjusted_for == ("age",)
    age = list(table.names).index("age")
    assert found.model.get_support()[age]


def test_a_category_is_one_variable(rng):
    columns, y = strong(rng)
    answer = select(table_of(columns, y), Settings(cv=0)).answer
    assert answer.variables == 9
    kind = next(f for f in answer.findings if f.name == "kind")
    assert kind.effect.comparisons[0].end == "y"


def test_repeated_rows_are_said_once(rng):
    X = rng.normal(size=(60, 3))
    X[50:] = X[:10]
    columns, y = dict(zip("abc", X.T)), X[:, 0] + X[:, 1] ** 2
    found = select(table_of(columns, y), Settings(cv=0))
    words = "20 of 60 rows are repeated measurements of a sample, or copies (such as row 1 and row"
    assert len(notes(found, words)) == len(notes(found, "repeated measurements")) == 1
    once = table_of({k: v[:50] for k, v in columns.items()}, y[:50])
    alone = select(once, Settings(cv=0))
    assert not notes(alone, "repeated measurements")


def test_rows_of_few_values_that_are_equal_are_no_repetitions(rng):
    X = rng.integers(0, 2, size=(60, 3)).astype(float)
    columns = {f"x{k}": x for k, x in enumerate(X.T)}
    table = table_of(columns, np.where(np.arange(60) % 10 == 0, 1.0 - X[:, 0], X[:, 0]))
    assert not any("repeated measurements" in note for note in table.notes)


# ------------------------------------------------------------------ which rows a model has seen


def test_rows_of_the_fit_are_known_again(rng):
    X = rng.normal(size=(70, 6))
    y = np.where(X[:, 1] > 0, "yes", "no")
    model = GradientSiftClassifier().fit(X[:50], y[:50])
    training = record_training(model, X[:50], y[:50])
    assert training.unseen(X, y).tolist() == [False] * 50 + [True] * 20
    mixed = rng.permutation(70)
    assert training.unseen(X[mixed], y[mixed]).tolist() == (mixed >= 50).tolist()
    X[3, 2] = np.nan  # not a column that the fit could use as it is now
    assert training.unseen(X, y)[3]
    model = GradientSiftClassifier(missing="mean").fit(X[:50], y[:50])
    assert not record_training(model, X[:50], y[:50]).unseen(X[:50], y[:50]).any()


# ------------------------------------------------------------------ real tables


def real(name):
    file = SHARED / f"{name}.npz"
    if not file.exists():
        pytest.skip(f"the data set {name} is not beside the repository")
    data = np.load(file)
    if name == "leukemia":
        return data["X_train"].astype(float), np.where(data["y_train"] > 0, "ALL", "AML")
    if name == "colon":
        return np.log2(1 + data["X"]), np.where(data["y"] > 0, "tumor", "normal")
    return data["X"], data["y"]


def fold_scores(model, X, y, folds):
    """Accuracy in each fold, or the part of the variance of all rows that is explained there."""
    if y.dtype.kind == "U":
        return cross_val_score(model, X, y, cv=folds)
    left = -cross_val_score(model, X, y, cv=folds, scoring="neg_mean_squared_error")
    return 1.0 - left / y.var(ddof=1)


@pytest.mark.shared
@pytest.mark.parametrize("name", ["gasoline", "colon", "leukemia", "riboflavin"])
def test_both_scores_equal_an_independent_computation(name):
    X, y = real(name)
    labels = y.dtype.kind == "U"
    columns = {f"x{k}": X[:, k] for k in range(X.shape[1])}
    prediction = select(table_of(columns, y), Settings()).answer.prediction
    folds = (StratifiedKFold if labels else KFold)(5, shuffle=True, random_state=0)
    sift = GradientSiftClassifier if labels else GradientSiftRegressor
    sizes = [len(test) for _, test in folds.split(X, y)]
    scores = {score.name: score.mean for score in prediction.others}
    together = scores.get("averaged with predictors on all columns", prediction.score.mean)
    for way, found in (("selected", prediction.score.mean), ("auto", together)):
        model = sift(predict_with=way)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NothingSelectedWarning)
            expected = fold_scores(clone(model), X, y, folds)
        assert found == pytest.approx(np.average(expected, weights=sizes), abs=1e-9)
    if not labels:
        expected = fold_scores(make_pipeline(StandardScaler(), RidgeCV(ALPHAS)), X, y, folds)
        found = scores["ridge regression on all columns"]
        assert found == pytest.approx(np.average(expected, weights=sizes), abs=1e-6)
    assert not prediction.is_constant


def test_columns_that_never_change_are_no_variables(rng):
    X = rng.normal(size=(60, 4))
    X[:, 2] = 3.0
    y = X[:, 0] + 0.1 * rng.normal(size=60)
    kinds = {"kind": np.repeat(["only"], 60), "sex": np.tile(["f", "m"], 30)}
    columns = dict(zip("abcd", X.T)) | kinds
    found = select(table_of(columns, y), Settings(cv=0))
    assert found.answer.variables == 4  # a, b, d and sex
    assert found.answer.headline == "a goes with y."
    assert len(notes(found, "'c', 'kind' (constant")) == 1
    plain = Recipe(ResponseColumns("y"), "regression")
    stored = Table(ArraySource(X), y, tuple("abcd"), plain)
    found = select(stored, Settings(cv=0))
    assert found.answer.variables == 3
    assert len(notes(found, "1 column never changes")) == 1


def test_advice_names_the_option_that_does_it():
    def scores(mean):
        return SimpleNamespace(mean=lambda _: mean, spread=lambda _: 0.01)

    ways = [
        ("selected", "selected variables", scores(0.6)),
        ("together", "all columns together", scores(0.8)),
        ("simple", "ridge regression", scores(0.7)),
    ]
    held = SimpleNamespace(
        metric="R²", n_folds=5, better_than_nothing=True, selected=ways[0][2], ways=lambda _: ways,
    )  # fmt: skip
    found = prediction_of(held, "y")
    assert found.advice == "For predicting, use --predict-with all."
    assert [s.name for s in found.others][1] == "ridge regression on all columns"
