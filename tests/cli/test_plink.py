"""PLINK's conventions: tables of phenotypes and covariates, lists of samples, filters, outputs."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from bed_reader import to_bed

from gradsift.cli._exit import run
from gradsift.tables import Choices, open_table

N, P = 60, 6
FID = [f"f{i // 2}" for i in range(N)]
IID = [f"p{i}" for i in range(N)]


@pytest.fixture(autouse=True)
def study(tmp_path, monkeypatch):
    """Genotypes with no calls, rare variants, and files beside them as PLINK writes them."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    calls = rng.binomial(2, 0.4, size=(N, P)).astype(float)
    calls[:, 4] = 0.0
    calls[0, 4] = 1.0  # rare
    calls[:20, 5] = np.nan  # a third is missing
    age = rng.normal(50.0, 10.0, size=N).round(3)
    height = (2.0 * calls[:, 1] + 0.1 * age + 0.4 * rng.normal(size=N)).round(4)
    ill = np.where(calls[:, 2] + 0.3 * rng.normal(size=N) > 0.6, 2, 1)
    properties = {
        "fid": FID, "iid": IID, "sid": [f"rs{k}" for k in range(P)],
        "chromosome": ["1", "1", "2", "2", "X", "X"], "bp_position": [10, 20, 30, 40, 50, 60],
        "allele_1": list("ACGTAC"), "allele_2": list("GTACGT"),
        "pheno": ["-9" if i < 3 else str(v) for i, v in enumerate(ill)],
    }  # fmt: skip
    to_bed("g.bed", calls, properties=properties)
    order = rng.permutation(N)
    lines = [f"{FID[i]} {IID[i]}  {height[i]}  {ill[i]}" for i in order]
    lines[0] = " ".join([*lines[0].split()[:2], "NA", "-9"])
    Path("p.pheno").write_text("\n".join(["FID IID height ill", *lines]) + "\n")
    Path("c.covar").write_text(
        "\n".join(
            ["#FID\tIID\tage\tsite", *(f"{FID[i]}\t{IID[i]}\t{age[i]}\t{i % 2}" for i in order)]
        )
    )
    Path("pc.eigenvec").write_text(
        "\n".join(f"{FID[i]} {IID[i]} {age[i] / 10:.4f} {i % 7}" for i in order)
    )
    return calls, age, height, ill, order


def test_phenotypes_by_name_and_covariates(study):
    calls, age, height, _, order = study
    table = open_table(
        Path("g.bed"), Choices("height", covariates=Path("c.covar")), Path("p.pheno")
    )
    there = np.arange(N) != order[0]
    np.testing.assert_allclose(table.y, height[there])
    np.testing.assert_allclose(table.covariates["age"], age[there])
    np.testing.assert_array_equal(table.X, calls[there])
    assert any("1 row without 'height'" in note for note in [note.text for note in table.notes])


def test_cases_are_2_and_controls_1(study, capsys):
    *_, ill, order = study
    options = ["--pheno", "p.pheno", "--pheno-name", "ill", "--covar", "c.covar", "--cv", "0"]
    assert run(["select", "g.bed", *options, "--out", "o"]) == 0
    summary = json.loads(Path("o/summary.json").read_text())
    assert len(summary["classes"]) == 2
    assert summary["rows"] == N - 1
    assert summary["selected"][0] == "rs2"
    assert "1 value of 'ill' read as missing: PLINK's codes" in " ".join(
        note["text"] for note in summary["notes"]
    )
    assert ill[order[0]] in (1, 2)


def test_where_variants_are_and_who_was_predicted(capsys):
    options = ["--pheno", "p.pheno", "--pheno-name", "height", "--covar", "pc.eigenvec"]
    assert run(["select", "g.bed", *options, "--cv", "0", "--out", "o"]) == 0
    with open("o/selected.csv", newline="") as file:
        (row,) = csv.DictReader(file)
    found = [row[k] for k in ("name", "chromosome", "position", "allele", "other_allele")]
    assert found == ["rs1", "1", "20", "C", "T"]
    assert "Adjusted for PC1 and PC2" in " ".join(capsys.readouterr().out.split())
    assert run(["predict", "o", "g.bed", "--covar", "pc.eigenvec", "--out", "p.csv"]) == 0
    with open("p.csv", newline="") as file:
        assert [row["row"] for row in csv.DictReader(file)] == IID


def test_rows_without_a_phenotype_are_left_out_and_counted():
    table = open_table(Path("g.bed"), Choices("phenotype"))
    assert len(table.y) == N - 3
    assert any("3 rows without 'phenotype'" in note for note in [note.text for note in table.notes])


def test_the_phenotype_is_the_target_unless_said(capsys):
    assert run(["select", "g.bed", "--cv", "0", "--out", "o"]) == 0
    assert json.loads(Path("o/summary.json").read_text())["target"] == "phenotype"
    assert run(["select", "g.bed", "--pheno", "p.pheno", "--out", "q"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "has 'height', 'ill': say which is the target." in said
    assert run(["select", "p.pheno", "--out", "q"]) == 1
    assert "give the column to explain with --target" in capsys.readouterr().err


def test_lists_of_samples():
    Path("keep.txt").write_text("".join(f"{FID[i]} {IID[i]}\n" for i in range(40)))
    Path("remove.txt").write_text("#IID\np10\np11\nnobody\n")
    table = open_table(
        Path("g.bed"),
        Choices("phenotype", keep_samples=Path("keep.txt"), remove_samples=Path("remove.txt")),
    )
    assert table.ids.tolist() == [name for name in IID[3:40] if name not in ("p10", "p11")]
    assert "40 of 60 samples are in keep.txt and were kept" in [note.text for note in table.notes]
    assert "2 of 60 samples are in remove.txt and were left out" in [
        note.text for note in table.notes
    ]
    Path("other.txt").write_text("x y\n")
    with pytest.raises(ValueError, match=r"no sample of g\.bed \(such as 'p0'\) is in other\.txt"):
        open_table(Path("g.bed"), Choices("phenotype", keep_samples=Path("other.txt")))


def test_lists_of_samples_of_a_table_that_names_them():
    rows = "".join(f"{IID[i]},{i * 1.5},{(i * 7) % 11}\n" for i in range(N))
    Path("t.csv").write_text("who,a,y\n" + rows)
    Path("keep.txt").write_text("".join(f"{name}\n" for name in IID[:30]))
    choices = Choices("y", keep_samples=Path("keep.txt"), task="regression")
    assert open_table(Path("t.csv"), choices).ids.tolist() == IID[:30]


def test_rare_and_missing_variants():
    table = open_table(Path("g.bed"), Choices("phenotype", maf=0.05, max_missing=0.2))
    assert list(table.names) == ["rs0", "rs1", "rs2", "rs3"]
    assert "1 of 6 columns: missing in more than 0.2 of the samples" in [
        note.text for note in table.notes
    ]
    assert "1 of 6 columns: their rarer allele is less frequent than 0.05" in [
        note.text for note in table.notes
    ]
    for bad, message in (
        ({"maf": 0.6}, "maf 0.6: use a share from 0 to 0.5"),
        ({"max_missing": -1.0}, "max_missing -1: use a share"),
        ({"maf": 0.5}, "leave no column"),
    ):
        with pytest.raises(ValueError, match=message):
            open_table(Path("g.bed"), Choices("phenotype", **bad))
    with pytest.raises(ValueError, match="holds values outside of 0 to 2"):
        open_table(Path("p.pheno"), Choices("ill", drop=("FID", "IID"), maf=0.1))


def test_findings_are_groups():
    table = open_table(Path("g.bed"), Choices("phenotype", group="FID"))
    assert table.groups.labels.tolist() == FID[3:]


def test_an_offset_from_the_table_of_covariates(study, capsys):
    _, age, _, _, order = study
    known = 0.1 * age
    Path("o.covar").write_text(
        "\n".join(
            ["FID IID prs site", *(f"{FID[i]} {IID[i]} {known[i]:.5f} {i % 2}" for i in order)]
        )
    )
    asked = Choices("height", covariates=Path("o.covar"), offset="prs")
    table = open_table(Path("g.bed"), asked, Path("p.pheno"))
    assert list(table.covariates) == ["site"]
    np.testing.assert_allclose(table.offset, known[np.arange(N) != order[0]], atol=1e-5)
    options = ["--pheno", "p.pheno", "--pheno-name", "height", "--cv", "0"]
    beside = ["--covar", "o.covar", "--offset", "prs"]
    assert run(["select", "g.bed", *options, *beside, "--out", "o"]) == 0
    assert run(["predict", "o", "g.bed", "--covar", "o.covar", "--out", "p.csv"]) == 2
    assert "fitted with an offset" in " ".join(capsys.readouterr().err.split())
    assert run(["predict", "o", "g.bed", *beside, "--out", "p.csv"]) == 0
    asked = Choices("height", covariates=Path("o.covar"), offset="nothing")
    with pytest.raises(ValueError, match="has no column 'nothing'"):
        open_table(Path("g.bed"), asked, Path("p.pheno"))
