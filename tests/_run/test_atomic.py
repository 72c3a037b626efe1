import os
import subprocess
import sys

import pytest

from gradsift._run.atomic import atomic_write, scratch_next_to


def test_a_file_takes_its_name_when_it_is_whole(tmp_path):
    path = tmp_path / "answer.txt"
    with atomic_write(path) as part:
        part.write_text("new")
        assert not path.exists()
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["answer.txt"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_what_fails_leaves_the_old_file_and_nothing_else(error, tmp_path):
    path = tmp_path / "answer.txt"
    path.write_text("old")

    def write_half() -> None:
        with atomic_write(path) as part:
            part.write_text("ne")
            raise error

    with pytest.raises(error):
        write_half()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["answer.txt"]


def test_a_scratch_folder_goes_whatever_happens(tmp_path):
    def fail() -> None:
        with scratch_next_to(tmp_path / "t.zarr") as folder:
            assert folder.parent == tmp_path
            (folder / "piece").write_text("x")
            raise ValueError

    with pytest.raises(ValueError):
        fail()
    assert os.listdir(tmp_path) == []


def test_a_file_that_is_being_written_is_not_written_by_another(tmp_path):
    path = tmp_path / "answer.txt"
    with atomic_write(path) as part:
        part.write_text("first")
        with pytest.raises(FileExistsError, match="being written"), atomic_write(path):
            pass
    assert path.read_text() == "first"
    assert os.listdir(tmp_path) == ["answer.txt"]


WRITER = """
import sys, time
from pathlib import Path
from gradsift._run.atomic import atomic_write
with atomic_write(Path(sys.argv[1])) as part:
    part.write_text("half")
    print("writing", flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no such locks there")
def test_what_a_killed_writer_left_goes_with_the_next_one(tmp_path):
    path = tmp_path / "answer.txt"
    job = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert job.stdout.readline() == "writing\n"
    with pytest.raises(FileExistsError, match=f"process {job.pid}"), atomic_write(path):
        pass
    job.kill()
    job.wait(60)
    job.stdout.close()
    assert os.listdir(tmp_path) == [".answer.txt.partial"]
    with atomic_write(path) as part:
        part.write_text("whole")
    assert os.listdir(tmp_path) == ["answer.txt"]
    assert path.read_text() == "whole"
