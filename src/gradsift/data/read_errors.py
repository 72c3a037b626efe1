"""Files that are not what their names say, or hold more than memory does: one sentence, whatever
their library raises.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from gradsift._run.memory import check_memory


@contextmanager
def reading(path: Any, what: str) -> Iterator[None]:
    """Around calls of a library that reads files: its errors become one about this file.

    Libraries answer damage with errors of every class (KeyError, EOFError, zlib.error, ...). A file
    that is not there, a library that is not there and lack of memory speak for themselves.

    Parameters
    ----------
    path : path or object
    what : str
        What it should be, such as 'an Excel workbook'.
    """
    try:
        yield
    except (FileNotFoundError, PermissionError, ImportError, MemoryError):
        raise
    except Exception as error:
        name = file_name(path)
        said = " ".join(str(error).split()) or type(error).__name__
        if "allow_pickle" in said or "Python objects in dtype" in said:
            raise ValueError(
                f"{name} holds pickled objects, which are not read because they can run code: "
                "expected an array of numbers."
            ) from error
        raise ValueError(
            f"{name} cannot be read as {what}: it is damaged, cut short or of another format "
            f"({shortened(said)})."
        ) from error


def file_name(path: Any) -> str:
    """What to call a file in a message."""
    if isinstance(path, (str, os.PathLike)):
        return os.path.basename(os.fspath(path).rstrip("/"))
    return f"the {type(path).__name__}"


def shortened(text: str, most: int = 200) -> str:
    return text.rstrip(".") if len(text) <= most else text[:most].rstrip() + " ..."


def check_archive(path: Path, what: str, copies: float) -> None:
    """Refuse a zip file that would not fit into memory.

    What an archive says it holds is binding: reading stops there.

    Parameters
    ----------
    path : Path
    what : str
        What the file should be, for messages.
    copies : float
        Memory taken per byte of content.
    """
    with reading(path, what), ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    check_memory(
        copies * size,
        f"the contents of {path.name}, {size / 1e9:.1f} GB unpacked,",
        "Leave rows or columns out, or store the table in a format that is read by columns.",
    )
