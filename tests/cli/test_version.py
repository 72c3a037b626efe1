"""gradsift --version, and names that were probably meant."""

import pytest

import gradsift
from gradsift.cli._exit import run


def test_the_version_is_that_of_the_package(capsys):
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"gradsift {gradsift.__version__}\n"


@pytest.mark.parametrize("command", ["selct", "--verison"])
def test_misspelt_commands_and_options_are_refused(command, capsys):
    assert run([command]) == 1
    assert "No such" in capsys.readouterr().err


def test_a_misspelt_target_is_told_the_nearest_name(tmp_path, capsys):
    table = tmp_path / "t.csv"
    table.write_text("temperature,pressure\n1,2\n3,4\n5,7\n")
    assert run(["select", str(table), "--target", "tempertaure"]) == 2
    assert "Did you mean 'temperature'?" in capsys.readouterr().err
