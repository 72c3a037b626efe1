"""Identifiers, dates and repeated rows are said; missing values counted; empty columns left out."""

import numpy as np
import pytest

from gradsift.data.categories import to_text
from gradsift.tables import BEWARE, Choices, prepare
from gradsift.tables.frame import make_frame

N = 40
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
Y = X[:, 0] + 0.1 * RNG.normal(size=N)


def notes(extra=None, X=X, y=Y, **asked):
    """What is said of a table of three columns of noise, the target and others."""
    columns = {**dict(zip("abc", X.T)), **(extra or {}), "y": y}
    return prepare(make_frame(list(columns), list(columns.values())), Choices("y", **asked)).notes


def warned(found):
    return [note.removeprefix(BEWARE) for note in found if note.startswith(BEWARE)]


def test_a_sound_table_gets_no_warning():
    assert warned(notes()) == []


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("x", np.arange(N) + 1.0),
        ("x", np.cumsum(RNG.integers(1, 9, size=N)).astype(float)),
        ("patient_id", RNG.permutation(1000)[:N].astype(float)),
    ],
)
def test_identifiers_are_said(name, values):
    (said,) = warned(notes({name: values}))
    assert f"'{name}' holds another whole number in every row" in said
    assert f"--id {name}" in said


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("count", RNG.integers(0, 1000, size=N).astype(float)),
        ("paid", np.sort(RNG.normal(size=N))),
        ("id", np.ones(N)),
    ],
)
def test_other_numbers_are_no_identifiers(name, values):
    assert warned(notes({name: values})) == []


def test_dates_are_said():
    days = np.array([20200101 + 100 * (k % 12) + k % 28 for k in RNG.permutation(N)], dtype=float)
    assert "'when' looks like dates" in warned(notes({"when": days}))[0]
    texts = to_text([f"2020-03-{1 + k % 4:02d}" for k in range(N)])
    assert "'when' looks like dates" in warned(notes({"when": texts}))[0]


def test_codes_for_missing_targets_are_said():
    coded = np.where(np.arange(N) % 9 == 0, -9.0, np.arange(N) % 3)
    (said,) = [note for note in warned(notes(y=coded)) if "-9" in note]
    assert "-9 is the only negative number in 'y', in 5 rows" in said
    assert "--na=-9" in said
    assert not any("--na" in note for note in warned(notes(y=np.where(coded == 2, -1.0, coded))))


def test_repeated_rows_are_counted_and_shown():
    again = np.r_[np.arange(N), 3, 3, 7]
    (said,) = warned(notes(X=X[again], y=Y[again]))
    assert said.startswith("5 of 43 rows are repeated measurements of a sample, or copies")
    assert "(such as row 4 and row 41)" in said
    assert "--group COLUMN" in said
    few = RNG.integers(0, 2, size=(N, 3)).astype(float)
    assert warned(notes(X=few, y=np.round(Y), task="regression")) == []


def test_an_empty_column_is_left_out_and_its_rows_stay():
    found = notes({"empty": np.full(N, np.nan)}, missing="drop")
    assert "'empty' is empty in every row: left out" in found
    assert not any("left out for missing values" in note for note in found)


def test_rows_that_are_dropped_are_counted_by_column():
    holed = X.copy()
    holed[:5, 1] = holed[3:8, 2] = np.nan
    assert "8 of 40 rows were left out for missing values (5 in 'b', 5 in 'c')" in notes(
        X=holed, missing="drop"
    )
    holed[:, 2], holed[:30, 2] = X[:, 2], np.nan
    assert "30 of 40 rows were left out for missing" in warned(notes(X=holed, missing="drop"))[0]


def test_dropping_every_row_is_refused_with_the_column_to_blame():
    holed = X.copy()
    holed[:38, 1] = holed[30:, 2] = np.nan
    with pytest.raises(ValueError, match=r"would drop all 40 rows.*38 in 'b'.*--drop b"):
        notes(X=holed, missing="drop")


def test_filled_values_are_counted():
    holed = X.copy()
    holed[:5, 1] = holed[3:8, 2] = np.nan
    assert (
        "10 missing values (5 in 'b', 5 in 'c') are filled with the mean of their column"
        in notes(X=holed, missing="mean")
    )


def constants(found):
    return [note for note in found if "the same value in every row" in note]


def test_columns_that_never_change_are_counted_in_one_note():
    assert constants(notes()) == []
    (said,) = constants(notes({"one": np.ones(N), "far": np.full(N, 1e6) + 1e-9 * RNG.random(N)}))
    assert said == (
        "2 columns ('one', 'far') hold the same value in every row: they are not counted as "
        "variables"
    )
    holes = np.where(np.arange(N) < 3, np.nan, 7.0)
    (said,) = constants(notes({"holes": holes}, missing="mean"))
    assert said.startswith("1 column ('holes') holds the same value in every row: it is not")
    texts = to_text(["a"] * N)
    (said,) = constants(notes({"kind": texts}, categorical=("kind",)))
    assert "('kind')" in said
