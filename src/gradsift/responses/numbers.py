"""A response of numbers (n,): least squares, with winsorised residuals.

Residuals beyond `CLIP` robust standard deviations are cut off (Huber, Robust Statistics, 1981,
chapter 7), unless many values are equal: then no robust scale exists.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from gradsift.data.responses import to_floats
from gradsift.numerics.logistic import with_ones
from gradsift.numerics.statistics import largest_tie, winsorise
from gradsift.protocols import Array, IntArray

CLIP = 3.0
"""Robust standard deviations beyond which a residual is cut off, as in the sift."""
MOST_TIED = 0.25
"""Share of rows with one value (zeros of counts) above which residuals have no robust scale."""
LARGEST = 1e70
"""Largest absolute value, and one over the smallest range: fourth powers stay finite."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """A response of numbers.

    Attributes
    ----------
    y : (n,) array
        The numbers, less a known part (`given`).
    robust : bool
        Whether rows may be outliers. It follows from the response as it was passed: the zeros of
        counts are no ties any more after covariates were subtracted.
    """

    y: Array
    robust: bool = True
    codes: ClassVar[None] = None  # numbers have no classes
    fallback: ClassVar[str] = "the mean of y"

    @classmethod
    def records(cls, y: object) -> Array | None:
        """Nothing: y is one column."""
        return None

    @classmethod
    def of(cls, y: Array, weight: Array | None = None) -> Self:
        """The response of values y (n,), checked; `weight` are counts of rows."""
        values = check_numbers(y)
        return cls(values, largest_tie(values, weight) <= MOST_TIED)

    @property
    def values(self) -> Array:
        """(n,) the numbers."""
        return self.y

    @property
    def offset_columns(self) -> int:
        """Number of columns of an offset."""
        return 1

    @property
    def exchangeable(self) -> bool:
        """Whether rows are exchangeable if no column acts: always, as an offset is subtracted."""
        return True

    def start(self, weight: Array | None = None) -> Array:
        """(n, 1) the response of least squares."""
        return self.y[:, None]

    def take(self, rows: IntArray) -> Self:
        return replace(self, y=self.y[rows])

    def given(self, part: Array) -> Self:
        """The numbers less a known part (n, 1)."""
        return replace(self, y=self.y - part[:, 0])

    def adjusted_for(self, C: Array | None, weight: Array | None) -> Self:
        """The numbers less their regression on covariates C (n, k) alone."""
        if C is None:
            return self
        return self.given(C @ self.coefficients(C, np.zeros((len(C), 0)), weight))

    def coefficients(self, C: Array, others: Array, weight: Array | None) -> Array:
        """Coefficients (k, 1) of covariates C in a regression on C and other columns (n, m).
        Outlying residuals are winsorised, if there may be any.
        """
        root = np.ones(len(self.y)) if weight is None else np.sqrt(weight)
        A = with_ones(np.column_stack([C, others]))
        target = self.y
        for _ in range(2 if self.robust else 1):
            beta = np.linalg.lstsq(A * root[:, None], target * root, rcond=None)[0]
            fit = A @ beta
            target = fit + winsorise(self.y - fit, CLIP, weight)
        return np.asarray(beta[: C.shape[1], None])


def check_numbers(y: Array) -> Array:
    """Numbers (n,), with an error where they are constant, too large or too small."""
    y = to_floats(y, "y")
    largest, spread = np.abs(y).max(), np.ptp(y)
    if spread == 0.0:
        raise ValueError(
            f"y is constant (all {len(y)} values are {y[0]:g}): there is no change to explain."
        )
    if largest > LARGEST or spread < 1.0 / LARGEST:
        what = f"reaches {largest:.3g}" if largest > LARGEST else f"varies by {spread:.3g} only"
        raise ValueError(
            f"y {what}: its powers are no numbers a computer can hold. Express y in another "
            f"unit, or remove values that stand for missing ones (row {np.abs(y).argmax()})."
        )
    return y
