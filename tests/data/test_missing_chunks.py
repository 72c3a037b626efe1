"""A Zarr array that lacks a chunk, or has a damaged one, is not read as if nothing were wrong."""

import warnings

import numpy as np
import pytest
import zarr

from gradsift.data import convert, converting, open_source


@pytest.fixture
def ours(tmp_path, monkeypatch):
    """Six columns in three chunks; the columns of the second hold zeros only."""
    monkeypatch.setattr(converting, "CHUNK_BYTES", 4 * 3 * 2)
    (tmp_path / "t.csv").write_text("a,b,c,d,e,f\n" + "1,2,0,0,5,6\n" * 3)
    convert(tmp_path / "t.csv", tmp_path / "t.zarr")
    return tmp_path / "t.zarr"


def foreign(path, zarr_format, X):
    zarr.create_array(str(path), data=X, chunks=(3, 2), zarr_format=zarr_format, fill_value=0.0)
    return path


def read(path):
    (numbers,) = [block for _, block in open_source(path).blocks()]
    return numbers


def test_our_own_array_stores_chunks_of_zeros_too(ours):
    np.testing.assert_array_equal(read(ours), [[1, 2, 0, 0, 5, 6]] * 3)
    assert sorted(p.name for p in (ours / "c/0").iterdir()) == ["0", "1", "2"]


@pytest.mark.parametrize("chunk", ["0", "1", "2"])
def test_a_chunk_that_is_missing_from_our_own_array_is_named(ours, chunk):
    (ours / "c/0" / chunk).unlink()
    with pytest.raises(ValueError, match=rf"t.zarr is damaged: 1 of 3 .*c/0/{chunk}\)"):
        open_source(ours)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_chunks_that_others_did_not_store_are_counted(tmp_path, zarr_format):
    X = np.array([[1.0, 2, 0, 0, 0, 0]] * 3)
    path = foreign(tmp_path / "x.zarr", zarr_format, X)
    with pytest.warns(UserWarning, match=r"2 of 3 chunks are missing .*read as 0.0"):
        source = open_source(path)
    np.testing.assert_array_equal(source.columns(np.arange(6)), X)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_whole_array_of_others_gives_no_warning(tmp_path, zarr_format):
    path = foreign(tmp_path / "x.zarr", zarr_format, np.ones((3, 6)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        open_source(path)


def test_chunks_in_shards_are_counted_by_shard(tmp_path):
    zarr.create_array(str(tmp_path / "x.zarr"), data=np.ones((4, 8)), chunks=(2, 2), shards=(4, 4))
    (tmp_path / "x.zarr/c/0/1").unlink()
    with pytest.warns(UserWarning, match=r"1 of 2 chunks are missing .*c/0/1"):
        open_source(tmp_path / "x.zarr")


@pytest.mark.parametrize("keep", [0, 5])
def test_a_chunk_that_was_cut_short_is_refused(ours, keep):
    chunk = ours / "c/0/1"
    chunk.write_bytes(chunk.read_bytes()[:keep])
    with pytest.raises(ValueError, match=r"t\.zarr.*damaged, cut short"):
        read(ours)
    with pytest.raises(ValueError, match=r"t\.zarr.*damaged, cut short"):
        open_source(ours).columns(np.array([3]))
