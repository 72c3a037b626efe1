"""What the experiments share: settings, a pool with progress, tables, figures."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
from joblib import Parallel, delayed

from gradsift import gradient_path
from gradsift._run.atomic import atomic_write
from gradsift._run.extras import require
from gradsift.displays import style
from gradsift.exceptions import NothingSelectedWarning
from gradsift.protocols import Array, IntArray

T = TypeVar("T")

TOL = 1e-6
"""Relative duality gap of every fit of SGL: answers, not approximations, are compared."""

Progress: TypeAlias = Callable[[int, int, str], None]
"""progress(done, total, what): called in the main process after every finished piece of work."""


@dataclass(frozen=True)
class Settings:
    """What a user may change.

    Parameters
    ----------
    repeats : int, optional
        Simulated data sets per setting; None = as many as the experiment's own default.
    data : Path, optional
        File with the leukemia data; None = ask OpenML.
    n_jobs : int
        Processes. The results do not depend on it.
    """

    repeats: int | None = None
    data: Path | None = None
    n_jobs: int = 2


def silent(done: int, total: int, what: str) -> None:
    """Progress for nobody."""


def spread(
    function: Callable[..., T],
    jobs: Iterable[tuple[Any, ...]],
    settings: Settings,
    progress: Progress,
    what: str,
) -> list[T]:
    """function(*job) for every job, in order, over `settings.n_jobs` processes."""
    jobs = list(jobs)
    results: list[T] = []
    progress(0, len(jobs), what)
    pool = Parallel(n_jobs=min(settings.n_jobs, max(len(jobs), 1)), return_as="generator")
    for result in pool(delayed(function)(*job) for job in jobs):
        results.append(result)
        progress(len(results), len(jobs), what)
    return results


@contextmanager
def empty_is_fine() -> Iterator[None]:
    """Where an experiment expects that nothing may be selected, nobody needs a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingSelectedWarning)
        yield


# ---------------------------------------------------------------------------- selection


def exactly(
    count: int, X: Array, y: Array, *, eps: float = 0.01, steps: int = 12, **settings: Any
) -> tuple[IntArray, float]:
    """(variables, alpha) of the largest penalty found that keeps exactly `count` variables.

    Walks down from alpha_max and refines between the last penalty with fewer and the first with
    more. Where several variables come in together at any resolution, the `count` with the largest
    norms are taken.
    """
    alphas: Any = None
    for _ in range(4):
        path = gradient_path(X, y, alphas=alphas, n_alphas=steps, eps=0.2, tol=TOL, **settings)
        sizes = np.array([len(s) for s in path.supports])
        hit = np.flatnonzero(sizes == count)
        if len(hit):
            return path.supports[hit[0]], float(path.alphas[hit[0]])
        beyond = np.flatnonzero(sizes > count)
        if len(beyond):
            at = beyond[0]
            alphas = np.geomspace(path.alphas[at - 1], path.alphas[at], steps)
        elif path.alphas[-1] > eps * path.alpha_max:
            alphas = path.alphas[-1] * np.geomspace(1.0, 0.2, steps)
        else:
            break
    at = int(np.argmax(sizes >= count)) if (sizes >= count).any() else len(sizes) - 1
    best = np.argsort(-path.importances[at], kind="stable")[:count]
    return np.sort(best), float(path.alphas[at])


# ---------------------------------------------------------------------------- files


def table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; the first column is text, the others numbers (right-aligned)."""
    lines = [_line(head), "|:--|" + "--:|" * (len(head) - 1)]
    return "\n".join([*lines, *(_line(row) for row in rows)]) + "\n"


def _line(cells: Sequence[object]) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def numbers(kept: dict[str, Any]) -> str:
    """A record as JSON, short lists on one line."""
    text = json.dumps(kept, indent=1, ensure_ascii=False)
    flat = re.compile(r"\[\s+([^\[\]]*?)\s+\]")
    return flat.sub(lambda m: "[" + re.sub(r"\s*\n\s*", " ", m[1]) + "]", text) + "\n"


def write_text(path: Path, text: str) -> Path:
    """Write a file whole or not at all."""
    return _replace(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


# what would differ from run to run, or between versions of the drawing program, is left out
METADATA: dict[str, dict[str, None]] = {"png": {"Software": None}, "pdf": {"CreationDate": None}}


def save_figure(path: Path, figure: Any, dpi: int = 200) -> list[Path]:
    """Write a figure as PNG and PDF, each whole or not at all, the same bytes every time."""
    paths = []
    for kind, plain in METADATA.items():
        options = {"format": kind, "metadata": plain, "dpi": dpi}
        write = partial(figure.savefig, **options)
        paths.append(_replace(path.with_suffix(f".{kind}"), write))
    return paths


def _replace(path: Path, write: Callable[[Path], object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as part:
        write(part)
    return path


# ---------------------------------------------------------------------------- figures

RED, BLUE, GREEN = style.RED, style.BLUE, style.GREEN
ORANGE, PURPLE, SKY, BLACK = style.ORANGE, style.PURPLE, style.SKY, "#000000"


def canvas(rows: int, columns: int, size: tuple[float, float], **options: Any) -> tuple[Any, Any]:
    """(figure, axes (rows, columns)) that no display is needed for."""
    figure = require("matplotlib.figure", "plot", "a figure").Figure(
        figsize=size, layout="constrained"
    )
    return figure, figure.subplots(rows, columns, squeeze=False, **options)
