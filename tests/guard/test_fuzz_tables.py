"""Tables in files: read as written or refused in clear words, prepared, stored, read again."""

import tempfile
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from guard.counting import try_cases
from guard.files import FileTable, damages, file_tables
from guard.sound import Unclear, check_refusal
from hypothesis import strategies as st

from gradsift import GradientSiftClassifier, GradientSiftRegressor
from gradsift.data import convert, open_source, read_target
from gradsift.data.missing import is_missing
from gradsift.pipeline import load_model, save_model
from gradsift.tables import Choices, open_new, prepare, read_frame

EXIT_2 = (ValueError, OSError, ImportError, TypeError, MemoryError)
"""What the command line turns into one sentence and exit code 2."""


def refused(error):
    """False, once it is sure that the refusal says something."""
    check_refusal(error)
    return False


def has_words(error):
    """True, or an error: a sentence is all that the user will see."""
    if not str(error).strip():
        raise Unclear(f"{type(error).__name__} without a word") from error
    return True


def without_last_blanks(table):
    """The table without rows of nothing at its end, which a workbook has no sign for."""
    rows = list(zip(*table.columns))
    while rows and table.suffix == ".xlsx" and set(rows[-1]) == {None}:
        rows.pop()
    return replace(table, columns=tuple(zip(*rows)))


def check_read(table, frame):
    """Names, numbers and texts are those that were written, to the bit.

    But for workbooks: openpyxl writes 16 digits of a number, one less than would be needed.
    """
    rtol = 1e-15 if table.suffix == ".xlsx" else 0.0
    assert frame.order == table.names
    for k, (name, cells) in enumerate(zip(table.names, table.columns)):
        values = frame.column(name)
        if table.is_text(k):
            holes = [cell is None or is_missing(cell) for cell in cells]
            expected = [None if hole else cell.strip() for cell, hole in zip(cells, holes)]
            assert list(values) == expected
        else:
            expected = np.array([np.nan if cell is None else cell for cell in cells])
            np.testing.assert_allclose(values, expected, rtol=rtol, atol=0.0)


def test_a_table_is_read_as_it_was_written():
    def run(table):
        with tempfile.TemporaryDirectory() as folder:
            path = table.write(Path(folder))
            try:
                frame = read_frame(path)
            except ValueError as error:
                if table.encoding.startswith("utf-8") and without_last_blanks(table).columns:
                    raise
                return refused(error)
        if table.encoding != "latin-1":  # which has not every letter
            check_read(without_last_blanks(table), frame)
        return True

    try_cases("read_frame", file_tables(), run)


def test_a_damaged_file_is_read_or_refused_in_one_sentence():
    def run(damage):
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            warnings.simplefilter("ignore", UserWarning)  # openpyxl on what it passes over
            try:
                frame = read_frame(damage.write(Path(folder)))
            except EXIT_2 as error:
                return not has_words(error)
        assert len(set(frame.order)) == len(frame.order)
        return True

    try_cases("read_frame of damaged files", damages, run)


@st.composite
def prepared(draw):
    """A table and what a user might ask of it, names of columns that are not there included."""
    table = draw(file_tables([".csv"]))
    some = st.sampled_from([*table.names, "not there"])
    lists = st.lists(some, max_size=2).map(tuple)
    table = FileTable(table.names, table.columns)
    return table, Choices(
        draw(st.sampled_from(table.names)),
        draw(st.sampled_from(["auto", "auto", "regression", "classification"])),
        draw(st.just(()) | lists),
        draw(st.just(()) | lists),
        draw(st.just(()) | lists),
        draw(st.just(()) | lists),
        draw(st.none() | some),
        draw(st.booleans()),
        draw(st.sampled_from(["auto", "error", "mean", "indicator", "drop"])),
    )


def test_a_table_is_prepared_soundly():
    def run(case):
        table, choices = case
        with tempfile.TemporaryDirectory() as folder:
            frame = read_frame(table.write(Path(folder)))
        try:
            ready = prepare(frame, choices)
        except ValueError as error:
            return refused(error)
        n, p = ready.X.shape
        assert len(ready.y) == n <= frame.n_rows
        assert len(ready.names) == len(set(ready.names)) == p
        assert choices.target not in ready.recipe.encoder.table
        assert not set(choices.drop) & set(ready.recipe.encoder.table)
        if choices.missing == "drop":
            assert not np.isnan(ready.X).any()
        assert ready.ids is None or len(ready.ids) == n
        if ready.recipe.task == "regression":
            assert np.isfinite(ready.y).all()
        return True

    try_cases("prepare", prepared(), run)


def test_a_converted_table_holds_what_the_text_held():
    """Each field as a number of 64 bits, the response as it was."""
    suffixes = st.sampled_from([".zarr", ".parquet"])

    def run(case):
        table, suffix = case
        target = table.names[-1]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            source = table.write(folder)
            try:
                done = convert(source, folder / f"out{suffix}", target=target, dtype="float64")
            except ValueError as error:
                assert [path.name for path in folder.iterdir()] == [source.name]
                return refused(error)
            opened = open_source(done.path, exclude=[target] if suffix == ".parquet" else [])
            X = opened.columns(np.arange(len(done.names)))
            found, y = opened.names(), read_target(done.path, target)
        assert tuple(found) == done.names
        assert done.names == table.names[:-1] or table.encoding == "latin-1"  # not every letter
        for values, cells in zip(X.T, table.columns):
            np.testing.assert_array_equal(values, [np.nan if c is None else c for c in cells])
        assert len(y) == done.n_rows
        return True

    tables = file_tables([".csv", ".csv", ".tsv", ".csv.gz"], text=False)
    try_cases("convert", st.tuples(tables, suffixes), run)


@st.composite
def learnable(draw):
    """A table from which a model is learnt, with a column of text and names of all kinds."""
    written = draw(file_tables([".csv"]).filter(lambda t: len(t.names) >= 3))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    n = 12
    numbers = rng.normal(size=(n, len(written.names) - 2))
    y = numbers[:, 0] + 0.1 * rng.normal(size=n)
    if draw(st.booleans()):
        y = np.where(y > np.median(y), "käse", "k;x")
    columns = [*numbers.T, rng.choice(["ka", "kb"], n), y]
    return FileTable(written.names, tuple(tuple(column.tolist()) for column in columns))


def test_a_stored_model_answers_as_before():
    def run(table):
        labels = table.is_text(-1)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            path = table.write(folder)
            ready = prepare(read_frame(path), Choices(table.names[-1]))
            kind = GradientSiftClassifier if labels else GradientSiftRegressor
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # small tables in which nothing acts
                model = kind().fit(ready.X, ready.y)
            save_model(folder / "model.skops", model, ready.recipe)
            again, recipe, _ = load_model(folder / "model.skops")
            X, _, y_again, *_ = open_new(path, recipe)
        assert recipe == ready.recipe
        np.testing.assert_array_equal(X, ready.X)
        np.testing.assert_array_equal(y_again, ready.y)
        np.testing.assert_array_equal(again.predict(X), model.predict(ready.X))
        np.testing.assert_array_equal(again.gradient(X), model.gradient(ready.X))
        return True

    try_cases("save_model and load_model", learnable(), run)
