"""What the directions are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from gradsift.explain import variable_names
from gradsift.explain.displays import style
from gradsift.explain.displays._display import Display
from gradsift.protocols import Array


@dataclass(kw_only=True, eq=False, repr=False)
class LoadingsDisplay(Display):
    """Loadings of the sparse directions on the variables they use.

    Parameters
    ----------
    loadings : (r, a) array
        One row per direction.
    names : sequence of str
    n_used : int, optional
        How many variables the directions use altogether; None = as many as there are names.

    Attributes
    ----------
    ax_, figure_ : the matplotlib axes and figure

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import GradientSiftRegressor
    >>> from gradsift.explain.displays import LoadingsDisplay
    >>> X = np.random.default_rng(0).normal(size=(100, 10))
    >>> model = GradientSiftRegressor().fit(X, X[:, 4] - 2 * X[:, 5])
    >>> LoadingsDisplay.from_estimator(model).names
    ['x5', 'x4']
    """

    loadings: Array
    names: Sequence[str]
    n_used: int | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        names: Sequence[str] | None = None,
        most: int = 20,
        most_directions: int = 6,
        ax: Any = None,
    ) -> Self:
        """Draw the loadings of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
        names : sequence of str, optional
        most : int, default=20
            Draw the variables with the largest loadings, at most this many.
        most_directions : int, default=6
        ax : matplotlib axes, optional

        Returns
        -------
        display : LoadingsDisplay
        """
        names = variable_names(estimator, names)
        components = estimator.components_[:most_directions]
        peak = np.abs(components).max(axis=0, initial=0.0)
        used = np.argsort(-peak, kind="stable")[: np.count_nonzero(peak)]
        columns = used[:most]
        return cls(
            loadings=components[:, columns],
            names=[names[k] for k in columns],
            n_used=len(used),
        ).plot(ax=ax)

    @property
    def _size(self) -> tuple[float, float]:
        r, count = self.loadings.shape
        return 2.4 + 0.6 * max(r, 3), 1.2 + 0.28 * max(count, 3)

    def _draw(self, ax: Any) -> None:
        r, count = self.loadings.shape
        directions = [f"{k + 1}" for k in range(r)]
        mesh = style.heatmap(ax, self.loadings.T, self.names, directions, numbers=True)
        hidden = (self.n_used or count) - count
        note = f"\nand {hidden:,} more variables" if hidden else ""
        style.axis_labels(ax, f"direction{note}", "")
        self.hover_ = [
            (mesh, [
                f"{name}, direction {d}: {value:.3f}"
                for name, row in zip(self.names, self.loadings.T)
                for d, value in zip(directions, row)
            ])
        ]  # fmt: skip
