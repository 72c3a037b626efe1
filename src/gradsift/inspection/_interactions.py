"""Which variables change each other's effect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from gradsift._typing import Array
from gradsift.inspection import _style as style
from gradsift.summary import best_selected, gradient_columns, mean_slopes, variable_names
from gradsift.summary.table import selected_columns, standard, strongest_output


class InteractionDisplay:
    """How the derivative along one variable varies with another: hints at interactions.

    Row k, column l: the mean change of f^k with x^l, the other selected variables held, per
    standard deviation of both; the diagonal is a variable's own curvature.

    Parameters
    ----------
    slopes : (a, a) array
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
    >>> from gradsift.inspection import InteractionDisplay
    >>> X = np.random.default_rng(0).normal(size=(100, 10))
    >>> model = GradientSiftRegressor().fit(X, X[:, 4] * X[:, 5])
    >>> slopes = InteractionDisplay.from_estimator(model, X).slopes
    >>> bool(slopes[0, 1] > 0.8 and abs(slopes[0, 0]) < 0.2)
    True
    """

    def __init__(
        self, *, slopes: Array, names: Sequence[str], n_selected: int | None = None
    ) -> None:
        self.slopes = slopes
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
        Z, scale = standard(selected_columns(X, columns))
        G = gradient_columns(estimator, X, columns)
        G = G[strongest_output(G), :, np.arange(len(columns))].T * scale
        return cls(
            slopes=mean_slopes(Z, G),
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
        mesh = style.heatmap(ax, self.slopes, self.names, self.names, numbers=count <= 8)
        ax.set_aspect("equal")
        style.colour_bar(mesh, ax, "mean change of the derivative")
        hidden = (self.n_selected or count) - count
        note = f"\nand {hidden:,} more variables" if hidden else ""
        style.axis_labels(ax, f"varies with{note}", "effect of")
        self.hover_: style.Hover = [
            (mesh, [
                f"effect of {a}, varying with {b}: {value:.3g}"
                for a, row in zip(self.names, self.slopes)
                for b, value in zip(self.names, row)
            ])
        ]  # fmt: skip
        return self
