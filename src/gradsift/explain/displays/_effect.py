"""What a variable does: the response against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from gradsift._run.suggest import did_you_mean
from gradsift.explain import Curve, Effect, VariableSummary, summarise_variables, variable_names
from gradsift.explain.displays import style
from gradsift.explain.displays._display import Display

MOST_CURVES = len(style.CYCLE)


@dataclass(kw_only=True, eq=False, repr=False)
class EffectDisplay(Display):
    """The response against one variable, the other selected variables held where they are.

    The line is the curve that the words come from, with a 95 % band. Marks along the axis show
    where the samples lie. For numbers, each point is a sample: the curve plus what the model leaves
    unexplained. For two classes, samples of the class are marked at the top, the others at the
    bottom.

    Parameters
    ----------
    effects : sequence of (str or None, Effect)
        What each curve is about, None for numbers, and the effect.
    name : str
        The variable.
    target : str, default='response'
        What the response is called.

    Attributes
    ----------
    ax_, figure_ : the matplotlib axes and figure

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import GradientSiftRegressor
    >>> from gradsift.explain.displays import EffectDisplay
    >>> X = np.random.default_rng(0).normal(size=(100, 10))
    >>> y = X[:, 4] ** 2
    >>> model = GradientSiftRegressor().fit(X, y)
    >>> display = EffectDisplay.from_estimator(model, X, y, 4)
    >>> display.ax_.get_xlabel(), display.effects[0][1].words
    ('x4', 'U-shaped')
    """

    effects: Sequence[tuple[str | None, Effect]]
    name: str
    target: str = "response"

    _size = 5.2, 3.6

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        variable: int | str,
        *,
        class_name: Any = None,
        names: Sequence[str] | None = None,
        target: str = "response",
        ax: Any = None,
    ) -> Self:
        """Draw the effect of a selected variable of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
        X : (n, p) array or data frame
        y : (n,) array
        variable : int or str
            Column number or name.
        class_name : label, optional
            With more than two classes, whose log odds to look at; None = all classes.
        names : sequence of str, optional
        target : str, default='response'
        ax : matplotlib axes, optional

        Returns
        -------
        display : EffectDisplay
        """
        row = find_row(estimator, X, y, variable, names)
        effects = [(o, e) for o, e in row.effects if class_name is None or o == str(class_name)]
        if not effects:
            raise ValueError(
                f"class_name={class_name!r}: use one of {[o for o, _ in row.effects]}."
            )
        return cls(effects=effects, name=row.name, target=target).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        shown = sorted(self.effects, key=lambda item: -item[1].size)[:MOST_CURVES]
        shown = [item for item in self.effects if item in shown]
        self.lines_ = []
        for (output, effect), colour in zip(shown, style.CYCLE):
            line = draw_curve(ax, effect.curve, colour)
            self.lines_.append(line)
            self.hover_.append((line, [self.name if output is None else output]))
            if len(shown) > 1:
                line.set_label(style.label(output, 20))
        draw_samples(ax, shown)
        ax.axhline(0.0, color=style.FAINT, lw=0.8, zorder=0)
        response = response_label(self.target, shown[0][0], len(shown))
        style.axis_labels(ax, style.label(self.name, 40), response)
        if len(shown) > 1:
            style.legend_above(ax)


def find_row(
    estimator: Any, X: Any, y: Any, variable: int | str, names: Sequence[str] | None
) -> VariableSummary:
    """The summary of one selected variable."""
    names = variable_names(estimator, names)
    column = find_column(variable, names)
    for row in summarise_variables(estimator, X, y, names=names):
        if row.column == column:
            return row
    raise ValueError(f"{names[column]!r} is not selected: it has no effect to draw.")


def find_column(variable: int | str, names: Sequence[str]) -> int:
    """A column number from a number or a name."""
    if isinstance(variable, str):
        if variable not in names:
            raise ValueError(f"no column is called {variable!r}.{did_you_mean(variable, names)}")
        return list(names).index(variable)
    if not -len(names) <= variable < len(names):
        raise ValueError(f"column {variable}: the columns are 0 to {len(names) - 1}.")
    return int(variable) % len(names)


def draw_curve(ax: Any, curve: Curve, colour: str, dashes: str = "-") -> Any:
    """A line with its 95 % band; few values are joined dots."""
    low, high = curve.effect - 1.96 * curve.error, curve.effect + 1.96 * curve.error
    ax.fill_between(curve.x, low, high, color=colour, alpha=0.16, linewidth=0)
    dots = "o" if len(curve.x) <= 5 else None
    (line,) = ax.plot(curve.x, curve.effect, dashes, color=colour, lw=1.8, marker=dots)
    return line


def draw_samples(ax: Any, shown: Sequence[tuple[str | None, Effect]]) -> None:
    """Where the samples lie, and for numbers what they are."""
    output, effect = shown[0]
    curve = effect.curve
    if curve.samples is None:
        return
    x, observed = curve.samples.T
    inside = (x >= curve.x[0]) & (x <= curve.x[-1])
    x, observed = x[inside], observed[inside]
    bottom, top = (0.0, 0.035), (0.965, 1.0)
    if output is None:
        low, high = np.quantile(observed, [0.01, 0.99])
        seen = (observed >= low) & (observed <= high)
        ax.scatter(x[seen], observed[seen], s=7, color=style.MUTED, alpha=0.45, linewidths=0)
        rug(ax, x, bottom)
    elif len(shown) == 1:
        rug(ax, x[observed > 0], top)
        rug(ax, x[observed <= 0], bottom)
    else:
        rug(ax, x, bottom)


def rug(ax: Any, x: Any, span: tuple[float, float]) -> None:
    """Short marks at the values, along one side of the axes."""
    ax.vlines(x, *span, transform=ax.get_xaxis_transform(), color=style.MUTED, lw=0.6, alpha=0.6)


def response_label(target: str, output: str | None, curves: int) -> str:
    """What the height of a curve is."""
    if output is None:
        return f"{style.label(target, 28)},\nless its mean"
    if curves == 1:
        return f"log odds of {style.label(output, 20)},\nless their mean"
    return "log odds of each class,\nless their mean"
