"""What is published says the truth: versions, extras, recipe, checklist."""

import importlib.util
import re
import sys
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import gradsift

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
RECIPE = (ROOT / "packaging" / "conda-forge" / "meta.yaml").read_text()
INSTALLING = (ROOT / "docs" / "howto" / "installing.md").read_text()
FOR_DEVELOPERS = {"test", "lint", "docs", "fuzz", "release"}


def packages(extra):
    """Names that an extra brings itself."""
    required = [Requirement(text) for text in EXTRAS[extra]]
    return {r.name for r in required if r.name != "gradsift"}


def test_types_are_shipped():
    assert files("gradsift").joinpath("py.typed").is_file()


def test_the_recipe_has_the_version_and_the_minimums_of_the_package():
    assert f'set version = "{gradsift.__version__}"' in RECIPE
    asked = [*PROJECT["dependencies"], *EXTRAS["cli"], *EXTRAS["plot"]]
    for required in map(Requirement, asked):
        if required.name != "gradsift":
            name = {"matplotlib": "matplotlib-base"}.get(required.name, required.name)
            assert f"    - {name} {required.specifier}\n" in RECIPE


@pytest.mark.parametrize("extra", sorted(set(EXTRAS) - FOR_DEVELOPERS))
def test_every_extra_says_what_it_enables(extra):
    (row,) = re.findall(rf"^\| `{extra}` \| (.+) \| (.*)\|$", INSTALLING, re.MULTILINE)
    enables, brings = row
    assert enables
    if extra != "all":
        assert packages(extra) <= set(re.findall(r"[\w-]+", brings))


def test_tools_of_developers_are_named():
    for extra in FOR_DEVELOPERS:
        assert f"`{extra}`" in INSTALLING


@pytest.mark.parametrize(
    "path", ["packaging/containers/Dockerfile", "packaging/containers/gradsift.def"]
)
def test_containers_install_extras_there_are(path):
    (asked,) = re.findall(r"/src\[([a-z,]+)\]", (ROOT / path).read_text())
    assert set(asked.split(",")) <= EXTRAS.keys()


def test_everything_a_user_can_use_is_in_all():
    (everything,) = EXTRAS["all"]
    named = {*Requirement(everything).extras, "all"}
    assert named == set(EXTRAS) - FOR_DEVELOPERS


def test_the_checks_in_public_know_three_systems_and_every_supported_python():
    text = (ROOT / "packaging" / "ci-github.yml").read_text()
    minor = r"Programming Language :: Python :: (3\.\d+)"
    supported = [found[1] for c in PROJECT["classifiers"] if (found := re.fullmatch(minor, c))]
    listed = ", ".join(f'"{version}"' for version in supported)
    assert f"python: [{listed}]" in text
    assert "os: [ubuntu-latest, macos-latest, windows-latest]" in text


def test_placeholders_are_said_to_be_so():
    text = (ROOT / "pyproject.toml").read_text()
    if "example.org" in text:
        assert re.search(r"\[project.urls\]\n# placeholders", text)
        assert "placeholders" in (ROOT / "packaging" / "README.md").read_text()


def test_the_checklist_ticks_all_that_depends_on_files(monkeypatch):
    spec = importlib.util.spec_from_file_location("checklist", ROOT / "packaging" / "checklist.py")
    checklist = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "checklist", checklist)  # dataclasses look it up
    spec.loader.exec_module(checklist)
    lines = list(checklist.report())
    assert len(lines) == len(checklist.BOXES) + len(checklist.EVERYBODY)
    open_boxes = [box.asked for box in checklist.BOXES if not box.ticked() and not box.waits_for]
    assert open_boxes == []
