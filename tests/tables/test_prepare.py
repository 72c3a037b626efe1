"""From a frame to a table: what is read, left out, filled and encoded, and what is said of it."""

import numpy as np
import pytest

from gradsift.data.categories import number_text, to_text
from gradsift.tables import Choices, prepare
from gradsift.tables.columns import Column, TableEncoder, with_levels
from gradsift.tables.frame import make_frame, read_rows
from gradsift.tables.leakage import find_leaks

HEADER = ["who", "sex", "dose", "count", "out"]
ROWS = [["a", "f", "1", "3", "yes"], ["b", "m", "2", "0", "no"], ["c", "f", "", "1", "yes"]]
N = 60


@pytest.fixture
def frame():
    return read_rows(HEADER, ROWS)


def texts(table, kind=None):
    return [note.text for note in table.notes if kind in (None, note.kind)]


def table_with(rng, **columns):
    """Two columns that are related to y, noise, and the columns that are given."""
    X = rng.normal(size=(N, 2))
    y = columns.pop("y", X[:, 0] + rng.normal(size=N))
    every = {"a": X[:, 0], "b": X[:, 1], **columns, "y": y}
    made = [
        v if v.dtype.kind in "fM" else to_text(v.tolist()) for v in map(np.asarray, every.values())
    ]
    return make_frame(list(every), [v.astype(float) if v.dtype.kind in "iu" else v for v in made])


def test_what_is_plain_to_see_is_decided_and_said(frame):
    table = prepare(frame, Choices("out"))
    assert table.names == ("sex=f", "sex=m", "dose", "count")
    assert table.feature_groups == ("sex", "sex", "dose", "count")
    assert table.ids.tolist() == ["a", "b", "c"]
    assert table.y.tolist() == ["yes", "no", "yes"]
    np.testing.assert_array_equal(table.X[:, :2], [[1, 0], [0, 1], [1, 0]])
    assert table.task == "classification"
    assert texts(table) == [
        "'who' (identifier: another text in every row)",
        "'sex': categories",
        "missing values: 33% of 'dose'",
    ]
    assert [note.change for note in table.notes] == ["use", "categorical, drop", "missing"]


def test_choices_are_followed(frame):
    asked = Choices(
        "dose", "regression", drop=("out",), categorical=("count",), keep=("sex",), id="who"
    )
    table = prepare(frame, asked)
    assert table.names == ("sex=f", "sex=m", "count=0", "count=3")
    assert [table.names[k] for k in table.keep] == ["sex=f", "sex=m"]
    assert table.y.tolist() == [1.0, 2.0]
    assert "1 row without 'dose'" in texts(table, "left out")


def test_rows_with_missing_values_can_be_dropped_or_refused(frame):
    table = prepare(frame, Choices("out", missing="drop"))
    assert table.ids.tolist() == ["a", "b"]
    assert len(table.X) == len(table.y) == 2
    with pytest.raises(ValueError, match=r"1 value is missing .* column 'dose', line 4") as refused:
        prepare(frame, Choices("out", missing="error"))
    assert refused.value.change == "missing=auto, missing=drop, drop"


def test_log(frame):
    table = prepare(frame, Choices("out", transform="log"))
    np.testing.assert_allclose(table.X[:2, 2], np.log2([2, 3]))
    kept = prepare(frame, Choices("out", transform="log", keep=("dose",)))
    np.testing.assert_array_equal(kept.X[:2, 2], [1, 2])
    negative = read_rows(["x", "y"], [["-1", "2"], ["1", "3.5"], ["4", "1.5"]])
    with pytest.raises(ValueError, match="log needs values of at least 0, but 'x'"):
        prepare(negative, Choices("y", transform="log"))


TAXA = [
    ["A1", "0", "4", "8", "60", "2.5"],
    ["A2", "1", "5", "", "20", "1.0"],
    ["A3", "3", "0", "6", "30", "4.5"],
    ["A4", "2", "9", "1", "40", "3.5"],
]
TAXA_NAMES = ["sample", "a", "b", "c", "age", "ph"]


def test_log_ratios_are_taken_within_each_row_and_leave_kept_columns_alone():
    table = prepare(
        read_rows(TAXA_NAMES, TAXA), Choices("ph", transform="clr", keep=("age",), missing="mean")
    )
    assert table.names == ("a", "b", "c", "age")
    np.testing.assert_array_equal(table.X[:, 3], [60, 20, 30, 40])
    for row, counts in zip(table.X[:, :3], [(2, 4, 8), (1, 5, np.nan), (3, 1.5, 6)], strict=False):
        logs = np.log(counts)
        np.testing.assert_allclose(row, logs - np.nanmean(logs))


def test_log_ratios_do_not_change_with_the_size_of_a_sample():
    shares = [[who, *(f"{float(v) / 64:g}" if v else "" for v in counts), ph]
              for who, *counts, ph in TAXA]  # fmt: skip
    one, other = (
        prepare(read_rows(TAXA_NAMES, rows), Choices("ph", transform="clr", drop=("age",)))
        for rows in (TAXA, shares)
    )
    np.testing.assert_allclose(one.X, other.X, atol=1e-12)


def test_log_ratios_of_new_rows_need_all_columns():
    recipe = prepare(read_rows(TAXA_NAMES, TAXA), Choices("ph", transform="clr")).recipe
    assert recipe.needed(np.array([0])) == {"a", "b", "c", "age"}
    new = read_rows(["a", "b", "c", "age"], [["2", "2", "2", "2"]])
    np.testing.assert_array_equal(recipe.columns(new, np.array([0]))[0], np.zeros((1, 4)))


def test_log_ratios_refuse_rows_without_counts_and_negative_values():
    empty = [["a", "b", "y"], [["1", "2", "1.5"], ["0", "0", "2.5"], ["2", "1", "3.5"]]]
    with pytest.raises(ValueError, match="clr needs a positive value in every row, but row 2"):
        prepare(read_rows(*empty), Choices("y", transform="clr"))
    negative = read_rows(["x", "y"], [["-1", "2"], ["1", "3.5"], ["4", "1.5"]])
    with pytest.raises(ValueError, match="clr needs values of at least 0, but 'x'"):
        prepare(negative, Choices("y", transform="clr"))


def test_a_recipe_makes_the_same_columns_of_a_new_table(frame):
    recipe = prepare(frame, Choices("out")).recipe
    new = read_rows(["dose", "sex", "count"], [["5", "x", "2"], ["high", "f", "1"]])
    X, notes = recipe.columns(new)
    np.testing.assert_array_equal(X, [[0, 0, 5, 2], [1, 0, np.nan, 1]])
    said = [note.text for note in notes]
    assert any("categories of 'sex' that the model has not seen ('x')" in text for text in said)
    assert "1 cell of 'dose' cannot be read as numbers: filled" in said
    X, notes = recipe.columns(read_rows(["dose", "sex"], [["5", "f"]]))
    assert [note.text for note in notes] == [
        "the table lacks 'count', filled as missing values are"
    ]


def test_messages(frame):
    with pytest.raises(ValueError, match=r"no column 'Out'. Did you mean 'out'"):
        prepare(frame, Choices("Out"))
    with pytest.raises(ValueError, match=r"no column 'z'. It has 'who'"):
        prepare(frame, Choices("out", drop=("z",)))
    with pytest.raises(ValueError, match="holds text such as 'yes', but this task needs numbers"):
        prepare(frame, Choices("out", "regression"))
    with pytest.raises(ValueError, match="no variable to explain the target"):
        prepare(read_rows(["y"], [["1"], ["2"]]), Choices("y"))
    with pytest.raises(ValueError, match="'sex' cannot be in both drop and keep"):
        prepare(frame, Choices("out", drop=("sex",), keep=("sex",)))


CELLS = {
    "units": ([f"{k}.5 kg" for k in range(N)], "unit 'kg' taken off", 0.5),
    "percent": ([f"{k * 7 % 61} %" for k in range(N)], "unit '%' taken off", 0.0),
    "decimal commas": ([f"{k},25" for k in range(N)], "decimal commas", 0.25),
    "thousands": ([f"1'{k:03d}.5" for k in range(N)], '"\'" between thousands', 1000.5),
    "bounds": (["<0.3", *(f"{k}.5" for k in range(1, N))], "'<x' read as x", 0.3),
    "words": (["lost", *(f"{k}.5" for k in range(1, N))], "'lost' read as missing", np.nan),
    "codes of currencies": ([f"CHF {k}.5" for k in range(N)], "unit 'CHF' taken off", 0.5),
    "brackets of accountants": (["(1.5)", *(f"{k}.5" for k in range(1, N))], None, -1.5),
    "marks of footnotes": (
        [f"{k}.5{'*' * (k % 3)}" for k in range(N)],
        "errors and footnote marks taken off",
        0.5,
    ),
    "errors": ([f"{k}.5 ± 0.3" for k in range(N)], "errors and footnote marks taken off", 0.5),
    "clocks": ([f"1:{k % 60:02d}:30" for k in range(N)], "clock times read as seconds", 3630.0),
    "other minus signs": ([f"\u2212{k}.5" for k in range(1, N + 1)], None, -1.5),
}


@pytest.mark.parametrize("kind", CELLS)
def test_numbers_however_they_are_written_are_numbers(kind, rng):
    cells, words, first = CELLS[kind]
    table = prepare(table_with(rng, x=np.array(cells)), Choices("y"))
    column = table.X[:, list(table.names).index("x")]
    np.testing.assert_equal(column[0], first)
    said = [text for text in texts(table, "read") if text.startswith("'x'")]
    assert said == ([] if words is None else [f"'x': {words}"])


DATES = {
    "ISO": "2024-01-{:02d}",
    "German": "{:02d}.01.2024",
    "American": "01/{:02d}/2024",
    "names of months": "Jan {}, 2024",
    "clocks": "2024-01-{:02d}T12:30:00",
    "numbers": "202401{:02d}",
}


@pytest.mark.parametrize("kind", DATES)
def test_dates_become_days_and_what_differs_from_them(kind, rng):
    day = rng.integers(1, 29, size=N)
    cells = np.array([DATES[kind].format(k) for k in day])
    cells = cells.astype(float) if kind == "numbers" else cells
    table = prepare(table_with(rng, when=cells), Choices("y"))
    names = list(table.names)
    np.testing.assert_array_equal(table.X[:, names.index("when: days")], day - day.min())
    np.testing.assert_array_equal(table.X[:, names.index("when: weekday")], (day - 1) % 7 + 1)
    assert "'when': dates" in texts(table, "encoded")


@pytest.mark.parametrize("form", ["Q{q} {year}", "{year}Q{q}", "{year}-{month:02d}"])
def test_quarters_and_months_of_years_are_dates(form, rng):
    cells = [form.format(year=2010 + k % 5, q=1 + k % 4, month=1 + 3 * (k % 4)) for k in range(N)]
    table = prepare(table_with(rng, when=np.array(cells)), Choices("y"))
    days = table.X[:, list(table.names).index("when: days")]
    np.testing.assert_array_equal(days[:5], [0, 455, 912, 1369, 1461])


def test_words_among_dates_are_missing_values(rng):
    cells = [f"2024-01-{1 + k % 28:02d}" for k in range(N)]
    cells[3], cells[7] = "unknown", "n.d."
    table = prepare(table_with(rng, when=np.array(cells)), Choices("y"))
    days = table.X[:, list(table.names).index("when: days")]
    assert np.flatnonzero(np.isnan(days)).tolist() == [3, 7]
    assert "'when': 'n.d.', 'unknown' read as missing" in texts(table, "read")
    table = prepare(table_with(rng, when=np.array(["no", "yes"] * 20 + cells[40:])), Choices("y"))
    assert "when: days" not in table.names


def test_seasons_are_categories(rng):
    cells = [f"20{k % 9 + 1:02d}-{k % 9 + 2:02d}" for k in range(N)]
    table = prepare(table_with(rng, season=np.array(cells)), Choices("y"))
    assert "season=2001-02" in table.names


def test_blocks_have_no_order(rng):
    block = np.array(["I", "II", "III", "IV"])[rng.integers(0, 4, size=N)]
    table = prepare(table_with(rng, block=block, grade=block), Choices("y"))
    assert {"grade", "block=I", "block=IV"} <= set(table.names)


LEFT_OUT = {
    "texts that all differ": ([f"p{k}" for k in range(N)], "identifier"),
    "numbers that count up": (np.arange(N), "identifier"),
    "an address": ([f"{k % 40} Main St" for k in range(N)], "free text"),
    "an empty column": ([None] * N, "constant: empty"),
    "one value": (np.full(N, 3.0), "constant: the same in every row"),
}


@pytest.mark.parametrize("kind", LEFT_OUT)
def test_what_is_no_variable_is_left_out_with_one_note_and_use_undoes_it(kind, rng):
    values, role = LEFT_OUT[kind]
    frame = table_with(rng, x=np.array(values))
    table = prepare(frame, Choices("y"))
    assert table.names == ("a", "b")
    (said,) = texts(table, "left out")
    assert said.startswith(f"'x' ({role}")
    if kind != "an empty column":
        assert prepare(frame, Choices("y", use=("x",))).names[2].startswith("x")


def test_a_donor_is_a_group_of_rows_and_suggested_as_one(rng):
    donor = np.repeat(np.arange(12), 5)
    y = np.where(donor % 2 == 1, "ill", "well")
    table = prepare(table_with(rng, donor=donor, y=y), Choices("y"))
    assert table.names == ("a", "b")
    assert [note.change for note in table.notes if note.kind == "caution"] == ["group=donor"]
    assert table.notes[0].change == "group=donor"


@pytest.mark.parametrize("task", ["counts", "survival"])
def test_groups_are_not_suggested_where_the_task_refuses_them(task, rng):
    y, event = rng.integers(0, 9, 60).astype(float), rng.integers(0, 2, 60).astype(float)
    frame = table_with(rng, donor=np.repeat(np.arange(20.0), 3), y=y, died=event)
    choices = Choices("y", event="died") if task == "survival" else Choices("y", task="counts")
    (note,) = (
        n for n in prepare(frame, choices).notes if "'donor'" in n.text and "same value" in n.text
    )
    assert note.change == ""
    assert "assumes independent rows" in note.text


def test_the_event_of_a_survival_time_is_no_variable(rng):
    X = rng.normal(size=(N, 1))
    frame = make_frame(
        ["x", "status", "time"],
        [X[:, 0], rng.integers(0, 2, N).astype(float), rng.exponential(size=N)],
    )
    table = prepare(frame, Choices("time"))
    assert table.names == ("x",)
    note = table.notes[0]  # it questions the whole answer
    assert note.kind == "caution"
    assert note.text.startswith("'time' and 'status' look like survival times")
    assert note.change == "event=status"
    assert prepare(frame, Choices("status")).notes[0].change == "target=time, event=status"


def test_columns_that_know_the_target_are_left_out_loudly(rng):
    y = rng.normal(size=N)
    part = rng.normal(size=N)
    frame = table_with(rng, y=y, copy=np.exp(y), part=part, rest=y - part)
    table = prepare(frame, Choices("y"))
    assert table.names == ("a", "b")
    loud = texts(table, "caution")
    assert any("'copy' left out, because it reveals the target" in text for text in loud)
    assert any("'y' is a sum of" in text for text in loud)
    assert "copy" in prepare(frame, Choices("y", use=("copy",))).names


def test_products_and_classes_apart_are_leaks(rng):
    one, other = rng.exponential(size=(2, N)) + 0.1
    found = find_leaks([(["p", "q", "r"], np.column_stack([one, other, rng.normal(size=N)]))], {},
                       one * other, "y", ordered=True)  # fmt: skip
    assert set(found.certain) == {"p", "q"}
    labels = np.repeat(["no", "yes"], N // 2)
    apart = np.where(labels == "yes", 5.0, 0.0) + rng.random(N)
    found = find_leaks([(["x", "z"], np.column_stack([apart, rng.random(N)]))], {}, labels, "y",
                       ordered=False)  # fmt: skip
    assert found.certain == {"x": "it separates the classes without an error"}


def test_copies_in_few_rows_may_be_chance(rng):
    X, y = rng.integers(0, 2, size=(20, 300)).astype(float), np.tile([0.0, 1, 1, 0], 5)
    X[:, 0] = y
    found = find_leaks([([f"x{k}" for k in range(300)], X)], {}, y, "y", ordered=False)
    assert found.certain == {}
    assert "x0" in found.perhaps


def test_missing_values_that_go_with_the_target_are_counted(rng):
    x = rng.normal(size=N)
    gone = rng.random(N) < 0.4
    frame = table_with(rng, y=3.0 * gone + rng.normal(size=N), x=np.where(gone, np.nan, x))
    table = prepare(frame, Choices("y"))
    assert "x is missing" in table.names
    np.testing.assert_array_equal(table.X[:, list(table.names).index("x is missing")], gone)
    assert "x is missing" not in prepare(frame, Choices("y", missing="mean")).names
    by_chance = table_with(rng, x=np.where(gone, np.nan, x))
    assert "x is missing" not in prepare(by_chance, Choices("y")).names


def test_rare_levels_are_joined_and_unknown_ones_count_as_them():
    cells = to_text([*(f"c{k % 8}" for k in range(160)), *(f"rare{k}" for k in range(40))])
    column = with_levels(Column("x", "category"), cells)
    assert column.levels == (*(f"c{k}" for k in range(8)), "(other)")
    X, notes = column.encode(to_text(["c0", "never seen"]))
    assert X[:, -1].tolist() == [0, 1]
    assert notes == []


def test_answers_with_an_order_are_one_number(rng):
    answers = np.array(["low", "high", "medium"])[np.arange(N) % 3]
    table = prepare(table_with(rng, x=answers), Choices("y"))
    assert table.X[:3, list(table.names).index("x")].tolist() == [0, 2, 1]


def test_an_encoder_is_equal_after_a_round_trip_through_a_model_file():
    from gradsift.pipeline._as_data import Reader, Writer

    column = with_levels(
        Column("d", "date", format="%Y-%m-%d"), to_text(["2024-01-01", "2025-02-03"])
    )
    encoder = TableEncoder(("d", "x"), {"d": column})
    writer = Writer()
    assert Reader(writer.arrays).value(writer.tree(encoder)) == encoder


def test_categories_that_differ_in_capitals_are_said():
    cells = [[str(7 * k % 30), ["ja", "Ja", "nein"][k % 3], str(k**2 % 17)] for k in range(30)]
    table = prepare(read_rows(["a", "x", "y"], cells), Choices("y"))
    assert any(
        "'Ja', 'ja' in 'x' differ in capitals only and count as 2" in t for t in texts(table)
    )


def test_rows_that_repeat_are_said(rng):
    y = rng.random(N) * 9
    X = rng.normal(size=(N, 6)).round(3)
    X[7] = X[3]
    table = prepare(make_frame([*"abcdef", "y"], [*X.T, y]), Choices("y"))
    assert [note.change for note in table.notes if note.kind == "caution"] == ["group"]


def test_large_class_numbers_stay_apart():
    """Dates, postal codes and account numbers are told by their last digits."""
    days = [20231001, 20231002] * 15
    rows = [[str(k % 7), str(day)] for k, day in enumerate(days)]
    table = prepare(read_rows(["x", "day"], rows), Choices("day", "classification"))
    assert set(table.y) == {20231001, 20231002}
    encoded = prepare(read_rows(["y", "day"], rows), Choices("y", categorical=("day",)))
    assert encoded.names == ("day=20231001", "day=20231002")


@pytest.mark.parametrize("value", [1.23456789e300, -1e-320, np.inf, 0.1 + 0.2, 2.0**60, 1e16])
def test_numbers_as_text_are_read_back(value):
    assert float(number_text(value)) == value


@pytest.mark.parametrize(("name", "out"), [("townid", True), ("PID", True), ("acid", False)])
def test_names_that_end_with_id_are_identifiers_of_units_alone(name, out, rng):
    values = rng.permutation(np.arange(500, 500 + 3 * N, 3)).astype(float)
    table = prepare(table_with(rng, **{name: values}), Choices("y"))
    assert (name in table.names) != out


def test_units_of_a_panel_are_groups_whatever_they_are_called(rng):
    year = np.tile(np.arange(1990.0, 1996.0), 30)
    frame = make_frame(
        ["zz", "year", "x", "y"],
        [rng.permutation(30)[np.repeat(np.arange(30), 6)] * 7.0, year, *rng.normal(size=(2, 180))],
    )
    table = prepare(frame, Choices("y"))
    assert table.names == ("year", "x")
    said = " ".join(note.text for note in table.notes)
    assert "names a unit, once for each value of 'year'" in said


def test_a_target_cut_into_classes_is_a_leak(rng):
    y = rng.normal(size=N)
    frame = make_frame(["up", "x", "y"], [(y > 0).astype(float), rng.normal(size=N), y])
    assert prepare(frame, Choices("y")).names == ("x",)
    strong = np.repeat([0.0, 1.0], N // 2)  # a strong effect leaves a gap
    frame = make_frame(["drug", "x", "y"], [strong, rng.normal(size=N), 9 * strong + y / 3])
    assert prepare(frame, Choices("y")).names == ("drug", "x")


def test_a_sum_over_columns_with_gaps_is_a_leak(rng):
    parts = rng.normal(size=(N, 3))
    y = parts.sum(axis=1)
    parts[:3, 0] = np.nan
    frame = make_frame(["a", "b", "c", "x", "y"], [*parts.T, rng.normal(size=N), y])
    assert prepare(frame, Choices("y")).names == ("x",)


def test_numbers_that_count_up_are_identifiers_unless_they_are_ages_or_years(rng):
    count = np.arange(1.0, N + 1)
    columns = [rng.permutation(count) + 1000, count, count + 1800, *rng.normal(size=(2, N))]
    frame = make_frame(["ticket", "age", "season", "x", "y"], columns)
    assert prepare(frame, Choices("y")).names == ("age", "season", "x")


def test_bounds_alone_are_classes(rng):
    gas = np.array([">60", "<=60"], dtype=object)[rng.integers(0, 2, N)]
    frame = make_frame(["po2", "y"], [gas, rng.normal(size=N)])
    assert prepare(frame, Choices("y")).names == ("po2=<=60", "po2=>60")


def test_few_numbered_answers_are_no_groups_of_rows(rng):
    grade = rng.integers(1, 7, 60)
    y = np.where(grade > 3, "well", "ill").astype(object)
    text = np.array([f"{g}_grade" for g in grade], dtype=object)
    frame = make_frame(["state", "x", "y"], [text, rng.normal(size=60), y])
    table = prepare(frame, Choices("y"))
    assert not any(note.change.startswith("group=") for note in table.notes)


def test_the_time_to_a_target_is_no_variable(rng):
    frame = make_frame(
        ["days_to_death", "x", "death"],
        [*rng.exponential(size=(2, N)), rng.integers(0, 2, N).astype(float)],
    )
    table = prepare(frame, Choices("death"))
    assert table.names == ("x",)
    assert "target=days_to_death, event=death" in [note.change for note in table.notes]


@pytest.mark.parametrize("name", ["NO", "no", "nr"])
def test_a_measurement_called_like_a_count_of_rows_is_a_variable(name, rng):
    frame = table_with(rng, **{name: rng.integers(1, 90, N).astype(float)})
    assert name in prepare(frame, Choices("y")).names


def test_places_of_which_some_are_common_are_categories_and_others_groups(rng):
    n, names = 600, [f"place {chr(65 + k // 10)}{chr(75 + k % 10)}" for k in range(150)]
    shares = 1.0 / np.arange(1, 53)
    common = np.array(names, dtype=object)[rng.choice(52, n, p=shares / shares.sum())]
    rare = np.array(names, dtype=object)[rng.integers(0, 150, n)]
    panel = np.array(names, dtype=object)[np.repeat(np.arange(150), 4)]
    for values, role in ((common, ""), (rare, "group of rows"), (panel, "group of rows")):
        frame = make_frame(["state", "x", "y"], [values, *rng.normal(size=(2, n))])
        table = prepare(frame, Choices("y"))
        assert (table.names == ("x",)) == bool(role)
        assert not role or table.notes[0].change == "group=state"


@pytest.mark.parametrize(
    ("target", "event"),
    [("TimeToRecurrence", "Recurrence"), ("dtime", "death"), ("T3", "D3"), ("stay", "Censored")],
)
def test_survival_times_by_other_names(target, event, rng):
    kinds = rng.integers(0, 2, N).astype(float)
    columns = [rng.normal(size=N), kinds, rng.exponential(size=N)]
    table = prepare(make_frame(["x", event, target], columns), Choices(target))
    assert table.names == ("x",)
    assert table.notes[0].change == f"event={event}"


def test_a_measurement_next_to_a_death_is_no_survival_time(rng):
    columns = [rng.normal(size=N), rng.integers(0, 2, N).astype(float), rng.exponential(size=N)]
    table = prepare(make_frame(["x", "death", "cost"], columns), Choices("cost"))
    assert table.names == ("x", "death")


def test_rounded_log_ratios_and_differences_of_dates_are_leaks(rng):
    a, b, x = np.round(rng.uniform(0.1, 0.6, size=(3, N)), 4)
    frame = make_frame(["a", "b", "x", "y"], [a, b, x, np.round(np.log(a / b), 4)])
    assert prepare(frame, Choices("y")).names == ("x",)
    start = np.datetime64("2001-03-05") + rng.integers(0, 3000, N)
    days = rng.integers(10, 4000, N)
    columns = [start.astype("M8[s]"), (start + days).astype("M8[s]"), x, days + 0.0]
    frame = make_frame(["start", "end", "x", "spent"], columns)
    assert prepare(frame, Choices("spent")).names == ("x",)


def test_variables_that_nearly_give_the_target_are_no_leaks(rng):
    a, b = rng.normal(size=(2, N))
    frame = make_frame(["a", "b", "y"], [a, b, a + b + 0.01 * rng.normal(size=N)])
    assert prepare(frame, Choices("y")).names == ("a", "b")


def test_columns_are_copied_in_runs_whatever_stands_between_them(rng):
    X = rng.normal(size=(N, 6))
    columns = [*X.T[:2], to_text(["f", "m"] * (N // 2)), *X.T[2:5], X[:, 5]]
    frame = make_frame(["a", "b", "sex", "c", "y", "d", "e"], columns)
    table = prepare(frame, Choices("y"))
    assert table.names == ("a", "b", "sex=f", "sex=m", "c", "d", "e")
    np.testing.assert_array_equal(table.X[:, [0, 1, 4, 5, 6]], X[:, [0, 1, 2, 4, 5]])
    np.testing.assert_array_equal(frame.without({"b", "y"}).numbers, X[:, [0, 2, 4, 5]])
