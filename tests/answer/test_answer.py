"""One object behind all forms: they agree with each other, and with what was planted."""

import html
import json
import re

import numpy as np
import pandas as pd
import pytest
from answer_cases import TABLES

from gradsift import (
    GradientSiftClassifier,
    GradientSiftRegressor,
    GradientSiftSurvival,
    explain,
)
from gradsift.answer import FRAME, Note
from gradsift.answer.build import risk_groups
from gradsift.answer.words import percent, size_text
from gradsift.inference.findings import certainty
from gradsift.responses import Survival
from gradsift.responses.survival import survival_records

NAMES = [*TABLES, "sparse"]


def comparisons(answer):
    return [
        (f, e, c) for f in answer.findings for e in (f.effect, *f.others) for c in e.comparisons
    ]


def is_ordered(confidences):
    """Whether confidences as they are shown never rise."""
    shown = [int(text.strip("> %")) + (">" in text) for text in confidences]
    return shown == sorted(shown, reverse=True)


def contradictions(answer):
    """What a reader could find to disagree."""
    page, frame = html.unescape(answer.to_html()), answer.to_frame()
    text = answer.to_console(100, details=True)
    found = []
    for f in answer.findings:
        if f.certainty == "clear" and not f.used:
            found.append(f"{f.name} is clear, and the model does not use it")
        if f.certainty == "clear" and not f.effect.is_clear:
            found.append(f"{f.name} is clear and has no direction")
        for c in f.effect.comparisons:
            size = size_text(c, f.effect.scale, interval=f.certainty in ("clear", "selected"))
            found += [
                f"{size} is not in the {n}"
                for n, s in (("page", page), ("text", text))
                if size not in s
            ]
    for f, _, c in comparisons(answer):
        if (c.shape == "unclear") == c.size.excludes(1.0 if c.is_ratio else 0.0):
            found.append(f"{f.name}: {c.shape} against {c.size}")
        if c.shape in ("rises", "falls") and (c.shape == "rises") != (c.after > c.before):
            found.append(f"{f.name} {c.shape} from {c.before} to {c.after}")
        size = c.after / c.before if c.is_ratio else c.after - c.before
        if not np.isclose(size, c.size.value, rtol=1e-9, atol=1e-9):
            found.append(f"{f.name}: from {c.before} to {c.after} is not {c.size.value}")
    if not is_ordered([percent(f.confidence or 0.0) for f in answer.findings if not f.within]):
        found.append("order against confidence")
    if len(frame) != len(comparisons(answer)):
        found.append("rows of the frame")
    words = [f.certainty for f in answer.findings if f.confidence is not None]
    if words != [certainty(f.confidence) for f in answer.findings if f.confidence is not None]:
        found.append("words against confidences")
    return found


@pytest.mark.parametrize("name", NAMES)
def test_nothing_contradicts_anything(answers, name):
    assert contradictions(answers[name]) == []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [60, 80, 100])
def test_the_console_has_twenty_lines_that_fit(answers, name, width):
    lines = answers[name].to_console(width).split("\n")
    assert len(lines) <= 19  # the place of the files is one more
    assert max(map(len, lines)) <= width


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_small(answers, name):
    assert len(answers[name].to_html().encode()) < 60_000


@pytest.mark.parametrize("name", NAMES)
def test_plain_data_is_json(answers, name):
    data = json.loads(json.dumps(answers[name].to_dict(), allow_nan=False))
    assert data["headline"] == answers[name].headline
    assert len(data["findings"]) == len(answers[name].findings)
    assert list(answers[name].to_frame()) == list(FRAME)


@pytest.mark.parametrize("name", NAMES)
def test_pictures_have_a_text_alternative(answers, name):
    page = answers[name].to_html()
    assert page.count("<svg") == page.count('role="img" aria-label="')
    assert 'aria-label=""' not in page


def test_pairs_are_shown_by_their_conditional_effects(answers):
    found = {f.name: f for f in answers["trial"].findings}
    low, high = found["bmi × bp"].effect.comparisons
    assert low.size.high < 0 < high.size.low
    assert low.given.startswith("bp ")
    placebo, drug = found["dose × arm"].effect.comparisons
    by_arm = {c.given: c for c in (placebo, drug)}
    assert by_arm["arm placebo"].shape == "unclear"
    assert by_arm["arm drug"].shape == "rises"
    assert found["site"].effect.comparisons[0].end == "west"
    assert "bmi" not in found


def test_three_classes_are_named(answers):
    text = answers["wine"].to_console(100)
    assert re.search(r"Barolo \d+% → 9\d%", text)
    assert "percentage points" in text


def test_many_zeros_are_compared_with_the_others(answers):
    (finding,) = [f for f in answers["counts"].findings if f.name == "x2"]
    (one,) = finding.effect.comparisons
    assert one.start == "0"
    assert float(one.end) >= 1.0
    assert one.shape == "rises"


def test_survival_times_have_hazard_ratios_and_curves(answers):
    answer = answers["deaths"]
    found = {f.name: f for f in answer.of("clear")}
    (age,), (crp,), (arm,) = (found[k].effect.comparisons for k in ("age", "crp", "arm"))
    assert age.is_ratio
    assert age.size.low < np.exp(0.8 * 2.54) < age.size.high
    assert (age.shape, crp.shape, arm.end) == ("rises", "U-shaped", "placebo")
    assert "hazard rises" in answer.to_console(100)
    assert "Hazard ratio" in answer.to_console()
    assert set(answer.to_frame()["scale"]) == {"hazard"}
    low, _, high = answer.risk_groups
    assert low.median > 3 * high.median
    assert sum(g.at_risk[0][1] for g in answer.risk_groups) == 240
    page = answer.to_html()
    assert "at risk at 0" in page
    assert "curves of new rows are closer" in page.split("<details")[0]
    assert "time by which half had the event: lowest third of risk" in page


def test_kaplan_meier_is_the_product_over_event_times(rng):
    """Against the definition, with late entries."""
    time, event = rng.exponential(size=60), rng.random(60) < 0.6
    entry = np.where(rng.random(60) < 0.3, 0.5 * time, -np.inf)
    risk = np.arange(60.0)
    groups = risk_groups(Survival(survival_records(time, event, entry)), risk, None)
    for g, rows in zip(groups, np.split(np.arange(60), 3), strict=True):
        share = 1.0
        for (t, found), wanted in zip(g.steps[1:], np.sort(time[rows][event[rows]]), strict=True):
            there = (entry[rows] < wanted) & (time[rows] >= wanted)
            share *= 1.0 - 1.0 / there.sum()
            assert (t, found) == pytest.approx((wanted, share))


def test_counts_have_rate_ratios_and_rates_for_one_unit(answers):
    (finding,) = answers["exposed"].of("clear")
    (one,) = finding.effect.comparisons
    assert one.size.low < np.exp(0.7 * 2.54) < one.size.high
    assert one.before * one.after == pytest.approx(np.exp(-1.0), rel=0.4)
    assert "Rate ratio" in answers["exposed"].to_console()


def test_ordered_classes_have_probabilities_of_a_class_or_any_higher(answers):
    found = {f.name: f for f in answers["pain"].of("clear")}
    up, down = found["x0"].effect, found["x3"].effect
    assert up.comparisons[0].shape == "rises"
    assert down.comparisons[0].shape == "falls"
    assert {e.outcome for e in (up, *found["x0"].others)} == {"mild or higher", "severe"}
    assert "mild or higher" in answers["pain"].to_console(100)


def test_several_outcomes_have_one_answer_with_an_effect_on_each(rng):
    X = rng.normal(size=(150, 5))
    Y = np.column_stack([X[:, 1], -X[:, 1] + X[:, 2], X[:, 2] ** 2]) * [1.0, 100.0, 1.0]
    Y += 0.3 * rng.normal(size=(150, 3)) * [1.0, 100.0, 1.0]
    names = ["mass", "height", "colour"]
    model = GradientSiftRegressor(inference=True).fit(X, pd.DataFrame(Y, columns=names))
    answer = model.answer_
    assert answer.outcomes == tuple(names)
    assert answer.headline == "x1 and x2 go with mass, height and colour."
    frame = answer.to_frame()
    clear = frame[(frame["certainty"] == "clear") & (frame["shape"] != "unclear")]
    assert set(zip(clear["finding"], clear["outcome"], clear["shape"])) == {
        ("x1", "mass", "rises"),
        ("x1", "height", "falls"),
        ("x2", "height", "rises"),
        ("x2", "colour", "U-shaped"),
    }
    assert len(frame) == 3 * len(answer.findings)
    again = explain(model, X, Y, target=["a", "b", "c"])
    assert again.outcomes == ("a", "b", "c")
    assert explain(model, X, Y[:, 1]).outcomes == ()
    with pytest.raises(ValueError, match="y has 3 outcomes, and there are 2 names"):
        explain(model, X, Y, target=["a", "b"])


def test_an_offset_and_a_covariate_of_several_outcomes_are_no_effect(rng):
    X, age = rng.normal(size=(150, 5)), rng.normal(size=150)
    Y = np.column_stack([X[:, 1], X[:, 2]]) + 0.3 * rng.normal(size=(150, 2))
    known = np.outer(X[:, 3], [4.0, 9.0])
    params = {"offset": known, "covariates": {"age": age}}
    shifted = Y + known + 5.0 * age[:, None]
    model = GradientSiftRegressor(inference=True).fit(X, shifted, **params)
    answer = explain(model, X, shifted, **params)
    assert {f.name: f.effect.outcome for f in answer.of("clear")} == {"x1": "y0", "x2": "y1"}
    assert answer.adjusted_for == ("age",)
    one, other = (
        {f.name: f.effect.comparisons[0].size.value for f in a.of("clear")}
        for a in (answer, model.answer_)
    )
    assert one == pytest.approx(other, rel=0.05)


def test_an_effect_on_one_of_many_outcomes_is_rarely_said_of_another(rng):
    wrong = total = 0
    for _ in range(10):
        X = rng.normal(size=(100, 4))
        Y = rng.normal(size=(100, 10)) + 2.0 * X[:, :1] * (np.arange(10) == 0)
        model = GradientSiftRegressor(inference=True).fit(X, Y)
        (found,) = (f for f in model.answer_.findings if f.members[0].name == "x0")
        others = [e for e in (found.effect, *found.others) if e.outcome != "y0"]
        wrong += any(e.is_clear for e in others)
        total += 1
    assert wrong <= 0.3 * total


def test_many_outcomes_fit_the_screen(rng):
    X = rng.normal(size=(150, 8))
    Y = 0.3 * rng.normal(size=(150, 12)) + X[:, [1]] * (np.arange(12) < 5)
    Y[:, 7] += 2.0 * X[:, 3] * X[:, 4]
    model = GradientSiftRegressor(inference=True).fit(X, Y)
    for width in (60, 80, 200):
        lines = model.answer_.to_console(width).splitlines()
        assert len(lines) <= 19
        assert max(map(len, lines)) <= width
    assert "rises: y0, y1, y2" in model.answer_.to_console(80)
    page = model.answer_.to_html()
    assert "<th>y11</th>" in page


def test_noise_has_a_headline_and_no_table(answers):
    assert answers["noise"].of("clear") == ()
    assert "clearly" in answers["noise"].headline or "is shown" in answers["noise"].headline


def test_findings_without_confidence_say_so(answers):
    answer = answers["sparse"]
    assert {f.certainty for f in answer.findings} == {"selected"}
    assert "were selected to predict y" in answer.headline or "was selected" in answer.headline
    assert "was not computed" in answer.to_console()


def test_a_model_without_findings_shows_its_products_and_the_name_of_y(rng):
    X = pd.DataFrame(rng.normal(size=(200, 6)), columns=list("abcdef"))
    y = pd.Series(X.a * X.b + X.c + 0.2 * rng.normal(size=200), name="growth")
    model = GradientSiftRegressor().fit(X, y)
    answer = explain(model, X, y)
    assert "predict growth" in answer.headline
    assert {f.name for f in answer.findings} >= {"a × b", "c"}
    assert explain(model, X, y, target="cm").target == "cm"


def test_sizes_add_up_with_the_values_beside_them(answers):
    """'+63 (47 to 78)  122 → 185': the difference of what is printed."""
    lines = answers["diabetes"].to_console(100).split("\n")
    found = [re.search(r"([+-][\d.]+) \(.*?\)\s+([\d.]+) → ([\d.]+)", line) for line in lines]
    sizes = [tuple(map(float, match.groups())) for match in found if match]
    assert len(sizes) >= 3
    assert all(after - before == pytest.approx(size) for size, before, after in sizes)


def test_the_same_answer_from_fit_and_from_explain():
    X, y, _ = TABLES["trial"]()
    model = GradientSiftRegressor(inference=True).fit(X, y)
    assert model.answer_.to_dict() == explain(model, X, y).to_dict()


def test_the_same_answer_of_survival_times_in_any_form():
    X, y, _ = TABLES["deaths"]()
    model = GradientSiftSurvival(inference=True).fit(X, y["time"], event=y["event"])
    table = np.column_stack([y["time"], y["event"]])
    known = model.answer_.to_dict()
    assert known == explain(model, X, y["time"], event=y["event"]).to_dict()
    assert known == explain(model, X, table).to_dict()


@pytest.fixture
def small(rng):
    X = rng.normal(size=(160, 5))
    return X, X[:, 0] + X[:, 1] + rng.normal(size=160)


def test_covariates_and_kept_columns_are_adjusted_for_and_no_findings(small, rng):
    X, y = small
    age = rng.normal(size=160)
    model = GradientSiftRegressor(inference=True, always_keep=[1]).fit(
        X, y + 3 * age, covariates={"age": age}
    )
    answer = model.answer_
    assert answer.adjusted_for == ("age", "x1")
    assert [f.name for f in answer.of("clear")] == ["x0"]
    assert answer.variables == 4
    assert "Adjusted for age and x1." in answer.to_console()
    size = answer.findings[0].effect.comparisons[0].size
    assert size.high - size.low < 1.4  # less than the noise of age would make it


def test_groups_are_the_rows_where_the_response_is_theirs(small):
    X, y = small
    groups = np.repeat(np.arange(160), 4)
    model = GradientSiftRegressor(inference=True).fit(X[groups], y[groups], groups=groups)
    plain = GradientSiftRegressor(inference=True).fit(X, y)
    one, two = (m.answer_.findings[0].effect.comparisons[0].size for m in (model, plain))
    assert one.high - one.low == pytest.approx(two.high - two.low, rel=1e-6)


def test_weights_and_an_offset_count(small, rng):
    X, y = small
    part = 5 * rng.normal(size=160)
    weight = np.where(np.arange(160) < 80, 1.25, 1.0)
    model = GradientSiftRegressor(inference=True).fit(X, y + part, weight, offset=part)
    by_hand = explain(model, X, y + part, sample_weight=weight, offset=part)
    pairs = [
        [f.effect.comparisons[0] for f in answer.findings] for answer in (model.answer_, by_hand)
    ]
    for fitted, again in zip(*pairs, strict=True):
        assert (fitted.before, fitted.after) == pytest.approx((again.before, again.after), rel=0.01)
    for answer in (model.answer_, by_hand):
        one = next(f for f in answer.findings if f.name == "x0").effect.comparisons[0]
        assert one.size.low < 2.54 < one.size.high  # quarters of a normal column are 2.54 apart


def test_a_group_of_columns_of_0_and_1_is_a_category(rng):
    kind = rng.integers(3, size=150)
    X = np.column_stack([rng.normal(size=150), np.eye(3)[kind]])
    y = 2.0 * (kind == 1) + rng.normal(size=150)
    groups = ["a", "kind", "kind", "kind"]
    model = GradientSiftRegressor(inference=True, feature_groups=groups).fit(X, y)
    answer = explain(model, X, y, names=["a", "kind=p", "kind=q", "kind=r"])
    (finding,) = answer.of("clear")
    assert finding.name == "kind"
    assert {level.label for level in finding.effect.levels} == {"p", "q", "r"}
    assert finding.effect.comparisons[0].end == "q"
    assert answer.variables == 2


def test_near_copies_are_one_finding(small, rng):
    X, y = small
    X = np.column_stack([X, X[:, 0] + 0.02 * rng.normal(size=160)])
    answer = GradientSiftRegressor(inference=True).fit(X, y).answer_
    (pair,) = [f for f in answer.findings if {m.name for m in f.members} == {"x0", "x5"}]
    assert "(or x" in pair.name
    assert "it is this one" in answer.to_html()


def test_effects_on_other_rows(small):
    X, y = small
    model = GradientSiftRegressor(inference=True).fit(X[:100], y[:100])
    answer = explain(model, X[100:], y[100:])
    assert answer.rows == 60
    assert [f.confidence for f in answer.findings] == [f.confidence for f in model.answer_.findings]


def test_cautions_come_on_the_first_screen_and_notes_below(answers):
    from dataclasses import replace

    answer = replace(answers["diabetes"], notes=(Note("Mind the gap.", True), Note("A detail.")))
    assert "Caution: Mind the gap." in answer.to_console()
    assert "A detail." not in answer.to_console()
    assert "A detail." in answer.to_console(details=True)
    page = answer.to_html()
    assert page.index("Mind the gap.") < page.index("<details>") < page.index("A detail.")


def test_a_frame_with_missing_categories(rng):
    X = pd.DataFrame({"a": rng.normal(size=120), "kind": rng.choice(["p", "q"], 120)})
    X.loc[:9, "kind"] = None
    y = np.where(X["kind"] == "p", "yes", rng.choice(["yes", "no"], 120))
    model = GradientSiftClassifier(inference=True, missing="indicator").fit(X, y)
    assert contradictions(model.answer_) == []


# ---- coverage and words, a small version of benchmarks/effects.py


def test_sizes_are_covered_and_words_are_right():
    inside, right = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 12))
        truth = {0: lambda x: x, 1: lambda x: -np.tanh(2 * x), 2: lambda x: x**2}
        y = sum(f(X[:, k]) for k, f in truth.items()) + rng.normal(size=200)
        model = GradientSiftRegressor(inference=True).fit(X, y)
        words = {"x0": "rises", "x1": "falls", "x2": "U-shaped"}
        for f in model.answer_.findings:
            if f.name in words:
                (c,) = f.effect.comparisons
                right.append(c.shape == words[f.name])
                k = int(f.name[1:])
                q = np.quantile(X[:, k], (np.arange(20) + 0.5) / 20, method="nearest")
                at = truth[k](q)
                low, mid, high = at[:5].mean(), at[5:15].mean(), at[15:].mean()
                true = (low + high) / 2 - mid if f.name == "x2" else high - low
                inside.append(c.size.low <= true <= c.size.high)
    assert len(right) >= 30
    assert np.mean(right) > 0.95
    assert np.mean(inside) > 0.85
