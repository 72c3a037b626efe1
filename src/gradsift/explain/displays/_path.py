"""Which variables come in as the penalty falls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from gradsift.explain import variable_names
from gradsift.explain.displays import style
from gradsift.explain.displays._display import Display
from gradsift.protocols import Array
from gradsift.solver.path import PathResult

MOST_NAMED, MOST_LINES = 10, 200


@dataclass(kw_only=True, eq=False, repr=False)
class PathDisplay(Display):
    """Sizes of the partial derivatives along the penalty.

    Parameters
    ----------
    alphas : (k,) array, decreasing
    importances : (k, p) array
        ||f^j||_K at every penalty.
    names : sequence of str
    alpha : float, optional
        The penalty that was chosen.

    Attributes
    ----------
    ax_, figure_ : the matplotlib axes and figure
    lines_ : list of matplotlib lines, one per variable drawn

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import gradient_path
    >>> from gradsift.explain.displays import PathDisplay
    >>> X = np.random.default_rng(0).normal(size=(50, 30))
    >>> path = gradient_path(X, X[:, 0] + X[:, 1], n_alphas=5)
    >>> PathDisplay.from_path(path).importances.shape
    (5, 30)
    """

    alphas: Array
    importances: Array
    names: Sequence[str]
    alpha: float | None = None

    _size = 7.0, 4.2

    @classmethod
    def from_path(
        cls, path: PathResult, *, names: Sequence[str] | None = None, alpha: float | None = None
    ) -> Self:
        """From what `gradient_path` returns; draws nothing yet.

        Parameters
        ----------
        path : PathResult
        names : sequence of str, optional
        alpha : float, optional
            A penalty to mark.

        Returns
        -------
        display : PathDisplay
        """
        if names is None:
            names = [f"x{k}" for k in range(path.n_features)]
        return cls(alphas=path.alphas, importances=path.importances, names=names, alpha=alpha)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, names: Sequence[str] | None = None, ax: Any = None
    ) -> Self:
        """Draw the path of a fitted `SparseGradient*CV`, its chosen alpha marked.

        Parameters
        ----------
        estimator : fitted estimator
        names : sequence of str, optional
        ax : matplotlib axes, optional

        Returns
        -------
        display : PathDisplay
        """
        if not hasattr(estimator, "path_"):
            raise ValueError(
                f"{type(estimator).__name__} has no path: fit SparseGradientRegressorCV or "
                "SparseGradientClassifierCV, or pass gradient_path(X, y) to PathDisplay.from_path."
            )
        names = variable_names(estimator, names)
        return cls.from_path(estimator.path_, names=names, alpha=estimator.alpha_).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        peak = self.importances.max(axis=0)
        order = np.argsort(-peak, kind="stable")[: np.count_nonzero(peak)]
        # names go to those that are large where the path ends or at the chosen alpha
        at = -1 if self.alpha is None else int(np.abs(self.alphas - self.alpha).argmin())
        size = self.importances[at] + 1e-9 * peak
        named = np.argsort(-size, kind="stable")[: min(MOST_NAMED, np.count_nonzero(size))]
        ax.set_xscale("log")
        ax.set_xlim(self.alphas[0], self.alphas[-1])
        self.lines_, self.hover_ = [], []
        drawn = [k for k in order[:MOST_LINES] if k not in set(named.tolist())]
        for k in [*drawn[::-1], *named[::-1]]:
            (line,) = ax.plot(self.alphas, self.importances[:, k], color=style.FAINT, lw=0.8)
            self.lines_.append(line)
            self.hover_.append((line, [str(self.names[k])]))
        for line, rank in zip(self.lines_[::-1], range(len(named))):
            line.set(color=style.CYCLE[rank % 6], lw=1.8, ls="-" if rank < 6 else "--")
        ax.set_ylim(0.0, 1.05 * float(peak.max(initial=0.0)) or 1.0)
        ends = self.importances[-1, named]
        gap = 0.05 * ax.get_ylim()[1]
        places = style.spread_labels(ends, gap)
        places = places + max(0.0, -float(places.min(initial=0.0)))
        for rank, (k, y) in enumerate(zip(named, places)):
            ax.annotate(
                style.label(self.names[k], 18),
                (self.alphas[-1], y),
                xytext=(5, 0),
                textcoords="offset points",
                va="center",
                fontsize="small",
                color=style.CYCLE[rank % 6],
                annotation_clip=False,
            )
        if self.alpha is not None:
            ax.axvline(self.alpha, color=style.INK, lw=1.0, ls=":")
            ax.annotate(
                "chosen",
                (self.alpha, 1.0),
                xycoords=("data", "axes fraction"),
                xytext=(4, -10),
                textcoords="offset points",
                fontsize="small",
                color=style.INK,
            )
        counts = np.count_nonzero(self.importances, axis=1).tolist()
        self.top_ = style.top_counts(ax, self.alphas, counts)
        style.axis_labels(ax, "penalty alpha (smaller to the right)", "size of the derivative")
        hidden = len(order) - len(self.lines_)
        style.and_more(ax, hidden)
