"""A response of numbers, one or several for each row: least squares, with winsorised residuals.

Residuals beyond `CLIP` robust standard deviations are cut off (Huber, Robust Statistics, 1981,
chapter 7), unless many values are equal: then no robust scale exists.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from gradsift.data.arrays import array_like
from gradsift.data.responses import to_floats
from gradsift.numerics.logistic import with_ones
from gradsift.numerics.statistics import has_robust_scale, winsorise
from gradsift.protocols import Array, IntArray

CLIP = 3.0
"""Robust standard deviations beyond which a residual is cut off, as in the sift."""
LARGEST = 1e70
"""Largest absolute value, and one over the smallest range: fourth powers stay finite."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """A response of numbers.

    Attributes
    ----------
    y : (n,) array, or (n, q) of several outcomes
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
        """(n, q) numbers of several outcomes; None where y is one column."""
        if isinstance(y, (list, tuple)) and y and np.ndim(y[0]) == 1:
            y = array_like(y, "y")
        shape: tuple[int, ...] = getattr(y, "shape", ())
        if len(shape) != 2 or shape[1] < 2:
            return None
        values = to_floats(y, "y")
        bad = np.argwhere(~np.isfinite(values))
        if len(bad):
            raise ValueError(
                f"y is missing or infinite in row {bad[0][0]}, outcome {bad[0][1]}: every row "
                "needs all outcomes. Leave such rows out, or fit a model for each outcome."
            )
        return values

    @classmethod
    def of(cls, y: Array, weight: Array | None = None) -> Self:
        """The response of values y (n,) or (n, q), checked; `weight` are counts of rows."""
        if y.ndim == 1:
            values = check_numbers(y)
            return cls(values, has_robust_scale(values, weight))
        for j, outcome in enumerate(y.T):
            try:
                check_numbers(outcome)
            except ValueError as error:
                raise ValueError(f"outcome {j}: {error}") from None
        return cls(y, all(has_robust_scale(outcome, weight) for outcome in y.T))

    @property
    def values(self) -> Array:
        """(n,) or (n, q) the numbers."""
        return self.y

    @property
    def offset_columns(self) -> int:
        """Number of columns of an offset."""
        return self.n_outcomes

    @property
    def exchangeable(self) -> bool:
        """Whether rows are exchangeable if no column acts: always, as an offset is subtracted."""
        return True

    def start(self, weight: Array | None = None) -> Array:
        """(n, q) the response of least squares."""
        return self.y.reshape(len(self.y), -1)

    @property
    def n_outcomes(self) -> int:
        return 1 if self.y.ndim == 1 else self.y.shape[1]

    def outcome(self, number: int) -> Self:
        """One of several outcomes."""
        return replace(self, y=self.y[:, number])

    def take(self, rows: IntArray) -> Self:
        return replace(self, y=self.y[rows])

    def given(self, part: Array) -> Self:
        """The numbers less a known part (n, q)."""
        return replace(self, y=self.y - part.reshape(self.y.shape))

    def adjusted_for(self, C: Array | None, weight: Array | None) -> Self:
        """The numbers less their regression on covariates C (n, k) alone."""
        if C is None:
            return self
        return self.given(C @ self.coefficients(C, np.zeros((len(C), 0)), weight))

    def coefficients(self, C: Array, others: Array, weight: Array | None) -> Array:
        """Coefficients (k, q) of covariates C in a regression on C and other columns (n, m).
        Outlying residuals are winsorised, if there may be any.
        """
        root = np.ones(len(self.y)) if weight is None else np.sqrt(weight)
        A = with_ones(np.column_stack([C, others]))
        Y = target = self.start()
        for _ in range(2 if self.robust else 1):
            beta = np.linalg.lstsq(A * root[:, None], target * root[:, None], rcond=None)[0]
            fit = A @ beta
            target = fit + winsorise(Y - fit, CLIP, weight)
        return np.asarray(beta[: C.shape[1]])


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
