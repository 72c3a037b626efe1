"""One small table of counts, written in every format that `gradsift select` reads."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import stored_tables
from bed_reader import to_bed

from gradsift.tables import Choices, open_table

anndata = pytest.importorskip("anndata")
zarr = pytest.importorskip("zarr")

N = 48
NAMES = ["g0", "g1", "g2", "g3", "g4"]
WHO = [f"s{i}" for i in range(N)]


def counts(holes=False):
    """Small counts, which a file of genotypes can hold too; and the response of the third."""
    rng = np.random.default_rng(3)
    X = rng.binomial(2, 0.5, size=(N, len(NAMES))).astype(float)
    y = (2.0 * X[:, 2] + 0.3 * rng.normal(size=N)).round(4)
    if holes:
        X[[4, 9], 1] = np.nan
    return X, y


def frame(X, y):
    return pd.DataFrame({"who": WHO, **dict(zip(NAMES, X.T)), "y": y})


def write_csv(X, y):
    frame(X, y).to_csv("t.csv", index=False)
    return ["t.csv", "--target", "y"]


def write_parquet(X, y):
    frame(X, y).to_parquet("t.parquet", index=False)
    return ["t.parquet", "--target", "y"]


def write_folder(X, y):
    """Rows spread over two Parquet files."""
    Path("t").mkdir()
    for k, part in enumerate((slice(30), slice(30, None))):
        frame(X, y)[part].to_parquet(f"t/part{k}.parquet", index=False)
    return ["t", "--target", "y"]


def write_xlsx(X, y):
    frame(X, y).to_excel("t.xlsx", index=False)
    return ["t.xlsx", "--target", "y"]


def write_npz(X, y):
    np.savez("t.npz", X=X, y=y, feature_names=NAMES, sample_id=WHO)
    return ["t.npz", "--target", "y"]


def write_h5ad(X, y):
    obs = pd.DataFrame({"y": y, "batch": np.arange(N) % 3.0, "note": ["a"] * N}, index=WHO)
    anndata.AnnData(X, obs=obs, var=pd.DataFrame(index=NAMES)).write_h5ad("t.h5ad")
    return ["t.h5ad", "--target", "y"]


def write_bed(X, y):
    properties = {"sid": NAMES, "iid": WHO, "pheno": [str(v) for v in y], "sex": [1, 2] * (N // 2)}
    to_bed("t.bed", X, properties=properties)
    return ["t.bed", "--target", "phenotype"]


def write_pgen(X, y):
    stored_tables.write_pgen(Path(), X, NAMES, WHO, SEX=[1, 2] * (N // 2), y=y)
    return ["x.pgen", "--target", "y"]


def write_bgen(X, y):
    stored_tables.write_bgen(Path(), X, NAMES, WHO, sex=[1, 2] * (N // 2), y=y)
    return ["x.bgen", "--target", "y"]


def write_zarr(X, y):
    stored = zarr.create_array("t.zarr", shape=X.shape, chunks=(N, 2), dtype="f8")
    stored[:] = X
    stored.attrs.update(names=NAMES, target={"y": y.tolist()}, ids=WHO)
    return ["t.zarr", "--target", "y"]


def write_npy(X, y):
    np.save("t.npy", X)
    pd.DataFrame({"y": y}).to_csv("y.csv", index=False)
    return ["t.npy", "--target", "y", "--target-from", "y.csv"]


FORMATS = {
    "csv": (write_csv, "who"),
    "parquet": (write_parquet, "who"),
    "folder of parquet": (write_folder, "who"),
    "xlsx": (write_xlsx, "who"),
    "npz": (write_npz, "sample_id"),
    "h5ad": (write_h5ad, "row"),
    "bed": (write_bed, "IID"),
    "pgen": (write_pgen, "IID"),
    "bgen": (write_bgen, "IID"),
    "zarr": (write_zarr, "row"),
    "npy": (write_npy, None),
}
"""Format -> how to write it, and the column that names its rows."""
STORED = ["parquet", "folder of parquet", "h5ad", "bed", "pgen", "bgen", "zarr", "npy"]
"""Formats that are read column by column where they are too large for memory."""


def set_aside():
    """Make room for the same table, written anew."""
    aside = Path(f"before {len(list(Path().glob('before *')))}")
    files = [file for file in Path().iterdir() if not file.name.startswith("before ")]
    aside.mkdir()
    for file in files:
        file.rename(aside / file.name)


def opened(kind, *, holes=False, given=None, **asked):
    """(table, names of its variables, their values, the response) with some options."""
    write, _ = FORMATS[kind]
    X, y = given or counts(holes)
    command = write(X, y)
    apart = Path(command[4]) if len(command) > 3 else None
    names = [f"x{k}" for k in range(len(NAMES))] if kind == "npy" else NAMES
    asked = {option: as_names(value, names) for option, value in asked.items()}
    return open_table(Path(command[0]), Choices(command[2], **asked), apart), names, X, y


def as_names(value, names):
    """Numbers of columns as their names; anything else as it is."""
    if not isinstance(value, tuple):
        return value
    return tuple(names[k] if isinstance(k, int) else k for k in value)


def write_covariates(kind):
    """Age and batch of all samples but the last, in another order; a group for every four rows."""
    rng = np.random.default_rng(8)
    table = pd.DataFrame({
        FORMATS[kind][1] or "none": WHO,
        "age": rng.normal(50.0, 10.0, size=N),
        "batch": np.array(["a", "b", "c"])[rng.integers(3, size=N)],
        "block": [f"b{i // 2}" for i in range(N)],
    })  # fmt: skip
    if kind == "npy":  # nothing names its samples: the same rows in the same order
        table.drop(columns="none").to_csv("c.csv", index=False)
        return table
    table[:-1].sample(frac=1.0, random_state=0).to_csv("c.csv", index=False)
    return table[:-1]
