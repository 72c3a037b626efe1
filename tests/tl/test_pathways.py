"""From an .h5ad file of cells to what a pathway tool takes, in the six lines of the tutorial."""

import re
from pathlib import Path

import anndata
import numpy as np
import pandas as pd
import pytest

import gradsift as gs

ROOT = Path(__file__).parents[2]
MOST_LINES = 6
SETS = {"altered": [2, 11, 12, 13, 14, 15], "others": [5, 6, 7, 8, 9, 10]}


@pytest.fixture
def file(tmp_path, monkeypatch):
    """cells.h5ad in the present folder: 30 donors; GENE2 is higher in the 15 ill ones."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    donor = np.repeat(np.arange(30), 8)
    ill = np.arange(30) % 2
    rate = np.exp(rng.normal(1.5, 0.2, size=(30, 25)))
    rate[:, 2] *= 1 + 2 * ill
    obs = pd.DataFrame(
        {"donor": [f"D{k}" for k in donor], "disease": np.where(ill[donor], "yes", "no")},
        index=[f"cell{k}" for k in range(len(donor))],
    )
    counts = rng.poisson(rate[donor]).astype(float)
    genes = pd.DataFrame(index=[f"GENE{k}" for k in range(25)])
    anndata.AnnData(counts, obs=obs, var=genes).write_h5ad("cells.h5ad")


def lines_of_the_tutorial():
    page = ROOT / "docs" / "tutorials" / "single_cells.md"
    if not page.exists():
        pytest.skip("the pages are not beside the tests")
    shown = re.search(r"## From cells to.*?```python\n(.*?)```", page.read_text(), re.DOTALL)
    lines = re.findall(r"^>>> (.*)$", shown.group(1), re.MULTILINE)
    return lines[: 1 + next(k for k, line in enumerate(lines) if "write_rnk" in line)]


def test_six_lines_lead_from_the_file_to_a_table_for_pathway_tools(file):
    lines = lines_of_the_tutorial()
    assert len(lines) <= MOST_LINES
    known = {}
    exec("\n".join(lines), known)
    table = known["table"]
    assert table["names"].iloc[0] == "GENE2"
    assert {"names", "scores", "pvals", "pvals_adj", "selected"} <= set(table)
    rows = [line.split("\t") for line in known["ranks"].read_text().splitlines()]
    scores = [float(score) for _, score in rows]
    assert {name for name, _ in rows} == {f"GENE{k}" for k in range(25)}
    assert rows[0][0] == "GENE2"  # higher in the ill: the most positive
    assert scores == sorted(scores, reverse=True)


def test_gseapy_takes_the_file(file):
    gseapy = pytest.importorskip("gseapy", reason="gseapy is not installed")
    donors = gs.tl.pseudobulk(anndata.read_h5ad("cells.h5ad"), "donor", how="log_cpm")
    gs.tl.select(donors, "disease", inference=False)
    sets = {name: [f"GENE{k}" for k in genes] for name, genes in SETS.items()}
    path = str(gs.tl.write_rnk(donors, "disease.rnk"))
    found = gseapy.prerank(rnk=path, gene_sets=sets, outdir=None, min_size=2, seed=0).res2d
    assert set(found["Term"]) == set(sets)
