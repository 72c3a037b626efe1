"""The protocol of a response.

The steps of a fit use a response through these methods alone. Rows are the rows of the sample,
`eta` is the predictor on the link scale, (n, q), and nuisance parameters (a mean, a baseline
hazard, a dispersion) are profiled out by the response itself.
"""

from __future__ import annotations

from typing import ClassVar, Protocol, Self, runtime_checkable

from gradsift.protocols import Array, IntArray


@runtime_checkable
class Response(Protocol):
    """What the sift, the refit and inference need of a response."""

    fallback: ClassVar[str]
    """What predictions are where nothing is selected, in words."""

    @classmethod
    def records(cls, y: object) -> Array | None:
        """(n, ...) rows of what a user passed as y, where it is more than one column (a time and
        an event, several outcomes), with an error that says what is wrong; None where it is one.
        """
        ...

    @classmethod
    def of(cls, y: Array, weight: Array | None = None) -> Self:
        """The response of values y (n,), checked, with an error that says what is wrong; `weight`
        are counts of rows.
        """
        ...

    @property
    def values(self) -> Array | IntArray:
        """(n,) values of the response."""
        ...

    @property
    def codes(self) -> IntArray | None:
        """(n,) class numbers, where it is labels."""
        ...

    @property
    def robust(self) -> bool:
        """Whether rows may be outliers, so that residuals are winsorised."""
        ...

    @property
    def offset_columns(self) -> int:
        """Number of columns of an offset, which is on the link scale."""
        ...

    @property
    def exchangeable(self) -> bool:
        """Whether rows are exchangeable if no column acts on the response."""
        ...

    def start(self, weight: Array | None = None) -> Array:
        """(n, q) the response of least squares, given no model yet."""
        ...

    def take(self, rows: IntArray) -> Self:
        """The response of some rows."""
        ...

    def given(self, part: Array) -> Self:
        """The same response with a known part (n, q) on the link scale."""
        ...

    def adjusted_for(self, C: Array | None, weight: Array | None) -> Self:
        """The same response with its regression on covariates C (n, k) as a known part."""
        ...

    def coefficients(self, C: Array, others: Array, weight: Array | None) -> Array:
        """Coefficients (k, q) of covariates C in a regression on C and other columns (n, m)."""
        ...
