"""P-values beside those of chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from gradsift.explain.displays import style
from gradsift.explain.displays._display import Display
from gradsift.explain.displays._evidence import minus_log10, tests_of
from gradsift.protocols import Array


@dataclass(kw_only=True, eq=False, repr=False)
class QQDisplay(Display):
    """The p-values in order, against those that as many columns of noise would have.

    Most points should follow the line; where all of them lie above it, something makes the tests
    too sure (rows that depend on each other, a covariate that was left out).

    Parameters
    ----------
    p_values : (p,) array

    Attributes
    ----------
    ax_, figure_ : the matplotlib axes and figure

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift.explain.displays import QQDisplay
    >>> display = QQDisplay(p_values=np.random.default_rng(0).uniform(size=9_999)).plot()
    >>> round(display.inflation, 1)
    1.0
    """

    p_values: Array

    _size = 4.2, 4.0

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the p-values of a fitted sift.

        Parameters
        ----------
        estimator : fitted GradientSiftRegressor or GradientSiftClassifier
        ax : matplotlib axes, optional

        Returns
        -------
        display : QQDisplay
        """
        return cls(p_values=tests_of(estimator).p_values).plot(ax=ax)

    @property
    def inflation(self) -> float:
        """-log p in the middle, divided by what chance gives there (log 2): 1 where all is well."""
        return float(-np.log(np.median(self.p_values)) / np.log(2.0))

    def _draw(self, ax: Any) -> None:
        count = len(self.p_values)
        expected = minus_log10((np.arange(1, count + 1) - 0.5) / count)
        end = float(expected[0])
        line = ax.plot([0.0, end], [0.0, end], color=style.MUTED, linewidth=1)[0]
        ax.scatter(expected, minus_log10(np.sort(self.p_values)), s=10, color=style.BLUE, zorder=3)
        style.axis_labels(ax, "−log₁₀ p, expected of noise", "−log₁₀ p, found")
        self.hover_ = [(line, ["what columns of noise would give"])]
