"""Columns that divide the rows into blocks, and rows that are nearly copies."""

import numpy as np
import pytest

from gradsift.tables import Choices, prepare
from gradsift.tables.blocks import block_columns
from gradsift.tables.frame import make_frame

SUBJECT = np.repeat(np.arange(10.0), 6)
LABEL = np.where(np.isin(SUBJECT, [1, 4, 5, 7, 8]), "ill", "well").astype(object)


def columns(**more):
    rng = np.random.default_rng(0)
    made = {f"x{k}": rng.normal(size=60) for k in range(3)} | more
    return make_frame(list(made), list(made.values()))


def blocks_of(values, y=LABEL):
    return block_columns(columns(a=values), y, ["x0", "x1", "x2", "a"])


def test_whole_numbers_and_texts_that_divide_the_rows():
    assert blocks_of(SUBJECT) == ("a",)
    assert blocks_of(np.array([f"s{k:.0f}" for k in SUBJECT], dtype=object)) == ("a",)


def test_a_number_of_each_subject_may_be_the_target():
    assert blocks_of(SUBJECT, y=np.sqrt(SUBJECT // 2)) == ("a",)


@pytest.mark.parametrize(
    "values",
    [
        np.arange(60.0),  # another number in every row
        (LABEL == "ill") * 1.0,  # the target itself, of which others warn
        np.arange(60.0) % 7,  # the target changes inside
        SUBJECT + 0.5,  # no whole numbers
    ],
)
def test_other_columns_are_not_suspected(values):
    assert blocks_of(values) == ()


def test_small_blocks_agree_by_chance():
    y = np.array(["a", "a", "b", "b", "a", "a"], dtype=object)
    frame = make_frame(["b", "y"], [np.repeat([1.0, 2.0, 3.0], 2), y])
    assert block_columns(frame, y, ["b"]) == ()


def test_the_note_names_column_and_flag():
    frame = columns(subject=SUBJECT, y=LABEL)
    (note,) = (n for n in prepare(frame, Choices("y")).notes if "--group" in n)
    assert "'y' never changes among rows that agree in 'subject'" in note
    told = prepare(frame, Choices("y", group="subject"))
    assert not any("--group" in n for n in told.notes)
    assert told.groups.count == 10
    assert "subject" not in told.names


def test_a_missing_group_is_refused_with_its_place():
    subject = SUBJECT.copy()
    subject[4] = np.nan
    with pytest.raises(ValueError, match=r"1 row without a value in 'subject', the first in row 5"):
        prepare(columns(subject=subject, y=LABEL), Choices("y", group="subject"))
