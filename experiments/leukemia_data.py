"""The leukemia data of Golub et al. (1999): from a file, or from OpenML."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import fetch_openml

from gradsift.protocols import Array

N_TRAIN, N_TEST, N_GENES = 38, 34, 7129
ALL_TRAIN, ALL_TEST = 27, 20  # samples of class ALL in either part

HOW_TO = """\
Two ways to get the data (Golub et al., Science 286, 1999; 7,129 genes, 38 + 34 samples):
  1. give a file:  python -m experiments leukemia --data leukemia.npz
     with arrays X_train (38 x 7129), y_train (+1 = ALL, -1 = AML), X_test (34 x 7129), y_test,
     and, if you have them, gene_accession and gene_description (7129 strings each);
  2. with a network, leave --data out: OpenML's data set "leukemia" is then fetched through
     scikit-learn and kept in its cache."""


class DataMissing(RuntimeError):
    """The leukemia data cannot be had; the message says how to get it."""


@dataclass(frozen=True)
class Leukemia:
    """Raw expression values, labels (+1 = ALL, -1 = AML), and what the genes are called."""

    X: Array
    y: Array
    X_test: Array
    y_test: Array
    accession: Array
    description: Array


def load(path: Path | None) -> Leukemia:
    """From a file when one is given, else from OpenML."""
    return from_file(path) if path is not None else from_openml()


def from_file(path: Path) -> Leukemia:
    """Read an .npz archive with X_train, y_train, X_test, y_test."""
    if not path.is_file():
        raise DataMissing(f"{path} is not a file.\n{HOW_TO}")
    try:
        with np.load(path, allow_pickle=False) as archive:
            data = {key: archive[key] for key in archive.files}
    except (OSError, ValueError) as error:
        raise DataMissing(f"{path} is not a NumPy archive (.npz): {error}\n{HOW_TO}") from error
    missing = {"X_train", "y_train", "X_test", "y_test"} - set(data)
    if missing:
        raise DataMissing(f"{path} has no array {', '.join(sorted(missing))}.\n{HOW_TO}")
    X, X_test = data["X_train"].astype(float), data["X_test"].astype(float)
    names = np.array([f"gene {k}" for k in range(X.shape[1])])
    return Leukemia(
        X,
        data["y_train"].astype(int),
        X_test,
        data["y_test"].astype(int),
        data.get("gene_accession", names),
        data.get("gene_description", np.full(X.shape[1], "")),
    )


def from_openml() -> Leukemia:
    """OpenML's copy, split as published: the first 38 samples are the training part."""
    try:
        bunch = fetch_openml("leukemia", version=1, as_frame=True)
    except Exception as error:
        raise DataMissing(
            f"no --data file was given, and OpenML did not answer ({type(error).__name__}: "
            f"{error}).\n{HOW_TO}"
        ) from error
    X = bunch.data.to_numpy(dtype=float)
    y = np.where(np.asarray(bunch.target).astype(str) == "ALL", 1, -1)
    train, test = y[:N_TRAIN], y[N_TRAIN:]
    counts = (X.shape, int((train == 1).sum()), int((test == 1).sum()))
    if counts != ((N_TRAIN + N_TEST, N_GENES), ALL_TRAIN, ALL_TEST):
        raise DataMissing(
            f"OpenML's copy is not in the published order: shape {counts[0]}, {counts[1]} and "
            f"{counts[2]} samples ALL in the two parts, not {ALL_TRAIN} and {ALL_TEST}.\n{HOW_TO}"
        )
    names = np.array([str(name) for name in bunch.data.columns])
    return Leukemia(X[:N_TRAIN], train, X[N_TRAIN:], test, names, np.full(len(names), ""))
