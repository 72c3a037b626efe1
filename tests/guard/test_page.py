"""The page on guarantees names tests that exist, for promises that it states."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "guarantees.md"
PROMISES = re.findall(r"\[([^\]]+)\]\((\.\./tests/[^)]+)\)", PAGE.read_text())


def test_the_promises_are_found():
    assert len(PROMISES) >= 10


@pytest.mark.parametrize(("promise", "file"), PROMISES, ids=[file for _, file in PROMISES])
def test_every_promise_has_its_tests(promise, file):
    tests = re.findall(r"^def test_\w+", (PAGE.parent / file).read_text(), re.MULTILINE)
    assert promise
    assert tests
