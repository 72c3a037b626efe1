"""The walk of a call: how much of the package one has to read to follow it.

    files       of the package in which a function was called
    functions   called, each counted once; comprehensions and lambdas belong to the function they
                stand in (newer versions of Python give comprehensions no frame of their own)
    switches    changes of file along the functions in the order of their first call: how often a
                reader who follows the call has to open another file
    depth       most functions of the package under way at a time

Counted with `sys.setprofile` in the calling thread. BLAS is allowed one thread, so that the package
starts none of its own; lazy imports are not counted, because every call is made once before.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

import gradsift

PACKAGE = str(Path(gradsift.__file__).parent) + os.sep

Call = Callable[[], object]


class Walk(NamedTuple):
    """What was counted of one call."""

    files: int
    functions: int
    switches: int
    depth: int


def walk(call: Call, package: str = PACKAGE) -> Walk:
    """Count the functions that a call enters.

    Parameters
    ----------
    call : callable
        Called twice; the second time is counted.
    package : str
        Folder of the package, with the separator at its end.
    """
    met: dict[CodeType, None] = {}  # in the order of the first call
    depth = deepest = 0

    def count(frame: FrameType, event: str, _: Any) -> None:
        nonlocal depth, deepest
        code = frame.f_code
        if event not in ("call", "return") or code.co_name.startswith("<"):
            return
        if not code.co_filename.startswith(package):
            return
        if event == "return":
            depth -= 1
            return
        met.setdefault(code)
        depth += 1
        deepest = max(deepest, depth)

    with threadpool_limits(1, user_api="blas"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call()
        outside = sys.getprofile()
        sys.setprofile(count)
        try:
            call()
        finally:
            sys.setprofile(outside)
    files = [code.co_filename for code in met]
    switches = sum(before != after for before, after in pairwise(files))
    return Walk(len(set(files)), len(met), switches, deepest)


def table(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """A line, a curve and a product among p columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] + X[:, 1] ** 2 + X[:, 2] * X[:, 3] + 0.3 * rng.normal(size=n)


@contextlib.contextmanager
def select_command() -> Iterator[Call]:
    """The command `gradsift select` on a CSV of 120 x 30 numbers, with all that it writes."""
    from gradsift.cli._exit import run

    X, y = table(120, 30)
    names = ",".join([*(f"x{k}" for k in range(30)), "y"])
    with tempfile.TemporaryDirectory() as folder:
        file, out = f"{folder}/table.csv", f"{folder}/results"
        np.savetxt(file, np.column_stack([X, y]), delimiter=",", header=names, comments="")

        def select() -> None:
            said = io.StringIO()
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                code = run(["select", file, "--target", "y", "--out", out, "--force"])
            if code:
                raise RuntimeError(f"gradsift select ended with {code}: {said.getvalue()}")

        yield select


@contextlib.contextmanager
def calls() -> Iterator[dict[str, Call]]:
    """The calls that are counted, by name; tables of 150 rows and 60 columns but for `select`."""
    from gradsift import GradientSiftRegressor, SparseGradientRegressor, findings

    X, y = table(150, 60)
    with warnings.catch_warnings(), select_command() as select:
        warnings.simplefilter("ignore")
        model = GradientSiftRegressor().fit(X, y)
        yield {
            "fit": lambda: GradientSiftRegressor().fit(X, y),
            "fit(inference=True)": lambda: GradientSiftRegressor(inference=True).fit(X, y),
            "predict": lambda: model.predict(X),
            "SparseGradientRegressor().fit": lambda: SparseGradientRegressor().fit(X, y),
            "findings": lambda: findings(model, X, y),
            "select": select,
        }


def walks(names: list[str] | None = None) -> dict[str, Walk]:
    """The walks of the calls above, or of some of them."""
    with calls() as known:
        return {name: walk(known[name]) for name in names or known}
