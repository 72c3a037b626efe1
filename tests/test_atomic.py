import os

import pytest

from gradsift._atomic import scratch_beside, whole_file


def test_a_file_takes_its_name_when_it_is_whole(tmp_path):
    path = tmp_path / "answer.txt"
    with whole_file(path) as part:
        part.write_text("new")
        assert not path.exists()
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["answer.txt"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_what_fails_leaves_the_old_file_and_nothing_else(error, tmp_path):
    path = tmp_path / "answer.txt"
    path.write_text("old")

    def write_half() -> None:
        with whole_file(path) as part:
            part.write_text("ne")
            raise error

    with pytest.raises(error):
        write_half()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["answer.txt"]


def test_a_scratch_folder_goes_whatever_happens(tmp_path):
    def fail() -> None:
        with scratch_beside(tmp_path / "t.zarr") as folder:
            assert folder.parent == tmp_path
            (folder / "piece").write_text("x")
            raise ValueError

    with pytest.raises(ValueError):
        fail()
    assert os.listdir(tmp_path) == []
