"""The same table in other forms, on several threads, from a model file; and what is refused."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import anndata
import dask.array as da
import numpy as np
import pandas as pd
import zarr
from bed_reader import to_bed
from golden.answers import (
    Answers,
    Compare,
    bit_difference,
    model_answers,
    stored_difference,
    thumbnail,
)
from golden.cases import Case, labels, mixed_frame, numbers, plan_response
from scipy import sparse
from threadpoolctl import threadpool_limits

from gradsift import GradientSiftClassifier, GradientSiftRegressor, SparseGradientRegressor
from gradsift.pipeline import load_model, save_model
from gradsift.tables import Recipe, ResponseColumns

GENOTYPED, VARIANTS = 120, 40


@cache
def genotypes() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(30)
    X = rng.binomial(2, rng.uniform(0.2, 0.8, VARIANTS), size=(GENOTYPED, VARIANTS)).astype(float)
    return X, 2.0 * X[:, 3] + 3.0 * (X[:, 7] == 1) + rng.normal(size=GENOTYPED)


def memory_map(X: np.ndarray, folder: Path) -> Any:
    np.save(folder / "x.npy", X)
    return np.load(folder / "x.npy", mmap_mode="r")


def zarr_store(X: np.ndarray, folder: Path) -> Any:
    store = zarr.create_array(str(folder / "x.zarr"), shape=X.shape, chunks=(50, 7), dtype=X.dtype)
    store[:] = X
    return str(folder / "x.zarr")


def bed_file(X: np.ndarray, folder: Path) -> Any:
    to_bed(folder / "x.bed", X)
    return folder / "x.bed"


def h5ad_file(X: np.ndarray, folder: Path, form: Callable[[Any], Any] = np.asarray) -> Any:
    rows = pd.DataFrame(index=[f"s{i}" for i in range(len(X))])
    anndata.AnnData(form(X), obs=rows).write_h5ad(folder / "x.h5ad")
    return folder / "x.h5ad"


FORMS: dict[str, Callable[[np.ndarray, Path], Any]] = {
    "memory map": memory_map,
    "sparse": lambda X, folder: sparse.csc_array(X),
    "dask": lambda X, folder: da.from_array(X, chunks=(50, 7)),
    "zarr": zarr_store,
    "bed": bed_file,
    "h5ad": h5ad_file,
    "h5ad of csr": partial(h5ad_file, form=sparse.csr_matrix),
}


def stored_fit(form: str, estimator: Any) -> Answers:
    """Answers from a stored table, and which of them differ by more than rounding from those of the
    array: sums over blocks are made in another order.
    """
    X, y = genotypes()
    plain = model_answers(estimator.fit(X, y), X)
    with tempfile.TemporaryDirectory() as folder:
        model = estimator.fit(FORMS[form](X, Path(folder)), y)
        found = model_answers(model, X)
    return {**found, "unlike the array": unlike(plain, found, close_difference)}


def threads_fit(estimator: Any) -> Answers:
    """Answers on four threads, and which bits of them differ from those on one."""
    X, y = numbers()
    with threadpool_limits(1):
        one = model_answers(estimator.fit(X, y), X)
    with threadpool_limits(4):
        four = model_answers(estimator.fit(X, y), X)
    return {**four, "unlike one thread": unlike(one, four, bit_difference)}


def unlike(was: Answers, now: Answers, compare: Compare) -> list[str]:
    found = {name: compare(was[name], now[name]) for name in was}
    return [f"{name} {how}" for name, how in found.items() if how is not None]


def close_difference(was: Any, now: Any) -> str | None:
    return stored_difference(thumbnail(was), thumbnail(now))


def saved_fit(model: Any, X: Any) -> Answers:
    """A model file, written and read: what it answers, and what differs from the model itself."""
    was = model_answers(model, X)
    with tempfile.TemporaryDirectory() as folder:
        save_model(Path(folder) / "x.gradsift", model, Recipe(ResponseColumns("y"), "regression"))
        found = model_answers(load_model(Path(folder) / "x.gradsift").model, X)
    common = {name: found[name] for name in was if name in found}
    lost = [name for name in was if name not in found]
    changed = unlike({name: was[name] for name in common}, common, bit_difference)
    return {"lost": lost, "unlike the model": changed, **common}


def storage_cases() -> dict[str, Case]:
    found: dict[str, Case] = {}
    for form in FORMS:
        found[f"sift, {form}"] = partial(stored_fit, form, GradientSiftRegressor())
        found[f"paper, {form}"] = partial(stored_fit, form, SparseGradientRegressor(alpha=0.1))
    return {
        **found,
        "sift, threads": partial(threads_fit, GradientSiftRegressor()),
        "paper, threads": partial(threads_fit, SparseGradientRegressor(alpha=0.1)),
    }


def saved_cases() -> dict[str, Case]:
    X, y = numbers()
    frame, plan = mixed_frame(), plan_response()
    return {
        "saved, numbers": lambda: saved_fit(GradientSiftRegressor().fit(X, y), X),
        "saved, three classes": lambda: saved_fit(GradientSiftClassifier().fit(X, labels(y, 3)), X),
        "saved, categories": lambda: saved_fit(GradientSiftRegressor().fit(frame, plan), frame),
    }


# ------------------------------------------------ refused
def refused(estimator: Any, X: Any, y: Any, **given: Any) -> Answers:
    """An error is the answer: its text is kept by `answers_of`."""
    estimator.fit(X, y, **given)
    return {"accepted": True}


def error_cases() -> dict[str, Case]:
    X, y = numbers()
    spoiled = X.copy()
    spoiled[3, 2] = np.nan
    number, label = GradientSiftRegressor(), GradientSiftClassifier()
    return {
        "refused: missing value": partial(
            refused, GradientSiftRegressor(missing="error"), spoiled, y
        ),
        "refused: infinite value": partial(refused, number, np.where(X > 2.5, np.inf, X), y),
        "refused: missing response": partial(refused, number, X, np.where(y > 2.0, np.nan, y)),
        "refused: one class": partial(refused, label, X, np.ones(len(y))),
        "refused: text as numbers": partial(refused, number, X, labels(y)),
        "refused: rows that do not match": partial(refused, number, X, y[:-1]),
        "refused: negative weight": partial(refused, number, X, y, sample_weight=-np.ones(len(y))),
        "refused: two groups": partial(refused, number, X, y, groups=np.arange(len(y)) % 2),
        "refused: short covariates": partial(refused, number, X, y, covariates=X[:-1, :2]),
        "refused: unknown column": partial(
            refused, GradientSiftRegressor(always_keep=["nowhere"]), mixed_frame(), y
        ),
        "refused: level": partial(refused, GradientSiftRegressor(false_positives=0.0), X, y),
        "refused: alpha": partial(refused, SparseGradientRegressor(alpha=-1.0), X, y),
    }
