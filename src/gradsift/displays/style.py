"""What all displays share: the base class, colours, quiet axes, names that fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self
from unicodedata import category

import numpy as np

from gradsift._run.extras import require
from gradsift.numerics.sampling import evenly_spaced
from gradsift.protocols import Array

# Okabe and Ito's colours, which nearly all readers can tell apart
BLUE, RED, GREEN, ORANGE = "#0072B2", "#D55E00", "#009E73", "#E69F00"
PURPLE, SKY, YELLOW = "#CC79A7", "#56B4E9", "#F0E442"
CYCLE = (BLUE, RED, GREEN, PURPLE, ORANGE, SKY, YELLOW)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
INK, MUTED, FAINT = "#222222", "#767676", "#c8c8c8"
DIVERGING, SEQUENTIAL = "PuOr_r", "cividis"

MOST_LABELS = 12
"""Points that are named in a picture."""


def start(ax: Any, size: tuple[float, float]) -> tuple[Any, Any]:
    """(figure, axes): the axes given, or new ones."""
    if ax is None:
        plt = require("matplotlib.pyplot", "plot", "a plot")
        _, ax = plt.subplots(figsize=size, layout="constrained")
    quiet(ax)
    return ax.figure, ax


def quiet(ax: Any) -> None:
    """Axes that leave the eye to the data."""
    for side, spine in ax.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(MUTED)
    ax.tick_params(colors=INK, length=3)


def label(name: object, most: int = 28) -> str:
    """A name as plot text: data, never markup, and short enough to leave room for the plot.

    Examples
    --------
    >>> label("cost in $")
    'cost in \\\\$'
    >>> label("a" * 40, most=6)
    'aaaaa…'
    """
    text = readable(name)
    if len(text) > most:
        text = text[: most - 1] + "…"
    # a dollar would start a formula, a leading underscore would hide a legend entry
    text = text.replace("$", r"\$")
    return " " + text if text.startswith("_") else text


def readable(name: object) -> str:
    """A name with line breaks and control characters made visible, so that no file format chokes.

    Examples
    --------
    >>> readable("two\\nlines")
    'two\ufffdlines'
    """
    return "".join(c if c.isprintable() or category(c) == "Zs" else "\ufffd" for c in str(name))


def and_more(hidden: int, what: str = "variable") -> str:
    """A line below an axis label that says how many are not drawn.

    Examples
    --------
    >>> and_more(480)
    '\\nand 480 more variables'
    """
    return f"\nand {hidden:,} more {what}{'s' if hidden > 1 else ''}" if hidden > 0 else ""


def name_point(ax: Any, name: object, x: float, y: float) -> None:
    """Write a name next to a point."""
    ax.annotate(
        label(name, 20), (x, y), xytext=(4, 4), textcoords="offset points", color=INK,
        fontsize="small",
    )  # fmt: skip


def axis_labels(ax: Any, x: str, y: str) -> None:
    ax.set_xlabel(x, color=INK)
    ax.set_ylabel(y, color=INK)


def legend_above(ax: Any) -> None:
    """The legend over the axes, where it hides nothing."""
    labels = ax.get_legend_handles_labels()[1]
    widest = max(map(len, labels), default=0) + 6  # with its mark, in characters
    ax.legend(
        frameon=False,
        fontsize="small",
        labelcolor=INK,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=int(np.clip(62 // widest, 1, 3)),
        borderaxespad=0.0,
        handletextpad=0.4,
        columnspacing=1.2,
    )


def legend_right(ax: Any) -> None:
    """The legend at the right of the axes."""
    ax.legend(
        frameon=False, fontsize="small", labelcolor=INK, loc="upper left",
        bbox_to_anchor=(1.0, 1.0), borderaxespad=0.0,
    )  # fmt: skip


def top_counts(ax: Any, alphas: Array, counts: Sequence[int], most: int = 7) -> Any:
    """A second x axis on top that says how many variables are selected."""
    top = ax.twiny()
    top.set_xscale("log")
    top.set_xlim(ax.get_xlim())
    quiet(top)
    for side, spine in top.spines.items():
        spine.set_visible(side == "top")
    at = evenly_spaced(len(alphas), most)
    top.set_xticks([alphas[k] for k in at], [f"{counts[k]:,}" for k in at])
    top.set_xticks([], minor=True)
    top.set_xlabel("variables selected", color=MUTED, fontsize="small")
    top.tick_params(colors=MUTED, labelsize="small")
    return top


def colour_bar(mesh: Any, ax: Any, text: str) -> Any:
    bar = ax.figure.colorbar(mesh, ax=ax, shrink=0.8, pad=0.02)
    bar.set_label(text, color=INK)
    bar.ax.tick_params(colors=INK, labelsize="small")
    bar.outline.set_visible(False)
    return bar


class Display:
    """A picture: its fields are what it shows, `plot` draws it.

    Attributes
    ----------
    ax_, figure_ : the matplotlib axes and figure
    """

    ax_: Any
    figure_: Any

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
            None = new ones.

        Returns
        -------
        display : Display
            Itself.
        """
        self.figure_, self.ax_ = start(ax, self._size)
        self._draw(self.ax_)
        return self

    @property
    def _size(self) -> tuple[float, float]:
        """Width and height of a new figure, in inches."""
        raise NotImplementedError

    def _draw(self, ax: Any) -> None:
        """Draw on these axes."""
        raise NotImplementedError
