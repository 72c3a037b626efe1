"""Where to begin at a new alpha: after one answer, or along a path."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gradsift._typing import Array, Penalty
from gradsift.solver.problem import Rows, Solution

STRAY = 0.25  # how far a gradient may stray from a prediction, in falls of its limit


class Start(NamedTuple):
    """Rows and v to begin with, and how large each variable's gradient may be at the new alpha.

    None of it need be right: the full pass afterwards makes sure. It only saves steps.
    """

    rows: Rows
    v: Array
    reach: Array


def after(last: Solution, alpha: float, penalty: Penalty) -> Start:
    """From one answer, by the sequential strong rule: a gradient grows no faster than alpha falls.

    So a variable whose gradient is below 2 alpha - alpha_before will likely stay out.
    """
    return Start(last.rows, last.v, last.norms + _fall(last, alpha, penalty))


def along(last: Solution, before: Solution, alpha: float, penalty: Penalty) -> Start:
    """On the line through the last two answers of a path."""
    if not before.alpha > last.alpha > alpha:
        return after(last, alpha, penalty)
    ahead = (last.alpha - alpha) / (before.alpha - last.alpha)
    index, old = last.rows.index, last.rows.values
    values = old + ahead * (old - before.rows.restrict(index))
    values[np.einsum("ij,ij->i", values, old) < 0.0] = 0.0  # it would leave on the way
    return Start(
        Rows(index, values),
        last.v + ahead * (last.v - before.v),
        last.norms + ahead * (last.norms - before.norms) + STRAY * _fall(last, alpha, penalty),
    )


def _fall(last: Solution, alpha: float, penalty: Penalty) -> Array:
    """How far each variable's limit falls."""
    return penalty.limits(last.alpha) - penalty.limits(alpha)
