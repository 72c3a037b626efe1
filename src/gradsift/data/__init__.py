"""Where columns come from: sources, standardising, simulated problems."""

from gradsift.data.converting import Converted, convert
from gradsift.data.finite import CheckedSource, checked
from gradsift.data.formats.anndata import annotate
from gradsift.data.opening import is_storage, open_source, read_target
from gradsift.data.scaling import (
    FilledSource,
    ScaledSource,
    Scaling,
    fill_holes,
    identity_scaling,
    measure_scaling,
    standardised,
)
from gradsift.data.source import (
    ArraySource,
    NamedSource,
    RowsSource,
    held_bytes,
    source_names,
    stack_rows,
    take_rows,
)

__all__ = [
    "open_source",
    "read_target",
    "source_names",
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
    "FilledSource",
    "ScaledSource",
    "Scaling",
    "fill_holes",
    "held_bytes",
    "identity_scaling",
    "measure_scaling",
    "standardised",
]
