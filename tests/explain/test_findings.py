"""Findings as tables and pages show them."""

import numpy as np
import pytest

from gradsift import GradientSiftRegressor, significance
from gradsift.evaluate import Stability
from gradsift.explain import summarise_findings
from gradsift.inference.findings import Finding


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 40))
    X[:, 9] = -X[:, 3] + 0.05 * rng.normal(size=120)
    y = 2 * X[:, 3] + X[:, 5] ** 2 + rng.normal(size=120)
    return GradientSiftRegressor(inference=True).fit(X, y), X, y


def test_a_finding_says_who_how_sure_and_what_else_explains_the_response(fitted):
    model, X, y = fitted
    tested = significance(model, X, y, findings=model.findings_)
    rows = summarise_findings(model, model.findings_, X, "x{}".format, significance=tested)
    by_size = {len(row.members): row for row in rows}
    pair, single = by_size[2], by_size[1]
    assert sorted(pair.names) == ["x3", "x9"]
    assert pair.members[0].correlation == pytest.approx(1.0)
    assert pair.members[1].correlation == pytest.approx(np.corrcoef(X[:, 3], X[:, 9])[0, 1])
    assert sum(m.confidence for m in pair.members) >= pair.confidence
    assert pair.test.q_value < 0.05
    assert "x5" in pair.test.rival
    assert (single.names, single.shape) == (["x5"], "curved")
    assert {m.name for row in rows for m in row.members if m.selected} == {
        f"x{k}" for k in model.get_support(indices=True)
    }


def test_the_test_of_a_finding_excludes_all_of_it_and_nothing_else(fitted):
    model, X, y = fitted
    tested = significance(model, X, y, findings=model.findings_)
    tests = {t.column: t for t in tested.tests}
    given = {tuple(sorted(f.columns.tolist())) for f in model.findings_}
    assert {tests[f.representative].together for f in model.findings_} == given
    alone = significance(GradientSiftRegressor(), X, y)
    assert np.allclose(alone.q_values, tested.q_values)


def test_columns_of_one_variable_are_one_member(fitted):
    model, X, _ = fitted
    members = np.array([0.5, 0.3, 0.1])
    finding = Finding(np.array([3, 9, 4]), 0.95, members, "linear", np.zeros(0, dtype=int))
    row = summarise_findings(model, [finding], X, {3: "a", 9: "a", 4: "b"}.__getitem__)[0]
    assert [(m.name, m.confidence) for m in row.members] == [("a", pytest.approx(0.8)), ("b", 0.1)]
    assert row.test is None
    assert row.came_back is None


def test_half_samples_are_counted_by_member_and_by_random_columns(fitted):
    model, X, _ = fitted
    halves = Stability((np.array([3]), np.array([9]), np.array([], dtype=int)), 40, 60)
    members = np.array([0.5, 0.4])
    finding = Finding(np.array([3, 9]), 0.95, members, "linear", np.zeros(0, dtype=int))
    row = summarise_findings(model, [finding], X, str, stability=halves)[0]
    assert row.came_back == pytest.approx(2 / 3)
    assert row.by_chance == pytest.approx(2 / 3 * 2 / 40)


def test_chance_is_that_of_columns_drawn_at_random(rng):
    halves = Stability(tuple(rng.choice(30, size=k, replace=False) for k in (0, 1, 4, 9)), 30, 50)
    drawn = [halves.frequency_of_any(rng.choice(30, size=5, replace=False)) for _ in range(4000)]
    assert halves.chance_of_any(5) == pytest.approx(np.mean(drawn), abs=0.01)
    assert halves.chance_of_any(30) == pytest.approx(0.75)
