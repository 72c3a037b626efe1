import numpy as np
import pytest

from gradsift.data.categories import number_text, to_text
from gradsift.data.read_options import ReadOptions
from gradsift.tables import Choices, prepare
from gradsift.tables.frame import make_frame, read_rows
from gradsift.tables.task import read_target_as

HEADER = ["who", "sex", "dose", "count", "out"]
ROWS = [["a", "f", "1", "3", "yes"], ["b", "m", "2", "0", "no"], ["c", "f", "", "1", "yes"]]


@pytest.fixture
def frame():
    return read_rows(HEADER, ROWS)


def test_what_is_plain_to_see_is_decided_and_said(frame):
    table = prepare(frame, Choices("out", missing="mean"))
    assert table.names == ("dose", "count", "sex=f", "sex=m")
    assert table.recipe.origins == ("dose", "count", "sex", "sex")
    assert table.ids.tolist() == ["a", "b", "c"]
    assert table.y.tolist() == ["yes", "no", "yes"]
    np.testing.assert_array_equal(table.X[:, 2:], [[1, 0], [0, 1], [1, 0]])
    assert any("'who' names the rows" in note for note in table.notes)
    assert any("'sex' holds text: taken for 2 categories" in note for note in table.notes)
    assert any("task: classification" in note for note in table.notes)


def test_choices_are_followed(frame):
    asked = Choices(
        "dose", "regression", drop=("out",), categorical=("count",), keep=("sex",), id="who"
    )
    table = prepare(frame, asked)
    assert table.names == ("count=0", "count=3", "sex=f", "sex=m")
    assert [table.names[k] for k in table.keep] == ["sex=f", "sex=m"]
    assert table.y.tolist() == [1.0, 2.0]
    assert any("1 row without 'dose' was left out" in note for note in table.notes)


def test_rows_with_holes_can_be_dropped(frame):
    table = prepare(frame, Choices("out", missing="drop"))
    assert table.ids.tolist() == ["a", "b"]
    assert len(table.X) == len(table.y) == 2


def test_log(frame):
    table = prepare(frame, Choices("out", log=True, missing="mean"))
    np.testing.assert_allclose(table.X[:2, 0], np.log2([2, 3]))
    negative = read_rows(["x", "y"], [["-1", "2"], ["1", "3"], ["4", "9.5"]])
    with pytest.raises(ValueError, match="--log needs values of at least 0, but 'x'"):
        prepare(negative, Choices("y", log=True))


def test_a_recipe_makes_the_same_columns_of_a_new_table(frame):
    recipe = prepare(frame, Choices("out", missing="mean")).recipe
    new = read_rows(["dose", "sex", "count"], [["5", "x", "2"]])
    np.testing.assert_array_equal(recipe.columns(new), [[5, 2, 0, 0]])
    with pytest.raises(ValueError, match="the table lacks 'count'"):
        recipe.columns(read_rows(["dose", "sex"], [["5", "f"]]))
    with pytest.raises(ValueError, match="column 'dose' should hold numbers but holds 'high'"):
        recipe.columns(read_rows(["dose", "sex", "count"], [["high", "f", "1"]]))


def test_messages(frame):
    with pytest.raises(ValueError, match=r"no column 'Out'. Did you mean 'out'"):
        prepare(frame, Choices("Out"))
    with pytest.raises(ValueError, match=r"no column 'z'. It has 'who'"):
        prepare(frame, Choices("out", drop=("z",)))
    many = read_rows(["t", "x", "y"], [[f"w{k % 25}", "1", str(k)] for k in range(50)])
    with pytest.raises(ValueError, match=r"'t' holds 25 different texts.*--drop t"):
        prepare(many, Choices("y"))
    with pytest.raises(ValueError, match="holds text: it cannot be regressed on"):
        prepare(frame, Choices("out", "regression", missing="mean"))
    with pytest.raises(ValueError, match="no column of numbers is left"):
        prepare(read_rows(["y"], [["1"], ["2"]]), Choices("y"))


def column(cells):
    """A table of 30 rows with these cells first, and numbers below."""
    cells = [*cells, *(f"{k}.5" for k in range(30 - len(cells)))]
    return read_rows(["x", "z", "y"], [[c, str(k), str(k**2)] for k, c in enumerate(cells)])


def test_numbers_written_otherwise_are_neither_names_nor_categories():
    with pytest.raises(
        ValueError, match=r"'x' holds numbers, but 1 of its 30 cells.*'<0.1' \(line 2"
    ):
        prepare(column(["<0.1"]), Choices("y"))
    commas = column([f"{k},25" for k in range(30)])
    with pytest.raises(
        ValueError, match=r"'x' holds numbers, but 30 of its 30 .*'0,25'.*--decimal ','"
    ):
        prepare(commas, Choices("y"))
    minus = column([f"\u2212{k}.25" for k in range(30)])
    with pytest.raises(
        ValueError, match=r"'x' holds numbers, but 30 of its 30 .* a plain minus sign"
    ):
        prepare(minus, Choices("y"))
    cells = [[f"{k}.25", f"{k},5", str(k**2)] for k in range(30)]
    points = read_rows(["x", "z", "y"], cells, ReadOptions(decimal=","))
    with pytest.raises(
        ValueError, match=r"'0\.25'.* Give --decimal \. if all numbers .*so"
    ) as told:
        prepare(points, Choices("y"))
    assert "--thousands" not in str(told.value)
    assert prepare(commas, Choices("y", id="x")).ids[0] == "0,25"
    assert prepare(column([f"s{k}" for k in range(30)]), Choices("y")).ids[0] == "s0"


def test_numbers_with_a_unit_are_told_so():
    cells = [[str(7 * k % 30), f"{k}.5 kg", str(k**2)] for k in range(30)]
    words = (
        r"'x' holds numbers with a unit \('0.5 kg', .*write them without 'kg', or give --drop x\."
    )
    with pytest.raises(ValueError, match=words):
        prepare(read_rows(["a", "x", "y"], cells), Choices("y"))
    for k, row in enumerate(cells):
        row[1] = f"{k}{'ABC'[k % 3]}"
    with pytest.raises(ValueError, match="'x' holds 30 different texts"):
        prepare(read_rows(["a", "x", "y"], cells), Choices("y"))


def test_categories_that_differ_in_capitals_are_said():
    cells = [[str(7 * k % 30), ["ja", "Ja", "nein"][k % 3], str(k**2)] for k in range(30)]
    notes = prepare(read_rows(["a", "x", "y"], cells), Choices("y")).notes
    assert any("'Ja', 'ja' in 'x' differ in capitals only and count as 2" in n for n in notes)


def test_columns_with_the_same_odd_text_are_told_of_once():
    cells = [[f"{k}.5", f"{k}.25", f"{7 * k % 30}.1", str(k)] for k in range(30)]
    for k in range(3):
        cells[k][k] = "lost"
    words = r"Give --na lost .* --drop a.* The same holds for 'b', 'c'\."
    with pytest.raises(ValueError, match=words) as told:
        prepare(read_rows(["a", "b", "c", "y"], cells), Choices("y"))
    assert str(told.value).count("--na lost") == 1


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (np.array([0.0, 1.0] * 5), "classification"),
        (np.array([1.5, 2.5] * 5), "classification"),
        (np.repeat([1.0, 2.0, 3.0], 10), "classification"),
        (np.arange(30.0), "regression"),
        (np.linspace(0, 1, 9), "regression"),
        (np.array(["a", "b", "c"], dtype=object), "classification"),
    ],
)
def test_the_task_is_told_from_the_target(y, task):
    assert read_target_as(y, "auto", "y").task == task
    assert "--task" in read_target_as(y, "auto", "y").note or y.dtype.kind in "Of"
    assert read_target_as(y, "regression", "y").note == ""
    with pytest.raises(ValueError, match="--task tree"):
        read_target_as(y, "tree", "y")


def test_large_class_numbers_stay_apart():
    """Dates, postal codes and account numbers are told by their last digits."""
    days = [20231001, 20231002] * 15
    rows = [[str(k % 7), str(day)] for k, day in enumerate(days)]
    table = prepare(read_rows(["x", "day"], rows), Choices("day", "classification"))
    assert set(table.y) == {20231001, 20231002}
    encoded = prepare(read_rows(["y", "day"], rows), Choices("y", categorical=("day",)))
    assert encoded.names == ("day=20231001", "day=20231002")


def test_digits_stored_as_text_may_name_the_rows():
    names = to_text([f"{k:04d}" for k in range(30)])
    table = make_frame(["who", "x", "y"], [names, np.arange(30.0) ** 2, np.arange(30.0) % 11])
    assert prepare(table, Choices("y")).ids[3] == "0003"


@pytest.mark.parametrize("value", [1.23456789e300, -1e-320, np.inf, 0.1 + 0.2, 2.0**60, 1e16])
def test_numbers_as_text_are_read_back(value):
    assert float(number_text(value)) == value


def test_missing_values_are_refused_with_their_places_and_the_options_that_help():
    rows = [["1", "2", "5"], ["", "3", "6"], ["4", "?", "7"], ["5", "6", "8"]]
    frame = read_rows(["a", "b", "y"], rows)
    with pytest.raises(ValueError, match="2 values are missing") as refused:
        prepare(frame, Choices("y"))
    assert str(refused.value) == (
        "2 values are missing (1 in 'a', 1 in 'b'), the first in column 'a', line 3. Give "
        "--missing mean to fill with the means of the columns, --missing drop to leave out 2 rows, "
        "or --drop a."
    )
