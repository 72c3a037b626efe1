"""Numbers beyond what a computer can hold: refused in words instead of carried on as infinity."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np

Inputs = ParamSpec("Inputs")
Output = TypeVar("Output")


def refuse_overflow(function: Callable[Inputs, Output]) -> Callable[Inputs, Output]:
    """The function, raising ValueError where something in it overflows."""

    @wraps(function)
    def guarded(*args: Inputs.args, **kwargs: Inputs.kwargs) -> Output:
        try:
            with np.errstate(over="raise", invalid="raise"):
                return function(*args, **kwargs)
        except FloatingPointError as error:
            raise ValueError(
                f"X and y hold numbers too large to compute with ({error}). Leave standardize=True "
                "and express y in another unit; remove values that stand for missing ones, such "
                "as 1e+300."
            ) from error

    return guarded
