"""Which variables change each other's effect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from gradsift._typing import Array
from gradsift.data.slices import take_columns
from gradsift.explain import best_selected, effect_dependence, gradient_columns, variable_names
from gradsift.explain.displays import _style as style
from gradsift.explain.variables import standard, strongest_output


class InteractionDisplay:
    """How much the effect of one variable depends on another: hints at interactions.

    Row k, column l: the share of the derivative f^k that varies with x^l; on the diagonal, with x^k
    itself (its curvature). See `gradsift.explain.effect_dependence`.

    Parameters
    ----------
    shares : (a, a) array
    names : sequence of str
    n_selected : int, optional
        How many variables are selected altogether; None = as many as there are names.

    Attributes
    ----------
    ax_, figure_ : the matplotlib axes and figure

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import GradientSiftRegressor
    >>> from gradsift.explain.displays import InteractionDisplay
    >>> X = np.random.default_rng(0).normal(size=(100, 10))
    >>> model = GradientSiftRegressor().fit(X, X[:, 4] * X[:, 5])
    >>> shares = InteractionDisplay.from_estimator(model, X).shares
    >>> bool(shares[0, 1] > 0.8 and shares[0, 0] < 0.2)
    True
    """

    def __init__(
        self, *, shares: Array, names: Sequence[str], n_selected: int | None = None
    ) -> None:
        self.shares = shares
        self.names = names
        self.n_selected = n_selected

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        names: Sequence[str] | None = None,
        most: int = 20,
        ax: Any = None,
    ) -> Self:
        """Draw the hints a fitted estimator gives at these samples.

        Parameters
        ----------
        estimator : fitted estimator
        X : (n, p) array or data frame
        names : sequence of str, optional
        most : int, default=20
            Look at the best ranked variables, at most this many.
        ax : matplotlib axes, optional

        Returns
        -------
        display : InteractionDisplay
        """
        names = variable_names(estimator, names)
        columns = best_selected(estimator, most)
        Z, scale = standard(take_columns(X, columns))
        G = gradient_columns(estimator, X, columns)
        G = G[strongest_output(G), :, np.arange(len(columns))].T * scale
        return cls(
            shares=effect_dependence(Z, G),
            names=[names[k] for k in columns],
            n_selected=int(estimator.get_support().sum()),
        ).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional

        Returns
        -------
        display : InteractionDisplay
        """
        count = len(self.names)
        side = 2.4 + 0.26 * max(count, 4)
        self.figure_, self.ax_ = style.start(ax, (side + 1.2, side))
        ax = self.ax_
        mesh = style.heatmap(
            ax, 100 * self.shares, self.names, self.names, numbers=count <= 8, shares=True
        )
        ax.set_aspect("equal")
        style.colour_bar(mesh, ax, "share of the effect, %")
        hidden = (self.n_selected or count) - count
        note = f"\nand {hidden:,} more variables" if hidden else ""
        style.axis_labels(ax, f"depends on{note}", "effect of")
        self.hover_: style.Hover = [
            (mesh, [
                f"effect of {a}, depending on {b}: {100 * value:.0f} %"
                for a, row in zip(self.names, self.shares)
                for b, value in zip(self.names, row)
            ])
        ]  # fmt: skip
        return self
