"""New values far beyond those a model was fitted to: found as they are read, and said."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gradsift._typing import Array, IntArray
from gradsift.data.source import windows
from gradsift.exceptions import ExtrapolationWarning

FAR = 1_000.0
"""Standard deviations from the mean: of a million samples none can lie as far from theirs."""
HUGE = 1e100
"""What counts as far in a column whose spread was not measured."""
SHOWN = 5
WIDTH = 256


@dataclass(frozen=True)
class Seen:
    """Means and scales of the columns at fit."""

    mean: Array
    scale: Array

    def beyond(self, X: Array, index: IntArray) -> NDArray[np.bool_]:
        """Where values of these columns are far out; never where they are missing."""
        mean, scale = self.mean[index], self.scale[index]
        unmeasured = (mean == 0.0) & (scale == 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            far: NDArray[np.bool_] = np.abs(X - mean) > np.where(unmeasured, HUGE, FAR * scale)
        return far

    def note(self, X: Array, index: IntArray, label: Callable[[IntArray], list[str]]) -> str | None:
        """A sentence on the values of X (one column per entry of `index`) that are far out."""
        rows = np.zeros(len(X), dtype=bool)
        found: list[int] = []
        for where in windows(len(index), WIDTH):
            far = self.beyond(X[:, where], index[where])
            if far.any():
                rows |= far.any(axis=1)
                found += index[where][far.any(axis=0)].tolist()
        if not found:
            return None
        names = ", ".join(label(np.array(found[:SHOWN]))) + (", ..." if len(found) > SHOWN else "")
        return (
            f"{rows.sum()} of {len(rows)} rows hold values more than {FAR:,.0f} standard "
            f"deviations from the mean of those the model was fitted to, in {names}: predictions "
            "there mean nothing. Check units and typing errors."
        )

    def warn(self, X: Array, index: IntArray, label: Callable[[IntArray], list[str]]) -> None:
        note = self.note(X, index, label)
        if note is not None:
            warnings.warn(note, ExtrapolationWarning, stacklevel=4)
