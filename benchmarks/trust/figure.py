"""The picture in docs/trust.md: what families and columns claim, and how often it holds.

PYTHONPATH=benchmarks python -m trust.figure
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import tables

OUT = Path(__file__).parents[2] / "docs" / "trust.png"
BLUE, ORANGE = "#0072B2", "#D55E00"


def claims() -> list[tuple[float, float, float, int]]:
    """(claim, right, standard error, families) of each span of claims that overlaps no other."""
    spans = {"0.50 to 0.70", "0.70 to 0.90", "0.90 to 0.95", "0.95 to 1.00"}
    out = []
    for _, _, count, claim, right in (r for r in rows_of("by claim") if r[1] in spans):
        mean, error = map(float, re.findall(r"[\d.]+", right))
        out.append((float(claim), mean, error, int(count)))
    return out


def inclusions() -> list[tuple[float, float, float, int]]:
    """The same of inclusion probabilities of single columns."""
    out = []
    for cell in rows_of("inclusion probabilities")[0][1:]:
        claim, right, count = map(float, re.findall(r"[\d.]+", cell))
        out.append((claim, right, float(np.sqrt(right * (1 - right) / count)), int(count)))
    return out


def rows_of(title: str) -> list[list[str]]:
    """Rows of a recorded table that count all tables."""
    rows = tables.load("trust/families")["tables"][title]["rows"]
    return [row for row in rows if row[0] == "all"]


def draw(axis: Any, points: list[tuple[float, float, float, int]], what: str, colour: str) -> None:
    claim, right, error, count = (np.array(part) for part in zip(*points))
    axis.plot([0, 1], [0, 1], color="#c8c8c8", linewidth=1, zorder=0)
    axis.errorbar(claim, right, 2 * error, fmt="o", color=colour, markersize=6, capsize=3)
    for x, y, n in zip(claim, right, count):
        axis.annotate(
            f"{n}", (x, y), xytext=(7, -10), textcoords="offset points", fontsize=8, color="#555555"
        )
    axis.set_xlabel(f"claimed probability of {what}")
    axis.set_ylabel("share that is right")
    axis.spines[["top", "right"]].set_visible(False)


def main() -> None:
    plt.switch_backend("Agg")
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
    draw(left, claims(), "a family", BLUE)
    draw(right, inclusions(), "a column", ORANGE)
    left.set(xlim=(0.45, 1.03), ylim=(0.2, 1.03))
    right.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    figure.savefig(OUT, dpi=100, metadata={"Software": None})


if __name__ == "__main__":
    main()
