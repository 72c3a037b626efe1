"""What a reader of a screen of 80 characters is told, on answers made by hand."""

import numpy as np
import pandas as pd
import pytest

from gradsift import GradientSiftRegressor
from gradsift.answer import (
    Answer,
    Comparison,
    Effect,
    Estimate,
    Finding,
    Level,
    Member,
    Note,
    Prediction,
    Score,
)
from gradsift.answer.build import in_order
from gradsift.answer.words import decimals, number, size_text


def effect(comparisons, outcome="", scale="number"):
    levels = tuple(Level(c.end, Estimate(c.after, c.after, c.after)) for c in comparisons)
    return Effect(outcome, tuple(comparisons), levels, scale=scale)


def finding(name, confidence, *comparisons, outcome="", scale="number", **more):
    members = tuple(Member(one, confidence) for one in name.split(" or "))
    return Finding(members, confidence, effect(comparisons, outcome, scale), used=name, **more)


def change(start, end, before, after, shape, **more):
    size = Estimate(after - before, after - before - 0.02, after - before + 0.02)
    return Comparison(start, end, before, after, size, shape, **more)


def answer(*findings, **more):
    about = {"target": "y", "classes": (), "rows": 100, "variables": 9}
    return Answer(**about | {"findings": findings} | more)


def scored(metric, mean, others=(), **more):
    score = Score("selected variables", mean, 0.1)
    return answer(prediction=Prediction(metric, score, others, "5 held-out folds", **more))


def test_findings_come_in_the_order_of_the_confidence_that_is_shown():
    """.9899 is shown as 99% and .9901 as > 99%, although both are .99."""
    large = finding("large", 0.9899, change("0", "1", 0.0, 9.0, "rises"))
    small = finding("small", 0.9901, change("0", "1", 0.0, 1.0, "rises"))
    assert [f.name for f in in_order([large, small])] == ["small", "large"]


def test_a_table_of_one_variable_is_counted_as_one():
    one = answer(variables=1, selected=("age",), rows=1)
    assert one.to_console().startswith("The one variable is not shown to go with y.")
    assert "1 row, 1 variable" in one.to_console()
    assert "The model predicts with age, without clear evidence." in one.to_console()


def test_a_score_close_to_one_is_not_rounded_to_one():
    assert "R² 0.9992" in scored("R²", 0.99918).to_console()
    assert "R² 1.00" in scored("R²", 1.0).to_console()


def test_a_model_no_better_than_a_constant_has_its_score():
    text = scored("accuracy", 0.625, is_constant=True).to_console(200)
    assert "no better than a constant (accuracy 0.62" in text


def test_a_turn_is_said_to_compare_other_parts_of_the_rows():
    turn = finding("x", 0.99, change("3", "the outer quarters", 1.0, 2.0, "U-shaped"))
    assert "U: from the middle half to the outer quarters" in answer(turn).to_console(300)


def test_the_class_of_a_change_is_named_however_narrow_the_screen():
    name = "length_of_the_bill or depth_of_the_bill"
    moved = change("41", "52", 0.99, 0.01, "falls")
    many = [
        finding(name, 0.97, moved, outcome="Chinstrap", scale="probability"),
        finding("island", 0.6, change("a", "b", 0.1, 0.5, "differs"), outcome="Gentoo",
                scale="probability"),
    ]  # fmt: skip
    classes = ("Adelie", "Chinstrap", "Gentoo")
    for width in (80, 100):
        lines = answer(*many, classes=classes).to_console(width).splitlines()
        assert any("Chin" in line and "99%" in line and "(or 1 other)" in line for line in lines)
        assert any("Gentoo" in line and "50%" in line for line in lines)


def test_categories_are_named_although_shortened():
    names = change("Low-grade glioma", "High-grade glioma", 1.0, 8.0, "differs")
    line = answer(finding("diagnosis", 0.97, names)).to_console(80).splitlines()[3]
    assert "Low-" in line
    assert "High-" in line


def test_rows_of_a_pair_say_at_which_value_of_the_partner():
    two = [
        change("1", "2", 1.0, 2.0, "rises", given="indus 3.25"),
        change("1", "2", 1.0, 0.5, "falls", given="indus 19.2"),
    ]
    pair = answer(finding("lstat", 0.97, *two, partner="indus"))
    lines = pair.to_console(80).splitlines()
    assert "lstat × indus" in lines[3]
    assert "  at indus 3.25" in lines[4]
    assert "  at indus 19.2" in lines[5]


def test_places_are_said_to_be_there_where_some_are():
    short = finding("x", 0.97, change("1", "2", 1.0, 2.0, "rises"))
    assert "(where)" in answer(short).to_console(80)
    wide = change("a place with a long name", "another such place", 1.0, 2.0, "rises")
    assert "(where)" not in answer(finding("x", 0.97, wide)).to_console(80)


@pytest.mark.parametrize(("before", "after"), [(24.36, 161.0), (0.31, 2.04), (120.0, 3.1)])
def test_a_ratio_is_that_of_the_values_beside_it(before, after):
    size = Estimate(after / before, 0.1, 9.0)
    c = Comparison("a", "b", before, after, size, "rises", is_ratio=True)
    shown = [float(number(v, c, "rate")) for v in (before, after)]
    assert shown[1] / shown[0] == pytest.approx(after / before, rel=0.005), decimals(c, "rate")


def test_cautions_never_take_more_than_twenty_lines():
    long = " ".join(["Rows depend on other rows, so that this is not true of them."] * 4)
    notes = tuple(Note(f"{k} {long}", caution=True) for k in range(4))
    turn = finding("x", 0.99, change("3", "the outer quarters", 1.0, 2.0, "U-shaped"))
    many = answer(*[turn] * 5, notes=notes)
    assert len(many.to_console(80).splitlines()) <= 19
    assert "Caution: 0 Rows" in many.to_console(80)
    assert "more cautions (--details)" in many.to_console(80)
    assert "Caution: 3 Rows" in many.to_console(80, details=True)


def test_a_size_lies_inside_of_its_interval():
    """In whole numbers, 113 to 99 would be -14 (-15 to -13) or -13 (-15 to -13), by chance."""
    c = Comparison("a", "b", 113.4, 99.5, Estimate(-13.9, -14.7, -13.1), "falls")
    assert size_text(c, "number") == "-13.9 (-14.7 to -13.1)"
    exact = Comparison("a", "b", 113.4, 99.5, Estimate(-13.9, -13.9, -13.9), "falls")
    assert size_text(exact, "number") == "-13.9 (-13.9 to -13.9)"


def test_ordered_categories_have_their_names(rng):
    place = pd.Categorical.from_codes(rng.integers(3, size=150), ["Bad", "Fair", "Good"], True)
    table = pd.DataFrame({"place": place, "a": rng.normal(size=150)})
    y = 2.0 * place.codes + table["a"] + 0.3 * rng.normal(size=150)
    model = GradientSiftRegressor(inference=True).fit(table, y)
    found = {f.name: f.effect for f in model.answer_.findings}["place"]
    assert (found.comparisons[0].start, found.comparisons[0].end) == ("Bad", "Good")
    assert np.isclose(found.comparisons[0].size.value, 4.0, atol=0.4)
    assert {level.label for level in found.levels} == {"Bad", "Fair", "Good"}
