"""One table of genotypes, stored in every format."""

import anndata
import dask.array as da
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import zarr
from bed_reader import to_bed
from scipy import sparse

N, P = 60, 30
NAMES = [f"g{k}" for k in range(P)]


def genotypes():
    rng = np.random.default_rng(4)
    X = rng.binomial(2, rng.uniform(0.2, 0.8, P), size=(N, P)).astype(float)
    y = 2.0 * X[:, 3] + 3.0 * (X[:, 7] == 1) + 0.2 * rng.normal(size=N)
    return X, y


X, Y = genotypes()


def npy(order, dtype):
    def write(folder):
        path = folder / "x.npy"
        np.save(path, np.asarray(X, dtype=dtype, order=order))
        return path

    return write


def write_parquet(folder):
    path = folder / "x.parquet"
    pq.write_table(pa.table(dict(zip(NAMES, X.T))), path, row_group_size=25)
    return path


def write_dataset(folder):
    """Rows spread over three files."""
    for k, rows in enumerate(np.array_split(np.arange(N), 3)):
        pq.write_table(pa.table(dict(zip(NAMES, X[rows].T))), folder / f"part{k}.parquet")
    return folder


def write_feather(folder):
    path = folder / "x.feather"
    pa.feather.write_feather(pa.table(dict(zip(NAMES, X.T))), str(path))
    return path


def write_zarr(folder):
    path = str(folder / "x.zarr")
    stored = zarr.create_array(path, shape=X.shape, chunks=(N, 7), dtype="float32")
    stored[:] = X
    stored.attrs["names"] = NAMES
    return path


def write_bed(folder):
    path = folder / "x.bed"
    to_bed(path, X, properties={"sid": NAMES})
    return path


def write_pgen(folder, X=X, names=NAMES, samples=None, dosage_present=True, **columns):
    """A PLINK 2 file of dosages, or of hard calls; further columns of its .psam file."""
    pgenlib = pytest.importorskip("pgenlib")
    path = folder / "x.pgen"
    with pgenlib.PgenWriter(
        bytes(path), len(X), variant_ct=X.shape[1], nonref_flags=False,
        hardcall_phase_present=False, dosage_present=dosage_present,
    ) as file:  # fmt: skip
        for column in np.nan_to_num(X.T, nan=-9.0):
            if dosage_present:
                file.append_dosages(column.astype(np.float32))
            else:
                file.append_biallelic(column.astype(np.int8))
    samples = [f"s{i}" for i in range(len(X))] if samples is None else samples
    lines = [
        "\t".join(["#IID", *columns]),
        *("\t".join(map(str, row)) for row in zip(samples, *columns.values())),
    ]
    path.with_suffix(".psam").write_text("\n".join(lines) + "\n")
    head = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\n"
    rows = [f"{1 + k % 3}\t{100 * k + 7}\t{name}\tA\tG\n" for k, name in enumerate(names)]
    path.with_suffix(".pvar").write_text(head + "".join(rows))
    return path


def write_bgen(folder, X=X, names=NAMES, samples=None, **columns):
    """A BGEN file of the genotypes that have these expected counts; a .sample file with columns."""
    bgen = pytest.importorskip("bgen")
    path = folder / "x.bgen"
    samples = [f"s{i}" for i in range(len(X))] if samples is None else samples
    with bgen.BgenWriter(str(path), len(X), samples=samples, compression="zlib") as file:
        for k, name in enumerate(names):
            P = np.clip(1.0 - np.abs(X[:, [k]] - [0.0, 1.0, 2.0]), 0.0, None)
            file.add_variant(
                f"v{k}", name, str(1 + k % 3), 100 * k + 7, ["A", "G"], P, bit_depth=16
            )
    if columns:
        head = [["ID_1", "ID_2", "missing", *columns], ["0", "0", "0", *("P" for _ in columns)]]
        rows = [[s, s, 0, *row] for s, *row in zip(samples, *columns.values())]
        lines = [" ".join(map(str, row)) for row in [*head, *rows]]
        path.with_suffix(".sample").write_text("\n".join(lines) + "\n")
    return path


def annotated(matrix=X):
    return anndata.AnnData(
        matrix, obs=pd.DataFrame({"y": Y}, index=[f"s{i}" for i in range(N)]),
        var=pd.DataFrame(index=NAMES),
    )  # fmt: skip


def h5ad(convert):
    def write(folder):
        path = folder / "x.h5ad"
        annotated(convert(X)).write_h5ad(path)
        return path

    return write


FORMATS = {
    "npy by rows": npy("C", np.float32),
    "npy by columns": npy("F", np.float64),
    "npy int8": npy("C", np.int8),
    "memmap": lambda folder: np.load(npy("C", np.float32)(folder), mmap_mode="r"),
    "csc": lambda _: sparse.csc_array(X),
    "csr": lambda _: sparse.csr_matrix(X),
    "coo": lambda _: sparse.coo_array(X),
    "parquet": write_parquet,
    "parquet files": write_dataset,
    "feather": write_feather,
    "arrow table": lambda _: pa.table(dict(zip(NAMES, X.T))),
    "arrow dataset": lambda folder: pa.dataset.dataset(write_parquet(folder)),
    "zarr": write_zarr,
    "zarr array": lambda folder: zarr.open_array(write_zarr(folder), mode="r"),
    "bed": write_bed,
    "pgen": write_pgen,
    "bgen": write_bgen,
    "anndata": lambda _: annotated(),
    "anndata csr": lambda _: annotated(sparse.csr_matrix(X)),
    "h5ad": h5ad(np.asarray),
    "h5ad csr": h5ad(sparse.csr_matrix),
    "h5ad csc": h5ad(sparse.csc_matrix),
    "dask": lambda _: da.from_array(X, chunks=(20, 7)),
    "dask one chunk": lambda _: da.from_array(X, chunks=(N, P)),
}
NAMED = ("parquet", "feather", "arrow", "zarr", "bed", "pgen", "bgen", "anndata", "h5ad")
