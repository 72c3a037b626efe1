"""P-values along a scale or along chromosomes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gradsift._typing import Array
from gradsift.explain import variable_names
from gradsift.explain.displays import _style as style
from gradsift.explain.displays._display import Display
from gradsift.explain.displays._scale import positions_of, scale_axis
from gradsift.explain.positions import Positions

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


class ManhattanDisplay(Display):
    """P-values of columns that have an order; discoveries in colour.

    Parameters
    ----------
    positions : Positions
        From `gradsift.explain.positions.column_positions`.
    p_values, q_values : (p,) arrays
    names : sequence of str
    false_discovery_rate : float, default=0.1
        Columns with a q-value up to this are drawn in colour and named.

    Attributes
    ----------
    ax_, figure_ : the matplotlib axes and figure

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import GradientSiftRegressor
    >>> from gradsift.explain.displays import ManhattanDisplay
    >>> X = np.random.default_rng(0).normal(size=(100, 40))
    >>> names = [f"chr{1 + k // 20}:{1000 * (k % 20)}" for k in range(40)]
    >>> model = GradientSiftRegressor(inference=True).fit(X, X[:, 12] + 0.1 * X[:, 13])
    >>> ManhattanDisplay.from_estimator(model, names=names).discoveries
    ['chr1:12000', 'chr1:13000']
    """

    def __init__(
        self,
        *,
        positions: Positions,
        p_values: Array,
        q_values: Array,
        names: Sequence[str],
        false_discovery_rate: float = 0.1,
    ) -> None:
        self.positions = positions
        self.p_values = p_values
        self.q_values = q_values
        self.names = names
        self.false_discovery_rate = false_discovery_rate

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        names: Sequence[str] | None = None,
        false_discovery_rate: float = 0.1,
        ax: Any = None,
    ) -> Self:
        """Draw the p-values of a sift that was fitted with ``inference=True``.

        Parameters
        ----------
        estimator : fitted GradientSiftRegressor or GradientSiftClassifier
        names : sequence of str, optional
            They say where columns lie: "chr1:12345", "900 nm".
        false_discovery_rate : float, default=0.1
        ax : matplotlib axes, optional

        Returns
        -------
        display : ManhattanDisplay
        """
        check_is_fitted(estimator, "significance_")
        names = variable_names(estimator, names)
        return cls(
            positions=positions_of(names),
            p_values=estimator.significance_.p_values,
            q_values=estimator.significance_.q_values,
            names=names,
            false_discovery_rate=false_discovery_rate,
        ).plot(ax=ax)

    @property
    def discoveries(self) -> list[str]:
        """Names of the columns in colour, in the order of the axis."""
        found = np.flatnonzero(self.q_values <= self.false_discovery_rate)
        return [str(self.names[k]) for k in found.tolist()]

    @property
    def _size(self) -> tuple[float, float]:
        return 7.2, 3.0

    def _draw(self, ax: Any) -> None:
        at, height = self.positions.at, minus_log10(self.p_values)
        found = self.q_values <= self.false_discovery_rate
        ax.scatter(at[~found], height[~found], s=8, color=style.FAINT, linewidths=0)
        dots = ax.scatter(at[found], height[found], s=22, color=style.RED, zorder=3)
        for k in np.flatnonzero(found)[np.argsort(-height[found])][: style.MOST_LABELS].tolist():
            style.name_point(ax, self.names[k], at[k], height[k])
        ax.set_ylim(0.0, 1.12 * float(height.max(initial=0.0)) or 1.0)
        scale_axis(ax, self.positions, "−log₁₀ p")
        self.hover_ = [(dots, self.discoveries)]
