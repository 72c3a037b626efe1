"""How sure: findings and half samples, on the page and in a notebook."""

from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from gradsift import GradientSiftRegressor, SiftOptions, significance
from gradsift.evaluate import Stability
from gradsift.report import Findings, _summarise, build_report, summarise, to_markdown


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


def test_findings_come_first(findings, pages):
    summary = summarise(findings["findings"])
    assert summary["headline"] == "2 findings explain yield, out of 30"
    assert "gene 1 acts (more than 99\u00a0%)" in summary["found"][0]
    assert "one of 2 variables acts (gene " in summary["found"][0]
    pair = next(row for row in summary["findings"] if len(row["members"]) == 2)
    assert {name for name, *_ in pair["members"]} == {"gene 0", "gene 9"}
    assert pair["title"] == "one of 2 variables"
    assert "came back in" in pair["repeated"]
    assert {row["finding"] for row in summary["variables"]} - {None}
    assert pages["findings"].index('id="findings"') < pages["findings"].index('id="variables"')
    said = dict(summary["sure"])
    assert {"Confidence", "Half samples"} <= set(said)
    assert "1 near-copy" not in str(summary["beware"])  # the finding says it
    assert "stable" not in pages["findings"]


def test_a_correlation_is_explained_only_where_one_is_shown(findings, pages):
    assert "r is the correlation" in pages["findings"]
    old = findings["findings"]
    alone = copy(old.model)
    alone.findings_ = [one for one in old.model.findings_ if len(one.columns) == 1]
    assert "r is the correlation" not in build_report(replace(old, model=alone))


def test_a_notebook_shows_findings(findings):
    assert "one of 2 variables: gene " in findings["findings"]._repr_html_()


def test_a_finding_says_that_another_member_is_likelier_than_the_selected_one(findings):
    old = findings["findings"]
    assert not any(row["chosen"] for row in summarise(old)["findings"])
    number, finding = next((k, f) for k, f in enumerate(old.model.findings_) if len(f.columns) == 2)
    selected = old.model.get_support()[finding.columns]
    assert selected.sum() == 1
    # the same finding, the confidences of its members exchanged
    turned = copy(old.model)
    turned.findings_ = list(old.model.findings_)
    order = np.argsort(selected)
    turned.findings_[number] = replace(
        finding, columns=finding.columns[order], members=np.array([0.9, 0.04])
    )
    found = replace(old, model=turned)
    row = next(row for row in summarise(found)["findings"] if row["chosen"])
    chosen, other = (old.all_names[k] for k in finding.columns[order[::-1]])
    assert f"selected for it: {chosen}, which explains much" in row["chosen"]
    assert f"{other} is likelier to act" in row["chosen"]
    assert "is likelier to act." in found._repr_html_()
    assert "is likelier to act." in to_markdown(found)


def test_the_headline_counts_clear_findings_and_says_of_others_that_they_may(findings):
    old = findings["findings"]
    doubtful = copy(old.model)
    first, second = old.model.findings_
    doubtful.findings_ = [replace(first, confidence=0.9), replace(second, confidence=0.4)]
    found = summarise(replace(old, model=doubtful))
    assert found["headline"] == "2 findings may explain yield, out of 30"
    assert [row["certainty"] for row in found["findings"]] == ["likely", "possible"]
    doubtful.findings_ = [first, replace(second, confidence=0.4)]
    found = summarise(replace(old, model=doubtful))
    assert found["headline"] == "1 finding explains yield; 1 more may, out of 30"


def test_a_category_has_no_curve(rng):
    kind = rng.integers(3, size=120)
    X = np.column_stack([rng.normal(size=(120, 3)), kind[:, None] == np.arange(3)]).astype(float)
    y = X[:, 0] + 2.0 * (kind == 1) + 0.3 * rng.normal(size=120)
    groups = ["a", "b", "c", "kind", "kind", "kind"]
    model = GradientSiftRegressor(feature_groups=groups, inference=True).fit(X, y)
    found = Findings(model, X, y, names=[*"abc", "k=x", "k=y", "k=z"], groups=groups, target="y")
    rows = {row["title"]: row for row in summarise(found)["findings"]}
    assert rows["kind"]["shape"] == "category"
    assert rows["kind"]["evidence"].startswith("a category")
    assert rows["a"]["shape"] == "straight"


@pytest.fixture(scope="module")
def with_sex():
    """Diabetes patients, whose sex is a text: ten variables of eleven columns."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    X["sex"] = X["sex"].map({1: "F", 2: "M"})
    X = X[[*X.columns.drop("sex"), "sex"]]
    model = GradientSiftRegressor(inference=True, options=SiftOptions(seed=0)).fit(X, y)
    halves = Stability((np.array([1, 7]), np.array([1, 9]), np.array([9])), 10, 221)
    return Findings(model, X, np.asarray(y), stability=halves, target="progression")


def test_a_category_has_one_confidence(with_sex):
    found = summarise(with_sex)
    alone = next(row for row in found["findings"] if row["title"] == "sex")
    row = next(row for row in found["variables"] if row["name"] == "sex")
    assert 0.3 < row["confidence"] < 1.0
    assert row["confidence"] == pytest.approx(alone["confidence"])
    assert alone["members"][0][1] == pytest.approx(alone["confidence"])


def test_chance_counts_variables_not_their_columns(with_sex):
    found = summarise(with_sex)
    chance = {row["title"]: row["by_chance"] for row in found["findings"] if row["title"]}
    assert chance["bmi"] == chance["sex"] == pytest.approx((2 + 2 + 1) / 3 / 10)
    variables = {row["name"]: row["by_chance"] for row in found["variables"]}
    assert variables["sex"] == pytest.approx(1 / 6)


def test_every_member_of_a_finding_shows_the_q_value_of_the_finding(findings):
    old = findings["findings"]
    tested = significance(old.model, old.X, old.y, findings=old.model.findings_)
    one = next(t for t in tested.tests if len(t.together) > 1)
    other = next(k for k in one.together if k != one.column)
    q = np.ones_like(tested.q_values)
    q[one.column] = 0.2
    changed = copy(old.model)
    changed.significance_ = replace(
        tested, finding_q_values=q, tests=(one, replace(one, column=other))
    )
    found = replace(old, model=changed)
    values = [_summarise.tested(found, k)["finding_q_value"] for k in (one.column, other)]
    assert values == [0.2, 0.2]
