"""The page that says what each statement is computed from knows every statement."""

import ast
from pathlib import Path

import pytest

from gradsift.evaluate.scores import LABELS, NUMBERS
from gradsift.report import sure_words

PAGE = Path(__file__).parents[2] / "docs" / "honesty.md"


def titles():
    """Titles of the points of the report: pairs of a title and a sentence in the code."""
    tree = ast.parse(Path(sure_words.__file__).read_text(encoding="utf-8"))
    pairs = (n.elts for n in ast.walk(tree) if isinstance(n, ast.Tuple) and len(n.elts) == 2)
    return {a.value for a, _ in pairs if isinstance(a, ast.Constant) and isinstance(a.value, str)}


def test_there_are_many_points():
    assert len(titles()) >= 20


@pytest.mark.parametrize("title", sorted(titles()))
def test_every_point_of_the_report_is_on_the_page(title):
    assert title.lower() in PAGE.read_text(encoding="utf-8").lower()


@pytest.mark.parametrize("score", [*NUMBERS, *LABELS])
def test_every_score_is_on_the_page(score):
    assert score in PAGE.read_text(encoding="utf-8")
