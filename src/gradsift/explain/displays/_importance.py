"""How much each selected variable matters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from gradsift.explain import best_selected, variable_names
from gradsift.explain.displays import style
from gradsift.explain.displays._display import Display
from gradsift.protocols import Array


@dataclass(kw_only=True, eq=False, repr=False)
class ImportanceDisplay(Display):
    """Importances of the selected variables, largest first.

    Parameters
    ----------
    importances : (a,) array
        Of the selected variables, in the order to draw them.
    names : sequence of str
    most : int, default=25
        Draw at most this many, and say how many more there are.

    Attributes
    ----------
    ax_, figure_ : the matplotlib axes and figure
    bars_ : matplotlib bars

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import GradientSiftRegressor
    >>> from gradsift.explain.displays import ImportanceDisplay
    >>> X = np.random.default_rng(0).normal(size=(100, 10))
    >>> model = GradientSiftRegressor().fit(X, X[:, 4] ** 2)
    >>> ImportanceDisplay.from_estimator(model).names
    ['x4']
    """

    importances: Array
    names: Sequence[str]
    most: int = 25

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        names: Sequence[str] | None = None,
        most: int = 25,
        ax: Any = None,
    ) -> Self:
        """Draw the importances of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
        names : sequence of str, optional
        most : int, default=25
        ax : matplotlib axes, optional

        Returns
        -------
        display : ImportanceDisplay
        """
        names = variable_names(estimator, names)
        sizes = estimator.feature_importances_
        columns = best_selected(estimator)
        columns = columns[np.argsort(-sizes[columns], kind="stable")]
        return cls(importances=sizes[columns], names=[names[k] for k in columns], most=most).plot(
            ax=ax
        )

    @property
    def _size(self) -> tuple[float, float]:
        shown = min(len(self.names), self.most)
        return 7.0, 1.0 + 0.24 * max(shown, 3)

    def _draw(self, ax: Any) -> None:
        shown = min(len(self.names), self.most)
        at = np.arange(shown)
        self.bars_ = ax.barh(at, self.importances[:shown], height=0.66, color=style.BLUE)
        ax.set_yticks(at, [style.label(n) for n in self.names[:shown]])
        ax.set_ylim(max(shown, 3) - 0.4, -0.6)
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
        ax.set_xlim(left=0.0)
        style.axis_labels(ax, "importance (size of the derivative, standardised)", "")
        style.and_more(ax, len(self.names) - shown)
        self.hover_ = [
            (bar, [f"{name}: {size:.3g}"])
            for bar, name, size in zip(self.bars_, self.names, self.importances)
        ]
