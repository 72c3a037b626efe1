"""Tables in files: reading them, and deciding what is a variable, a category, a name or the target.

Formats meant for large data (`.npy`, Zarr, PLINK, AnnData) are opened as sources and read column by
column; the others are read whole.
"""

from gradsift.tables.frame import Frame
from gradsift.tables.leaks import BEWARE
from gradsift.tables.opening import fingerprint, open_new, open_table
from gradsift.tables.prepare import Choices, Recipe, Table, prepare
from gradsift.tables.reading import read_frame

__all__ = [
    "BEWARE",
    "Choices",
    "Frame",
    "Recipe",
    "Table",
    "fingerprint",
    "open_new",
    "open_table",
    "prepare",
    "read_frame",
]
