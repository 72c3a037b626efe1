"""What pictures of p-values share: heights, discoveries in colour, and names beside the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from gradsift.explain.displays import style
from gradsift.explain.displays._display import Display
from gradsift.inference import Association, Significance
from gradsift.protocols import Array

SMALLEST = 1e-300
"""P-values below this are drawn here."""


def minus_log10(p_values: Array) -> Array:
    """Evidence as powers of ten, (p,).

    Examples
    --------
    >>> minus_log10(np.array([1.0, 0.01])).tolist()
    [0.0, 2.0]
    """
    return np.abs(-np.log10(np.maximum(p_values, SMALLEST)))


def tests_of(estimator: Any) -> Significance | Association:
    """Tests of the columns of a fitted sift: of each given all others where a
    `false_discovery_rate` was asked for, else of each by itself.
    """
    tested = getattr(estimator, "significance_", None) or getattr(estimator, "association_", None)
    if tested is None:
        raise NotFittedError("no columns were tested: the sift is not fitted, or rows have groups.")
    found: Significance | Association = tested
    return found


@dataclass(kw_only=True, eq=False, repr=False)
class EvidenceDisplay(Display):
    """One dot per column, as high as its p-value is small; discoveries in colour."""

    p_values: Array
    q_values: Array
    names: Sequence[str]
    false_discovery_rate: float = 0.1

    @property
    def discoveries(self) -> list[str]:
        """Names of the columns in colour, in the order of the columns."""
        found = np.flatnonzero(self.q_values <= self.false_discovery_rate)
        return [str(self.names[k]) for k in found.tolist()]

    def _draw_evidence(self, ax: Any, across: Array, small: float, large: float) -> None:
        """Dots at `across`, of a small size, or a large one where they are discoveries."""
        height = minus_log10(self.p_values)
        found = self.q_values <= self.false_discovery_rate
        ax.scatter(across[~found], height[~found], s=small, color=style.FAINT, linewidths=0)
        dots = ax.scatter(across[found], height[found], s=large, color=style.RED, zorder=3)
        for k in np.flatnonzero(found)[np.argsort(-height[found])][: style.MOST_LABELS].tolist():
            style.name_point(ax, self.names[k], across[k], height[k])
        ax.set_ylim(0.0, 1.12 * float(height.max(initial=0.0)) or 1.0)
        self.hover_ = [(dots, self.discoveries)]
