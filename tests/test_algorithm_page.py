"""The specification names every setting, and no setting that is not there."""

import re
from dataclasses import fields
from pathlib import Path

from gradsift.data.imputation import FillSettings
from gradsift.refit.settings import RefitSettings
from gradsift.sift import procedure
from gradsift.sift.settings import Limits, SiftSettings

PAGE = (Path(__file__).parents[1] / "docs" / "algorithm.md").read_text(encoding="utf-8")
KINDS = SiftSettings, Limits, FillSettings, RefitSettings
SETTINGS = {field.name for kind in KINDS for field in fields(kind)}


def test_every_setting_is_named_on_the_page():
    named = set(re.findall(r"[a-z][a-z0-9_]*", " ".join(re.findall(r"`([^`]*)`", PAGE))))
    assert named >= SETTINGS


def test_every_setting_has_its_reason():
    """A text below each field in the source."""
    for kind in KINDS:
        source = Path(__import__(kind.__module__, fromlist=["x"]).__file__).read_text()
        for field in fields(kind):
            assert re.search(rf'    {field.name}: [^\n]*\n    """', source), field.name


def test_the_sift_lists_its_steps():
    """The list at the top of the sift names functions that are there."""
    names = re.findall(r"^ {4,}([A-Za-z_.]+) {2,}", procedure.__doc__, re.MULTILINE)
    assert {"make_sift", "Sift.run", "search", "with_pairs", "SiftFit.result"} <= set(names)
    for name in names:
        owner, _, method = name.rpartition(".")
        places = [getattr(procedure, owner)] if owner else [procedure, procedure.Sift]
        assert any(hasattr(place, method) for place in places), name
