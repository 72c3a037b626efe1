"""The directions that explain the response: samples along them, loadings, how many there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import is_classifier

from gradsift.displays import style
from gradsift.displays.style import Display
from gradsift.estimators.names import variable_names
from gradsift.protocols import Array


@dataclass(kw_only=True, eq=False, repr=False)
class ProjectionDisplay(Display):
    """Samples on the leading directions, coloured by response or class.

    With one direction, the sufficient summary plot: the response against it.

    Parameters
    ----------
    projection : (n, r) array
        At least one direction; the first two are drawn.
    y : (n,) array
        Numbers, or labels.
    labels : bool
        Whether y holds labels.
    target : str, default='response'

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import GradientSiftRegressor
    >>> from gradsift.displays import ProjectionDisplay
    >>> X = np.random.default_rng(0).normal(size=(100, 10))
    >>> y = X[:, 4] - X[:, 5]
    >>> model = GradientSiftRegressor().fit(X, y)
    >>> ProjectionDisplay.from_estimator(model, X, y).projection.shape
    (100, 1)
    """

    projection: Array
    y: Array
    labels: bool
    target: str = "response"

    _size = 6.0, 4.4

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        target: str = "response",
        ax: Any = None,
    ) -> Self:
        """Project samples with a fitted estimator, and draw them.

        Parameters
        ----------
        estimator : fitted estimator
        X : (n, p) array or data frame
        y : (n,) array
        target : str, default='response'
            What the response is called.
        ax : matplotlib axes, optional

        Returns
        -------
        display : ProjectionDisplay
        """
        if estimator.n_components_ == 0:
            raise ValueError("no variable was selected, so there is no direction to project on.")
        return cls(
            projection=np.asarray(estimator.transform(X)),
            y=np.asarray(y),
            labels=is_classifier(estimator),
            target=target,
        ).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        n = len(self.y)
        across = self.projection[:, 0]
        points = {"s": 26 if n <= 200 else 12, "linewidths": 0.4, "edgecolors": style.MUTED}
        if not self.labels:
            if self.projection.shape[1] == 1:
                ax.scatter(across, self.y, color=style.BLUE, **points)
                style.axis_labels(ax, "direction 1", style.label(self.target))
            else:
                marks = ax.scatter(
                    across, self.projection[:, 1], c=self.y, cmap=style.SEQUENTIAL, **points
                )
                style.colour_bar(marks, ax, style.label(self.target))
                style.axis_labels(ax, "direction 1", "direction 2")
            return
        classes, codes = np.unique(self.y, return_inverse=True)
        one = self.projection.shape[1] == 1
        # one direction: a row per class, spread a little, always in the same way
        jitter = 0.25 * (np.modf(np.arange(n) * 0.618034)[0] - 0.5) * 2
        up = codes + jitter if one else self.projection[:, 1]
        for k, name in enumerate(classes):
            rows = np.flatnonzero(codes == k)
            ax.scatter(
                across[rows],
                up[rows],
                color=style.CYCLE[k % 7],
                marker=style.MARKERS[k // 7 % 7 if len(classes) > 7 else k],
                label=style.label(name),
                **points,
            )
        if one:
            ax.set_yticks(range(len(classes)), [style.label(c) for c in classes])
            style.axis_labels(ax, "direction 1", "")
        else:
            ax.legend(frameon=False, fontsize="small", labelcolor=style.INK)
            style.axis_labels(ax, "direction 1", "direction 2")


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

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import GradientSiftRegressor
    >>> from gradsift.displays import LoadingsDisplay
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
        limit = float(np.abs(self.loadings).max(initial=0.0)) or 1.0
        # one cell per value, as shapes: sharp at any size
        ax.pcolormesh(
            self.loadings.T, cmap=style.DIVERGING, vmin=-limit, vmax=limit, edgecolors="white",
            linewidth=0.5,
        )  # fmt: skip
        ax.invert_yaxis()
        ax.set_yticks(np.arange(count) + 0.5, [style.label(name, 22) for name in self.names])
        ax.set_xticks(np.arange(r) + 0.5, directions)
        ax.tick_params(length=0, labelsize="small")
        for spine in ax.spines.values():
            spine.set_visible(False)
        for (d, j), value in np.ndenumerate(self.loadings):
            shade = "#fefefe" if abs(value) > 0.65 * limit else "#111111"
            at = {"ha": "center", "va": "center", "fontsize": "small", "color": shade}
            ax.text(d + 0.5, j + 0.5, f"{round(value, 2) + 0.0:.2f}", **at)
        style.axis_labels(ax, "direction" + style.and_more((self.n_used or count) - count), "")


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

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import GradientSiftRegressor
    >>> from gradsift.displays import EigenvaluesDisplay
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
        ax.bar(at, share, width=0.66, color=colours)
        ax.set_xlim(0.4, max(shown, 3) + 0.6)
        ax.set_ylim(0.0, 1.0)
        every = -(-shown // 10) or 1
        ax.set_xticks(at[::every], [str(k) for k in at[::every]])
        ax.yaxis.set_major_formatter(lambda v, _: f"{100 * v:.0f} %")
        kept = f"{self.n_components} kept" if shown > self.n_components else "all kept"
        note = style.and_more(len(self.eigenvalues) - shown, "direction")
        style.axis_labels(ax, f"direction ({kept}){note}", "share of the gradient's variation")
