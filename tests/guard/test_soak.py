"""Hundreds of fits in one process: no memory, thread or open file stays behind."""

import gc
import os
import threading
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from guard.counting import FUZZ, one_case
from guard.forms import FORMS
from guard.sound import only_expected_warnings
from sklearn.base import clone

from gradsift import (
    AlphaGrid,
    GradientSiftClassifier,
    GradientSiftRegressor,
    OuterProductGradient,
    RidgeGradientClassifier,
    RidgeGradientRegressor,
    SiftOptions,
    SolverSettings,
    SparseGradientClassifier,
    SparseGradientRegressor,
    SparseGradientRegressorCV,
)
from gradsift._run.memory import resident_memory

FITS = 500 if FUZZ else 60
WARM_UP = 200 if FUZZ else 28
MOST_GROWTH = 3 << 20
"""Bytes. Fits that kept nothing but their table would show: 60 of them hold 3.8 MB, 500 hold 32."""
MORE_THREADS = 3
"""Pools of libraries start their threads one by one, when work overlaps. A thread that each fit of
one form left behind would be four.
"""
N, P = 40, 200
OPEN_FILES = Path("/proc/self/fd")

MODELS = [
    GradientSiftRegressor(options=SiftOptions(n_jobs=2), predict_with="selected"),
    SparseGradientClassifier(solver=SolverSettings(max_iter=200)),
    RidgeGradientRegressor(),
    GradientSiftClassifier(interactions=False, predict_with="selected"),
    SparseGradientRegressor(weights="nearest"),
    OuterProductGradient(),
    SparseGradientRegressorCV(cv=2, alphas=AlphaGrid(n_alphas=3, eps=0.3)),
    RidgeGradientClassifier(),
]


def fit_and_predict(model: Any, form: Callable[[np.ndarray], Any], seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, P))
    y = X[:, 0] + X[:, 1] ** 2
    labels = type(model).__name__.endswith("Classifier")
    stored = form(X)
    with only_expected_warnings():
        fitted = clone(model).fit(stored, y > 1.0 if labels else y)
        fitted.predict(stored)
        fitted.gradient(stored)


def run(fits: int, seed: int = 0) -> None:
    """Every model meets every form in turn, as their numbers have no common divisor but 2."""
    pairs = zip(cycle(MODELS), cycle(FORMS.values()))
    for k, (model, form) in enumerate(islice(pairs, fits)):
        fit_and_predict(model, form, seed + k)


def held() -> tuple[int, int, int]:
    """(bytes of memory, threads, open files) of this process."""
    gc.collect()
    return resident_memory() or 0, threading.active_count(), len(os.listdir(OPEN_FILES))


@pytest.mark.skipif(not OPEN_FILES.exists(), reason="needs /proc to count open files")
def test_many_fits_leave_nothing_behind():
    run(WARM_UP)  # libraries are loaded, pools are started, caches are filled
    memory, threads, files = held()
    with one_case(f"soak of {FITS} fits"):
        run(FITS, seed=10_000)
        memory_after, threads_after, files_after = held()
        assert threads_after <= threads + MORE_THREADS
        assert files_after <= files
        grown = memory_after - memory
        assert grown < MOST_GROWTH, f"{grown / 2**20:.1f} MB more after {FITS} fits"
