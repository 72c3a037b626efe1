"""`fit(covariates=..., offset=...)`: what is adjusted for, and never a finding."""

import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from bed_reader import to_bed
from scipy import sparse
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVR

from gradsift import (
    GradientSelector,
    GradientSiftClassifier,
    GradientSiftRegressor,
    SiftOptions,
    findings,
    significance,
)
from gradsift.evaluate import held_out, stability
from gradsift.exceptions import ExtrapolationWarning
from gradsift.pipeline import load_model, save_model
from gradsift.tables import Recipe, ResponseColumns
from gradsift.tables.columns import TableEncoder

N, P = 150, 40


@pytest.fixture(scope="module")
def confounded():
    """Batches that move all columns and the response; column 3 acts, age acts, column 30 is age."""
    rng = np.random.default_rng(0)
    batch, age = rng.integers(3, size=N), rng.normal(50.0, 10.0, size=N)
    X = rng.normal(size=(N, P)) + np.array([-1.5, 0.0, 2.0])[batch, None] * rng.normal(size=P)
    X[:, 30] = (age - 50.0) / 10.0 + 0.3 * rng.normal(size=N)
    y = X[:, 3] + 2.5 * (batch == 2) + 0.1 * age + 0.7 * rng.normal(size=N)
    return X, y, pd.DataFrame({"batch": np.array(["a", "b", "c"])[batch], "age": age})


@pytest.fixture(scope="module")
def fitted(confounded):
    X, y, C = confounded
    return GradientSiftRegressor(predict_with="selected").fit(X, y, covariates=C)


def test_what_covariates_explain_is_no_finding(confounded, fitted):
    X, y, _ = confounded
    assert len(GradientSiftRegressor().fit(X, y).get_support(indices=True)) > 2
    assert fitted.get_support(indices=True).tolist() == [3]
    assert fitted.covariates_.names == ("batch", "age")
    assert fitted.covariates_.columns == ("batch=a", "batch=b", "age")
    assert 0.4 < fitted.covariates_.explained < 0.9
    assert sorted(fitted.ranking_.tolist()) == list(range(1, P + 1))
    assert fitted.feature_importances_.shape == fitted.mean_.shape == (P,)
    assert fitted.components_.shape[1] == P
    assert fitted.covariates_.names == ("batch", "age")


def test_the_part_of_covariates_is_that_of_the_design(fitted):
    low, middle, age = fitted.covariates_.coefficients[:, 0]
    assert abs(low + 2.5) < 0.6
    assert abs(middle + 2.5) < 0.6
    assert abs(age - 1.0) < 0.2  # per standard deviation of ten years


def test_predictions_take_covariates(confounded, fitted):
    X, y, C = confounded
    assert fitted.score(X, y, covariates=C) > 0.8
    same = fitted.predict(X, covariates="mean")
    shift = fitted.predict(X, covariates=C) - same
    by_hand = fitted.covariates_.encode(C, N) @ fitted.covariates_.coefficients
    np.testing.assert_allclose(shift, by_hand[:, 0], atol=1e-10)
    with pytest.raises(ValueError, match=r"fitted with covariates \(batch, age\): give"):
        fitted.predict(X)
    with pytest.raises(ValueError, match="fitted without any"):
        GradientSiftRegressor().fit(X[:, :5], y).predict(X[:, :5], covariates=C)


def test_gradients_and_projections_need_no_covariates(confounded, fitted):
    X, _, C = confounded
    assert fitted.gradient(X).shape == (N, P)
    assert np.flatnonzero(fitted.gradient(X).any(axis=0)).tolist() == [3]
    step = np.zeros(P)
    step[3] = 1e-5
    rise = fitted.predict(X + step, covariates=C) - fitted.predict(X - step, covariates=C)
    np.testing.assert_allclose(rise / 2e-5, fitted.gradient(X)[:, 3], rtol=1e-4, atol=1e-6)
    assert fitted.transform(X).shape == (N, fitted.n_components_)


def forms(C):
    """The same covariates in every form that is taken."""
    code = pd.Categorical(C["batch"]).codes.astype(int)
    return {
        "pandas": C,
        "polars": pl.DataFrame({"batch": C["batch"].tolist(), "age": C["age"].tolist()}),
        "dict": {"batch": C["batch"].tolist(), "age": C["age"].to_numpy()},
        "category of numbers": C.assign(batch=pd.Categorical(code)),
        "objects": C.to_numpy(dtype=object),
        "0/1 columns": np.column_stack([code == 0, code == 1, C["age"]]).astype(float),
    }


@pytest.mark.parametrize("form", forms(pd.DataFrame({"batch": ["a"], "age": [1.0]})))
def test_every_form_gives_the_same(confounded, fitted, form):
    X, y, C = confounded
    given = forms(C)[form]
    model = GradientSiftRegressor(predict_with="selected").fit(X, y, covariates=given)
    assert np.array_equal(model.ranking_, fitted.ranking_)
    np.testing.assert_allclose(
        model.predict(X, covariates=given), fitted.predict(X, covariates=C), rtol=1e-6
    )


def sources(X, folder):
    zarr = pytest.importorskip("zarr")
    anndata = pytest.importorskip("anndata")
    stored = zarr.create_array(str(folder / "t.zarr"), shape=X.shape, chunks=(N, 7), dtype="f8")
    stored[:] = X
    anndata.AnnData(X).write_h5ad(folder / "t.h5ad")
    return {
        "dask": da.from_array(X, chunks=(50, 7)),
        "zarr": stored,
        "h5ad": folder / "t.h5ad",
        "sparse": sparse.csc_array(X),
    }


@pytest.mark.parametrize("kind", ["dask", "zarr", "h5ad", "sparse"])
def test_every_source_gives_the_same(confounded, fitted, kind, tmp_path):
    X, y, C = confounded
    stored = sources(X, tmp_path)[kind]
    model = GradientSiftRegressor(predict_with="selected").fit(stored, y, covariates=C)
    assert np.array_equal(model.ranking_, fitted.ranking_)
    np.testing.assert_allclose(
        model.predict(stored, covariates=C), fitted.predict(X, covariates=C), rtol=1e-5
    )


def test_genotypes_with_rows_that_have_no_phenotype(tmp_path):
    rng = np.random.default_rng(2)
    calls = rng.binomial(2, 0.4, size=(N, P)).astype(float)
    age = rng.normal(size=N)
    y = 1.5 * calls[:, 5] + 2.0 * age + 0.5 * rng.normal(size=N)
    y = y.round(4)
    known = np.arange(N) % 10 > 0
    pheno = [f"{v:.4f}" if there else "-9" for v, there in zip(y, known)]
    to_bed(tmp_path / "t.bed", calls, properties={"pheno": pheno})
    with pytest.warns(UserWarning, match="15 of 150 rows"):
        model = GradientSiftRegressor().fit(tmp_path / "t.bed", "phenotype", covariates=age)
    assert model.get_support(indices=True).tolist() == [5]
    alone = GradientSiftRegressor().fit(calls[known], y[known], covariates=age[known])
    assert np.array_equal(model.ranking_, alone.ranking_)
    predicted = model.predict(tmp_path / "t.bed", covariates=age)
    assert np.corrcoef(predicted, y)[0, 1] > 0.95


@pytest.mark.parametrize("n_classes", [2, 3])
def test_labels(confounded, n_classes):
    X, y, C = confounded
    labels = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    model = GradientSiftClassifier().fit(X, labels, covariates=C)
    assert 3 in model.get_support(indices=True)
    assert 30 not in model.get_support(indices=True)
    probabilities = model.predict_proba(X, covariates=C)
    assert probabilities.shape == (N, n_classes)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert model.score(X, labels, covariates=C) > 0.7
    assert (model.predict(X, covariates="mean") != model.predict(X, covariates=C)).any()


def test_missing_values_are_filled_and_marked(confounded):
    X, y, C = confounded
    holed = C.copy()
    holed.loc[:20, "age"] = np.nan
    holed.loc[130:, "batch"] = None
    model = GradientSiftRegressor().fit(X, y, covariates=holed)
    assert model.covariates_.columns[:5] == (
        "batch=(missing)", "batch=a", "batch=b", "age", "age (missing)"
    )  # fmt: skip
    assert 3 in model.get_support(indices=True)
    assert np.isfinite(model.predict(X, covariates=holed)).all()


def test_new_categories_are_said_and_count_as_the_most_frequent(confounded, fitted):
    X, _, C = confounded
    new = C.assign(batch="d")
    with pytest.warns(ExtrapolationWarning, match=r"'batch' that the model has not seen.*'d'"):
        found = fitted.predict(X, covariates=new)
    most = fitted.covariates_.parts[0].reference
    np.testing.assert_array_equal(found, fitted.predict(X, covariates=C.assign(batch=most)))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.zeros((10, 2)), "10 rows but X has 150"),
        ({"who": [f"person {k}" for k in range(N)]}, "150 different texts in 150 rows"),
        (np.full(N, np.inf), "infinite in row 0"),
        (np.full(N, np.nan), "missing in all 150 rows"),
        (np.random.default_rng(0).normal(size=(N, 60)), "take 60 columns, for 150 rows"),
        (np.zeros((N, 2, 2)), r"shape \(150, 2, 2\)"),
    ],
)
def test_what_is_no_covariate_is_refused(confounded, bad, message):
    X, y, _ = confounded
    with pytest.raises(ValueError, match=message):
        GradientSiftRegressor().fit(X, y, covariates=bad)


def test_covariates_of_new_rows_must_fit(confounded, fitted):
    X, _, C = confounded
    with pytest.raises(ValueError, match=r"lacks 'age'.*'batch', 'age'"):
        fitted.predict(X, covariates=C[["batch"]])
    with pytest.raises(ValueError, match="held categories at the fit"):
        fitted.predict(X, covariates=C.assign(batch=1.0))
    with pytest.raises(ValueError, match="held numbers at the fit"):
        fitted.predict(X, covariates=C.assign(age="old"))
    with pytest.raises(ValueError, match="150 values for 10 rows"):
        fitted.predict(X[:10], covariates=C)


@pytest.mark.filterwarnings("ignore::gradsift.exceptions.RepeatedRowsWarning")
def test_weights_are_repetitions_with_covariates_too(confounded):
    X, y, C = confounded
    C = C.copy()
    C.loc[5, "age"] = np.nan
    twice = np.concatenate([np.arange(N), np.arange(40)])
    weight = 1.0 + (np.arange(N) < 40)
    one = GradientSiftRegressor().fit(X, y, sample_weight=weight, covariates=C)
    other = GradientSiftRegressor().fit(X[twice], y[twice], covariates=C.iloc[twice])
    assert np.array_equal(one.ranking_, other.ranking_)
    np.testing.assert_allclose(
        one.predict(X, covariates=C), other.predict(X, covariates=C), rtol=1e-4
    )


def test_tests_and_findings_are_beside_covariates(confounded):
    X, y, C = confounded
    tested = significance(GradientSiftRegressor(), X, y, covariates=C)
    assert tested.q_values.shape == (P,)
    assert tested.discoveries(0.1).tolist() == [3]
    assert all(k < P for t in tested.tests for k in (*t.alone.columns, *t.as_finding.columns))
    model = GradientSiftRegressor(inference=True).fit(X, y, covariates=C)
    assert [f.columns.tolist() for f in model.findings_] == [[3]]
    assert model.confidence_.shape == (P,)
    found = findings(model, X, y, covariates=C)
    assert [f.columns.tolist() for f in found] == [[3]]
    with pytest.raises(ValueError, match="was fitted with covariates"):
        findings(model, X, y)
    by_rate = GradientSiftRegressor(false_discovery_rate=0.1).fit(X, y, covariates=C)
    assert by_rate.get_support(indices=True).tolist() == [3]


def test_categories_of_columns_beside_covariates(confounded):
    X, y, C = confounded
    groups = np.r_[[0, 0], np.arange(1, P - 1)]
    model = GradientSiftRegressor(
        feature_groups=groups, false_discovery_rate=0.2, options=SiftOptions(max_features=2)
    ).fit(X, y, covariates=C)
    assert model.get_support(indices=True).tolist() == [3]


def test_held_out_scores_and_half_samples(confounded):
    X, y, C = confounded
    found = held_out(GradientSiftRegressor(), X, y, cv=4, covariates=C)
    assert found.mean > 0.75
    assert 0.4 < found.covariates.mean("R²") < found.mean
    again = stability(GradientSiftRegressor(), X, y, 4, 0, covariates=C)
    assert again.frequencies.shape == (P,)
    assert again.frequencies[3] == 1.0
    assert again.frequencies[30] < 0.5
    labels = np.where(y > np.median(y), "high", "low")
    found = held_out(GradientSiftClassifier(), X, labels, cv=3, covariates=C, simple=False)
    assert 0.6 < found.covariates.mean("accuracy") < found.mean


def test_groups_and_covariates_together(confounded):
    X, y, C = confounded
    groups = np.arange(N) // 3
    model = GradientSiftRegressor().fit(X, y, groups=groups, covariates=C)
    assert model.get_support(indices=True).tolist() == [3]
    level = y.reshape(-1, 3).mean(axis=1).repeat(3)
    model = GradientSiftRegressor().fit(X, level, groups=groups, covariates=C)
    assert model.score(X, level, covariates=C) <= 1.0


@pytest.mark.parametrize("labels", [False, True])
def test_model_files_hold_covariates(confounded, labels, tmp_path):
    X, y, C = confounded
    kind = GradientSiftClassifier if labels else GradientSiftRegressor
    target = np.where(y > np.median(y), "high", "low") if labels else y
    model = kind().fit(X, target, covariates=C, offset=np.zeros(N))
    task = "classification" if labels else "regression"
    recipe = Recipe(ResponseColumns("y"), task, TableEncoder(tuple(f"x{k}" for k in range(P))))
    save_model(tmp_path / "m.gradsift", model, recipe)
    again = load_model(tmp_path / "m.gradsift").model
    told = {"covariates": C, "offset": 0.0}
    assert np.array_equal(again.predict(X, **told), model.predict(X, **told))


def test_metadata_routing(confounded):
    X, y, C = confounded
    with sklearn.config_context(enable_metadata_routing=True):
        inner = GradientSiftRegressor().set_fit_request(covariates=True)
        pipe = make_pipeline(GradientSelector(inner), SVR())
        pipe.fit(X, y, covariates=C)
        assert pipe[0].get_support(indices=True).tolist() == [3]
        model = GradientSiftRegressor().set_fit_request(covariates=True)
        model.set_score_request(covariates=True)
        scores = cross_val_score(model, X, y, cv=3, params={"covariates": C})
    assert scores.min() > 0.6


def test_an_offset_is_taken_off_and_put_back(confounded):
    X, y, C = confounded
    known = 0.1 * C["age"].to_numpy()
    batch = C[["batch"]]
    model = GradientSiftRegressor().fit(X, y, covariates=batch, offset=known)
    plain = GradientSiftRegressor().fit(X, y - known, covariates=batch)
    assert model.has_offset_
    assert np.array_equal(model.ranking_, plain.ranking_)
    np.testing.assert_allclose(
        model.predict(X, covariates=batch, offset=known),
        plain.predict(X, covariates=batch) + known,
    )
    with pytest.raises(ValueError, match="fitted with an offset"):
        model.predict(X, covariates=batch)
    with pytest.raises(ValueError, match="fitted without one"):
        plain.predict(X, covariates=batch, offset=known)
    found = held_out(GradientSiftRegressor(), X, y, cv=3, covariates=batch, offset=known)
    assert found.mean > 0.75


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.zeros(10), "10 rows but X has 150"),
        (np.r_[np.nan, np.zeros(N - 1)], "missing or infinite in row 0"),
        (["a"] * N, "not numbers"),
        (np.zeros((N, 2)), r"shape \(150, 2\): need \(n,\)"),
    ],
)
def test_what_is_no_offset_is_refused(confounded, bad, message):
    X, y, _ = confounded
    with pytest.raises(ValueError, match=message):
        GradientSiftRegressor().fit(X, y, offset=bad)


@pytest.mark.parametrize("how", ["covariates", "offset", "groups"])
def test_counts_with_many_zeros_keep_their_mean_beside_what_is_taken_out(how):
    """Less a covariate, an offset or the level of a group, zeros are no tie any more."""
    rng = np.random.default_rng(1)
    known, X = rng.normal(size=400), rng.normal(size=(400, 4))
    some = rng.uniform(size=400) < 1 / (1 + np.exp(1.3 - 1.2 * known - 1.5 * X[:, 0]))
    y = np.where(some, rng.choice([1, 2, 3, 7, 12], 400), 0).astype(float)
    told = {
        "covariates": {"covariates": known[:, None]},
        "offset": {"offset": 0.5 * known},
        "groups": {"groups": np.repeat(np.arange(80), 5)},
    }[how]
    model = GradientSiftRegressor().fit(X, y, **told)
    assert (model.predictor_.refit.robust_weight == 1.0).all()
    given = {} if how == "groups" else told
    assert model.predict(X, **given).mean() == pytest.approx(y.mean(), rel=0.1)
