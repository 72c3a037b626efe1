"""Pictures of the evidence for columns: p-values against chance, along a scale, against the size of
an effect; confidences along a scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from gradsift.displays import style
from gradsift.displays.scale import Positions, positions_of, scale_axis
from gradsift.displays.style import Display
from gradsift.estimators.names import variable_names
from gradsift.inference import Association, Significance, correlations
from gradsift.inference.findings import Finding
from gradsift.protocols import Array

SMALLEST = 1e-300
"""P-values below this are drawn here."""
LEAST_DRAWN = 0.002
"""Columns of less confidence are not drawn: the line at zero stands for them."""
LEAST_APART = 0.12, 0.06
"""Of named points, in parts of the width and of the height."""


def minus_log10(p_values: Array) -> Array:
    """Evidence as powers of ten, (p,).

    Examples
    --------
    >>> minus_log10(np.array([1.0, 0.01])).tolist()
    [0.0, 2.0]
    """
    return np.abs(-np.log10(np.maximum(p_values, SMALLEST)))


def tests_of(estimator: Any) -> Significance | Association:
    """Tests of the columns of a fitted sift: of each given all others where a
    `false_discovery_rate` was asked for, else of each by itself.
    """
    tested = getattr(estimator, "significance_", None) or getattr(estimator, "association_", None)
    if tested is None:
        raise NotFittedError("no columns were tested: the sift is not fitted, or rows have groups.")
    found: Significance | Association = tested
    return found


@dataclass(kw_only=True, eq=False, repr=False)
class EvidenceDisplay(Display):
    """One dot per column, as high as its p-value is small; discoveries in colour."""

    p_values: Array
    q_values: Array
    names: Sequence[str]
    false_discovery_rate: float = 0.1

    @property
    def discoveries(self) -> list[str]:
        """Names of the columns in colour, in the order of the columns."""
        found = np.flatnonzero(self.q_values <= self.false_discovery_rate)
        return [str(self.names[k]) for k in found.tolist()]

    def _draw_evidence(self, ax: Any, across: Array, small: float, large: float) -> None:
        """Dots at `across`, of a small size, or a large one where they are discoveries."""
        height = minus_log10(self.p_values)
        found = self.q_values <= self.false_discovery_rate
        ax.scatter(across[~found], height[~found], s=small, color=style.FAINT, linewidths=0)
        ax.scatter(across[found], height[found], s=large, color=style.RED, zorder=3)
        top = 1.12 * float(height.max(initial=0.0)) or 1.0
        ax.set_ylim(0.0, top)
        places = np.column_stack([across / (np.ptp(across) or 1.0), height / top])
        named: list[int] = []
        for k in np.flatnonzero(found)[np.argsort(-height[found], kind="stable")].tolist():
            # names of neighbours would lie on each other
            if (
                len(named) < style.MOST_LABELS
                and (np.abs(places[named] - places[k]) > LEAST_APART).any(axis=1).all()
            ):
                style.name_point(ax, self.names[k], across[k], height[k])
                named.append(k)


@dataclass(kw_only=True, eq=False, repr=False)
class QQDisplay(Display):
    """The p-values in order, against those that as many columns of noise would have.

    Most points should follow the line; where all of them lie above it, something makes the tests
    too sure (rows that depend on each other, a covariate that was left out).

    Parameters
    ----------
    p_values : (p,) array

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift.displays import QQDisplay
    >>> display = QQDisplay(p_values=np.random.default_rng(0).uniform(size=9_999)).plot()
    >>> round(display.inflation, 1)
    1.0
    """

    p_values: Array

    _size = 4.2, 4.0

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the p-values of a fitted sift.

        Parameters
        ----------
        estimator : fitted GradientSiftRegressor or GradientSiftClassifier
        ax : matplotlib axes, optional

        Returns
        -------
        display : QQDisplay
        """
        return cls(p_values=tests_of(estimator).p_values).plot(ax=ax)

    @property
    def inflation(self) -> float:
        """-log p in the middle, divided by what chance gives there (log 2): 1 where all is well."""
        return float(-np.log(np.median(self.p_values)) / np.log(2.0))

    def _draw(self, ax: Any) -> None:
        count = len(self.p_values)
        expected = minus_log10((np.arange(1, count + 1) - 0.5) / count)
        end = float(expected[0])
        ax.plot([0.0, end], [0.0, end], color=style.MUTED, linewidth=1)
        ax.scatter(expected, minus_log10(np.sort(self.p_values)), s=10, color=style.BLUE, zorder=3)
        style.axis_labels(ax, "−log₁₀ p, expected of noise", "−log₁₀ p, found")


@dataclass(kw_only=True, eq=False, repr=False)
class ManhattanDisplay(EvidenceDisplay):
    """P-values of columns that have an order; discoveries in colour.

    Parameters
    ----------
    positions : Positions
        From `gradsift.displays.scale.positions_of`.
    p_values, q_values : (p,) arrays
    names : sequence of str
    false_discovery_rate : float, default=0.1
        Columns with a q-value up to this are drawn in colour and named.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import GradientSiftRegressor
    >>> from gradsift.displays import ManhattanDisplay
    >>> X = np.random.default_rng(0).normal(size=(100, 40))
    >>> names = [f"chr{1 + k // 20}:{1000 * (k % 20)}" for k in range(40)]
    >>> model = GradientSiftRegressor().fit(X, X[:, 12] + X[:, 13])
    >>> ManhattanDisplay.from_estimator(model, names=names).discoveries
    ['chr1:12000', 'chr1:13000']
    """

    positions: Positions

    _size = 7.2, 3.0

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        names: Sequence[str] | None = None,
        false_discovery_rate: float = 0.1,
        ax: Any = None,
    ) -> Self:
        """Draw the p-values of a fitted sift.

        Parameters
        ----------
        estimator : fitted GradientSiftRegressor or GradientSiftClassifier
        names : sequence of str, optional
            They say where columns lie: "chr1:12345", "900 nm".
        false_discovery_rate : float, default=0.1
        ax : matplotlib axes, optional

        Returns
        -------
        display : ManhattanDisplay
        """
        tested = tests_of(estimator)
        names = variable_names(estimator, names)
        return cls(
            positions=positions_of(names),
            p_values=tested.p_values,
            q_values=tested.q_values,
            names=names,
            false_discovery_rate=false_discovery_rate,
        ).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        self._draw_evidence(ax, self.positions.at, small=8, large=22)
        scale_axis(ax, self.positions, "−log₁₀ p")


@dataclass(kw_only=True, eq=False, repr=False)
class VolcanoDisplay(EvidenceDisplay):
    """Evidence for every column against its correlation with the response; discoveries in colour.

    A column high up in the middle acts without a correlation: by a curve, or together with another.

    Parameters
    ----------
    effects : (p,) array
        Signed, such as correlations or differences.
    p_values, q_values : (p,) arrays
    names : sequence of str
    false_discovery_rate : float, default=0.1
        Columns with a q-value up to this are drawn in colour and named.
    effect_name : str, default='correlation with the response'

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import GradientSiftRegressor
    >>> from gradsift.displays import VolcanoDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(150, 30))
    >>> y = X[:, 4] ** 2 - X[:, 7] + 0.5 * rng.normal(size=150)
    >>> model = GradientSiftRegressor(false_discovery_rate=0.1).fit(X, y)
    >>> VolcanoDisplay.from_estimator(model, X, y).discoveries
    ['x4', 'x7']
    """

    effects: Array
    effect_name: str = "correlation with the response"

    _size = 5.4, 4.0

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        names: Sequence[str] | None = None,
        false_discovery_rate: float = 0.1,
        ax: Any = None,
    ) -> Self:
        """Draw a fitted sift of numbers or two classes.

        Parameters
        ----------
        estimator : fitted GradientSiftRegressor or GradientSiftClassifier
        X : (n, p) array or data frame
        y : (n,) array
        names : sequence of str, optional
        false_discovery_rate : float, default=0.1
        ax : matplotlib axes, optional

        Returns
        -------
        display : VolcanoDisplay
        """
        tested = tests_of(estimator)
        return cls(
            effects=correlations(X, y),
            p_values=tested.p_values,
            q_values=tested.q_values,
            names=variable_names(estimator, names),
            false_discovery_rate=false_discovery_rate,
        ).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        self._draw_evidence(ax, self.effects, small=10, large=24)
        ax.axvline(0.0, color=style.FAINT, linewidth=0.8, zorder=0)
        reach = float(np.abs(self.effects).max(initial=0.0)) * 1.15 or 1.0
        ax.set_xlim(-reach, reach)
        style.axis_labels(ax, self.effect_name, "−log₁₀ p")


@dataclass(kw_only=True, eq=False, repr=False)
class ConfidenceDisplay(Display):
    """Confidences along columns that have an order.

    Parameters
    ----------
    positions : Positions
        From `gradsift.displays.scale.positions_of`.
    confidence : (p,) array
    findings : sequence of Finding
        Their columns are drawn in one colour each.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import GradientSiftRegressor
    >>> from gradsift.displays import ConfidenceDisplay
    >>> X = np.random.default_rng(0).normal(size=(100, 30)).cumsum(axis=1)
    >>> names = [f"{400 + 10 * k} nm" for k in range(30)]
    >>> model = GradientSiftRegressor(inference=True).fit(X, X[:, 12])
    >>> display = ConfidenceDisplay.from_estimator(model, names=names)
    >>> display.positions.unit
    'nm'
    """

    positions: Positions
    confidence: Array
    findings: Sequence[Finding]

    _size = 7.2, 2.6

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, names: Sequence[str] | None = None, ax: Any = None
    ) -> Self:
        """Draw the confidences of a sift that was fitted with ``inference=True``.

        Parameters
        ----------
        estimator : fitted GradientSiftRegressor or GradientSiftClassifier
        names : sequence of str, optional
            They say where columns lie: "900 nm", "chr1:12345".
        ax : matplotlib axes, optional

        Returns
        -------
        display : ConfidenceDisplay
        """
        check_is_fitted(estimator, "confidence_")
        return cls(
            positions=positions_of(variable_names(estimator, names)),
            confidence=estimator.confidence_,
            findings=estimator.findings_,
        ).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        at, P = self.positions.at, self.confidence
        colours = np.full(len(P), style.MUTED, dtype=object)
        for number, finding in enumerate(self.findings):
            colours[finding.columns] = style.CYCLE[number % len(style.CYCLE)]
        drawn = np.flatnonzero(P >= LEAST_DRAWN)
        self.lines_ = ax.vlines(at[drawn], 0.0, P[drawn], colors=list(colours[drawn]), linewidth=2)
        ax.scatter(at[drawn], P[drawn], c=list(colours[drawn]), s=14, zorder=3)
        for number, finding in enumerate(self.findings, start=1):
            k = finding.representative
            ax.annotate(
                str(number), (at[k], P[k]), xytext=(0, 5), textcoords="offset points",
                ha="center", color=colours[k], fontsize=9,
            )  # fmt: skip
        ax.axhline(0.0, color=style.FAINT, linewidth=0.8, zorder=0)
        ax.set_ylim(0.0, 1.12)
        ax.set_yticks([0.0, 0.5, 1.0], ["0", "50 %", "100 %"])
        scale_axis(ax, self.positions, "confidence")
