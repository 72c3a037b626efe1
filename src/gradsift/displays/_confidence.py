"""How sure it is that each column acts, along a scale or along chromosomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from gradsift.displays import style
from gradsift.displays._display import Display
from gradsift.displays.scale import Positions, positions_of, scale_axis
from gradsift.estimators.names import variable_names
from gradsift.inference.findings import Finding
from gradsift.protocols import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAST_DRAWN = 0.002
"""Columns of less confidence are not drawn: the line at zero stands for them."""


@dataclass(kw_only=True, eq=False, repr=False)
class ConfidenceDisplay(Display):
    """Confidences along columns that have an order.

    Parameters
    ----------
    positions : Positions
        From `gradsift.displays.scale.positions_of`.
    confidence : (p,) array
    findings : sequence of Finding
        Their columns are drawn in one colour each.
    names : sequence of str

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import GradientSiftRegressor
    >>> from gradsift.displays import ConfidenceDisplay
    >>> X = np.random.default_rng(0).normal(size=(100, 30)).cumsum(axis=1)
    >>> names = [f"{400 + 10 * k} nm" for k in range(30)]
    >>> model = GradientSiftRegressor(inference=True).fit(X, X[:, 12])
    >>> display = ConfidenceDisplay.from_estimator(model, names=names)
    >>> display.positions.unit
    'nm'
    """

    positions: Positions
    confidence: Array
    findings: Sequence[Finding]
    names: Sequence[str]

    _size = 7.2, 2.6

    @classmethod
    def from_estimator(
        cls, estimator: BaseEstimator, *, names: Sequence[str] | None = None, ax: Axes | None = None
    ) -> Self:
        """Draw the confidences of a sift that was fitted with ``inference=True``.

        Parameters
        ----------
        estimator : fitted GradientSiftRegressor or GradientSiftClassifier
        names : sequence of str, optional
            They say where columns lie: "900 nm", "chr1:12345".
        ax : matplotlib axes, optional

        Returns
        -------
        display : ConfidenceDisplay
        """
        check_is_fitted(estimator, "confidence_")
        names = variable_names(estimator, names)
        return cls(
            positions=positions_of(names),
            confidence=estimator.confidence_,
            findings=estimator.findings_,
            names=names,
        ).plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        at, P = self.positions.at, self.confidence
        colours = np.full(len(P), style.MUTED, dtype=object)
        for number, finding in enumerate(self.findings):
            colours[finding.columns] = style.CYCLE[number % len(style.CYCLE)]
        drawn = np.flatnonzero(P >= LEAST_DRAWN)
        self.lines_ = ax.vlines(at[drawn], 0.0, P[drawn], colors=list(colours[drawn]), linewidth=2)
        dots = ax.scatter(at[drawn], P[drawn], c=list(colours[drawn]), s=14, zorder=3)
        for number, finding in enumerate(self.findings, start=1):
            k = finding.representative
            ax.annotate(
                str(number), (at[k], P[k]), xytext=(0, 5), textcoords="offset points",
                ha="center", color=colours[k], fontsize=9,
            )  # fmt: skip
        ax.axhline(0.0, color=style.FAINT, linewidth=0.8, zorder=0)
        ax.set_ylim(0.0, 1.12)
        ax.set_yticks([0.0, 0.5, 1.0], ["0", "50 %", "100 %"])
        scale_axis(ax, self.positions, "confidence")
        self.hover_ = [(dots, [f"{self.names[k]}: {P[k]:.0%}" for k in drawn.tolist()])]
