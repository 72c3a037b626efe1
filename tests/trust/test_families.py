"""Credible families of fitted models."""

import re
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from gradsift import GradientSiftClassifier, GradientSiftRegressor, credible_families
from gradsift.trust import family_settings
from gradsift.trust.families import cover, heaviest_first
from gradsift.trust.family_settings import FamilySettings

PAGE = (Path(__file__).parents[2] / "docs" / "trust.md").read_text(encoding="utf-8")


def near_copies(rng, n=100, blocks=20, each=5, noise=0.3):
    core = rng.normal(size=(n, blocks))
    return np.repeat(core, each, axis=1) + noise * rng.normal(size=(n, blocks * each))


@pytest.fixture(scope="module")
def copies():
    rng = np.random.default_rng(3)
    X = near_copies(rng)
    y = X[:, 2] + X[:, 11] ** 2 / 1.5 + 0.7 * rng.normal(size=100)
    return X, y, GradientSiftRegressor().fit(X, y)


@pytest.fixture(scope="module")
def found(copies):
    X, y, model = copies
    return credible_families(model, X, y)


def test_families_hold_the_true_columns_and_their_copies_only(found):
    sure = [f for f in found if f.probability > 0.9]
    blocks = [set((f.columns // 5).tolist()) for f in sure]
    assert blocks in ([{0}, {2}], [{2}, {0}])
    assert {2, 11} <= set(np.concatenate([f.columns for f in sure]).tolist())


def test_what_a_family_says(found):
    for family in found:
        assert 0.5 <= family.probability <= 1.0
        assert family.representative == family.columns[0]
        assert np.all(np.diff(family.weights) <= 0)
        # a column may act in a product too, which hardly any draw of this table has
        inclusion = found.inclusion_probabilities[family.columns]
        np.testing.assert_allclose(family.weights, inclusion, atol=1e-6)
        assert family.weights.max() <= family.probability + 1e-3
        assert 0.0 <= family.purity <= 1.0
        assert family.partners is None
    assert len(found) == len(found.families)
    assert found[0].probability == max(f.probability for f in found)
    assert found[0] in list(found)


def test_shapes_are_told_apart(found):
    shape = {int(f.representative) // 5: f.shape for f in found}
    assert shape[0] == "linear"
    assert "quadratic" in shape[2]


def test_inclusion_probabilities_are_probabilities_of_all_columns(copies, found):
    assert found.inclusion_probabilities.shape == (copies[0].shape[1],)
    assert found.inclusion_probabilities.min() >= 0.0
    assert found.inclusion_probabilities.max() <= 1.0


def test_the_same_seed_gives_the_same_bits_and_another_nearly_the_same(copies, found):
    X, y, model = copies
    again = credible_families(model, X, y)
    assert np.array_equal(again.inclusion_probabilities, found.inclusion_probabilities)
    other = credible_families(model, X, y, random_state=1)
    gap = np.abs(other.inclusion_probabilities - found.inclusion_probabilities)
    assert 0.0 < gap.max() < 0.03


def test_chains_from_both_starts_agree(found):
    assert found.disagreement < 0.05


def test_inference_adds_families_to_a_fit(copies, found):
    X, y, _ = copies
    model = GradientSiftRegressor(inference=True).fit(X, y)
    assert [f.columns.tolist() for f in model.families_] == [f.columns.tolist() for f in found]
    assert np.array_equal(model.inclusion_probabilities_, found.inclusion_probabilities)
    assert not hasattr(GradientSiftRegressor().fit(X, y), "families_")


def test_noise_has_no_family(rng):
    X = rng.normal(size=(60, 40))
    y = rng.normal(size=60)
    with pytest.warns(match="no variable was selected"):
        model = GradientSiftRegressor().fit(X, y)
    found = credible_families(model, X, y)
    assert len(found) == 0
    assert found.inclusion_probabilities.max() < 0.5


def test_products_have_two_sides(rng):
    X = near_copies(rng, n=150)
    y = 1.5 * X[:, 2] * X[:, 31] + 0.5 * rng.normal(size=150)
    found = credible_families(GradientSiftRegressor().fit(X, y), X, y)
    (product,) = [f for f in found if f.shape == "product"]
    assert product.probability > 0.9
    sides = [set(side.tolist()) for side in (product.columns, product.partners)]
    assert ({2} <= sides[0] and {31} <= sides[1]) or ({31} <= sides[0] and {2} <= sides[1])
    assert found.inclusion_probabilities[[2, 31]].min() > 0.5


def test_kept_columns_are_in_and_families_are_beside_them(rng):
    X = rng.normal(size=(100, 30))
    X[:, 4] = X[:, 0] + 0.1 * rng.normal(size=100)
    y = 2 * X[:, 0] + X[:, 7] + rng.normal(size=100)
    found = credible_families(GradientSiftRegressor(always_keep=[0]).fit(X, y), X, y)
    assert found.inclusion_probabilities[0] == 1.0
    assert [f.columns.tolist() for f in found if f.probability > 0.9] == [[7]]
    assert found.inclusion_probabilities[4] < 0.5  # the kept one says it all


def test_kept_columns_act_on_labels_too(rng):
    X = rng.normal(size=(150, 20))
    X[:, 4] = X[:, 0] + 0.1 * rng.normal(size=150)
    y = 3 * X[:, 0] + 1.5 * X[:, 7] + 0.5 * rng.normal(size=150) > 0
    found = credible_families(GradientSiftClassifier(always_keep=[0]).fit(X, y), X, y)
    assert found.inclusion_probabilities[0] == 1.0
    assert [f.columns.tolist() for f in found if f.probability > 0.9] == [[7]]
    assert found.inclusion_probabilities[4] < 0.5


@pytest.mark.filterwarnings("ignore::gradsift.exceptions.RepeatedRowsWarning")
def test_whole_weights_count_copies_of_rows(rng):
    X = rng.normal(size=(50, 4))
    y = X[:, 3] + rng.normal(size=50)
    weight = rng.integers(0, 4, size=50)
    many = np.repeat(np.arange(50), weight)
    model = GradientSiftRegressor(weight_kind="frequency")
    with pytest.warns(match="counts of rows"):
        model.fit(X, y, sample_weight=weight)
    weighted = credible_families(model, X, y, sample_weight=weight)
    repeated = credible_families(GradientSiftRegressor().fit(X[many], y[many]), X[many], y[many])
    gap = weighted.inclusion_probabilities - repeated.inclusion_probabilities
    assert np.abs(gap).max() < 0.03


@pytest.mark.parametrize("n_classes", [2, 3])
def test_labels_have_families(n_classes):
    rng = np.random.default_rng(5)
    X = near_copies(rng, n=150)
    latent = 2 * X[:, 2] + 0.5 * rng.normal(size=150)
    y = np.digitize(latent, np.quantile(latent, np.arange(1, n_classes) / n_classes))
    model = GradientSiftClassifier().fit(X, np.array(["a", "b", "c"])[y])
    found = credible_families(model, X, np.array(["a", "b", "c"])[y])
    sure = [f for f in found if f.probability > 0.9]
    assert [set((f.columns // 5).tolist()) for f in sure] == [{0}]
    assert 2 in sure[0].columns


def test_columns_that_act_together_are_two_families():
    """In all views both act: neither takes the other's place."""
    views = np.tile([1.0, 1.0, 0.0], (100, 1))
    linear = np.ones((3, 10))
    families = cover(views, linear, FamilySettings())
    assert sorted(map(list, families)) == [[0], [1]]


def test_columns_that_act_in_turn_are_one_family():
    views = np.zeros((100, 3))
    views[:60, 0], views[60:, 1], views[:, 2] = 1.0, 1.0, 0.01
    (family,) = cover(views, np.ones((3, 10)), FamilySettings())
    assert family.tolist() == [0, 1]


def test_unrelated_columns_stay_out_of_a_family():
    views = np.zeros((100, 2))
    views[:60, 0], views[60:, 1] = 1.0, 1.0
    families = cover(views, np.eye(2), FamilySettings())
    assert sorted(map(list, families)) == [[0], [1]]


def test_labels_are_counted_by_weight():
    labels, weights = heaviest_first(np.array([7, 9, 7, 4]), np.array([0.3, 0.5, 0.25, 0.05]))
    assert labels.tolist() == [7, 9, 4]
    np.testing.assert_allclose(weights, [0.55, 0.5, 0.05])


def test_every_setting_is_named_on_the_page_and_has_its_reason():
    named = set(re.findall(r"[a-z][a-z0-9_]*", " ".join(re.findall(r"`([^`]*)`", PAGE))))
    source = Path(family_settings.__file__).read_text(encoding="utf-8")
    for field in fields(FamilySettings):
        assert field.name in named
        assert re.search(rf'    {field.name}: [^\n]*\n    """', source), field.name


def test_a_model_that_is_not_fitted_is_refused(rng):
    with pytest.raises(NotFittedError):
        credible_families(GradientSiftRegressor(), rng.normal(size=(20, 3)), np.arange(20.0))


def test_rows_that_do_not_match_are_refused(copies):
    X, y, model = copies
    with pytest.raises(ValueError, match="100"):
        credible_families(model, X, y[:50])
