"""Where columns come from: sources, standardising, simulated problems."""

from gradsift.data.source import ArraySource, open_source, rows_of
from gradsift.data.standardise import (
    ScaledSource,
    Scaling,
    identity_scaling,
    measure_scaling,
    standardised,
)

__all__ = [
    "ArraySource",
    "ScaledSource",
    "Scaling",
    "identity_scaling",
    "measure_scaling",
    "open_source",
    "rows_of",
    "standardised",
]
