"""Gradients and summaries as data frames, with names and rows of the table."""

import numpy as np
import pandas as pd
import pytest

from gradsift import GradientSiftClassifier, GradientSiftRegressor, SparseGradientRegressor
from gradsift.answer import explain


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        rng.normal(size=(120, 12)), columns=list("abcdefghijkl"), index=range(1000, 1120)
    )
    return X, X["c"] ** 2 + X["h"] + 0.3 * rng.normal(size=120)


@pytest.mark.parametrize("kind", [GradientSiftRegressor, SparseGradientRegressor])
def test_the_frame_holds_the_selected_columns_of_the_array(table, kind):
    X, y = table
    model = kind().fit(X, y)
    whole, frame = model.gradient(X), model.gradient(X, as_frame=True)
    assert frame.columns.tolist() == X.columns[model.get_support()].tolist()
    assert frame.index.equals(X.index)
    np.testing.assert_array_equal(frame, whole[:, model.get_support()])


def test_arrays_have_numbered_names(table):
    X, y = table
    model = GradientSiftRegressor().fit(X.to_numpy(), y)
    assert model.gradient(X.to_numpy()[:3], as_frame=True).columns.tolist() == ["x2", "x7"]


def test_rows_are_named_as_in_the_table(table):
    """A list has a method of the name that frames give their rows; AnnData has names of rows."""
    X, y = table
    model = GradientSiftRegressor().fit(X.to_numpy(), y)
    rows = X.to_numpy()[:3]
    expected = model.gradient(rows, as_frame=True)
    pd.testing.assert_frame_equal(model.gradient(rows.tolist(), as_frame=True), expected)
    pd.testing.assert_frame_equal(model.gradient(tuple(rows), as_frame=True), expected)
    anndata = pytest.importorskip("anndata")
    cells = anndata.AnnData(X.to_numpy(), obs=pd.DataFrame(index=[f"s{k}" for k in range(120)]))
    slope = GradientSiftRegressor().fit(cells, y.to_numpy()).gradient(cells, as_frame=True)
    assert slope.index.tolist() == cells.obs_names.tolist()


def test_several_classes_are_pairs_of_class_and_name(table):
    X, y = table
    labels = np.array(["low", "mid", "high"])[np.digitize(y, [0, 1.5])]
    model = GradientSiftClassifier().fit(X, labels)
    whole, frame = model.gradient(X), model.gradient(X, as_frame=True)
    for k, label in enumerate(model.classes_):
        np.testing.assert_array_equal(frame[label], whole[k][:, model.get_support()])


def test_one_form_at_a_time(table):
    X, y = table
    with pytest.raises(ValueError, match="ask for one of them"):
        GradientSiftRegressor().fit(X, y).gradient(X, sparse=True, as_frame=True)


def test_summaries_as_a_frame(table):
    X, y = table
    model = GradientSiftRegressor().fit(X, y)
    answer = explain(model, X, y)
    frame = answer.to_frame()
    assert frame["finding"].tolist() == [f.name for f in answer.findings]
    assert set(frame["shape"]) == {"rises", "U-shaped"}
    assert frame["low"].tolist() == [f.effect.comparisons[0].size.low for f in answer.findings]


def test_nothing_selected_is_an_empty_frame():
    noise = np.random.default_rng(0).normal(size=(40, 6))
    with pytest.warns(match="no variable was selected"):
        model = GradientSiftRegressor(false_positives=1e-6).fit(noise[:, 1:], noise[:, 0])
    assert explain(model, noise[:, 1:], noise[:, 0]).to_frame().empty
    assert model.gradient(noise[:, 1:], as_frame=True).shape == (40, 0)
