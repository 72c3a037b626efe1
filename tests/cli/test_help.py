"""The first help is short, and `--help-all` leaves nothing out."""

import re

import pytest
import typer

from gradsift.cli._app import app
from gradsift.cli._exit import run

MOST = 26
"""Options of the first help, not counting those that show help."""
COMMANDS = sorted(typer.main.get_command(app).commands)


def options_of(text):
    return set(re.findall(r"^  (--[a-z-]+)", text, re.MULTILINE)) - {"--help", "--help-all"}


def test_the_first_help_of_select_is_short_and_a_second_one_has_everything(capsys):
    assert run(["select", "--help"]) == 0
    first = options_of(capsys.readouterr().out)
    assert run(["select", "--help-all"]) == 0
    everything = options_of(capsys.readouterr().out)
    assert len(first) <= MOST
    assert {"--target", "--out", "--cv", "--fdr"} <= first < everything
    command = typer.main.get_command(app).commands["select"]
    known = {option.opts[0] for option in command.params if option.param_type_name == "option"}
    assert everything == known - {"--help-all"}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command, capsys):
    assert run([command, "--help"]) == 0
    assert "Usage: " in capsys.readouterr().out
