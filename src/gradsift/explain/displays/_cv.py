"""Held-out error along the penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import is_classifier

from gradsift.explain.displays import style
from gradsift.explain.displays._display import Display
from gradsift.protocols import Array


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

    Attributes
    ----------
    ax_, figure_ : the matplotlib axes and figure

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import SparseGradientRegressorCV
    >>> from gradsift.explain.displays import CVDisplay
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
        band = ax.fill_between(
            self.alphas, mean - error, mean + error, color=style.BLUE, alpha=0.2, lw=0
        )
        (line,) = ax.plot(self.alphas, mean, color=style.BLUE, lw=1.8)
        marks: style.Hover = [(band, ["mean ± one standard error"]), (line, ["mean over folds"])]
        # a ring around a diamond: both show where the two rules agree
        ring = {"ms": 11, "mfc": "none", "mew": 2}
        for alpha, colour, marker, look, text in (
            (self.alpha_min, style.RED, "o", ring, "best"),
            (self.alpha_1se, style.GREEN, "D", {"ms": 6}, "one standard error"),
        ):
            at = int(np.abs(self.alphas - alpha).argmin())
            text = f"{text}: {self.counts[at]:,} variable{'s' if self.counts[at] != 1 else ''}"
            (mark,) = ax.plot(
                alpha, mean[at], marker, color=colour, label=text, zorder=3, ls="none", **look
            )
            ax.axvline(alpha, color=colour, lw=1.0, ls=":")
            marks.append((mark, [f"{text}, alpha {alpha:.3g}"]))
        ax.legend(frameon=False, fontsize="small", labelcolor=style.INK)
        self.top_ = style.top_counts(ax, self.alphas, self.counts.tolist())
        style.axis_labels(ax, "penalty alpha (smaller to the right)", f"held-out {self.loss}")
        self.hover_ = marks
