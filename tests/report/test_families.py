"""How sure: families of variables and half samples, on the page and in a notebook."""

from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from gradsift import GradientSiftRegressor
from gradsift.report import Findings, _summarise, build_report, summarise, to_markdown
from gradsift.trust import Stability


def test_what_half_samples_picked_is_shown(findings):
    old = findings["regressor"]
    picks = (np.array([0, 5]), np.array([5]), np.array([5, 1]), np.array([7]))
    found = replace(old, stability=replace(old.stability, selections=picks))
    assert found.picked[0] == ("gene 5", 3, False)
    assert ("gene 0", 1, True) in found.picked
    assert (
        "gene 5 in 3 of 4 halves (not selected)"
        in dict(summarise(found)["sure"])["Picked most often"]
    )


def test_a_notebook_shows_the_headline_and_escapes_names(findings):
    text = findings["nasty"]._repr_html_()
    assert "<script>" not in text
    assert findings["regressor"]._repr_html_().count("<tr>") == 4


def test_families_come_first(findings, pages):
    summary = summarise(findings["families"])
    assert summary["headline"] == "2 families of variables explain yield, out of 30"
    assert "gene 1 acts (more than 99\u00a0%)" in summary["found"][0]
    assert "one of 2 variables acts (gene " in summary["found"][0]
    pair = next(row for row in summary["families"] if len(row["members"]) == 2)
    assert {name for name, *_ in pair["members"]} == {"gene 0", "gene 9"}
    assert pair["title"] == "one of 2 variables"
    assert "without them the best explanation is" in pair["evidence"]
    assert "came back in" in pair["repeated"]
    assert {row["family"] for row in summary["variables"]} - {None}
    assert pages["families"].index('id="families"') < pages["families"].index('id="variables"')
    said = dict(summary["sure"])
    assert {"Probability", "q", "Half samples"} <= set(said)
    assert "1 near-copy" not in str(summary["beware"])  # the family says it
    assert "stable" not in pages["families"]


def test_a_correlation_is_explained_only_where_one_is_shown(findings, pages):
    assert "r is the correlation" in pages["families"]
    old = findings["families"]
    alone = copy(old.model)
    alone.families_ = [family for family in old.model.families_ if len(family.columns) == 1]
    assert "r is the correlation" not in build_report(replace(old, model=alone))


def test_a_notebook_shows_families(findings):
    assert "one of 2 variables: gene " in findings["families"]._repr_html_()


def test_a_family_says_that_another_member_is_likelier_than_the_selected_one(findings):
    old = findings["families"]
    assert not any(row["chosen"] for row in summarise(old)["families"])
    number, family = next((k, f) for k, f in enumerate(old.model.families_) if len(f.columns) == 2)
    selected = old.model.get_support()[family.columns]
    assert selected.sum() == 1
    # the same family, the probabilities of its members exchanged
    turned = copy(old.model)
    turned.families_ = list(old.model.families_)
    order = np.argsort(selected)
    turned.families_[number] = replace(
        family, columns=family.columns[order], weights=np.array([0.9, 0.04])
    )
    found = replace(old, model=turned)
    row = next(row for row in summarise(found)["families"] if row["chosen"])
    chosen, other = (old.all_names[k] for k in family.columns[order[::-1]])
    assert f"selected for it: {chosen} (4\u00a0%), which explains much" in row["chosen"]
    assert f"{other} (90\u00a0%) is likelier to act" in row["chosen"]
    assert "is likelier to act." in found._repr_html_()
    assert "is likelier to act." in to_markdown(found)


def test_families_that_tests_do_not_confirm_are_possible_only(findings):
    old = findings["families"]
    doubtful = copy(old.model)
    q = np.ones_like(old.model.significance_.q_values)
    doubtful.significance_ = replace(old.model.significance_, family_q_values=q)
    found = summarise(replace(old, model=doubtful))
    assert found["headline"] == "2 families of variables may explain yield, out of 30"
    q[old.model.families_[0].columns] = 0.01
    found = summarise(replace(old, model=doubtful))
    assert found["headline"] == "1 family of variables explains yield; 1 more may, out of 30"


def test_a_category_has_no_curve(rng):
    kind = rng.integers(3, size=120)
    X = np.column_stack([rng.normal(size=(120, 3)), kind[:, None] == np.arange(3)]).astype(float)
    y = X[:, 0] + 2.0 * (kind == 1) + 0.3 * rng.normal(size=120)
    groups = ["a", "b", "c", "kind", "kind", "kind"]
    model = GradientSiftRegressor(feature_groups=groups, inference=True).fit(X, y)
    found = Findings(model, X, y, names=[*"abc", "k=x", "k=y", "k=z"], groups=groups, target="y")
    rows = {row["title"]: row for row in summarise(found)["families"]}
    assert rows["kind"]["shape"] == "category"
    assert rows["kind"]["evidence"].startswith("a category, q ")
    assert rows["a"]["shape"] == "straight"


@pytest.fixture(scope="module")
def with_sex():
    """Diabetes patients, whose sex is a text: ten variables of eleven columns."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    X["sex"] = X["sex"].map({1: "F", 2: "M"})
    X = X[[*X.columns.drop("sex"), "sex"]]
    model = GradientSiftRegressor(inference=True, random_state=0).fit(X, y)
    halves = Stability((np.array([1, 7]), np.array([1, 9]), np.array([9])), 10, 221)
    return Findings(model, X, np.asarray(y), stability=halves, target="progression")


def test_a_category_has_one_probability(with_sex):
    found = summarise(with_sex)
    alone = next(row for row in found["families"] if row["title"] == "sex")
    row = next(row for row in found["variables"] if row["name"] == "sex")
    assert 0.8 < row["inclusion_probability"] < 0.94
    assert row["inclusion_probability"] == pytest.approx(alone["probability"])
    assert with_sex.model.inclusion_probabilities_[-2:].sum() > 0.94
    assert alone["members"][0][1] == pytest.approx(alone["probability"])


def test_chance_and_tests_count_variables_not_their_columns(with_sex):
    found = summarise(with_sex)
    chance = {row["title"]: row["by_chance"] for row in found["families"] if row["title"]}
    assert chance["bmi"] == chance["sex"] == pytest.approx((2 + 2 + 1) / 3 / 10)
    variables = {row["name"]: row["by_chance"] for row in found["variables"]}
    assert variables["sex"] == pytest.approx(1 / 6)
    assert "All 10 variables count as tests" in build_report(with_sex)


def test_every_member_of_a_family_shows_the_q_value_of_the_family(findings):
    old = findings["families"]
    tests = old.model.significance_.tests
    one = next(t for t in tests if len(t.family) > 1)
    other = next(k for k in one.family if k != one.column)
    q = np.ones_like(old.model.significance_.q_values)
    q[one.column] = 0.2
    changed = copy(old.model)
    changed.significance_ = replace(
        old.model.significance_, family_q_values=q, tests=(one, replace(one, column=other))
    )
    found = replace(old, model=changed)
    values = [_summarise.tested(found, k)["family_q_value"] for k in (one.column, other)]
    assert values == [0.2, 0.2]
