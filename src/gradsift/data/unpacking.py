"""Archives say how much they hold: asked before they are unpacked."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

from gradsift._run.memory import check_memory
from gradsift.data.damaged import reading


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
