"""Results appear whole, and no file of the user's is ever lost to them."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gradsift._run.atomic import scratch_name
from gradsift.pipeline import _folder as room
from gradsift.pipeline import new_file, results_place

ROOT = os.name == "posix" and os.geteuid() == 0


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fill(out, text="first", **kwargs):
    with results_place(Path(out), **kwargs) as place, place.version() as new:
        (new / "selected.csv").write_text(text)
        (new / "report.html").write_text(text)


def tree(path="."):
    return sorted(str(p.relative_to(path)) for p in Path(path).rglob("*"))


def test_results_say_what_they_are(folder):
    fill("out")
    manifest = json.loads(Path("out/manifest.json").read_text())
    assert manifest["kind"] == "gradsift results"
    assert sorted(manifest["files"]) == ["report.html", "selected.csv"]
    assert tree() == ["out", "out/manifest.json", "out/report.html", "out/selected.csv"]


def test_results_nobody_touched_are_replaced_with_force_only(folder):
    fill("out")
    with pytest.raises(FileExistsError, match=r"out exists.*--force"):
        fill("out", "second")
    assert Path("out/report.html").read_text() == "first"
    fill("out", "second", force=True)
    assert Path("out/report.html").read_text() == "second"
    Path("out/report.html").unlink()  # one that the user threw away does not matter
    fill("out", "third", force=True)
    assert Path("out/report.html").read_text() == "third"


def test_what_the_user_added_is_never_removed(folder):
    fill("out")
    Path("out/notes.txt").write_text("mine")
    os.mkdir("out/more")
    with pytest.raises(FileExistsError, match=r"added to out.*more, notes.txt"):
        fill("out", "second", force=True)
    assert Path("out/notes.txt").read_text() == "mine"
    assert Path("out/report.html").read_text() == "first"


def test_what_the_user_changed_is_never_replaced(folder):
    fill("out")
    Path("out/report.html").write_text("my remarks")
    with pytest.raises(FileExistsError, match=r"changed in out.*report.html"):
        fill("out", "second", force=True)
    assert Path("out/report.html").read_text() == "my remarks"


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "{}", '{"kind": "gradsift results", "files": 3}', '{"files": {"a.csv": "x"}}'],
)
def test_a_folder_without_our_manifest_is_never_replaced(content, folder):
    os.mkdir("mine")
    Path("mine/summary.json").write_text("{}")  # the name of one of our files proves nothing
    Path("mine/manifest.json").write_text(content)
    Path("mine/data.csv").write_text("a,b\n")
    with pytest.raises(FileExistsError, match=r"not written by gradsift.*data.csv"):
        fill("mine", force=True)
    assert tree("mine") == ["data.csv", "manifest.json", "summary.json"]


def test_an_empty_folder_is_used(folder):
    os.mkdir("out")
    fill("out")
    assert Path("out/report.html").exists()


@pytest.mark.parametrize("out", [".", "..", "../..", "/", "./."])
def test_the_folder_we_are_in_is_not_replaced(out, folder):
    with pytest.raises(FileExistsError, match=r"folder you are in|mounted"):
        fill(out, force=True)


def test_the_input_is_neither_removed_nor_written_into(folder):
    fill("out")
    table = Path("out/t.csv")
    table.write_text("a,b\n")
    with pytest.raises(FileExistsError, match=r"holds the input"):
        fill("out", force=True, inputs=[table])
    with pytest.raises(FileExistsError, match=r"holds the input"):
        fill("out/t.csv", force=True, inputs=[table])
    os.mkdir("t.zarr")
    with pytest.raises(FileExistsError, match=r"lies inside the input"):
        fill("t.zarr/out", inputs=[None, Path("t.zarr")])
    assert table.read_text() == "a,b\n"


def test_links_are_not_followed(folder):
    os.mkdir("real")
    os.symlink("real", "link")
    os.symlink("nowhere", "broken")
    for name in ("link", "broken"):
        with pytest.raises(FileExistsError, match="is a link"):
            fill(name, force=True)
    fill("out")
    Path("out/report.html").unlink()
    os.symlink("/etc/hostname", "out/report.html")
    with pytest.raises(FileExistsError, match=r"changed in out.*report.html"):
        fill("out", force=True)


def test_a_file_in_the_way_is_said(folder):
    Path("file").write_text("mine")
    with pytest.raises(FileExistsError, match="is a file"):
        fill("file", force=True)
    with pytest.raises(NotADirectoryError, match="not a folder"):
        fill("file/out")
    assert Path("file").read_text() == "mine"


@pytest.mark.skipif(ROOT, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_to_is_said_first(folder):
    os.mkdir("locked", 0o555)
    with pytest.raises(PermissionError, match="cannot be written to"):
        fill("locked/out")


def test_too_little_space_is_said_first(folder, monkeypatch):
    monkeypatch.setattr(room, "LEAST_FREE", 1 << 60)
    with pytest.raises(OSError, match=r"MB left"):
        fill("out")
    assert tree() == []


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, OSError])
def test_a_failure_leaves_the_old_results_and_nothing_else(error, folder):
    fill("out")

    def fail():
        with results_place(Path("out"), force=True) as place, place.version() as new:
            (new / "selected.csv").write_text("half")
            raise error

    with pytest.raises(error):
        fail()
    assert tree() == ["out", "out/manifest.json", "out/report.html", "out/selected.csv"]
    assert Path("out/report.html").read_text() == "first"


def test_a_second_writer_is_told_and_the_first_wins(folder):
    with results_place(Path("out")) as place, place.version() as new:
        (new / "a.txt").write_text("first")
        with pytest.raises(FileExistsError, match=f"being written by process {os.getpid()}"):
            fill("out", force=True)
    assert tree() == ["out", "out/a.txt", "out/manifest.json"]


def test_a_folder_that_came_meanwhile_is_not_replaced(folder):
    def late():
        with results_place(Path("out")) as place, place.version() as new:
            (new / "a.txt").write_text("new")
            os.mkdir("out")
            Path("out/mine.txt").write_text("mine")

    with pytest.raises(FileExistsError, match="out exists"):
        late()
    assert tree() == ["out", "out/mine.txt"]


def test_what_a_kill_left_is_cleared_by_the_next_run(folder):
    scratch = scratch_name(Path("out"))
    (scratch / "new").mkdir(parents=True)
    (scratch / "in-use").write_text("1\n")
    (scratch / "new" / "half.csv").write_text("x")
    fill("out")
    assert tree() == ["out", "out/manifest.json", "out/report.html", "out/selected.csv"]


def test_results_a_kill_caught_between_two_renames_come_back(folder):
    fill("out")
    scratch = scratch_name(Path("out"))
    scratch.mkdir()
    (scratch / "in-use").write_text("1\n")
    os.replace("out", scratch / "old")  # the moment between "old away" and "new in its place"
    with pytest.raises(FileExistsError, match="out exists"):
        fill("out", "second")
    assert tree() == ["out", "out/manifest.json", "out/report.html", "out/selected.csv"]
    assert Path("out/report.html").read_text() == "first"


KILLED = """
import os, signal, sys
from pathlib import Path
from gradsift.pipeline import results_place

def write(text):
    with results_place(Path("out"), force=True) as place, place.version() as new:
        (new / "selected.csv").write_text(text)
        (new / "report.html").write_text(text)

def write_until(step):
    left = step
    def kill(event, args):
        nonlocal left
        if event in ("os.rename", "os.remove", "os.rmdir"):
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(kill)
    write("second")
    os._exit(0)

for step in range(100):
    os.makedirs(f"at {step}")
    os.chdir(f"at {step}")
    write("first")
    child = os.fork()
    if child == 0:
        write_until(step)
    if os.waitpid(child, 0)[1] == 0:
        break
    os.chdir("..")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks there")
@pytest.mark.parametrize("then", ["run again", "remove the results first"])
def test_a_kill_at_any_step_of_a_replacement_leaves_whole_results(then, folder, monkeypatch):
    """Killed before each rename and removal in turn, until a run comes to its end."""
    subprocess.run([sys.executable, "-W", "ignore", "-c", KILLED], check=True)
    places = sorted(folder.iterdir())
    assert len(places) > 5  # two renames, and the removal of three old files
    for place in places:
        monkeypatch.chdir(place)
        kept = Path("out") if Path("out").exists() else scratch_name(Path("out")) / "old"
        assert tree(kept) == ["manifest.json", "report.html", "selected.csv"]
        if then == "remove the results first" and Path("out").exists():
            shutil.rmtree("out")
        with contextlib.suppress(FileExistsError):  # what was put back is not replaced
            fill("out", "third")
        assert tree("out") == ["manifest.json", "report.html", "selected.csv"]
        fill("out", "fourth", force=True)
        assert Path("out/report.html").read_text() == "fourth"


def test_a_hidden_folder_of_the_user_s_is_left_alone(folder):
    scratch = scratch_name(Path("out"))
    scratch.mkdir()
    (scratch / "mine.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="not made by gradsift"):
        fill("out")
    assert (scratch / "mine.txt").read_text() == "mine"


def test_a_file_is_not_written_over_its_input(folder):
    Path("t.csv").write_text("a\n")
    with (
        pytest.raises(FileExistsError, match="holds the input"),
        new_file(Path("t.csv"), force=True, inputs=[Path("t.csv")]),
    ):
        pass
    os.mkdir("x")
    with pytest.raises(IsADirectoryError, match="is a folder"), new_file(folder / "x"):
        pass
    assert Path("t.csv").read_text() == "a\n"


FULL = """
import sys
from pathlib import Path
from gradsift.pipeline import _folder
from gradsift.pipeline import results_place
_folder.LEAST_FREE = 0
try:
    with results_place(Path(sys.argv[1]) / "out", force=True) as place, place.version() as new:
        (new / "big").write_bytes(bytes(1 << 22))
except OSError as error:
    print(error.errno)
"""


@pytest.mark.skipif(not ROOT or shutil.which("mount") is None, reason="needs root and mount")
def test_a_full_disk_leaves_the_old_results(folder):
    os.mkdir("disk")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", "disk"], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("no disk may be mounted here")
    try:
        with pytest.raises(OSError, match="MB left"):
            fill("disk/out")
        old, room.LEAST_FREE = room.LEAST_FREE, 0
        try:
            fill("disk/out")
        finally:
            room.LEAST_FREE = old
        before = tree("disk")
        said = subprocess.run(
            [sys.executable, "-c", FULL, "disk"], capture_output=True, text=True, check=True
        )
        assert said.stdout.strip() == "28"  # no space left on device
        assert tree("disk") == before
    finally:
        subprocess.run(["umount", "disk"], check=True)
