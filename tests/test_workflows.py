"""The Galaxy tool and the nf-core module ask for options there are, and take what is written."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import typer

from gradsift.cli._app import app

ROOT = Path(__file__).parents[1] / "workflows"
GALAXY = ROOT / "galaxy" / "gradsift_select.xml"
MODULE = ROOT / "nf-core" / "gradsift" / "select"

pytestmark = pytest.mark.skipif(not ROOT.exists(), reason="workflows are in the checkout only")


def options():
    select = typer.main.get_command(app).commands["select"]
    return {name for parameter in select.params for name in parameter.opts}


@pytest.mark.parametrize("path", [GALAXY, MODULE / "main.nf"], ids=["galaxy", "nf-core"])
def test_every_option_is_one_of_the_command(path):
    text = path.read_text().split("help>")[0]
    asked = set(re.findall(r"(?<=\s|\")(--[a-z-]+)(?= )", text))
    assert len(asked) > 2
    assert asked - {"--version"} <= options()


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    out = tmp_path_factory.mktemp("galaxy") / "results"
    table = ROOT / "galaxy" / "test-data" / "small.csv"
    asked = ["--target", "y", "--format", "tsv", "--out", str(out)]
    subprocess.run([sys.executable, "-m", "gradsift", "select", str(table), *asked], check=True)
    return out


def test_galaxy_takes_files_that_are_written(results):
    tool = ET.parse(GALAXY).getroot()
    for data in tool.find("outputs"):
        assert (results / Path(data.get("from_work_dir")).name).is_file()
    inputs = {param.get("name") for param in tool.find("inputs")}
    used = set(re.findall(r"\$(?:\{)?([a-z_]+)", tool.find("command").text))
    assert used == inputs
    first = (results / "selected.tsv").read_text().splitlines()[1]
    assert first.split("\t")[1] == "b"


def test_the_module_emits_files_that_are_written_and_described(results):
    script = (MODULE / "main.nf").read_text()
    emitted = dict(re.findall(r'path\("\$\{prefix\}/([a-z.]+)"\)\s*, emit: (\w+)', script))
    assert len(emitted) == 6
    described = (MODULE / "meta.yml").read_text()
    for name, channel in emitted.items():
        assert (results / name).is_file()
        assert re.search(rf"^  {channel}:$", described, re.MULTILINE)
