"""The gradient along a variable at every sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from gradsift._run.suggest import did_you_mean
from gradsift.data.slices import take_columns
from gradsift.displays import style
from gradsift.displays.style import Display
from gradsift.estimators.names import variable_names
from gradsift.protocols import Array

MOST_GROUPS, PER_GROUP = 12, 8


@dataclass(kw_only=True, eq=False, repr=False)
class GradientFieldDisplay(Display):
    """The derivative along a variable at every sample: its sign, its size, and where.

    Parameters
    ----------
    x : (n,) array
        Where the samples lie: the variable itself, or another one.
    gradient : (n,) array
        The derivative along the variable.
    name : str
        The variable.
    against : str
        What x is; the same as `name`, or another variable to look for an interaction with.
    response : str, default='response'
        What changes.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import GradientSiftRegressor
    >>> from gradsift.displays import GradientFieldDisplay
    >>> X = np.random.default_rng(0).normal(size=(100, 10))
    >>> model = GradientSiftRegressor().fit(X, X[:, 4] ** 2)
    >>> display = GradientFieldDisplay.from_estimator(model, X, 4)
    >>> display.ax_.get_xlabel()
    'x4'
    """

    x: Array
    gradient: Array
    name: str
    against: str
    response: str = "response"

    _size = 5.2, 3.6

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        variable: int | str,
        *,
        against: int | str | None = None,
        class_name: Any = None,
        names: Sequence[str] | None = None,
        target: str = "response",
        ax: Any = None,
    ) -> Self:
        """Draw the derivative along one variable of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
        X : (n, p) array or data frame
        variable : int or str
            Column number or name.
        against : int or str, optional
            Another column to lay the samples out by; None = the variable itself.
        class_name : label, optional
            With more than two classes, whose log odds to look at; None = the class the variable
            matters to most.
        names : sequence of str, optional
        target : str, default='response'
        ax : matplotlib axes, optional

        Returns
        -------
        display : GradientFieldDisplay
        """
        names = variable_names(estimator, names)
        column = find_column(variable, names)
        other = column if against is None else find_column(against, names)
        outputs, G = gradient_along(estimator, X, column)
        if class_name is None:
            which = int(np.square(G).mean(axis=1).argmax())
        elif str(class_name) in outputs:
            which = outputs.index(str(class_name))
        else:
            raise ValueError(f"class_name={class_name!r}: use one of {outputs}.")
        odds = outputs[which]
        return cls(
            x=take_columns(X, np.array([other]))[:, 0],
            gradient=G[which],
            name=names[column],
            against=names[other],
            response=target if odds is None else f"log odds of {odds}",
        ).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        n = len(self.x)
        ax.axhline(0.0, color=style.MUTED, lw=0.8)
        for mask, colour, marker, word in (
            (self.gradient >= 0, style.BLUE, "o", "rises"),
            (self.gradient < 0, style.RED, "v", "falls"),
        ):
            rows = np.flatnonzero(mask)
            if len(rows) == 0:
                continue
            ax.scatter(
                self.x[rows],
                self.gradient[rows],
                color=colour,
                marker=marker,
                s=20 if n <= 200 else 10,
                alpha=0.8,
                linewidths=0,
                label=f"{word} at {100 * len(rows) / n:.0f} % of samples",
            )
        ax.plot(*mean_in_groups(self.x, self.gradient), color=style.INK, lw=1.4)
        style.axis_labels(
            ax,
            style.label(self.against, 40),
            f"change of {style.label(self.response, 24)}\nper unit of {style.label(self.name, 24)}",
        )
        style.legend_above(ax)


def mean_in_groups(x: Array, g: Array) -> tuple[Array, Array]:
    """(centres, means of g) of groups of samples with similar x: values where there are few."""
    values, group = np.unique(x, return_inverse=True)
    if len(values) > MOST_GROUPS:
        count = int(np.clip(len(x) // PER_GROUP, 2, MOST_GROUPS))
        rank = np.argsort(np.argsort(x, kind="stable"), kind="stable")
        group = rank * count // len(x)
    size = np.bincount(group)
    return np.bincount(group, weights=x) / size, np.bincount(group, weights=g) / size


def gradient_along(estimator: Any, X: Any, column: int) -> tuple[list[str | None], Array]:
    """(names of outputs, (outputs, n) derivatives along one column): the response, the log odds of
    the second of two classes, or those of every class.
    """
    parts = estimator.gradient(X, sparse=True)
    parts = parts if isinstance(parts, list) else [parts]
    G = np.stack([part[:, [column]].toarray()[:, 0] for part in parts])
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        return [None], G
    return [str(c) for c in (classes[1:] if len(classes) == 2 else classes)], G


def find_column(variable: int | str, names: Sequence[str]) -> int:
    """A column number from a number or a name."""
    if isinstance(variable, str):
        if variable not in names:
            raise ValueError(f"no column is called {variable!r}.{did_you_mean(variable, names)}")
        return list(names).index(variable)
    if not -len(names) <= variable < len(names):
        raise ValueError(f"column {variable}: the columns are 0 to {len(names) - 1}.")
    return int(variable) % len(names)
