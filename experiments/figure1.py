"""Figure 1: regularisation paths of SGL and of the LASSO on the same data.

Red x1, blue x2 to x5, green noise, as in the paper; line styles say the same again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import lars_path

from experiments.table1 import AS_PRINTED
from experiments.tools import (
    BLUE,
    GREEN,
    RED,
    TOL,
    Progress,
    Settings,
    canvas,
    spread,
    table,
)
from gradsift import gradient_path
from gradsift.data.simulate import turlach
from gradsift.protocols import Array

SEED, NOISE = 1, 0.05
STYLES = [("x1", RED, "-", 2.2), ("x2 to x5", BLUE, "--", 1.4), ("x6 to x10", GREEN, ":", 1.4)]
GROUPS = [slice(0, 1), slice(1, 5), slice(5, 10)]


@dataclass(frozen=True)
class Path1:
    """One path: what is on the horizontal axis, and a line per variable, (points, 10)."""

    at: Array
    lines: Array


@dataclass(frozen=True)
class Figure1:
    """The three paths."""

    printed: Path1
    lasso: Path1
    standardised: Path1


def compute(settings: Settings, progress: Progress) -> Figure1:
    """The paper's two paths, and ours on standardised columns."""
    X, y, _ = turlach(noise=NOISE, random_state=SEED)
    ours: dict[str, Any] = {}
    jobs = [(X, y, AS_PRINTED, 0.004), (X, y, ours, 0.02)]
    printed, standardised = spread(_sgl, jobs, settings, progress, "figure1")
    _, _, coefficients = lars_path(X - X.mean(axis=0), y - y.mean(), method="lasso")
    t = np.abs(coefficients).sum(axis=0)
    return Figure1(printed, Path1(t, coefficients.T), standardised)


def _sgl(X: Array, y: Array, options: dict[str, Any], eps: float) -> Path1:
    path = gradient_path(X, y, n_alphas=60, eps=eps, tol=TOL, **options)
    return Path1(-np.log10(path.alphas), path.importances)


def entry_order(path: Path1) -> list[int]:
    """Variables (counted from 1) by the first point at which they are in."""
    inside = path.lines != 0.0
    first = np.where(inside.any(axis=0), inside.argmax(axis=0), len(inside))
    return [int(k) + 1 for k in np.lexsort((-np.abs(path.lines[-1]), first))]


def record(result: Figure1) -> dict[str, Any]:
    """The order of entry on each path."""
    return {
        "SGL, the paper's settings": entry_order(result.printed),
        "LASSO": entry_order(result.lasso),
        "SGL, standardised (our default)": entry_order(result.standardised),
    }


def tables(kept: dict[str, Any]) -> dict[str, str]:
    """Variables in the order in which they come in."""
    rows = [
        [name, " ".join(f"x{k}" for k in order), order.index(1) + 1] for name, order in kept.items()
    ]
    return {"order": table(["path", "order of entry", "place of x1"], rows)}


def text(kept: dict[str, Any]) -> str:
    """figure1.md."""
    return (
        "# Figure 1: regularisation paths\n\n"
        f"One data set (seed {SEED}, noise sd {NOISE}), variables in the order in which they come "
        "in as the penalty falls. Four linear variables come first for every method; x1 is fifth "
        "where a method sees it.\n\n" + tables(kept)["order"] + "\n![paths](figure1-paths.png)\n"
    )


def figures(result: Figure1) -> dict[str, Any]:
    return {"figure1-paths": _draw(result)}


def _draw(result: Figure1) -> Any:
    figure, axes = canvas(1, 3, (12, 4))
    norm = r"$\|f^k\|_K$"
    penalty = r"$-\log_{10}\lambda$"
    panels = [
        ("(a) SGL, the paper's settings", result.printed, penalty, norm),
        ("(b) LASSO", result.lasso, r"$t = \sum_k |\beta_k|$", "coefficient"),
        ("SGL, standardised (our default)", result.standardised, penalty, norm),
    ]
    for axis, (title, path, across, up) in zip(axes[0], panels):
        for (label, colour, style, width), group in reversed(list(zip(STYLES, GROUPS))):
            lines = axis.plot(path.at, path.lines[:, group], style, color=colour, lw=width)
            lines[0].set_label(label)
        axis.set(title=title, xlabel=across, ylabel=up)
        axis.spines[["top", "right"]].set_visible(False)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], loc="outside lower center", ncols=3, handlelength=3)
    return figure
