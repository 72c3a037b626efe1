"""Damaged files through the real command: one sentence that names the file, exit code 2."""

import gzip
import os
import shutil
import zipfile

import anndata
import h5py
import numpy as np
import openpyxl
import openpyxl.chart
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import zarr
from bed_reader import to_bed

from gradsift.cli._exit import run

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4))
TABLE = pd.DataFrame(X, columns=list("abcy"))
TEXT = TABLE.to_csv(index=False)


def cut(path, share=0.5):
    """Keep the beginning of a file only."""
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    return path


def file(name, content):
    def make(folder):
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return folder / name

    return make


def zipped(name, **members):
    def make(folder):
        with zipfile.ZipFile(folder / name, "w") as archive:
            for member, content in members.items():
                archive.writestr(member.replace("__", "."), content)
        return folder / name

    return make


def chart_only(folder):
    book = openpyxl.Workbook()
    chart = openpyxl.chart.BarChart()
    chart.add_data(openpyxl.chart.Reference(book.active, min_col=1, min_row=1, max_row=2))
    book.create_chartsheet("picture").add_chart(chart)
    book.remove(book.worksheets[0])
    book.save(folder / "t.xlsx")
    return folder / "t.xlsx"


def excel(folder):
    TABLE.to_excel(folder / "t.xlsx", index=False)
    return folder / "t.xlsx"


def broken_sheet(folder):
    """A workbook whose sheet is no XML half way through."""
    path, whole = folder / "t.xlsx", excel(folder)
    with zipfile.ZipFile(whole) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    members[sheet] = members[sheet][: len(members[sheet]) // 2]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def h5ad(folder, **more):
    obs = pd.DataFrame({"y": X[:, 3]}, index=[f"c{i}" for i in range(30)])
    table = anndata.AnnData(X[:, :3], obs=obs, var=pd.DataFrame(index=list("abc")))
    table.write_h5ad(folder / "t.h5ad")
    return folder / "t.h5ad"


def without_X(folder):
    path = h5ad(folder)
    with h5py.File(path, "a") as stored:
        del stored["X"]
    return path


def stored_zarr(folder):
    stored = zarr.create_array(str(folder / "t.zarr"), shape=(30, 3), chunks=(30, 1), dtype="f8")
    stored[:] = X[:, :3]
    stored.attrs["target"] = {"y": X[:, 3].tolist()}
    return folder / "t.zarr"


def cut_chunk(folder):
    path = stored_zarr(folder)
    cut(next(p for p in sorted((path / "c").rglob("*")) if p.is_file()))
    return path


def without_metadata(folder):
    path = stored_zarr(folder)
    (path / "zarr.json").unlink()
    return path


def broken_metadata(folder):
    path = stored_zarr(folder)
    cut(path / "zarr.json")
    return path


def bed(folder):
    to_bed(folder / "t.bed", RNG.binomial(2, 0.5, size=(30, 6)).astype(float))
    fam = "".join(f"f s{i} 0 0 1 {v}\n" for i, v in enumerate(X[:, 3]))
    (folder / "t.fam").write_text(fam)
    return folder / "t.bed"


def short_bim(folder):
    path = bed(folder)
    lines = path.with_suffix(".bim").read_text().splitlines(keepends=True)
    path.with_suffix(".bim").write_text("".join(lines[:-2]))
    return path


def five_column_fam(folder):
    path = bed(folder)
    path.with_suffix(".fam").write_text("".join(f"f s{i} 0 0 1\n" for i in range(30)))
    return path


def without_bim(folder):
    path = bed(folder)
    path.with_suffix(".bim").unlink()
    return path


def cut_by_a_variant(folder):
    path = bed(folder)
    path.write_bytes(path.read_bytes()[:-8])
    return path


def parquet(folder):
    pq.write_table(pa.Table.from_pandas(TABLE), folder / "t.parquet")
    return folder / "t.parquet"


def feather(folder):
    pa.feather.write_feather(pa.Table.from_pandas(TABLE), str(folder / "t.feather"))
    return folder / "t.feather"


def npz(folder, **arrays):
    np.savez(folder / "t.npz", **(arrays or {"X": X[:, :3], "y": X[:, 3]}))
    return folder / "t.npz"


def npy(array):
    def make(folder):
        np.save(folder / "t.npy", array, allow_pickle=True)
        return folder / "t.npy"

    return make


def folder_named(name):
    def make(folder):
        (folder / name).mkdir()
        return folder / name

    return make


PACKED = gzip.compress(TEXT.encode())
LATE = bytearray(PACKED)
LATE[len(LATE) // 2] ^= 0xFF
CASES = {
    "cut gzip": (file("t.csv.gz", PACKED[: len(PACKED) // 2]), "damaged or cut short"),
    "flipped gzip": (file("t.csv.gz", bytes(LATE)), "damaged or cut short"),
    "text named gzip": (file("t.csv.gz", TEXT), "Not a gzipped file"),
    "nothing named gzip": (file("t.csv.gz", b""), "is empty"),
    "nothing": (file("t.csv", b""), "is empty"),
    "blank lines": (file("t.csv", "\n\n \n"), "is empty"),
    "header only": (file("t.csv", "a,y\n"), "a header but no rows"),
    "binary": (file("t.csv", bytes(range(256)) * 8), "binary data, not text"),
    "gzip named text": (file("t.csv", PACKED), "binary data, not text"),
    "UTF-16 without a mark": (file("t.csv", TEXT.encode("utf-16-le")), "give --encoding utf-16-le"),
    "odd UTF-16": (file("t.csv", TEXT.encode("utf-16")[:-1]), "damaged or cut short"),
    "short row": (file("t.csv", "a,y\n1,2\n\n3\n"), "line 4 has 1 cells but the header names 2"),
    "open quote": (file("t.csv", 'a,y\n1,2\n3,"4\n5,6\n'), "line 3 opens a quote"),
    "open quote in the header": (file("t.csv", '"a,y\n1,2\n3,4\n'), "line 1 opens a quote"),
    "huge cell": (file("t.csv", 'a,y\n1,"' + "x\n" * 600_000 + "\n"), "closing quote missing"),
    "no workbook": (file("t.xlsx", b"PK no zip"), "cannot be read as a workbook"),
    "empty zip": (zipped("t.xlsx", hello__txt="hi"), "cannot be read as a workbook"),
    "charts only": (chart_only, "is empty"),
    "cut workbook": (lambda folder: cut(excel(folder)), "cannot be read as a workbook"),
    "broken sheet": (broken_sheet, "cannot be read as a workbook"),
    "h5ad without X": (without_X, "holds no matrix X"),
    "cut h5ad": (lambda folder: cut(h5ad(folder)), "cannot be read as an AnnData"),
    "text named h5ad": (file("t.h5ad", TEXT), "cannot be read as an AnnData"),
    "cut chunk": (cut_chunk, "cannot be read as a Zarr array"),
    "zarr without metadata": (without_metadata, "it holds no array"),
    "broken metadata": (broken_metadata, "cannot be read as a Zarr array"),
    "short bim": (short_bim, "6 variants of 30 samples, but its .bim file lists 4"),
    "no bim": (without_bim, "PLINK data are three files"),
    "five-column fam": (five_column_fam, "line 1 has 5 columns: expected 6 (FID, IID,"),
    "cut bed": (lambda folder: cut(bed(folder), 0.7), "cut short"),
    "bed without its last variant": (cut_by_a_variant, "5 variants of 30 samples"),
    "text named bed": (lambda folder: (bed(folder), file("t.bed", TEXT)(folder))[1], "no variant"),
    "cut parquet": (lambda folder: cut(parquet(folder)), "cannot be read as a Parquet file"),
    "text named parquet": (file("t.parquet", TEXT), "cannot be read as a Parquet file"),
    "cut feather": (lambda folder: cut(feather(folder)), "cannot be read as an Arrow"),
    "cut npz": (lambda folder: cut(npz(folder)), "cannot be read as a NumPy archive"),
    "text named npz": (file("t.npz", TEXT), "cannot be read as a NumPy archive"),
    "1-D X": (lambda folder: npz(folder, X=X[:, 0], y=X[:, 3]), "X in t.npz has shape (30,)"),
    "text in X": (lambda folder: npz(folder, X=X.astype(str), y=X[:, 3]), "expected numbers"),
    "objects in npz": (lambda folder: npz(folder, X=X.astype(object)), "pickled objects"),
    "cut npy": (lambda folder: cut(npy(X)(folder)), "cannot be read as a NumPy array"),
    "objects in npy": (npy(X.astype(object)), "pickled objects"),
    "1-D npy": (npy(X[:, 0]), "expected numbers in two dimensions"),
    "folder named csv": (folder_named("t.csv"), "the folder t.csv holds no table"),
    "folder named parquet": (folder_named("t.parquet"), "the folder t.parquet holds no table"),
    "folder named h5ad": (folder_named("t.h5ad"), "cannot be read as an AnnData"),
    "folder named npy": (folder_named("t.npy"), "cannot be read as a NumPy array"),
    "folder named zarr": (folder_named("t.zarr"), "it holds no array"),
    "nothing named npy": (file("t.npy", b""), "cannot be read as a NumPy array"),
}  # fmt: skip


def beside(path):
    """Options that a whole file of this kind would need."""
    if path.suffix == ".npy":
        target = path.parent / "y.csv"
        target.write_text("y\n" + "".join(f"{v}\n" for v in X[:, 3]))
        return ["--target", "y", "--target-from", str(target)]
    return ["--target", "phenotype" if path.suffix == ".bed" else "y"]


def sentence(capsys):
    printed = capsys.readouterr().err.lstrip("\n")
    assert printed.startswith("gradsift: ")
    assert printed.count("\n") == 1
    assert "Traceback" not in printed
    return printed


@pytest.mark.parametrize("case", CASES)
def test_a_damaged_file_gets_one_sentence_and_exit_code_2(case, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make, message = CASES[case]
    path = make(tmp_path)
    assert run(["select", str(path), *beside(path), "--cv", "0"]) == 2
    printed = sentence(capsys)
    assert message in printed
    assert not (tmp_path / "gradsift-out").exists()


TEXTS = list(CASES)[: list(CASES).index("huge cell") + 1]


@pytest.mark.parametrize("case", TEXTS)
def test_convert_says_the_same_about_text(case, tmp_path, capsys):
    make, message = CASES[case]
    path = make(tmp_path)
    assert run(["convert", str(path), str(tmp_path / "out.zarr"), "--target", "y"]) == 2
    assert message in sentence(capsys)
    assert sorted(os.listdir(tmp_path)) == [path.name]


@pytest.mark.parametrize(
    "make", [parquet, feather, h5ad, stored_zarr, bed, npz, excel, npy(X[:, :3])]
)
def test_the_same_files_undamaged_are_read(make, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = make(tmp_path)
    assert run(["select", str(path), *beside(path), "--cv", "0"]) == 0


def test_a_wrong_column_of_targets_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = npy(X)(tmp_path)
    options = beside(path)
    options[1] = "z"
    assert run(["select", str(path), *options]) == 2
    assert "the table of targets, y.csv, has no column 'z'. It has 'y'." in sentence(capsys)


def test_a_negative_seed_is_refused_before_any_work(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file("t.csv", TEXT)(tmp_path)
    assert run(["select", "t.csv", "--target", "y", "--seed", "-1"]) == 1
    assert "--seed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "out of memory"),
        (MemoryError("Unable to allocate 7 TiB"), "out of memory (Unable to allocate 7 TiB)"),
        (EOFError("early end"), "early end"),
    ],
)
def test_lack_of_memory_and_early_ends_are_said(error, said, tmp_path, capsys, monkeypatch):
    """Raised where reading would meet them; only the system can run out of memory on demand."""
    import gradsift.tables.opening as opening

    def fail(*args, **options):
        raise error

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(opening, "frame_of", fail)
    file("t.csv", TEXT)(tmp_path)
    assert run(["select", "t.csv", "--target", "y"]) == 2
    assert said in sentence(capsys)


def test_predict_says_the_same_of_a_damaged_table(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file("whole.csv", TEXT)(tmp_path)
    quick = ["--cv", "0"]
    assert run(["select", "whole.csv", "--target", "y", *quick, "--out", "m"]) == 0
    capsys.readouterr()
    file("t.csv.gz", PACKED[: len(PACKED) // 2])(tmp_path)
    assert run(["predict", "m", "t.csv.gz"]) == 2
    assert "damaged or cut short" in sentence(capsys)
    shutil.rmtree("m")
