"""What a fit asks of a response.

A response is known to every step of a fit through these questions alone. Rows are those of the
user (natural rows), `eta` is the predictor on the link scale, (n, q), and nuisance parameters
(a mean, a baseline hazard, a dispersion) are profiled out by the response itself.
"""

from __future__ import annotations

from typing import ClassVar, Protocol, Self, runtime_checkable

from gradsift.protocols import Array, IntArray


@runtime_checkable
class Response(Protocol):
    """A response as the sift, the refit and inference see it."""

    fallback: ClassVar[str]
    """What predictions are where nothing is selected, in words."""

    @classmethod
    def of(cls, y: Array, weight: Array | None = None) -> Self:
        """The response of rows that count so many times, checked; all messages about y are here."""
        ...

    @property
    def values(self) -> Array | IntArray:
        """(n,) the response itself, to see where it is constant."""
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
        """Columns of a known part on the link scale."""
        ...

    @property
    def exchangeable(self) -> bool:
        """Whether rows are alike where no column matters."""
        ...

    def start(self, weight: Array | None = None) -> Array:
        """(n, q) what least squares explains where nothing is known yet."""
        ...

    def take(self, rows: IntArray) -> Self:
        """The response of some rows."""
        ...

    def given(self, part: Array) -> Self:
        """The same response with a known part (n, q) on the link scale."""
        ...

    def adjusted_for(self, C: Array | None, weight: Array | None) -> Self:
        """The same response given its regression on covariates C (n, k) alone."""
        ...

    def coefficients(self, C: Array, others: Array, weight: Array | None) -> Array:
        """Coefficients (k, q) of covariates C in a regression on C and other columns (n, m)."""
        ...
