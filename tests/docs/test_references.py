"""Every citation resolves: keys in docstrings and pages are entries of docs/references.md."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "references.md").read_text(encoding="utf-8")
ENTRIES = dict(re.findall(r"^\(([\w-]+)\)=\n(.+)$", PAGE, re.MULTILINE))
ROLE = re.compile(r":cite:`([^`]+)`")
LINK = re.compile(r"references\.md#([\w-]+)")


def cited():
    """(file, key) of every citation in the sources, the pages and the examples."""
    for folder, suffix in (
        ("src", "py"),
        ("examples", "py"),
        ("experiments", "py"),
        ("docs", "md"),
    ):
        for path in sorted((ROOT / folder).rglob(f"*.{suffix}")):
            text = path.read_text(encoding="utf-8")
            for key in ROLE.findall(text) + LINK.findall(text):
                yield str(path.relative_to(ROOT)), key
    for key in LINK.findall((ROOT / "README.md").read_text(encoding="utf-8")):
        yield "README.md", key


CITED = sorted(set(cited()))


@pytest.mark.parametrize(("file", "key"), CITED)
def test_every_citation_is_an_entry(file, key):
    assert key in ENTRIES, file


def test_every_entry_is_cited():
    assert ENTRIES.keys() - {key for _, key in CITED} == set()


@pytest.mark.parametrize("key", ENTRIES)
def test_an_entry_has_authors_a_year_and_an_address(key):
    entry = ENTRIES[key]
    (year,) = re.findall(r"^\*\*.+ \((\d{4})\)\*\*\. ", entry)
    assert key.endswith(year)
    (shown, url) = re.findall(r"\[(\S+)\]\((https://\S+)\)$", entry)[0]
    assert url.endswith(shown.replace("(", "%28").replace(")", "%29"))


def test_no_docstring_spells_a_reference_out():
    """They have one home, docs/references.md."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        for body in re.findall(r"\bReferences\n *-+\n((?:.*\n)*?) *\"\"\"", path.read_text()):
            assert ROLE.search(body), path
            assert not re.search(r"\(\d{4}\)\.|\bJournal\b", body), path
