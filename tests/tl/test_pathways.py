"""From an .h5ad file of cells to what a pathway tool takes, in the lines of the tutorial."""

import re
from pathlib import Path

import anndata
import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
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


def run_the_tutorial():
    page = ROOT / "docs" / "tutorials" / "single_cells.md"
    if not page.exists():
        pytest.skip("the pages are not beside the tests")
    text = page.read_text()
    shown = text[text.index("## From cells to donors") : text.index("## Why not the cells?")]
    lines = re.findall(r"^>>> (.*)$", shown, re.MULTILINE)
    known = {"np": np, "pd": pd}
    exec("\n".join(lines), known)
    return known


def test_the_tutorial_leads_from_the_file_to_a_table_for_pathway_tools(file):
    table = run_the_tutorial()["table"]
    assert table.index[0] == "GENE2"
    assert {"gradsift_stat", "gradsift_pvals", "gradsift_pvals_adj"} <= set(table)
    rows = [line.split("\t") for line in Path("disease.rnk").read_text().splitlines()]
    scores = [float(score) for _, score in rows]
    assert {name for name, _ in rows} == {f"GENE{k}" for k in range(25)}
    assert rows[0][0] == "GENE2"  # higher in the ill: the most positive
    assert scores == sorted(scores, reverse=True)


def test_gseapy_takes_the_file(file):
    gseapy = pytest.importorskip("gseapy", reason="gseapy is not installed")
    run_the_tutorial()
    sets = {name: [f"GENE{k}" for k in genes] for name, genes in SETS.items()}
    found = gseapy.prerank(rnk="disease.rnk", gene_sets=sets, outdir=None, min_size=2, seed=0).res2d
    assert set(found["Term"]) == set(sets)
