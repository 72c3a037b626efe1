"""The drawings of the circles experiment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.tools import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, SKY, canvas
from gradsift.protocols import Array

if TYPE_CHECKING:
    from experiments.circles import Circles

LINES = (
    (BLUE, "o", "-"),
    (GREEN, "s", "--"),
    (SKY, "v", "-"),
    (ORANGE, "^", "-."),
    (BLACK, "x", ":"),
    (RED, "D", "-"),
    (PURPLE, "D", "--"),
)


def draw_recovery(
    shares: dict[str, Array], sigmas: Sequence[float], methods: Sequence[str], repeats: int
) -> Any:
    """Percent of data sets against sigma, a panel for each reading and a line per method."""
    figure, axes = canvas(1, len(shares), (11, 4.8), sharey=True)
    for axis, (reading, found) in zip(axes[0], shares.items()):
        for name, values, (colour, marker, style) in zip(methods, found.T, LINES):
            inside = "white" if "exact" in name else colour
            axis.plot(
                sigmas, values, style, marker=marker, color=colour, mfc=inside, label=name, ms=6
            )
        axis.set_xscale("log")
        axis.set_xticks(sigmas, [f"{s:g}" for s in sigmas])
        axis.minorticks_off()
        axis.set(xlabel=rf"$\sigma$, the {reading} of the noise", ylim=(-4, 104))
        axis.spines[["top", "right"]].set_visible(False)
    axes[0, 0].set_ylabel(f"{{x1, x2}} found, % of {repeats} data sets")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", fontsize=9, handlelength=3, ncols=3)
    return figure


def draw_projections(result: Circles) -> Any:
    """The paper's first figure: training and new data on every pair of directions."""
    figure, axes = canvas(2, 4, (13, 6.6))
    columns = [("True plane (x1, x2)", *result.truth)]
    columns += [(view.name, view.train, view.new) for view in result.views]
    labels = (result.labels, result.new_labels)
    for column, (title, *parts) in enumerate(columns):
        for axis, Z, y, part in zip(axes[:, column], parts, labels, ("training", "new")):
            for value, colour, marker in ((1, BLUE, "o"), (-1, RED, "^")):
                own = Z[y == value]
                label = f"class {value:+d}"
                axis.scatter(own[:, 0], own[:, 1], 26, color=colour, marker=marker, label=label)
            axis.set_title(f"{title}: {part} data", fontsize=10)
            names = ("x1", "x2") if column == 0 else ("direction 1", "direction 2")
            axis.set(xlabel=names[0], ylabel=names[1])
            axis.set_aspect("equal", adjustable="datalim")
    handles, names_ = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, names_, loc="outside lower center", ncols=2)
    return figure


def draw_inside(result: Circles) -> Any:
    """The paper's second figure: norms, covariance of ten variables, eigenvalues."""
    figure, axes = canvas(len(result.views), 3, (11, 8.6))
    for row, view in zip(axes, result.views):
        _draw_norms(row[0], view.norms)
        row[0].set_title(f"{view.name}: norms", fontsize=10)
        size = np.abs(view.covariance).max() or 1.0
        image = row[1].imshow(view.covariance / size, cmap="RdBu_r", vmin=-1, vmax=1)
        row[1].set_xticks(range(10), range(1, 11))
        row[1].set_yticks(range(10), range(1, 11))
        row[1].set(xlabel="variable", ylabel="variable")
        row[1].set_title("covariance of x1 to x10, largest = 1", fontsize=10)
        figure.colorbar(image, ax=row[1], shrink=0.85)
        row[2].bar(range(1, 11), view.eigenvalues / view.eigenvalues.max(), color=BLUE)
        row[2].set(xlabel="number", ylabel="eigenvalue, largest = 1")
        row[2].set_title("eigenvalues of the covariance", fontsize=10)
    return figure


def _draw_norms(axis: Any, norms: Array) -> None:
    at = np.arange(1, len(norms) + 1)
    share = norms / norms.max()
    axis.vlines(at[2:], 0, share[2:], color=GREEN, lw=1)
    axis.plot(at[2:][share[2:] > 0], share[2:][share[2:] > 0], ".", color=GREEN, ms=4)
    axis.vlines(at[:2], 0, share[:2], color=RED, lw=1.6)
    axis.plot(at[:2], share[:2], "^", color=RED, label="x1, x2", ms=7)
    axis.set(xlabel="variable", ylabel="norm, largest = 1", ylim=(-0.03, 1.25))
    axis.legend(loc="upper right", fontsize=8)
