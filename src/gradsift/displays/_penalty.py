"""Along the penalty: which variables come in, and the held-out error."""

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
from gradsift.solver.path import PathResult

MOST_NAMED, MOST_LINES = 10, 200
PENALTY = "penalty alpha (smaller to the right)"


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
    >>> from gradsift.displays import PathDisplay
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
        unnamed = order[:MOST_LINES][~np.isin(order[:MOST_LINES], named)]
        ax.set_xscale("log")
        ax.set_xlim(self.alphas[0], self.alphas[-1])
        self.lines_ = []
        for k in [*unnamed[::-1], *named]:
            (line,) = ax.plot(self.alphas, self.importances[:, k], color=style.FAINT, lw=0.8)
            self.lines_.append(line)
        for rank, (k, line) in enumerate(zip(named, self.lines_[len(unnamed) :])):
            look = {"color": style.CYCLE[rank % 6], "ls": "-" if rank < 6 else "--"}
            line.set(lw=1.8, label=style.label(self.names[k], 18), **look)
        ax.set_ylim(0.0, 1.05 * float(peak.max(initial=0.0)) or 1.0)
        if self.alpha is not None:
            ax.axvline(self.alpha, color=style.INK, lw=1.0, ls=":", label="chosen")
        if ax.get_legend_handles_labels()[1]:
            style.legend_right(ax)
        counts = np.count_nonzero(self.importances, axis=1).tolist()
        self.top_ = style.top_counts(ax, self.alphas, counts)
        note = style.and_more(len(order) - len(self.lines_))
        style.axis_labels(ax, f"{PENALTY}{note}", "size of the derivative")


@dataclass(kw_only=True, eq=False, repr=False)
class CVDisplay(Display):
    """Held-out error against alpha, with what the two rules choose.

    Parameters
    ----------
    alphas : (k,) array, decreasing
    scores : (k, folds) array
        Negative losses; larger is better.
    alpha_min, alpha_1se : float
        Best mean, and the largest alpha within one standard error of it.
    counts : (k,) int array
        Variables selected by the fit on all samples.
    loss : str
        What the error is called.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import SparseGradientRegressorCV
    >>> from gradsift.displays import CVDisplay
    >>> X = np.random.default_rng(0).normal(size=(40, 5))
    >>> model = SparseGradientRegressorCV(alphas=6, cv=3).fit(X, X[:, 0])
    >>> display = CVDisplay.from_estimator(model)
    >>> display.ax_.get_ylabel()
    'held-out mean squared error'
    """

    alphas: Array
    scores: Array
    alpha_min: float
    alpha_1se: float
    counts: Array
    loss: str

    _size = 7.0, 3.8

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the curve of a fitted `SparseGradient*CV`.

        Parameters
        ----------
        estimator : fitted estimator
        ax : matplotlib axes, optional

        Returns
        -------
        display : CVDisplay
        """
        if not hasattr(estimator, "cv_scores_"):
            raise ValueError(
                f"{type(estimator).__name__} chose nothing by cross-validation: fit "
                "SparseGradientRegressorCV or SparseGradientClassifierCV."
            )
        return cls(
            alphas=estimator.alphas_,
            scores=estimator.cv_scores_,
            alpha_min=estimator.alpha_min_,
            alpha_1se=estimator.alpha_1se_,
            counts=np.array([len(s) for s in estimator.path_.supports]),
            loss="log loss" if is_classifier(estimator) else "mean squared error",
        ).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        folds = self.scores.shape[1]
        mean = -self.scores.mean(axis=1)
        error = self.scores.std(axis=1, ddof=1) / np.sqrt(folds) if folds > 1 else 0.0 * mean
        ax.set_xscale("log")
        ax.set_xlim(self.alphas[0], self.alphas[-1])
        ax.fill_between(self.alphas, mean - error, mean + error, color=style.BLUE, alpha=0.2, lw=0)
        ax.plot(self.alphas, mean, color=style.BLUE, lw=1.8)
        # a ring around a diamond: both show where the two rules agree
        ring = {"ms": 11, "mfc": "none", "mew": 2}
        for alpha, colour, marker, look, text in (
            (self.alpha_min, style.RED, "o", ring, "best"),
            (self.alpha_1se, style.GREEN, "D", {"ms": 6}, "one standard error"),
        ):
            at = int(np.abs(self.alphas - alpha).argmin())
            text = f"{text}: {self.counts[at]:,} variable{'s' if self.counts[at] != 1 else ''}"
            ax.plot(alpha, mean[at], marker, color=colour, label=text, zorder=3, ls="none", **look)
            ax.axvline(alpha, color=colour, lw=1.0, ls=":")
        ax.legend(frameon=False, fontsize="small", labelcolor=style.INK)
        self.top_ = style.top_counts(ax, self.alphas, self.counts.tolist())
        style.axis_labels(ax, PENALTY, f"held-out {self.loss}")
