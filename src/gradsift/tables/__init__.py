"""Tables in files: reading them, and inferring which columns are variables, categories or names.

Formats meant for large data (`.npy`, Zarr, PLINK, AnnData) are opened as sources and read column by
column; the others are read whole.
"""

from gradsift.data.read_options import ReadOptions
from gradsift.tables.frame import Frame
from gradsift.tables.notes import Note, TableError
from gradsift.tables.opening import fingerprint, open_table
from gradsift.tables.prediction_table import open_new
from gradsift.tables.prepare import Table, prepare
from gradsift.tables.reading import read_frame
from gradsift.tables.recipe import Choices, Recipe
from gradsift.tables.response import ResponseColumns

__all__ = [
    "Choices",
    "Frame",
    "Note",
    "ReadOptions",
    "Recipe",
    "ResponseColumns",
    "Table",
    "TableError",
    "fingerprint",
    "open_new",
    "open_table",
    "prepare",
    "read_frame",
]
