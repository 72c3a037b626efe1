"""The site is whole: every public name has its page, every page is reached from the start.

`make docs` builds it, with links checked; this is what can be said without building it.
"""

import ast
import re
import subprocess
from importlib import import_module
from pathlib import Path

import pytest

import gradsift

ROOT = Path(__file__).parents[2]
API = (ROOT / "docs" / "api" / "index.rst").read_text(encoding="utf-8")
LISTED = set(re.findall(r"^   ([\w.]+)$", API, re.MULTILINE))
ROOMS = (
    "answer",
    "displays",
    "evaluate",
    "inference",
    "data",
    "tables",
    "tl",
    "pl",
)
NOT_FOR_READERS = {"tables.BEWARE", "answer.FRAME", "answer.make_answer", "answer.EffectSample"}
TOCTREE = re.compile(r"^```\{toctree\}\n((?:.*\n)*?)```$", re.MULTILINE)
OUTSIDE = {"README.md", "packaging/paper.md"}  # the page of the repository, a draft for a journal


def test_every_name_of_the_package_is_in_the_reference():
    assert set(gradsift.__all__) - LISTED == set()


@pytest.mark.parametrize("room", ROOMS)
def test_every_name_of_a_room_is_in_the_reference(room):
    names = import_module(f"gradsift.{room}").__all__
    elsewhere = set(gradsift.__all__)
    missing = {f"{room}.{name}" for name in names if name not in elsewhere} - LISTED
    assert missing - NOT_FOR_READERS == set()


def test_every_warning_is_in_the_reference():
    ours = {n for n, kind in vars(gradsift.exceptions).items() if isinstance(kind, type)}
    assert {f"exceptions.{name}" for name in ours} - LISTED == set()


@pytest.mark.parametrize("name", sorted(LISTED))
def test_names_in_the_reference_exist(name):
    thing = gradsift
    for part in name.split("."):
        thing = getattr(thing, part, None) or import_module(f"{thing.__name__}.{part}")
    assert thing.__doc__


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("**/*.md")), ids=lambda p: p.stem)
def test_every_page_says_what_its_reader_will_be_able_to_do(page):
    if "gallery" in page.parts:
        pytest.skip("a list of pages")
    beginning = page.read_text(encoding="utf-8")[:800]
    assert "After this page you" in beginning


def below(page):
    """The pages in the toctrees of a page."""
    text = page.read_text(encoding="utf-8")
    for body in TOCTREE.findall(text):
        for line in body.splitlines():
            if not line or line.startswith(":"):
                continue
            target = re.sub(r"^.*<(.+)>$", r"\1", line)
            yield from sorted(page.parent.glob(f"{target}.md"))


def test_every_page_is_reached_from_the_start():
    seen, waiting = set(), [ROOT / "docs" / "start.md"]
    while waiting:
        page = waiting.pop().resolve()
        if page not in seen:
            seen.add(page)
            waiting.extend(below(page))
    tracked = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.md"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if tracked.returncode:
        pytest.skip("not a git checkout: other folders may hold pages of other programs")
    pages = {(ROOT / name).resolve() for name in tracked.stdout.split()}
    forgotten = {str(p.relative_to(ROOT)) for p in pages - seen if p.exists()} - OUTSIDE
    assert forgotten == set()


EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))


def test_there_are_many_examples():
    assert len(EXAMPLES) >= 20


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_asks_a_question_and_says_what_one_learns(path):
    """That it runs is seen by `make docs`, where an error in an example is an error."""
    title, rule, *rest = ast.get_docstring(ast.parse(path.read_text())).splitlines()
    assert title.endswith("?")
    assert rule == "=" * len(title)
    assert any(line.startswith("What you learn:") for line in rest)
    assert "\n# %%\n" in path.read_text()
