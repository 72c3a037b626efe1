"""Messy tables are read right, or refused with the line, the column, the cell and a remedy."""

import numpy as np
import pytest
from messy_tables import MESSY

from gradsift.data import convert, open_source
from gradsift.tables import Choices, ReadOptions, open_table


def opened(messy, folder):
    path = folder / messy.file
    text = messy.text
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return open_table(path, Choices("y", options=ReadOptions(**messy.options), **messy.choices))


def test_there_are_forty():
    assert len(MESSY) >= 40


@pytest.mark.parametrize("name", [name for name, messy in MESSY.items() if messy.names])
def test_a_usable_table_is_read_right(name, tmp_path):
    messy = MESSY[name]
    found = opened(messy, tmp_path)
    assert found.names == messy.names
    np.testing.assert_allclose(found.X[0], messy.first)
    ids = None if found.ids is None else tuple(found.ids[:2])
    assert ids == messy.ids
    for part in messy.says:
        assert part in "\n".join(note.text for note in found.notes)


@pytest.mark.parametrize("name", [name for name, messy in MESSY.items() if not messy.names])
def test_another_says_where_and_what_helps(name, tmp_path):
    messy = MESSY[name]
    with pytest.raises(ValueError, match=r".") as refused:
        opened(messy, tmp_path)
    for part in messy.says:
        assert part in str(refused.value)


PLAINLY = ("a", "b"), ("s1", "s2")
SKIPPED = ("read as", "taken off", "between thousands", "decimal commas")
READABLE = [
    n
    for n, m in MESSY.items()
    if (m.names, m.ids) == PLAINLY
    and not m.choices
    and "apostrophes" not in n
    and not any(word in said for word in SKIPPED for said in m.says)
]
"""Tables of plain numbers: the others are no matter of `convert`."""


@pytest.mark.parametrize("name", READABLE)
def test_convert_reads_the_same(name, tmp_path):
    messy = MESSY[name]
    found = opened(messy, tmp_path)
    options = ReadOptions(**messy.options)
    done = convert(tmp_path / messy.file, tmp_path / "t.zarr", target="y", options=options)
    assert done.names == found.names
    stored = open_source(done.path)
    got = stored.columns(np.arange(len(done.names)))
    np.testing.assert_allclose(got, found.X, rtol=1e-6)
    ids = None if found.ids is None else found.ids.tolist()
    assert (open_table(tmp_path / "t.zarr", Choices("y")).ids is None) == (ids is None)
