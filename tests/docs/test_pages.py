"""What README.md and docs/ name is there: languages of code blocks, commands, options, files.

The blocks themselves are run by `make docs-check` (conftest.py at the root says how).
"""

import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer

from gradsift.cli._app import app

ROOT = Path(__file__).parents[2]
PAGES = {
    str(page.relative_to(ROOT)): page.read_text(encoding="utf-8")
    for folder in (".", "docs", "docs/*", "packaging")
    for page in sorted(ROOT.glob(f"{folder}/*.md"))
}
RUN = {"python", "console"}  # by make docs-check
SHOWN = {"sh", "r", "text"}  # commands too long to run, of which the names are checked; R; text
SITE = {"{raw} html", "{toctree}", "{include} ../README.md"}  # read by make docs
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
GROUP = typer.main.get_command(app)
COMMANDS = GROUP.commands
WITHOUT_COMMAND = {name for option in GROUP.params for name in option.opts} | {"--help"}


def blocks(text):
    """(language, content) of every fenced block."""
    return re.findall(r"^```(.*)\n((?:.*\n)*?)^```$", text, re.MULTILINE)


def named_commands(text):
    """Command lines in blocks and between backticks, without $ and comments."""
    lines = [line.removeprefix("$ ") for _, body in blocks(text) for line in body.splitlines()]
    prose = re.sub(r"^```(.*\n)*?^```$", "", text, flags=re.MULTILINE)
    lines += [span.replace("\n", " ") for span in re.findall(r"`([^`]+)`", prose)]
    for line in lines:
        words = shlex.split(line, comments=True) if line.count("'") % 2 == 0 else line.split()
        while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
            words = words[1:]
        if len(words) > 1 and words[0] in ("gradsift", "make", "python"):
            yield words


def test_the_pages_are_found():
    assert {"README.md", "docs/tutorials/snps.md", "docs/benchmarks/accuracy.md"} <= set(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_every_block_says_what_it_is(page):
    """Only then is it known whether it is run."""
    assert {language for language, _ in blocks(PAGES[page])} <= RUN | SHOWN | SITE


@pytest.mark.parametrize("page", PAGES)
def test_commands_that_are_named_exist(page):
    for program, *words in named_commands(PAGES[page]):
        if program == "make":
            assert words[0] in TARGETS
        elif program == "gradsift":
            if words[0] in WITHOUT_COMMAND:
                continue
            assert words[0] in COMMANDS
            options = COMMANDS[words[0]].params
            known = {name for one in options for name in (*one.opts, *one.secondary_opts)}
            assert {w for w in words if w.startswith("--")} <= known | {"--help"}, words
        elif words[0] == "-m":
            assert find_spec(words[1]), words
        elif words[0].endswith(".py"):
            assert (ROOT / words[0]).is_file(), words


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)", PAGES[page]):
        if not target.startswith(("http", "mailto")):
            assert (ROOT / page).parent.joinpath(target).exists(), target
