"""The samples seen along the directions that explain the response."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import is_classifier

from gradsift.explain.displays import style
from gradsift.explain.displays._display import Display
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
    sample_names : sequence of str, optional

    Attributes
    ----------
    ax_, figure_ : the matplotlib axes and figure

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import GradientSiftRegressor
    >>> from gradsift.explain.displays import ProjectionDisplay
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
    sample_names: Sequence[str] | None = None

    _size = 6.0, 4.4

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        target: str = "response",
        sample_names: Sequence[str] | None = None,
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
        sample_names : sequence of str, optional
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
            sample_names=sample_names,
        ).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        n = len(self.y)
        across = self.projection[:, 0]
        names = self.sample_names or [f"sample {k}" for k in range(n)]
        points = {"s": 26 if n <= 200 else 12, "linewidths": 0.4, "edgecolors": style.MUTED}
        if not self.labels:
            if self.projection.shape[1] == 1:
                marks = ax.scatter(across, self.y, color=style.BLUE, **points)
                style.axis_labels(ax, "direction 1", style.label(self.target))
            else:
                marks = ax.scatter(
                    across, self.projection[:, 1], c=self.y, cmap=style.SEQUENTIAL, **points
                )
                style.colour_bar(marks, ax, style.label(self.target))
                style.axis_labels(ax, "direction 1", "direction 2")
            texts = [f"{name}: {value:.3g}" for name, value in zip(names, self.y)]
            self.hover_.append((marks, texts))
            return
        classes, codes = np.unique(self.y, return_inverse=True)
        one = self.projection.shape[1] == 1
        # one direction: a row per class, spread a little, always in the same way
        jitter = 0.25 * (np.modf(np.arange(n) * 0.618034)[0] - 0.5) * 2
        up = codes + jitter if one else self.projection[:, 1]
        for k, name in enumerate(classes):
            rows = np.flatnonzero(codes == k)
            marks = ax.scatter(
                across[rows],
                up[rows],
                color=style.CYCLE[k % 7],
                marker=style.MARKERS[k // 7 % 7 if len(classes) > 7 else k],
                label=style.label(name),
                **points,
            )
            self.hover_.append((marks, [f"{names[i]}: {name}" for i in rows.tolist()]))
        if one:
            ax.set_yticks(range(len(classes)), [style.label(c) for c in classes])
            style.axis_labels(ax, "direction 1", "")
        else:
            ax.legend(frameon=False, fontsize="small", labelcolor=style.INK)
            style.axis_labels(ax, "direction 1", "direction 2")
