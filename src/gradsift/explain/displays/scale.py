"""An axis along which columns lie: wavelengths, times, chromosomes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradsift.explain.displays import style
from gradsift.explain.positions import Positions, column_positions


def positions_of(names: Sequence[str]) -> Positions:
    """Where columns lie by their names, which must say it."""
    positions = column_positions(names)
    if positions is None:
        raise ValueError(
            "the names of the columns give no order: they are neither numbers with one unit, "
            "ascending or descending, nor places on chromosomes such as chr1:12345."
        )
    return positions


def scale_axis(ax: Any, positions: Positions, label: str) -> None:
    """Mark the scale below, or the chromosomes with lines between them."""
    at, unit = positions.at, positions.unit
    ax.set_xlim(at.min(), at.max())
    if positions.breaks:
        starts = np.array([start for start, _ in positions.breaks])
        middle = (starts + np.append(starts[1:], at.max())) / 2
        ax.set_xticks(middle, [name for _, name in positions.breaks])
        ax.tick_params(axis="x", length=0)
        for start in starts[1:]:
            ax.axvline(start, color=style.FAINT, linewidth=0.8, zorder=0)
    style.axis_labels(ax, unit, label)
