"""Sparse matrices whose indices do not fit their shape: refused before compiled code follows them.

What is not refused reads and writes outside the matrix, so every case runs in another process.
"""

import json
import os
import subprocess
import sys
import warnings

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest
import zarr
from helpers import make_data
from scipy import sparse

import gradsift as gs
from gradsift.data import open_source

N, P = 30, 6
X, Y = make_data("regression", n=N, p=P)
X = np.where(np.abs(X) > 0.3, X, 0.0)
FAR = 10**6

DAMAGES = {
    "negative index": lambda M: M.indices.__setitem__(3, -100_000),
    "index just outside": lambda M: M.indices.__setitem__(3, max(M.shape)),
    "index far outside": lambda M: M.indices.__setitem__(3, FAR),
    "falling indptr": lambda M: M.indptr.__setitem__(3, 0),
    "indptr far outside": lambda M: M.indptr.__setitem__(3, FAR),
    "negative indptr": lambda M: M.indptr.__setitem__(0, -5),
    "short indptr": lambda M: setattr(M, "indptr", M.indptr[:-2]),
    "last indptr outside": lambda M: M.indptr.__setitem__(-1, FAR),
    "short indices": lambda M: setattr(M, "indices", M.indices[:-5]),
    "short data": lambda M: setattr(M, "data", M.data[:-5]),
    "indices of floats": lambda M: setattr(M, "indices", M.indices + 0.5),
    "indptr in two dimensions": lambda M: setattr(M, "indptr", M.indptr[:, None]),
}
OTHERS = {
    "coo row": ("coo", lambda M: M.row.__setitem__(3, FAR)),
    "coo column": ("coo", lambda M: M.col.__setitem__(3, -7)),
    "coo lengths": ("coo", lambda M: setattr(M, "data", M.data[:-5])),
    "dia lengths": ("dia", lambda M: setattr(M, "offsets", M.offsets[:-1])),
    "lil index": ("lil", lambda M: M.rows[2].__setitem__(0, FAR)),
    "lil lengths": ("lil", lambda M: M.data[2].extend([1.0] * FAR)),
    "dok key": ("dok", lambda M: M._dict.__setitem__((0, FAR), 1.0)),
}


def damaged(form, damage):
    M = getattr(sparse, f"{form}_array")(X)
    damage(M)
    return M


MATRICES = {f"{form}, {name}": (form, damage) for form in ("csr", "csc", "bsr")
            for name, damage in DAMAGES.items()} | OTHERS  # fmt: skip


def stored_csr(form, damage, folder, kind):
    """A sparse AnnData in a file, damaged in the file."""
    adata = anndata.AnnData(
        getattr(sparse, f"{form}_matrix")(X),
        obs=pd.DataFrame({"y": Y}, index=[f"s{k}" for k in range(N)]),
    )
    path = f"{folder}/x.{kind}"
    (adata.write_h5ad if kind == "h5ad" else adata.write_zarr)(path)
    root = h5py.File(path, "r+") if kind == "h5ad" else zarr.open_group(path, mode="r+")
    for place, value in damage.items():
        part, index = place
        root[f"X/{part}"][index] = value
    if kind == "h5ad":
        root.close()
    return path


FILES = {
    f"{kind} {form}, {name}": (form, damage, kind)
    for kind in ("h5ad", "zarr")
    for form in ("csr", "csc")
    for name, damage in {
        "negative index": {("indices", 3): -1},
        "index outside": {("indices", 3): FAR},
        "falling indptr": {("indptr", 2): 0},
        "indptr outside": {("indptr", 2): FAR},
    }.items()
}
GOOD = gs.SparseGradientRegressor(alpha=0.01).fit(X, Y)
SELECTOR = gs.GradientSelector(gs.SparseGradientRegressor(alpha=0.01)).fit(X, Y)


def in_adata(M):
    obs = pd.DataFrame({"y": Y, "g": np.arange(N) // 2}, index=[f"s{k}" for k in range(N)])
    adata = anndata.AnnData(X, obs=obs)
    adata.layers["raw"] = sparse.csr_matrix(X)
    adata.layers["raw"].indices[3] = M
    return adata


ENTRIES = {
    "sift": lambda M: gs.GradientSiftRegressor().fit(M, Y),
    "predict": GOOD.predict,
    "transform": GOOD.transform,
    "gradient": GOOD.gradient,
    "selector": SELECTOR.transform,
    "path": lambda M: gs.gradient_path(M, Y, n_alphas=2),
    "alpha_max": lambda M: gs.alpha_max(M, Y),
    "aggregate": lambda M: gs.aggregate(M, Y, np.arange(N) // 2),
    "unlabeled": lambda M: gs.SparseGradientRegressor().fit(X, Y, X_unlabeled=M),
    "OPG": lambda M: gs.OuterProductGradient().fit(M, Y),
    "tl": lambda M: gs.tl.select(in_adata(FAR), "y", layer="raw"),
}


def backed(path):
    """What is read by an open file."""
    if path.endswith("h5ad"):
        return path
    lazy = anndata.io.sparse_dataset(zarr.open_group(path, mode="r")["X"])
    return anndata.AnnData(lazy, obs=pd.DataFrame(index=[f"s{k}" for k in range(N)]))


def every_column(M):
    source = open_source(M)
    source.columns(np.array([4, 0, 2]))
    return list(source.blocks())


def answers(folder):
    """(case, what came of it): one line each, so that the last one names what ended the process."""
    for name, (form, damage) in MATRICES.items():
        yield name, lambda form=form, damage=damage: every_column(damaged(form, damage))
    for name, call in ENTRIES.items():
        yield name, lambda call=call: call(damaged("csr", DAMAGES["negative index"]))
    for name, (form, damage, kind) in FILES.items():

        def call(form=form, damage=damage, kind=kind, name=name):
            path = f"{folder}/{name}"
            subprocess.run(["mkdir", "-p", path], check=True)
            every_column(backed(stored_csr(form, damage, path, kind)))

        yield name, call


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for case, run in answers(sys.argv[1]):
        print(json.dumps([case, "began"]), flush=True)
        try:
            run()
            said = "answered"
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
        print(json.dumps([case, said]), flush=True)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("damaged"))
    command = [sys.executable, __file__, folder]
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    run = subprocess.run(command, capture_output=True, text=True, env=paths)
    return dict(json.loads(line) for line in run.stdout.splitlines()), run.stderr[-2000:]


@pytest.mark.parametrize("case", [*MATRICES, *ENTRIES, *FILES])
def test_damaged_indices_are_refused_in_words(case, outcomes):
    found, stderr = outcomes
    assert case in found, f"an earlier case ended the process: {stderr}"
    assert found[case].startswith("ValueError"), found[case]
    assert "damaged" in found[case]


@pytest.mark.parametrize("form", ["csr", "csc", "bsr", "coo", "dia", "lil", "dok"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_sound_matrices_of_every_format_are_read(form, kind):
    source = open_source(getattr(sparse, f"{form}_{kind}")(X))
    np.testing.assert_array_equal(source.columns(np.arange(P)), X)


def test_a_matrix_with_room_to_spare_and_one_without_values_are_read():
    """SciPy allows longer arrays than are used, and matrices of zeros."""
    M = sparse.csr_array(X)
    roomy = sparse.csr_array((N, P))
    roomy.data, roomy.indptr = np.append(M.data, [9.0, 9.0]), M.indptr
    roomy.indices = np.append(M.indices, [0, 0])
    np.testing.assert_array_equal(open_source(roomy).columns(np.arange(P)), X)
    empty = open_source(sparse.csr_array((N, P)))
    assert not empty.columns(np.arange(P)).any()
