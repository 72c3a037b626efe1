"""The repository keeps its own rules: one version, true minimums, short functions and files."""

import ast
import io
import os
import re
import tokenize
import tomllib
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

import gradsift

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "tests", "benchmarks", "experiments")
SOURCES = sorted(chain(*((ROOT / folder).rglob("*.py") for folder in FOLDERS)))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PINNED = ("docs",)
"""Extras of exact versions: the site is built with these and no others."""

TOOLS = (*PINNED, "test", "lint", "fuzz", "release")
"""Extras that the package does not import, or that `make test-oldest` does not install."""

MOST_LINES = 900
MOST_CODE_LINES = 50


def minimums(requirements):
    """{package: oldest version} of requirements such as 'numpy>=1.26'."""
    found = {}
    for text in requirements:
        required = Requirement(text)
        if required.name != "gradsift":
            (clause,) = required.specifier
            assert clause.operator == ">="
            found[required.name] = Version(clause.version)
    return found


def pinned():
    lines = (ROOT / "tests" / "oldest.txt").read_text().splitlines()
    required = [Requirement(text) for line in lines if (text := line.split("#")[0].strip())]
    return {r.name: Version(str(r.specifier).removeprefix("==")) for r in required}


def test_the_oldest_versions_tested_are_the_oldest_allowed():
    core = PROJECT["project"]["dependencies"]
    extras = PROJECT["project"]["optional-dependencies"]
    allowed = minimums([*core, *chain(*(extras[k] for k in extras if k not in PINNED))])
    tested = pinned()
    assert {k: v for k, v in tested.items() if k in allowed and v != allowed[k]} == {}
    imported = minimums([*core, *chain(*(extras[k] for k in extras if k not in TOOLS))])
    assert set(imported) - set(tested) == set()


def test_one_version():
    assert "version" not in PROJECT["project"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "src/gradsift/__init__.py"
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited.group(1) == gradsift.__version__
    assert f"## {gradsift.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_commits_are_checked_by_the_tools_of_make_lint():
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    lint = re.search(r"^lint:.*\n((?:\t.+\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for tool in re.findall(r"\$\(BIN\)/([\w-]+)", lint.group(1)):
        assert f"entry: .venv/bin/{tool}" in hooks
    assert re.findall(r"repo: (\S+)", hooks) == ["local"]  # works without a network


def lines_with_code(text):
    """Numbers of the lines that hold more than comments."""
    silent = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    found = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in silent:
            found |= set(range(token.start[0], token.end[0] + 1))
    return found


def code_lines(function, code):
    """How many lines of code the body of a function has, its docstring left out."""
    body = function.body[ast.get_docstring(function) is not None :]
    return len(code & set(range(body[0].lineno, function.end_lineno + 1))) if body else 0


def long_functions(path):
    text = path.read_text()
    code = lines_with_code(text)
    functions = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef)]
    return [f.name for f in functions if code_lines(f, code) > MOST_CODE_LINES]


def place(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", SOURCES, ids=place)
def test_functions_and_files_are_short(path):
    assert long_functions(path) == []
    assert len(path.read_text().splitlines()) <= MOST_LINES


def test_the_count_of_code_lines(tmp_path):
    body = ['    """Doc', '    string."""', "    # a comment", "", *["    x = 1"] * 51]
    path = tmp_path / "long.py"
    path.write_text(os.linesep.join(["def long(", "    x,", "):", *body, ""]))
    assert long_functions(path) == ["long"]
    path.write_text(path.read_text().replace("    x = 1\n", "", 1))
    assert long_functions(path) == []
