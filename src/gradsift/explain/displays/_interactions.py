"""Two variables that change each other's effect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from gradsift.explain import Curve, variable_names
from gradsift.explain.displays import style
from gradsift.explain.displays._display import Display
from gradsift.explain.displays._effect import draw_curve, find_column, find_row, response_label


@dataclass(kw_only=True, eq=False, repr=False)
class InteractionDisplay(Display):
    """The effect of one variable where another one is low, and where it is high.

    Parameters
    ----------
    curves : (Curve, Curve)
        Of the variable, at the lower and at the upper quartile of its partner.
    name : str
        The variable.
    partner : str
        The variable that changes its effect.
    output : str, optional
        The class whose log odds the curves are about; None for numbers.
    target : str, default='response'

    Attributes
    ----------
    ax_, figure_ : the matplotlib axes and figure

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import GradientSiftRegressor
    >>> from gradsift.explain.displays import InteractionDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 10))
    >>> y = X[:, 4] * X[:, 5] + 0.1 * rng.normal(size=100)
    >>> model = GradientSiftRegressor().fit(X, y)
    >>> low, high = InteractionDisplay.from_estimator(model, X, y, 4, 5).curves
    >>> bool(low.effect[0] > low.effect[-1]), bool(high.effect[0] < high.effect[-1])
    (True, True)
    """

    curves: tuple[Curve, Curve]
    name: str
    partner: str
    output: str | None = None
    target: str = "response"

    _size = 5.2, 3.6

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        variable: int | str,
        partner: int | str,
        *,
        names: Sequence[str] | None = None,
        target: str = "response",
        ax: Any = None,
    ) -> Self:
        """Draw a pair of selected variables that the data show to act together.

        Parameters
        ----------
        estimator : fitted estimator
        X : (n, p) array or data frame
        y : (n,) array
        variable, partner : int or str
            Column numbers or names.
        names : sequence of str, optional
        target : str, default='response'
        ax : matplotlib axes, optional

        Returns
        -------
        display : InteractionDisplay
        """
        names = variable_names(estimator, names)
        row = find_row(estimator, X, y, variable, names)
        other = find_column(partner, names)
        if other not in row.partner_columns:
            raise ValueError(
                f"the data do not show that {row.name!r} and {names[other]!r} act together."
            )
        return cls(
            curves=row.partner_curves[row.partner_columns.index(other)],
            name=row.name,
            partner=names[other],
            output=row.output,
            target=target,
        ).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        looks = (("low", style.RED, "--"), ("high", style.BLUE, "-"))
        for curve, (where, colour, dashes) in zip(self.curves, looks):
            line = draw_curve(ax, curve, colour, dashes)
            line.set_label(f"{style.label(self.partner, 24)} {where}")
            self.hover_.append((line, [f"{self.partner} {where}"]))
        ax.axhline(0.0, color=style.FAINT, lw=0.8, zorder=0)
        style.axis_labels(
            ax, style.label(self.name, 40), response_label(self.target, self.output, 1)
        )
        style.legend_above(ax)
