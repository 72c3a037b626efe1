"""Several outcomes: one selection for all of them, a predictor for each."""

import numpy as np
import pandas as pd
import pytest

from gradsift import GradientSiftClassifier, GradientSiftRegressor, findings


def table(rng, n=200, p=30):
    """Three outcomes: both columns act on the first, one on the second, none on the third."""
    X = rng.normal(size=(n, p))
    noise = rng.normal(size=(n, 1)) + 0.5 * rng.normal(size=(n, 3))
    effects = np.column_stack([X[:, 3] + X[:, 7] ** 2, 2.0 * X[:, 3], np.zeros(n)])
    return X, (effects + noise) * [1.0, 10.0, 1.0]


def test_one_selection_serves_all_outcomes(rng):
    X, Y = table(rng)
    model = GradientSiftRegressor().fit(X, Y)
    assert model.get_support(indices=True).tolist() == [3, 7]
    assert model.predict(X).shape == (200, 3)
    assert model.gradient(X).shape == (3, 200, 30)
    assert model.score(X, Y) > 0.4
    first, std = model.predict(X[:5], return_std=True)
    assert first.shape == std.shape == (5, 3)


def test_importances_are_those_for_each_outcome(rng):
    X, Y = table(rng)
    names = ["weight", "height", "noise"]
    model = GradientSiftRegressor().fit(X, pd.DataFrame(Y, columns=names))
    each = model.outcome_importances_
    assert model.outcome_names_ == names
    slopes = model.gradient(X[:5], as_frame=True)
    chosen = model.get_support(indices=True)
    np.testing.assert_array_equal(slopes["height"], model.gradient(X[:5])[1][:, chosen])
    numbered = GradientSiftRegressor().fit(X, Y).gradient(X[:5], as_frame=True)
    assert numbered.columns.get_level_values(0).unique().tolist() == [0, 1, 2]
    assert each.shape == (3, 30)
    assert each[0, [3, 7]].min() > 0.3
    assert each[1, 3] > 0.5
    assert max(each[1, 7], each[2].max()) < 0.2
    np.testing.assert_allclose(model.feature_importances_, np.linalg.norm(each, axis=0))


@pytest.mark.filterwarnings("ignore::gradsift.exceptions.NothingSelectedWarning")
def test_nothing_is_selected_from_noise_and_means_are_predicted(rng):
    X, Y = rng.normal(size=(60, 5)), rng.normal(size=(60, 3))
    model = GradientSiftRegressor(false_positives=1e-6, predict_with="selected").fit(X, Y)
    assert not model.get_support().any()
    assert not model.outcome_importances_.any()
    np.testing.assert_allclose(model.predict(X[:2]), np.tile(Y.mean(axis=0), (2, 1)))


def test_units_of_the_outcomes_change_no_selection(rng):
    X, Y = table(rng, n=100)
    one, other = (GradientSiftRegressor().fit(X, Z) for Z in (Y, Y * [1e3, 1e-3, -1.0]))
    np.testing.assert_array_equal(one.ranking_, other.ranking_)
    np.testing.assert_allclose(one.outcome_importances_, other.outcome_importances_, rtol=1e-3)


def test_shared_noise_helps_to_find_what_acts_on_one_outcome(rng):
    together = alone = 0
    for _ in range(5):
        X = rng.normal(size=(80, 60))
        common = 2.0 * rng.normal(size=(80, 1))
        Y = common + 0.5 * rng.normal(size=(80, 2))
        Y[:, 0] += X[:, 5]
        together += GradientSiftRegressor().fit_for("support", X, Y).get_support()[5]
        alone += GradientSiftRegressor().fit_for("support", X, Y[:, 0]).get_support()[5]
    assert together > alone


def test_findings_covariates_offsets_weights_and_groups_go_with_several_outcomes(rng):
    X, Y = table(rng)
    model = GradientSiftRegressor(inference=True).fit(X, Y)
    clear = {f.representative for f in model.findings_ if f.confidence > 0.95}
    assert clear == {3, 7}
    assert len(findings(model, X, Y).findings) >= 2
    age = rng.normal(size=200)
    model = GradientSiftRegressor().fit(X, Y + 20.0 * age[:, None], covariates={"age": age})
    assert model.get_support(indices=True).tolist() == [3, 7]
    np.testing.assert_allclose(model.covariates_.coefficients, 20.0, atol=2.0)
    assert model.predict(X, covariates={"age": age}).shape == (200, 3)
    known = np.outer(age, [5.0, 50.0, 0.0])
    model = GradientSiftRegressor().fit(X, Y + known, offset=known)
    assert model.get_support(indices=True).tolist() == [3, 7]
    assert np.corrcoef(model.predict(X, offset=known)[:, 1], Y[:, 1] + known[:, 1])[0, 1] > 0.9
    weight = 1.0 * (rng.random(200) < 0.9)
    assert GradientSiftRegressor().fit(X, Y, sample_weight=weight).get_support()[3]
    groups = np.repeat(np.arange(50), 4)
    assert GradientSiftRegressor().fit(X, Y, groups=groups).predict(X).shape == (200, 3)


def test_a_false_discovery_rate_goes_with_several_outcomes(rng):
    X, Y = table(rng)
    model = GradientSiftRegressor(false_discovery_rate=0.1).fit(X, Y)
    assert model.get_support(indices=True).tolist() == [3, 7]


def test_a_category_has_an_importance_for_each_outcome(rng):
    X, Y = table(rng)
    level = rng.integers(3, size=200)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(30)])
    frame["kind"] = pd.Categorical(np.array(["a", "b", "c"])[level])
    Y[:, 1] += 20.0 * (level == 1)
    model = GradientSiftRegressor().fit(frame, Y)
    assert model.get_support(indices=True).tolist() == [3, 7, 30]
    assert model.outcome_importances_.shape == (3, 31)
    assert model.outcome_importances_[1, 30] > 0.3 > model.outcome_importances_[2, 30]


def test_what_several_outcomes_cannot_be_is_refused(rng):
    X, Y = table(rng, n=40)
    with pytest.raises(ValueError, match="outcome 1: y is constant"):
        GradientSiftRegressor().fit(X, np.column_stack([Y[:, 0], np.ones(40)]))
    with pytest.raises(ValueError, match="fit one model to each column"):
        GradientSiftRegressor(family="poisson").fit(X, np.abs(Y).round())
    with pytest.raises(ValueError, match="fit one model to each column"):
        GradientSiftClassifier().fit(X, (Y > 0).astype(int))
    Y[4, 1] = np.nan
    with pytest.raises(ValueError, match="row 4"):
        GradientSiftRegressor().fit(X, Y)
