"""Where columns come from: sources, standardising, simulated problems."""

from gradsift.data.checked_source import CheckedSource, checked
from gradsift.data.converting import Converted, convert
from gradsift.data.formats.anndata import annotate
from gradsift.data.formats.registry import is_storage, open_source, read_target
from gradsift.data.scaling import (
    CutSource,
    ScaledSource,
    Scaling,
    fill_missing,
    identity_scaling,
    measure_scaling,
    standardised,
)
from gradsift.data.source import (
    ArraySource,
    NamedSource,
    RowsSource,
    stack_rows,
    take_rows,
)
from gradsift.protocols import Source

__all__ = [
    "Source",
    "open_source",
    "read_target",
    "convert",
    "Converted",
    "annotate",
    "is_storage",
    "ArraySource",
    "NamedSource",
    "RowsSource",
    "take_rows",
    "stack_rows",
    "CheckedSource",
    "checked",
    "CutSource",
    "ScaledSource",
    "Scaling",
    "fill_missing",
    "identity_scaling",
    "measure_scaling",
    "standardised",
]
