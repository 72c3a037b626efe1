"""Files and folders that are there whole or not at all, whatever happens while they are written.

What is being written lies in a folder `.NAME.partial` next to its place, on the same disk, so that
the last step is a rename. Its owner holds a lock that the system lets go of when the process ends,
however it ends. A killed process therefore leaves at most such a folder, and the next one that
writes to the same name recognises it by the free lock and clears it away.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

LOCK = "in-use"
OLD = "old"
"""Inside the scratch folder: the lock, and what is being replaced, for a moment."""


class InUseError(OSError):
    """Another process holds a lock."""

    def __init__(self, holder: str) -> None:
        super().__init__(f"it is in use by process {holder or '(unknown)'}")
        self.holder = holder


class Claim:
    """A lock, held until the object is closed or gone."""

    def __init__(self, handle: int) -> None:
        self.handle: int | None = handle

    def close(self) -> None:
        handle, self.handle = self.handle, None
        if handle is not None:
            os.close(handle)

    def __del__(self) -> None:
        self.close()


def claim(file: Path) -> Claim:
    """Lock a file, made for the purpose; `InUseError` where another owner has it.

    Where the system (Windows) or the disk has no such locks, nothing is locked.
    """
    mine = Claim(os.open(file, os.O_RDWR | os.O_CREAT, 0o644))
    try:
        import fcntl

        fcntl.flock(mine.handle or 0, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InUseError(file.read_text().strip()) from None
    except (ImportError, OSError):
        return mine
    file.write_text(f"{os.getpid()}\n")
    return mine


@contextmanager
def scratch_next_to(path: Path) -> Iterator[Path]:
    """A folder of our own on the same disk as `path`; it is gone afterwards.

    What a killed process left there is cleared first. If it was killed while it replaced `path`,
    what was there before is put back.
    """
    folder = scratch_name(path)
    lock = take_over(folder, path)
    try:
        recover(folder, path)
        yield folder
    finally:
        recover(folder, path)
        shutil.rmtree(folder, ignore_errors=True)
        lock.close()


def scratch_name(path: Path) -> Path:
    return path.parent / f".{path.name}.partial"


def take_over(folder: Path, path: Path) -> Claim:
    """Make the scratch folder and lock it, or take over one whose owner is gone."""
    while True:
        folder.mkdir(exist_ok=True)
        if any(folder.iterdir()) and not (folder / LOCK).exists():
            raise FileExistsError(f"{folder} is in the way: it was not made by gradsift.")
        try:
            lock = claim(folder / LOCK)
        except FileNotFoundError:  # its owner has just removed it
            continue
        except InUseError as error:
            raise FileExistsError(
                f"{path} is being written by process {error.holder}: wait until it ends, or choose "
                "another name."
            ) from None
        if is_same_file(lock, folder / LOCK):
            return lock
        lock.close()  # the owner removed the folder between the two steps


def is_same_file(lock: Claim, file: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(lock.handle or 0), file.stat())
    except FileNotFoundError:
        return False


def recover(folder: Path, path: Path) -> None:
    """Empty the scratch folder; what was to be replaced goes back where nothing replaced it."""
    set_aside(folder, path)
    for left in folder.iterdir():
        if left.name == LOCK:
            continue
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


def set_aside(folder: Path, path: Path) -> None:
    """What was to be replaced goes back, or gives its name up where something replaced it."""
    old = folder / OLD
    if old.exists():  # it has this name while it is whole: another one before its files go
        back = not os.path.lexists(path)
        os.replace(old, path if back else Path(tempfile.mkdtemp(dir=folder)) / OLD)


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """A path to write to that takes the name `path` when all is written and on disk.

    Parameters
    ----------
    path : Path
        An existing file is replaced.
    """
    with scratch_next_to(path) as scratch:
        part = scratch / path.name
        yield part
        settle_file(part)
        os.replace(part, path)
        settle_folder(path.parent)


def replace_folder(new: Path, path: Path, scratch: Path) -> None:
    """Put a finished folder in the place of another, or of nothing.

    Parameters
    ----------
    new : Path
        In `scratch`.
    path : Path
    scratch : Path
        From `scratch_next_to(path)`, which puts the old folder back if this is interrupted.
    """
    for file in new.iterdir():
        settle_file(file)
    settle_folder(new)
    if path.exists():
        os.replace(path, scratch / OLD)
    os.replace(new, path)
    settle_folder(path.parent)
    set_aside(scratch, path)


def settle_file(file: Path) -> None:
    """Force the content of a file to disk."""
    with file.open("rb+") as stream:
        os.fsync(stream.fileno())


def settle_folder(folder: Path) -> None:
    """Force the names in a folder to disk, where the system can."""
    with suppress(OSError, AttributeError):  # Windows opens no folders, and needs no such thing
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
