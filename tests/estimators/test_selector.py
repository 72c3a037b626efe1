"""GradientSelector: the columns an estimator keeps."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from helpers import make_data
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gradsift import (
    GradientSelector,
    GradientSiftRegressor,
    OuterProductGradient,
    RidgeGradientClassifier,
    SiftOptions,
    SparseGradientClassifier,
    SparseGradientRegressor,
)


@pytest.mark.parametrize(
    ("estimator", "task"),
    [
        (SparseGradientRegressor(), "regression"),
        (SparseGradientClassifier(), "multiclass"),
        (RidgeGradientClassifier(), "binary"),
        (OuterProductGradient(), "regression"),
    ],
    ids=lambda x: type(x).__name__,
)
def test_keeps_what_the_estimator_selects(estimator, task):
    X, y = make_data(task, n=40, p=6)
    selector = GradientSelector(estimator).fit(X, y)
    mask = estimator.fit(X, y).get_support()
    np.testing.assert_array_equal(selector.get_support(), mask)
    np.testing.assert_array_equal(selector.transform(X), X[:, mask])
    assert selector.n_features_in_ == 6
    best = GradientSelector(estimator, max_features=2).fit(X, y)
    kept = best.get_support(indices=True)
    assert sorted(selector.ranking_[kept]) == [1, 2]


def test_max_features_never_adds(table):
    X, y = table
    selected = SparseGradientRegressor().fit(X, y).get_support().sum()
    assert (
        GradientSelector(SparseGradientRegressor(), max_features=6).fit(X, y).get_support().sum()
        == selected
    )
    with pytest.raises(ValueError, match="max_features=0: use a whole number >= 1, or None"):
        GradientSelector(SparseGradientRegressor(), max_features=0).fit(X, y)


def test_names(table):
    X, y = table
    frame = pd.DataFrame(X, columns=list("abcdef"))
    selector = GradientSelector(SparseGradientRegressor(), max_features=2)
    out = selector.set_output(transform="pandas").fit_transform(frame, y)
    assert list(out.columns) == ["a", "b"] == selector.get_feature_names_out().tolist()
    assert selector.feature_names_in_.tolist() == list("abcdef")


def test_max_features_counts_the_selected(table):
    """A column that is always kept may be ranked behind others that are not selected."""
    X, y = table
    inner = GradientSiftRegressor(always_keep=[5], options=SiftOptions(max_features=1))
    alone = GradientSelector(inner).fit(X, y)
    assert alone.get_support().sum() == 2
    assert alone.ranking_[5] > 2
    both = GradientSelector(inner, max_features=2).fit(X, y)
    np.testing.assert_array_equal(both.get_support(), alone.get_support())
    one = GradientSelector(inner, max_features=1).fit(X, y)
    assert one.get_support(indices=True).tolist() == [int(np.argmin(alone.ranking_))]
    with pytest.raises(ValueError, match="max_features=True"):
        GradientSelector(inner, max_features=True).fit(X, y)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_of_a_mixed_frame_stay_what_they_are(library):
    rng = np.random.default_rng(0)
    table = {"number": rng.normal(size=90), "flag": rng.random(90) > 0.5}
    table |= {"site": rng.choice(["a", "b", "c"], size=90), "noise": rng.normal(size=90)}
    y = table["number"] + 2.0 * table["flag"] + 2.0 * (table["site"] == "a")
    frame = pytest.importorskip(library).DataFrame(table)
    selector = GradientSelector(GradientSiftRegressor()).set_output(transform=library)
    kept = selector.fit(frame, y + 0.1 * rng.normal(size=90)).transform(frame)
    assert kept.equals(frame[["number", "flag", "site"]])
    with pytest.raises(ValueError, match="feature names should match"):
        selector.transform(frame[["flag", "number", "site", "noise"]])


def test_pipeline_sees_the_columns(table):
    X, y = table
    pipe = make_pipeline(
        GradientSelector(SparseGradientRegressor(), max_features=3), LinearRegression()
    )
    assert pipe.fit(X, y)[-1].coef_.shape == (3,)


def test_sample_weight_reaches_the_estimator(table):
    X, y = table
    w = np.random.default_rng(0).uniform(size=40)
    direct = SparseGradientRegressor().fit(X, y, sample_weight=w)
    got = GradientSelector(SparseGradientRegressor()).fit(X, y, sample_weight=w)
    np.testing.assert_array_equal(got.estimator_.feature_importances_, direct.feature_importances_)


def test_metadata_routing(table):
    """In a pipeline the weights go where they were requested, as with any meta-estimator."""
    X, y = table
    w = np.random.default_rng(0).uniform(size=40)
    direct = SparseGradientRegressor().fit(X, y, sample_weight=w).feature_importances_
    with sklearn.config_context(enable_metadata_routing=True):
        inner = SparseGradientRegressor().set_fit_request(sample_weight=True)
        alone = GradientSelector(inner).fit(X, y, sample_weight=w)
        np.testing.assert_array_equal(alone.estimator_.feature_importances_, direct)
        pipe = make_pipeline(
            GradientSelector(inner), LinearRegression().set_fit_request(sample_weight=True)
        ).fit(X, y, sample_weight=w)
        np.testing.assert_array_equal(pipe[0].estimator_.feature_importances_, direct)
        by_transform = GradientSelector(inner)
        by_transform.fit_transform(X, y, sample_weight=w)
        np.testing.assert_array_equal(by_transform.estimator_.feature_importances_, direct)
        deep = make_pipeline(StandardScaler(), make_pipeline(GradientSelector(inner)))
        deep.set_params(standardscaler=StandardScaler().set_fit_request(sample_weight=False))
        deep.fit(X, y, sample_weight=w)
        np.testing.assert_allclose(
            deep[1][0].estimator_.feature_importances_, direct, rtol=1e-3, atol=1e-4
        )


def test_weights_nobody_asked_for_are_refused(table):
    """scikit-learn's rule: passing metadata without a request is an error, never silence."""
    X, y = table
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.raises(ValueError, match="sample_weight"),
    ):
        GradientSelector(SparseGradientRegressor()).fit(X, y, sample_weight=np.ones(40))
