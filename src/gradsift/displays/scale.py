"""An axis along which columns lie, if their names say it: wavelengths, times, chromosomes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gradsift.displays import style
from gradsift.protocols import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAST_COLUMNS = 20
"""Fewer columns are no scale."""
MOST_COLUMNS = 2_000_000
"""Names that are read at most."""
NUMBER = re.compile(r"(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)[ ._]?([^\W\d]*(?:/[^\W\d]+|\^?-1)?)")
PLACE = re.compile(r"(?:chr)?([0-9]{1,2}|X|Y|MT?)[:_](\d+)(?:[:_].*)?", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Positions:
    """Where columns lie along one line.

    Attributes
    ----------
    at : (p,) array
    unit : str
        Such as "nm"; "" where names are plain numbers; "chromosome" for places on chromosomes.
    breaks : tuple of (float, str)
        Where each chromosome begins, and its name; empty for other scales.
    """

    at: Array
    unit: str
    breaks: tuple[tuple[float, str], ...] = ()


def column_positions(names: Sequence[str]) -> Positions | None:
    """Positions that the names of all columns give; None where they give none.

    Parameters
    ----------
    names : sequence of str
        Numbers in ascending or descending order, with or without a unit ("900 nm", "902 nm"), or
        places on chromosomes ("chr1:12345", "1_12345_A_G"), chromosome by chromosome.

    Returns
    -------
    positions : Positions or None

    Examples
    --------
    >>> found = column_positions([f"{900 + 2 * k} nm" for k in range(50)])
    >>> found.unit, found.at[:3].tolist()
    ('nm', [900.0, 902.0, 904.0])
    >>> column_positions([f"gene{k}" for k in range(50)]) is None
    True
    """
    if not LEAST_COLUMNS <= len(names) <= MOST_COLUMNS:
        return None
    return along_scale(names) or along_chromosomes(names)


def along_scale(names: Sequence[str]) -> Positions | None:
    """Numbers with one unit, in order."""
    found = [NUMBER.fullmatch(name) for name in names]
    parts = [match.groups() for match in found if match is not None]
    if len(parts) < len(found) or len({unit for _, unit in parts}) > 1:
        return None
    at = np.array([float(number) for number, _ in parts])
    steps = np.diff(at)
    ordered = bool((steps > 0).all() or (steps < 0).all())
    return Positions(at, parts[0][1]) if ordered else None


def along_chromosomes(names: Sequence[str]) -> Positions | None:
    """Chromosomes one after the other, each as long as its last position."""
    found = [PLACE.fullmatch(name) for name in names]
    parts = [match.groups() for match in found if match is not None]
    if len(parts) < len(found):
        return None
    chromosome = np.array([name.upper() for name, _ in parts])
    place = np.array([float(number) for _, number in parts])
    starts = np.flatnonzero(np.append(True, chromosome[1:] != chromosome[:-1]))
    if len(set(chromosome[starts].tolist())) < len(starts):
        return None  # a chromosome in two pieces: not in order
    at, breaks, end = place.copy(), [], 0.0
    for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(place)]):
        breaks.append((end, str(chromosome[start])))
        at[start:stop] += end
        end = float(at[start:stop].max())
    return Positions(at, "chromosome", tuple(breaks))


def positions_of(names: Sequence[str]) -> Positions:
    """Where columns lie by their names, which must say it."""
    positions = column_positions(names)
    if positions is None:
        raise ValueError(
            "the names of the columns give no order: they are neither numbers with one unit, "
            "ascending or descending, nor places on chromosomes such as chr1:12345."
        )
    return positions


def scale_axis(ax: Axes, positions: Positions, label: str) -> None:
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
