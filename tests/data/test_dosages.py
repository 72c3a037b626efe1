"""Dosages in PLINK 2 and BGEN files: values, samples, variants, and what is refused."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from stored_tables import NAMES, N, P, X, write_bgen, write_pgen

from gradsift.cli._exit import run
from gradsift.data import open_source, read_target
from gradsift.data.formats.registry import main_target, read_ids, stored_names, variants
from gradsift.data.plink_samples import read_psam

WRITE = {"pgen": write_pgen, "bgen": write_bgen}
each = pytest.mark.parametrize("kind", WRITE)


def dosages(holes=True):
    """Expected counts between 0 and 2, as an imputation gives them."""
    rng = np.random.default_rng(5)
    D = np.clip(X + 0.2 * rng.normal(size=X.shape), 0.0, 2.0)
    if holes:
        D[[3, 8], 4] = np.nan
    return D


@each
def test_dosages_and_missing_ones(kind, tmp_path):
    D = dosages()
    source = open_source(WRITE[kind](tmp_path, D))
    assert source.expects_missing
    every = source.columns(np.arange(P))
    np.testing.assert_array_equal(np.isnan(every), np.isnan(D))
    np.testing.assert_allclose(every, D, atol=1e-4)  # both round: to 2^-14, to 2^-16
    np.testing.assert_array_equal(np.hstack([block for _, block in source.blocks()]), every)


@each
def test_variants_and_samples(kind, tmp_path):
    trait = np.r_[-9.0, np.arange(N - 1) + 0.5]
    columns = {"pgen": {"SEX": ["M", "F"] * (N // 2)}, "bgen": {"sex": [1, 2] * (N // 2)}}[kind]
    path = WRITE[kind](tmp_path, **columns, height=trait, ward=["a", "b"] * (N // 2))
    found = list(variants(path))
    assert [one.name for one in found] == NAMES
    assert found[4] == ("g4", "2", "407", "G", "A")
    assert read_ids(path)[0] == [f"s{i}" for i in range(N)]
    assert main_target(path) == "height"
    assert set(stored_names(path)) >= {"height", "ward", *columns}
    np.testing.assert_array_equal(read_target(path, "height"), np.r_[np.nan, trait[1:]])
    np.testing.assert_array_equal(read_target(path, *columns), [1.0, 2.0] * (N // 2))
    assert read_target(path, "ward").tolist() == ["a", "b"] * (N // 2)
    with pytest.raises(ValueError, match="no such column, only"):
        read_target(path, "weight")


def test_a_bgen_file_alone_has_names_and_no_response(tmp_path):
    path = write_bgen(tmp_path)
    assert main_target(path) is None
    assert read_ids(path)[0][:2] == ["s0", "s1"]
    with pytest.raises(ValueError, match=r"without x\.sample"):
        read_target(path, "height")


def test_files_of_plink_1_beside_a_pgen(tmp_path):
    path = write_pgen(tmp_path)
    path.with_suffix(".psam").rename(tmp_path / "old.psam")
    path.with_suffix(".pvar").rename(tmp_path / "old.pvar")
    fam = "".join(f"f{i // 2} s{i} 0 0 1 {i + 0.5}\n" for i in range(N))
    path.with_suffix(".fam").write_text(fam)
    bim = "".join(f"1 {name} 0 {k + 1} G A\n" for k, name in enumerate(NAMES))
    path.with_suffix(".bim").write_text(bim)
    assert open_source(path).names() == NAMES
    assert next(variants(path)) == ("g0", "1", "1", "G", "A")
    assert read_ids(path)[1][:3] == ["f0", "f0", "f1"]
    assert main_target(path) == "PHENO1"
    assert read_target(path, "FID")[2] == "f1"


def test_case_and_control_and_texts_of_plink(tmp_path):
    path = tmp_path / "x.psam"
    path.write_text("#FID IID SEX ill kind\n1 a 1 1 x\n1 b 2 2 NONE\n2 c 0 0 y\n2 d NA -9 NA\n")
    write_pgen(tmp_path, X[:4])
    path.write_text("#FID IID SEX ill kind\n1 a 1 1 x\n1 b 2 2 NONE\n2 c 0 0 y\n2 d NA -9 NA\n")
    pgen = path.with_suffix(".pgen")
    np.testing.assert_array_equal(read_target(pgen, "ill"), [1.0, 2.0, np.nan, np.nan])
    np.testing.assert_array_equal(read_target(pgen, "SEX"), [1.0, 2.0, np.nan, np.nan])
    assert read_target(pgen, "kind").tolist() == ["x", None, "y", None]
    path.write_text("#FID IID\n1 a\n1\n")
    with pytest.raises(ValueError, match=r"x\.psam, line 3 has 1 columns: expected 2"):
        read_psam(path)
    path.write_text("#SAMPLE\na\n")
    with pytest.raises(ValueError, match="header that begins with"):
        read_psam(path)


def change(path, old, new):
    path.write_text(path.read_text().replace(old, new))


def test_pgen_files_that_are_refused(tmp_path):
    path = write_pgen(tmp_path)
    pvar, psam = path.with_suffix(".pvar"), path.with_suffix(".psam")
    change(pvar, "g4\tA\tG", "g4\tA\tG,T")
    with pytest.raises(ValueError, match=r"'g4' of x.pgen has more than two alleles \(A, G,T\)"):
        open_source(path)
    change(pvar, "g4\tA\tG,T", "g4\tA\tG")
    change(psam, "s59\n", "")
    with pytest.raises(
        ValueError, match="of 60 samples, but the files next to it list 30 variants"
    ):
        open_source(path)
    psam.rename(tmp_path / "x.psam.zst")
    with pytest.raises(ValueError, match="zst-decompress"):
        open_source(path)
    (tmp_path / "x.psam.zst").unlink()
    with pytest.raises(FileNotFoundError, match="three files"):
        open_source(path)
    write_pgen(tmp_path)
    change(pvar, "#CHROM\tPOS\tID", "#CHROM\tPOS\tNAME")
    with pytest.raises(ValueError, match="no column 'ID'"):
        open_source(path)
    write_pgen(tmp_path)
    path.write_bytes(b"no genotypes at all")
    with pytest.raises(ValueError, match=r"x\.pgen cannot be read as PLINK 2 genotypes"):
        open_source(path)
    with pytest.raises(FileNotFoundError, match="no such file"):
        open_source(tmp_path / "y.pgen")


def test_bgen_files_that_are_refused(tmp_path):
    bgen = pytest.importorskip("bgen")
    path = write_bgen(tmp_path, y=np.arange(N))
    change(path.with_suffix(".sample"), "s59 s59 0 59\n", "")
    with pytest.raises(ValueError, match=r"60 samples, but x\.sample lists 59"):
        open_source(path)
    change(path.with_suffix(".sample"), "ID_1 ID_2", "A B")
    with pytest.raises(ValueError, match="begins with 'ID_1 ID_2'"):
        open_source(path)
    path.with_suffix(".sample").unlink()
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    path.with_suffix(".bgen.bgi").unlink(missing_ok=True)
    with pytest.raises(ValueError, match=r"x\.bgen cannot be read as BGEN genotypes"):
        open_source(path)
    with pytest.raises(FileNotFoundError, match="no such file"):
        open_source(tmp_path / "y.bgen")
    three = tmp_path / "three.bgen"
    with bgen.BgenWriter(str(three), 2, samples=["a", "b"]) as file:
        P6 = np.eye(6)[:2]
        file.add_variant("v", "rs1", "1", 5, ["A", "C", "G"], P6)
    with pytest.raises(ValueError, match="has 3 alleles"):
        open_source(three).columns(np.array([0]))


@each
def test_a_study_of_dosages_on_the_command_line(kind, tmp_path, monkeypatch, capsys):
    """The phenotype of another file, a filter, the places of what is found, names of samples."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    D = dosages(holes=False)
    D[:, 9] = 0.01
    trait = 2.0 * D[:, 3] + 0.3 * rng.normal(size=N)
    samples = [f"p{i}" for i in range(N)]
    WRITE[kind](Path(), D, samples=samples, height=trait.round(4))
    command = ["select", f"x.{kind}", "--maf", "0.05"]
    assert run([*command, "--out", "o"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "their rarer allele is less frequent than 0.05 [--maf]" in said
    assert "g3 goes with height" in said
    with open("o/selected.csv", newline="") as file:
        row = next(iter(csv.DictReader(file)))
    assert (row["chromosome"], row["position"], row["allele"], row["other_allele"]) == (
        "1", "307", "G", "A",
    )  # fmt: skip
    Path("t.pheno").write_text(
        "\n".join(["FID IID bmi", *(f"{s} {s} {v:.4f}" for s, v in zip(samples[5:], trait[5:]))])
    )
    assert run([*command, "--pheno", "t.pheno", "--out", "q"]) == 0
    assert json.loads(Path("q/summary.json").read_text())["rows"] == N - 5
    assert run(["predict", "o", f"x.{kind}", "--out", "p.csv"]) == 0
    with open("p.csv", newline="") as file:
        assert [row["row"] for row in csv.DictReader(file)] == samples
