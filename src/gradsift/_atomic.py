"""Files that are there whole or not at all, whatever happens while they are written."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A path to write to that takes the name `path` when all is written and on disk.

    Parameters
    ----------
    path : Path
        An existing file is replaced.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    os.close(handle)
    part = Path(name)
    try:
        yield part
        part.chmod(0o644)
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(part, path)
        settle_folder(path.parent)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def settle_folder(folder: Path) -> None:
    """Force the names in a folder to disk, where the system can."""
    with suppress(OSError, AttributeError):  # Windows opens no folders, and needs no such thing
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def scratch_beside(path: Path) -> Iterator[Path]:
    """A folder on the same disk as `path`, so that the last step can be a rename; then it goes."""
    folder = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    try:
        folder.chmod(0o755)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
