"""Whatever is passed in place of an array gets a sentence of ours, in every argument."""

import traceback
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier

from gradsift import (
    GradientSiftClassifier,
    GradientSiftRegressor,
    RidgeGradientClassifier,
    RidgeGradientRegressor,
    SlicedInverseRegression,
    SparseGradientRegressor,
    aggregate,
    alpha_max,
    significance,
)
from gradsift.answer import explain
from gradsift.evaluate import held_out, score_model, stability

N = 24
X = np.random.default_rng(0).normal(size=(N, 4))
Y = X[:, 0] + 0.3 * np.random.default_rng(1).normal(size=N)
LABELS = np.where(Y > 0, "ill", "well")
MODELS = [
    GradientSiftRegressor(),
    GradientSiftClassifier(),
    SparseGradientRegressor(),
    RidgeGradientRegressor(),
    RidgeGradientClassifier(),
    SlicedInverseRegression(),
]


def with_cell(values, cell):
    values = np.array(values, dtype=object)
    values[3] = cell
    return values


def in_table(cell):
    table = X.astype(object)
    for row in range(N):
        table[row, 1] = cell  # a list, too, is one cell
    return table


NO_ARRAYS = {
    "dict": {"a": 1},
    "set": {1, 2},
    "object": object(),
    "type": float,
    "function": len,
    "iterator": iter([1.0]),
    "no dimension": np.array(1.0),
    "records": np.zeros(N, dtype=[("a", float), ("b", float)]),
    "rows of two lengths": [[1.0, 2.0]] * (N - 1) + [[1.0]],
}
TABLES = {
    **NO_ARRAYS,
    "list of dicts": [{"a": 1}] * N,
    "dict in a cell": in_table({}),
    "list in a cell": in_table([1, 2]),
    "complex cell": in_table(1j),
    "huge cell": in_table(10**400),
    "frame of lists": pd.DataFrame({"a": [[1, 2]] * N, "b": X[:, 0]}),
    "frame of dicts": pd.DataFrame({"a": [{}] * N, "b": X[:, 0]}),
    "frame of intervals": pd.DataFrame({"a": pd.cut(X[:, 0], 3), "b": X[:, 1]}),
    "frame of periods": pd.DataFrame({"a": pd.period_range("2020", periods=N), "b": X[:, 1]}),
    "times with a zone": pd.DataFrame({"a": pd.date_range("2020", periods=N, tz="UTC")}),
    "no frame": pd.DataFrame(),
    "polars lists": pl.DataFrame({"a": [[1.0, 2.0]] * N, "b": X[:, 0]}),
    "polars structs": pl.DataFrame({"a": [{"q": 1}] * N, "b": X[:, 0]}),
    "polars bytes": pl.DataFrame({"a": [b"x"] * N, "b": X[:, 0]}),
    "no such file": "nothing.parquet",
}
USABLE = {"frame of intervals", "frame of periods", "times with a zone"}
"""Categories and dates, which GradientSift* take."""
RESPONSES = {
    **NO_ARRAYS,
    "two columns": np.c_[Y, Y],
    "sparse": sparse.csr_matrix(Y[:, None]),
    "sparse array": sparse.coo_array(Y),
    "complex": Y + 1j,
    "dict in a cell": with_cell(Y, {}),
    "object in a cell": with_cell(Y, object()),
    "text among numbers": with_cell(Y, "x"),
    "number among texts": with_cell(LABELS, 3),
    "huge": [10**400 + k for k in range(N)],
    "polars lists": pl.Series([[1.0]] * N),
    "polars dates": pl.Series([date(2020, 1, 1 + k) for k in range(N)]),
    "periods": pd.Series(pd.period_range("2020", periods=N)),
    "intervals": pd.Series(pd.cut(X[:, 0], 3)),
    "void": np.zeros(N, dtype="V4"),
    "long": np.r_[Y, Y],
}

TAKEN = {"GradientSiftRegressor": "two columns", "GradientSiftClassifier": "intervals"}
"""Several outcomes, and ordered classes."""


def assert_refused(call):
    """An error of ours, or scikit-learn's words on shapes; of no other library."""
    with pytest.raises((ValueError, TypeError, FileNotFoundError)) as met:
        call()
    last = traceback.extract_tb(met.value.__traceback__)[-1]
    raised = "gradsift" in Path(last.filename).parts and "raise" in str(last.line)
    assert raised or "sklearn" in Path(last.filename).parts, (last, met.value)
    said = str(met.value)
    assert len(said.split()) > 4, said
    for words in ("float()", "array element", "unsized", "parameter of", "ufunc", "argument 'y_"):
        assert words not in said


def response(model):
    return LABELS if is_classifier(model) else Y


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_tables(model, kind):
    y = response(model)
    fitted = clone(model).fit(X, y)
    if kind in USABLE and type(model).__name__.startswith("GradientSift"):
        return
    assert_refused(lambda: clone(model).fit(TABLES[kind], y))
    for method in ("predict", "transform", "gradient"):
        if hasattr(fitted, method):
            assert_refused(lambda method=method: getattr(fitted, method)(TABLES[kind]))


@pytest.mark.parametrize("kind", RESPONSES)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_responses(model, kind):
    if TAKEN.get(type(model).__name__) == kind:
        return
    frame = pd.DataFrame(X, columns=list("abcd")).assign(e=["u", "v"] * (N // 2))
    sift = type(model).__name__.startswith("GradientSift")
    for table in (X, sparse.csr_matrix(X), *([frame] if sift else [])):
        assert_refused(lambda table=table: clone(model).fit(table, RESPONSES[kind]))
    if hasattr(model, "score"):
        fitted = clone(model).fit(X, response(model))
        assert_refused(lambda: fitted.score(X, RESPONSES[kind]))


@pytest.mark.parametrize("kind", [*NO_ARRAYS, "sparse", "two columns", "dict in a cell", "long"])
@pytest.mark.parametrize("name", ["sample_weight", "groups", "covariates", "offset"])
def test_what_belongs_to_rows(name, kind):
    if name == "covariates" and kind in ("two columns", "dict in a cell"):
        return  # columns of their own, and a category
    if name == "groups" and kind == "dict in a cell":
        return  # a label of its own
    bad = RESPONSES[kind]
    assert_refused(lambda: GradientSiftRegressor().fit(X, Y, **{name: bad}))
    fitted = GradientSiftRegressor().fit(X, Y)
    if name == "sample_weight":
        assert_refused(lambda: fitted.score(X, Y, sample_weight=bad))
        assert_refused(lambda: RidgeGradientClassifier().fit(X, LABELS).score(X, LABELS, bad))
        assert_refused(lambda: alpha_max(X, Y, sample_weight=bad))


@pytest.mark.parametrize("kind", sorted({*TABLES, *RESPONSES}))
@pytest.mark.parametrize("model", MODELS[:2], ids=lambda model: type(model).__name__)
def test_tools_around_a_model(model, kind):
    if TAKEN.get(type(model).__name__) == kind:
        return
    y, fitted = response(model), clone(model).fit(X, response(model))
    tools = [
        lambda X, y: held_out(model, X, y, cv=2),
        lambda X, y: stability(model, X, y, n_subsamples=2),
        lambda X, y: score_model(fitted, X, y),
        lambda X, y: explain(fitted, X, y),
        lambda X, y: significance(fitted, X, y),
        lambda X, y: aggregate(X, y, np.arange(N) // 2),
    ]
    for tool in tools:
        if kind in TABLES and kind not in USABLE:
            assert_refused(lambda tool=tool: tool(TABLES[kind], y))
        if kind in RESPONSES and tool is not tools[-1]:
            assert_refused(lambda tool=tool: tool(X, RESPONSES[kind]))


def test_labels_of_text_type_are_labels():
    y = LABELS.astype(np.dtypes.StringDType())
    np.testing.assert_array_equal(
        RidgeGradientClassifier().fit(X, y).predict(X),
        RidgeGradientClassifier().fit(X, LABELS).predict(X),
    )
