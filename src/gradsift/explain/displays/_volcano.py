"""How large an effect is, and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from gradsift.explain import variable_names
from gradsift.explain.displays import style
from gradsift.explain.displays._evidence import EvidenceDisplay, tests_of
from gradsift.explain.marginal import correlations
from gradsift.protocols import Array


@dataclass(kw_only=True, eq=False, repr=False)
class VolcanoDisplay(EvidenceDisplay):
    """Evidence for every column against its correlation with the response; discoveries in colour.

    A column high up in the middle acts without a correlation: by a curve, or together with another.

    Parameters
    ----------
    effects : (p,) array
        Signed, such as correlations or differences.
    p_values, q_values : (p,) arrays
    names : sequence of str
    false_discovery_rate : float, default=0.1
        Columns with a q-value up to this are drawn in colour and named.
    effect_name : str, default='correlation with the response'

    Attributes
    ----------
    ax_, figure_ : the matplotlib axes and figure

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import GradientSiftRegressor
    >>> from gradsift.explain.displays import VolcanoDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(150, 30))
    >>> y = X[:, 4] ** 2 - X[:, 7] + 0.5 * rng.normal(size=150)
    >>> model = GradientSiftRegressor(false_discovery_rate=0.1).fit(X, y)
    >>> VolcanoDisplay.from_estimator(model, X, y).discoveries
    ['x4', 'x7']
    """

    effects: Array
    effect_name: str = "correlation with the response"

    _size = 5.4, 4.0

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        names: Sequence[str] | None = None,
        false_discovery_rate: float = 0.1,
        ax: Any = None,
    ) -> Self:
        """Draw a fitted sift of numbers or two classes.

        Parameters
        ----------
        estimator : fitted GradientSiftRegressor or GradientSiftClassifier
        X : (n, p) array or data frame
        y : (n,) array
        names : sequence of str, optional
        false_discovery_rate : float, default=0.1
        ax : matplotlib axes, optional

        Returns
        -------
        display : VolcanoDisplay
        """
        tested = tests_of(estimator)
        return cls(
            effects=correlations(X, y),
            p_values=tested.p_values,
            q_values=tested.q_values,
            names=variable_names(estimator, names),
            false_discovery_rate=false_discovery_rate,
        ).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        self._draw_evidence(ax, self.effects, small=10, large=24)
        ax.axvline(0.0, color=style.FAINT, linewidth=0.8, zorder=0)
        reach = float(np.abs(self.effects).max(initial=0.0)) * 1.15 or 1.0
        ax.set_xlim(-reach, reach)
        style.axis_labels(ax, self.effect_name, "−log₁₀ p")
