"""Findings of fitted models."""

import re
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from gradsift import GradientSiftClassifier, GradientSiftRegressor, SiftOptions, findings
from gradsift.inference import settings as finding_settings
from gradsift.inference.findings import cover
from gradsift.inference.settings import ColumnTestSettings, FindingSettings

DOCS = Path(__file__).parents[2] / "docs"


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
    return findings(model, X, y)


def test_findings_hold_the_true_columns_and_their_copies_only(found):
    clear = [f for f in found if f.confidence > 0.9]
    blocks = [set((f.columns // 5).tolist()) for f in clear]
    assert blocks in ([{0}, {2}], [{2}, {0}])
    assert {2, 11} <= set(np.concatenate([f.columns for f in clear]).tolist())


def test_columns_and_findings_agree(found):
    """A member never exceeds its finding, and the members together never fall below it."""
    for finding in found:
        assert 0.3 <= finding.confidence < 1.0
        assert finding.representative == finding.columns[0]
        assert np.all(np.diff(finding.members) <= 0)
        np.testing.assert_array_equal(finding.members, found.confidence[finding.columns])
        assert finding.members.max() <= finding.confidence
        assert finding.members.sum() >= finding.confidence - 1e-6
        if len(finding.columns) == 1:
            assert finding.members[0] == finding.confidence
    assert len(found) == len(found.findings)
    assert found[0].confidence == max(f.confidence for f in found)


def test_shapes_are_named(found):
    shape = {int(f.representative) // 5: f.shape for f in found}
    assert shape[0] == "linear"
    assert "quadratic" in shape[2]


def test_the_same_seed_gives_the_same_bits_and_another_nearly_the_same(copies, found):
    X, y, model = copies
    assert np.array_equal(findings(model, X, y).confidence, found.confidence)
    other = findings(model, X, y, seed=1)
    assert 0.0 < np.abs(other.confidence - found.confidence).max() < 0.05
    for one, two in zip(found, other, strict=True):
        assert abs(one.confidence - two.confidence) < 0.03


def test_inference_adds_findings_to_a_fit(copies, found):
    X, y, _ = copies
    model = GradientSiftRegressor(inference=True).fit(X, y)
    assert [f.columns.tolist() for f in model.findings_] == [f.columns.tolist() for f in found]
    assert np.array_equal(model.confidence_, found.confidence)
    assert not hasattr(model, "significance_")
    assert not hasattr(GradientSiftRegressor().fit(X, y), "findings_")


def test_exact_copies_share_one_finding(rng):
    X = rng.normal(size=(80, 12))
    X[:, 7] = 3.0 - 2.0 * X[:, 4]
    y = 2 * X[:, 4] + rng.normal(size=80)
    (one,) = [f for f in findings(GradientSiftRegressor().fit(X, y), X, y) if f.confidence > 0.5]
    assert sorted(one.columns.tolist()) == [4, 7]


def test_many_copies_share_one_finding_too(rng):
    X = rng.normal(size=(100, 60))
    X[:, 20:] = X[:, [4]] * rng.uniform(0.5, 2, size=40) + rng.normal(size=40)
    y = 2 * X[:, 4] + rng.normal(size=100)
    (one,) = [f for f in findings(GradientSiftRegressor().fit(X, y), X, y) if f.confidence > 0.3]
    assert sorted(one.columns.tolist()) == [4, *range(20, 60)]


def test_noise_has_no_clear_finding(rng):
    X, y = rng.normal(size=(60, 40)), rng.normal(size=60)
    with pytest.warns(match="no variable was selected"):
        model = GradientSiftRegressor().fit(X, y)
    assert findings(model, X, y).confidence.max() < 0.5


def test_both_sides_of_a_product_are_found(rng):
    X = near_copies(rng, n=150)
    y = 1.5 * X[:, 2] * X[:, 31] + 0.5 * rng.normal(size=150)
    found = findings(GradientSiftRegressor().fit(X, y), X, y)
    sides = {
        k: f for f in found if f.shape == "product" for k in (2, 31) if k in f.columns.tolist()
    }
    assert set(sides) == {2, 31}
    assert min(f.confidence for f in sides.values()) > 0.9
    assert set((sides[2].partners // 5).tolist()) == {6}
    assert set((sides[31].partners // 5).tolist()) == {0}


@pytest.mark.parametrize("labels", [False, True])
def test_findings_are_given_the_columns_that_are_kept(rng, labels):
    X = rng.normal(size=(150, 20))
    X[:, 4] = X[:, 0] + 0.1 * rng.normal(size=150)
    y = 3 * X[:, 0] + 1.5 * X[:, 7] + 0.5 * rng.normal(size=150)
    kind = GradientSiftClassifier if labels else GradientSiftRegressor
    y = y > 0 if labels else y
    found = findings(kind(always_keep=[0]).fit(X, y), X, y)
    assert found.confidence[0] == 1.0
    assert [f.columns.tolist() for f in found if f.confidence > 0.9] == [[7]]
    assert found.confidence[4] < 0.5  # the kept one says it all


def test_a_kept_confounder_hides_no_finding_of_a_wide_table(rng):
    X = rng.normal(size=(200, 300))
    X += 2 * X[:, [0]]
    y = 3 * X[:, 0] + X[:, 7] + 0.5 * rng.normal(size=200)
    found = findings(GradientSiftRegressor(always_keep=[0]).fit(X, y), X, y)
    assert found[0].columns.tolist() == [7]
    assert found[0].confidence > 0.95


def test_as_many_kept_columns_as_rows_leave_nothing_to_find(rng):
    X, y = rng.normal(size=(9, 12)), rng.normal(size=9)
    found = findings(GradientSiftRegressor(always_keep=list(range(8))).fit(X, y), X, y)
    assert np.isfinite(found.confidence).all()
    assert len([f for f in found if f.confidence > 0.95]) == 0


@pytest.mark.filterwarnings("ignore::gradsift.exceptions.RepeatedRowsWarning")
def test_whole_weights_count_copies_of_rows(rng):
    X = rng.normal(size=(50, 4))
    y = X[:, 3] + rng.normal(size=50)
    weight = rng.integers(0, 4, size=50)
    many = np.repeat(np.arange(50), weight)
    model = GradientSiftRegressor(options=SiftOptions(weight_kind="frequency"))
    with pytest.warns(match="counts of rows"):
        model.fit(X, y, sample_weight=weight)
    weighted = findings(model, X, y, sample_weight=weight)
    repeated = findings(GradientSiftRegressor().fit(X[many], y[many]), X[many], y[many])
    assert np.abs(weighted.confidence - repeated.confidence).max() < 0.05


def test_groups_with_one_response_each_count_as_one_sample(rng):
    core = rng.normal(size=(60, 10))
    y = np.repeat(2 * core[:, 3] + rng.normal(size=60), 3)
    X = np.repeat(core, 3, axis=0) + 0.2 * rng.normal(size=(180, 10))
    groups = np.repeat(np.arange(60), 3)
    found = findings(GradientSiftRegressor().fit(X, y, groups=groups), X, y, groups=groups)
    assert found[0].columns.tolist() == [3]
    assert found[0].confidence > 0.95
    with pytest.raises(ValueError, match="differs inside of a group"):
        GradientSiftRegressor(inference=True).fit(X, y + rng.normal(size=180), groups=groups)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_labels_have_findings(n_classes):
    rng = np.random.default_rng(5)
    X = near_copies(rng, n=150)
    latent = 2 * X[:, 2] + 0.5 * rng.normal(size=150)
    y = np.digitize(latent, np.quantile(latent, np.arange(1, n_classes) / n_classes))
    y = np.array(list("abcde"))[y]
    found = findings(GradientSiftClassifier().fit(X, y), X, y)
    clear = [f for f in found if f.confidence > 0.9]
    assert [set((f.columns // 5).tolist()) for f in clear] == [{0}]
    assert 2 in clear[0].columns


def test_constant_columns_change_nothing(copies, found):
    X, y, _ = copies
    wider = np.column_stack([X, np.ones(len(X))])
    again = findings(GradientSiftRegressor().fit(wider, y), wider, y)
    np.testing.assert_array_equal(again.confidence[:-1], found.confidence)
    assert again.confidence[-1] == 0.0


def test_columns_that_act_together_are_two_findings():
    """In all views both act: neither takes the other's place."""
    views = np.tile([1.0, 1.0, 0.0], (100, 1))
    sets = cover(views, np.full((3, 3), 0.5), FindingSettings())
    assert sorted(map(list, sets)) == [[0], [1]]


def test_columns_that_act_in_turn_are_one_finding():
    views = np.zeros((100, 3))
    views[:60, 0], views[60:, 1], views[:, 2] = 1.0, 1.0, 0.01
    (one,) = cover(views, np.full((3, 3), 0.5), FindingSettings())
    assert one.tolist() == [0, 1]


def test_unrelated_columns_stay_out_of_a_finding():
    views = np.zeros((100, 2))
    views[:60, 0], views[60:, 1] = 1.0, 1.0
    sets = cover(views, np.eye(2), FindingSettings())
    assert sorted(map(list, sets)) == [[0], [1]]


def test_a_near_copy_joins_even_where_both_act_in_many_draws():
    views = np.zeros((100, 2))
    views[:80, 0], views[40:, 1] = 1.0, 1.0
    assert len(cover(views, np.full((2, 2), 0.5), FindingSettings())) == 2
    (one,) = cover(views, np.full((2, 2), 0.99), FindingSettings())
    assert one.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("page", "kind"), [("findings.md", FindingSettings), ("guarantees.md", ColumnTestSettings)]
)
def test_every_setting_is_named_on_the_page_and_has_its_reason(page, kind):
    text = (DOCS / page).read_text(encoding="utf-8")
    named = set(re.findall(r"[a-z][a-z0-9_]*", " ".join(re.findall(r"`([^`]*)`", text))))
    source = Path(finding_settings.__file__).read_text(encoding="utf-8")
    for field in fields(kind):
        assert field.name in named, field.name
        assert re.search(rf'    {field.name}: [^\n]*\n    """', source), field.name


def test_a_model_that_is_not_fitted_is_refused(rng):
    with pytest.raises(NotFittedError):
        findings(GradientSiftRegressor(), rng.normal(size=(20, 3)), np.arange(20.0))


def test_rows_that_do_not_match_are_refused(copies):
    X, y, model = copies
    with pytest.raises(ValueError, match="100"):
        findings(model, X, y[:50])
