"""Recorded tables: what a command prints is kept, and shown as it was."""

import subprocess
import sys

import pytest
import tables


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "HERE", tmp_path)
    return tmp_path


@pytest.fixture
def page(monkeypatch):
    """What is written into a page."""
    written = []
    monkeypatch.setattr(tables, "put", written.append)
    return written


TWO = r"a: first\n\n| design | AP | s |\n|---|---|---|\n| xor | 1.00 | 3 |\n| ring |  | 4 |\n"
TWO += r"b: second\n| design | AP |\n|---|---|\n| xor | 0.50 |\n"


def test_a_recorded_command_can_be_shown(folder, page, capfd):
    tables.record("two", f"{sys.executable} -c \"print('{TWO}')\"")
    assert "| xor | 1.00 | 3 |" in capfd.readouterr().out  # its output is let through
    kept = tables.load("two")
    assert list(kept["tables"]) == ["a: first", "b: second"]
    assert kept["command"].startswith(sys.executable)
    tables.show("two", columns=["design", "AP"])
    assert page.pop() == "| design | AP |\n|---|---|\n| xor | 1.00 |\n| ring |  |\n"
    tables.pivot("two", "AP")
    assert page.pop() == (
        "|  | xor | ring |\n|---|---|---|\n| a: first | 1.00 |  |\n| b: second | 0.50 |  |\n"
    )


def test_a_command_without_a_table_is_refused(folder):
    with pytest.raises(SystemExit, match="printed no table"):
        tables.record("none", f"{sys.executable} -c 'print(1)'")
    assert not list(folder.iterdir())


def test_a_stale_page_fails(folder, tmp_path):
    """cog --check, as make docs-check calls it."""
    page = tmp_path / "page.md"
    marks = '<!-- [[[cog tables.show("speed") ]]] -->\n{}<!-- [[[end]]] -->\n'
    command = [sys.executable, "-m", "cogapp", "-I", str(tables.__file__).rpartition("/")[0]]
    command += ["-p", "import tables", "--check", str(page)]
    page.write_text(marks.format("| old |\n"))
    assert subprocess.run(command, check=False, capture_output=True).returncode != 0
    subprocess.run([*command[:-2], "-r", str(page)], check=True, capture_output=True)
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0
