"""Tables that are too large for memory: what is left of them, and what it takes to find out."""

import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gradsift._run.threads import one_blas_thread
from gradsift.data.source import ArraySource, ColumnsSource
from gradsift.tables import Choices, open_table

N, P = 6_000, 15_000
"""A table of 90 MB as it lies on disk, 720 MB as numbers in double precision."""


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """Genotypes of which every third is rare; the donor and the label of each row in a table."""
    folder = tmp_path_factory.mktemp("wide")
    X = np.lib.format.open_memmap(folder / "x.npy", mode="w+", dtype=np.int8, shape=(N, P))
    X[:] = np.arange(N)[:, None] % 3
    X[:, ::3] = 0
    X.flush()
    donor = [f"d{i % 30:02d}" for i in range(N)]
    ill = np.where(np.arange(N) % 30 < 15, "ill", "well")
    pd.DataFrame({"donor": donor, "state": ill}).to_csv(folder / "y.csv", index=False)
    return folder


@pytest.fixture(autouse=True)
def _small_memory(monkeypatch):
    monkeypatch.setattr("gradsift.tables.out_of_core.IN_MEMORY", 8 << 20)


def peak(make):
    """What a call gives, and the bytes that Python allocated meanwhile at most: on one thread, as
    each has blocks of its own.
    """
    tracemalloc.start()
    try:
        with one_blas_thread(workers=1):
            return make(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def opened(folder, **asked):
    return open_table(folder / "x.npy", Choices("state", **asked), folder / "y.csv")


def test_filters_hold_a_few_blocks(wide):
    table, held = peak(lambda: opened(wide, maf=0.1))
    assert isinstance(table.X, ColumnsSource)
    assert table.X.shape == (N, P - P // 3)
    assert table.X.names(np.array([0, 1, 2])) == ["x1", "x2", "x4"]
    assert "5,000 of 15,000 columns: their rarer allele is less frequent than 0.1" in [
        note.text for note in table.notes
    ]
    assert held < 150e6


@pytest.mark.parametrize("how", ["mean", "sum"])
def test_groups_hold_a_few_blocks_beside_the_result(wide, how):
    table, held = peak(
        lambda: opened(
            wide, group="donor", aggregate=how, covariates=wide / "y.csv",
            covariate_names=("donor",),
        )
    )  # fmt: skip
    assert table.X.shape == (30, P - P // 3)
    assert table.covariates is None
    assert set(table.y) == {"ill", "well"}
    assert held < 150e6


def test_groups_that_fit_no_memory_are_refused(wide, monkeypatch):
    monkeypatch.setattr("gradsift._run.memory.available_memory", lambda: 1e6)
    asked = {"covariates": wide / "y.csv", "covariate_names": ("donor",), "group": "donor"}
    monkeypatch.setattr("gradsift.tables.out_of_core.IN_MEMORY", 1)
    with pytest.raises(ValueError, match="30 groups and 15,000 columns need about"):
        opened(wide, aggregate="mean", **asked)


def test_labels_that_change_inside_a_group_are_refused(tmp_path, rng):
    np.save(tmp_path / "x.npy", rng.normal(size=(6, 200_000)))
    table = pd.DataFrame({"donor": list("aabbcc"), "state": ["i", "w", "i", "i", "w", "w"]})
    table.to_csv(tmp_path / "y.csv", index=False)
    asked = {"covariates": tmp_path / "y.csv", "covariate_names": ("donor",), "group": "donor"}
    with pytest.raises(ValueError, match="label changes inside a group: row 1 has 'w'"):
        opened(tmp_path, aggregate="mean", **asked)
    with pytest.raises(ValueError, match="name the column of the groups"):
        opened(tmp_path, aggregate="mean")


def test_a_new_table_must_have_the_columns_of_the_file(tmp_path):
    recipe = open_small(tmp_path, [[0, 1, 2], [1, 1, 2], [2, 1, 0], [1, 0, 2]]).recipe
    assert recipe.stored.tolist() == [0, 2]
    kept = recipe.of_stored(ArraySource(np.eye(3))).columns(np.arange(2))
    np.testing.assert_array_equal(kept, np.eye(3)[:, [0, 2]])
    with pytest.raises(ValueError, match="the table has 2 columns, and the model uses column 3"):
        recipe.of_stored(ArraySource(np.eye(2)))


def open_small(folder, rows):
    np.save(folder / "x.npy", np.array(rows, dtype=float))
    Path(folder / "y.csv").write_text("state\n" + "ill\nwell\n" * (len(rows) // 2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gradsift.tables.out_of_core.IN_MEMORY", 1)
        return opened(folder, drop=("x1",))
