"""P-values along a scale or along chromosomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from gradsift.explain import variable_names
from gradsift.explain.displays._evidence import EvidenceDisplay, tests_of
from gradsift.explain.displays.scale import positions_of, scale_axis
from gradsift.explain.positions import Positions


@dataclass(kw_only=True, eq=False, repr=False)
class ManhattanDisplay(EvidenceDisplay):
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
    >>> model = GradientSiftRegressor().fit(X, X[:, 12] + X[:, 13])
    >>> ManhattanDisplay.from_estimator(model, names=names).discoveries
    ['chr1:12000', 'chr1:13000']
    """

    positions: Positions

    _size = 7.2, 3.0

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        names: Sequence[str] | None = None,
        false_discovery_rate: float = 0.1,
        ax: Any = None,
    ) -> Self:
        """Draw the p-values of a fitted sift.

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
        tested = tests_of(estimator)
        names = variable_names(estimator, names)
        return cls(
            positions=positions_of(names),
            p_values=tested.p_values,
            q_values=tested.q_values,
            names=names,
            false_discovery_rate=false_discovery_rate,
        ).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        self._draw_evidence(ax, self.positions.at, small=8, large=22)
        scale_axis(ax, self.positions, "−log₁₀ p")
