"""How large an effect is, and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gradsift._typing import Array
from gradsift.explain import variable_names
from gradsift.explain.displays import _style as style
from gradsift.explain.displays._display import Display
from gradsift.explain.displays._manhattan import minus_log10
from gradsift.explain.marginal import correlations


class VolcanoDisplay(Display):
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
    >>> model = GradientSiftRegressor(inference=True).fit(X, y)
    >>> VolcanoDisplay.from_estimator(model, X, y).discoveries
    ['x4', 'x7']
    """

    def __init__(
        self,
        *,
        effects: Array,
        p_values: Array,
        q_values: Array,
        names: Sequence[str],
        false_discovery_rate: float = 0.1,
        effect_name: str = "correlation with the response",
    ) -> None:
        self.effects = effects
        self.p_values = p_values
        self.q_values = q_values
        self.names = names
        self.false_discovery_rate = false_discovery_rate
        self.effect_name = effect_name

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
        """Draw a sift that was fitted with ``inference=True`` to numbers or two classes.

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
        check_is_fitted(estimator, "significance_")
        return cls(
            effects=correlations(X, y),
            p_values=estimator.significance_.p_values,
            q_values=estimator.significance_.q_values,
            names=variable_names(estimator, names),
            false_discovery_rate=false_discovery_rate,
        ).plot(ax=ax)

    @property
    def discoveries(self) -> list[str]:
        """Names of the columns in colour."""
        found = np.flatnonzero(self.q_values <= self.false_discovery_rate)
        return [str(self.names[k]) for k in found.tolist()]

    @property
    def _size(self) -> tuple[float, float]:
        return 5.4, 4.0

    def _draw(self, ax: Any) -> None:
        height = minus_log10(self.p_values)
        found = self.q_values <= self.false_discovery_rate
        ax.scatter(self.effects[~found], height[~found], s=10, color=style.FAINT, linewidths=0)
        dots = ax.scatter(self.effects[found], height[found], s=24, color=style.RED, zorder=3)
        for k in np.flatnonzero(found)[np.argsort(-height[found])][: style.MOST_LABELS].tolist():
            style.name_point(ax, self.names[k], self.effects[k], height[k])
        ax.axvline(0.0, color=style.FAINT, linewidth=0.8, zorder=0)
        reach = float(np.abs(self.effects).max(initial=0.0)) * 1.15 or 1.0
        ax.set_xlim(-reach, reach)
        ax.set_ylim(0.0, 1.12 * float(height.max(initial=0.0)) or 1.0)
        style.axis_labels(ax, self.effect_name, "−log₁₀ p")
        self.hover_ = [(dots, self.discoveries)]
