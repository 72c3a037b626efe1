"""Every response with everything else that a fit takes: it works, or is refused in a sentence."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from gradsift import (
    GradientSiftClassifier,
    GradientSiftRegressor,
    GradientSiftSurvival,
    SiftOptions,
    explain,
    findings,
)
from gradsift.data import open_source
from gradsift.evaluate import held_out
from gradsift.pipeline import load_model, save_model
from gradsift.responses.survival import survival_records
from gradsift.tables import Recipe, ResponseColumns

N, P = 90, 6
SEED = 5


def eta(X):
    return 1.5 * X[:, 3]


def survival(rng, X):
    death, end = rng.exponential(np.exp(-eta(X))), rng.exponential(2.0, size=len(X))
    return survival_records(np.minimum(death, end), death <= end)


def several(rng, X):
    return np.column_stack([eta(X), -eta(X)]) + rng.normal(size=(len(X), 2))


RESPONSES = {
    "survival": (GradientSiftSurvival(), survival),
    "counts": (
        GradientSiftRegressor(family="poisson"),
        lambda rng, X: rng.poisson(np.exp(0.7 * eta(X))).astype(float),
    ),
    "ordinal": (
        GradientSiftClassifier(ordered=True),
        lambda rng, X: np.searchsorted([-1.0, 1.0], eta(X) + rng.logistic(size=len(X))),
    ),
    "several": (GradientSiftRegressor(), several),
}


@pytest.fixture(params=RESPONSES)
def case(request):
    """The name of a response, its model, a table, and the response of its rows."""
    rng = np.random.default_rng(SEED)
    model, make = RESPONSES[request.param]
    X = rng.normal(size=(N, P))
    return request.param, clone(model).set_params(predict_with="selected"), X, make(rng, X)


def finds(model):
    return 3 in model.get_support(indices=True)


def test_weights_covariates_offset_and_kept_columns(case, rng):
    name, model, X, y = case
    weight = (rng.random(N) < 0.9).astype(float)
    assert finds(model.fit(X, y, sample_weight=weight))
    survey = clone(model).set_params(options=SiftOptions(weight_kind="importance"))
    assert finds(survey.fit(X, y, sample_weight=rng.uniform(1, 2, N)))
    C = {"age": rng.normal(size=N), "site": np.array(["a", "b"])[rng.integers(2, size=N)]}
    assert finds(model.fit(X, y, covariates=C))
    assert len(model.predict(X[:5], covariates={k: v[:5] for k, v in C.items()})) == 5
    part = np.zeros((N, 2)) if name == "several" else np.zeros(N)
    assert finds(model.fit(X, y, offset=part))
    assert len(model.predict(X[:5], offset=part[:5])) == 5
    always = clone(model).set_params(always_keep=[0]).fit(X, y)
    assert {0, 3} <= set(always.get_support(indices=True).tolist())


def test_categories_missing_values_and_feature_groups(case, rng):
    _, model, X, y = case
    frame = pd.DataFrame(X.copy(), columns=[f"x{j}" for j in range(P)])
    frame["kind"] = pd.Categorical(np.array(["a", "b", "c"])[rng.integers(3, size=N)])
    frame.iloc[4, 1] = np.nan
    filled = clone(model).set_params(missing="mean").fit(frame, y)
    assert finds(filled)
    assert len(filled.predict(frame[:5])) == 5
    assert filled.gradient(frame[:5]).shape[-1] == P + 1
    marked = clone(model).set_params(missing="indicator").fit(frame, y)
    assert finds(marked)
    grouped = clone(model).set_params(feature_groups=["a", "a", "b", "c", "d", "d"])
    assert finds(grouped.fit(X, y))
    with pytest.raises(ValueError, match="missing"):
        clone(model).set_params(missing="error").fit(frame, y)


def test_every_format_of_a_table(case, tmp_path):
    _, model, X, y = case
    np.save(tmp_path / "x.npy", X)
    polars = pytest.importorskip("polars")
    tables = [
        csr_array(X),
        open_source(tmp_path / "x.npy"),
        polars.DataFrame(X, schema=[f"x{j}" for j in range(P)]),
        X.astype(np.float32),
    ]
    for table in tables:
        assert finds(model.fit(table, y))
        assert len(model.predict(table)) == N


def test_findings_answers_tests_and_held_out_scores(case):
    _, model, X, y = case
    sure = clone(model).set_params(inference=True).fit(X, y)
    assert sure.confidence_[3] > 0.9
    assert findings(sure, X, y).confidence[3] > 0.9
    assert "x3" in str(explain(sure, X, y))
    assert held_out(model, X, y, cv=3).better_than_nothing
    tested = clone(model).set_params(false_discovery_rate=0.2).fit(X, y)
    assert finds(tested)


def test_row_groups_work_for_numbers_and_are_refused_for_others(case):
    name, model, X, y = case
    groups = np.repeat(np.arange(N // 3), 3)
    if name == "several":
        assert finds(model.fit(X, y, groups=groups))
    elif name == "survival":
        with pytest.raises(TypeError, match="groups"):
            model.fit(X, y, groups=groups)
    else:
        with pytest.raises(ValueError, match="assumes independent rows"):
            model.fit(X, y, groups=groups)


def test_a_model_is_the_same_after_a_file_and_a_pickle(case, tmp_path):
    _, model, X, y = case
    model.set_params(predict_with="auto").fit(X, y)
    save_model(tmp_path / "m.gradsift", model, Recipe(ResponseColumns("y"), "regression"))
    for again in (
        load_model(tmp_path / "m.gradsift").model,
        pickle.loads(pickle.dumps(model)),  # our own
    ):
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        np.testing.assert_array_equal(again.gradient(X), model.gradient(X))
