"""How many directions the response needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from gradsift.explain.displays import style
from gradsift.explain.displays._display import Display
from gradsift.protocols import Array


@dataclass(kw_only=True, eq=False, repr=False)
class EigenvaluesDisplay(Display):
    """Eigenvalues of the S-EGCM as shares of its trace.

    Parameters
    ----------
    eigenvalues : (a,) array, decreasing
    n_components : int
        How many directions are kept.
    most : int, default=20
        Draw at most this many.

    Attributes
    ----------
    ax_, figure_ : the matplotlib axes and figure

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import GradientSiftRegressor
    >>> from gradsift.explain.displays import EigenvaluesDisplay
    >>> X = np.random.default_rng(0).normal(size=(100, 10))
    >>> model = GradientSiftRegressor().fit(X, X[:, 4] - X[:, 5])
    >>> EigenvaluesDisplay.from_estimator(model).n_components
    1
    """

    eigenvalues: Array
    n_components: int
    most: int = 20

    _size = 5.0, 3.2

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the eigenvalues of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
        ax : matplotlib axes, optional

        Returns
        -------
        display : EigenvaluesDisplay
        """
        return cls(eigenvalues=estimator.eigenvalues_, n_components=estimator.n_components_).plot(
            ax=ax
        )

    def _draw(self, ax: Any) -> None:
        total = float(self.eigenvalues.sum()) or 1.0
        shown = min(len(self.eigenvalues), self.most)
        share = self.eigenvalues[:shown] / total
        at = np.arange(1, shown + 1)
        colours = [style.BLUE if k <= self.n_components else style.FAINT for k in at]
        bars = ax.bar(at, share, width=0.66, color=colours)
        ax.set_xlim(0.4, max(shown, 3) + 0.6)
        ax.set_ylim(0.0, 1.0)
        every = -(-shown // 10) or 1
        ax.set_xticks(at[::every], [str(k) for k in at[::every]])
        ax.yaxis.set_major_formatter(lambda v, _: f"{100 * v:.0f} %")
        kept = f"{self.n_components} kept" if shown > self.n_components else "all kept"
        style.axis_labels(ax, f"direction ({kept})", "share of the gradient's variation")
        style.and_more(ax, len(self.eigenvalues) - shown, "direction")
        self.hover_ = [
            (bar, [f"direction {k}: {100 * s:.1f} %"]) for bar, k, s in zip(bars, at, share)
        ]
