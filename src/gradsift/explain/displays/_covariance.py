"""Which selected variables act along the same directions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from gradsift.explain import best_selected, gradient_covariance, variable_names
from gradsift.explain.displays import style
from gradsift.explain.displays._display import Display
from gradsift.protocols import Array


@dataclass(kw_only=True, eq=False, repr=False)
class GradientCovarianceDisplay(Display):
    """Covariance of the partial derivatives of the selected variables, as a heat map.

    Its eigenvectors are the directions of the model. The paper calls it S-EGCM.

    Parameters
    ----------
    covariance : (a, a) array
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
    >>> from gradsift.explain.displays import GradientCovarianceDisplay
    >>> X = np.random.default_rng(0).normal(size=(100, 10))
    >>> model = GradientSiftRegressor().fit(X, X[:, 4] - X[:, 5])
    >>> GradientCovarianceDisplay.from_estimator(model, X).covariance.shape
    (2, 2)
    """

    covariance: Array
    names: Sequence[str]
    n_selected: int | None = None

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
        """Draw the covariance of the partial derivatives of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
        X : (n, p) array or data frame
            Samples to average over, where the covariance is such an average.
        names : sequence of str, optional
        most : int, default=20
            Draw the best ranked variables, at most this many.
        ax : matplotlib axes, optional

        Returns
        -------
        display : GradientCovarianceDisplay
        """
        names = variable_names(estimator, names)
        columns = best_selected(estimator, most)
        return cls(
            covariance=gradient_covariance(estimator, X, columns),
            names=[names[k] for k in columns],
            n_selected=int(estimator.get_support().sum()),
        ).plot(ax=ax)

    @property
    def _size(self) -> tuple[float, float]:
        side = 2.4 + 0.26 * max(len(self.names), 4)
        return side + 1.2, side

    def _draw(self, ax: Any) -> None:
        count = len(self.names)
        mesh = style.heatmap(ax, self.covariance, self.names, self.names, numbers=count <= 8)
        ax.set_aspect("equal")
        style.colour_bar(mesh, ax, "covariance of the derivatives")
        hidden = (self.n_selected or count) - count
        style.axis_labels(ax, f"and {hidden:,} more variables" if hidden else "", "")
        self.hover_ = [
            (mesh, [
                f"{a}, {b}: {value:.3g}"
                for a, row in zip(self.names, self.covariance)
                for b, value in zip(self.names, row)
            ])
        ]  # fmt: skip
