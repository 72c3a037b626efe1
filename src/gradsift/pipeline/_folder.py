"""Where results go: a folder of ours, whole at any time, and never at the cost of other files.

A folder of results holds `manifest.json`, which says that gradsift wrote it, which files, and with
what content. Only such a folder is ever replaced, and only if nothing was added to it or changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gradsift._run.atomic import atomic_write, replace_folder, scratch_next_to

MANIFEST = "manifest.json"
KIND = "gradsift results"
LEAST_FREE = 16 << 20
"""Bytes that must be free on the disk before a long run begins: a report takes a few MB."""
MOST_LISTED = 10


@dataclass
class Place:
    """A folder of results to be, and a scratch folder on the same disk.

    Attributes
    ----------
    folder, scratch : Path
    force : bool
        Replace the results of an earlier run.
    written : bool
        Whether the folder holds a version of ours.
    """

    folder: Path
    scratch: Path
    force: bool
    written: bool = False

    @contextmanager
    def version(self) -> Iterator[Path]:
        """A folder to fill: it replaces the version before it when everything is in it."""
        new = self.scratch / "new"
        new.mkdir()
        yield new
        write_manifest(new)
        # something may have come while we worked
        check_replaceable(self.folder, force=self.force or self.written)
        replace_folder(new, self.folder, self.scratch)
        self.written = True


@contextmanager
def results_place(
    folder: Path, *, force: bool = False, inputs: Sequence[Path | None] = ()
) -> Iterator[Place]:
    """A place for results, written version by version: the last whole one stays on any failure.

    Everything that can be known to fail is found out before the body runs.

    Parameters
    ----------
    folder : Path
    force : bool
        Replace the results of an earlier run.
    inputs : sequence of Path
        What is read meanwhile: never inside `folder` nor around it.
    """
    check_place(folder, inputs)
    check_replaceable(folder, force=force)
    make_parents(folder)
    with scratch_next_to(folder) as scratch:
        check_replaceable(folder, force=force)  # a killed run's old results may have come back
        check_space(scratch)
        yield Place(folder, scratch, force)


@contextmanager
def new_file(
    path: Path, *, force: bool = False, inputs: Sequence[Path | None] = ()
) -> Iterator[Path]:
    """A file that takes its name when it is complete; an existing one is replaced with `force`.

    Parameters
    ----------
    path : Path
    force : bool
    inputs : sequence of Path
        What is read meanwhile: never replaced, not even with `force`.
    """
    check_place(path, inputs)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: give --out the name of a file.")
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists: choose another --out, or give --force.")
    make_parents(path)
    with atomic_write(path) as part:
        yield part


def check_place(out: Path, inputs: Sequence[Path | None]) -> None:
    """Refuse links, the folder we are in, and anything that holds or lies in the input."""
    if out.is_symlink():
        raise FileExistsError(f"{out} is a link: give --out the place itself.")
    place, here = out.resolve(), Path.cwd().resolve()
    if place == here or place in here.parents:
        raise FileExistsError(
            f"{out} is the folder you are in, or one above it: results need a folder of their own."
        )
    if os.path.ismount(place):
        raise FileExistsError(f"{out} is a mounted disk: choose a folder on it.")
    for given in inputs:
        if given is None or not given.exists():
            continue
        read = given.resolve()
        if place == read or place in read.parents:
            raise FileExistsError(f"{out} holds the input {given}: choose another --out.")
        if read in place.parents:
            raise FileExistsError(f"{out} lies inside the input {given}: choose another --out.")


def unused_folder(name: str) -> Path:
    """The folder `name`, or the first of `name`-2, `name`-3, .. where there are results already.

    Examples
    --------
    >>> unused_folder("gradsift-out")
    PosixPath('gradsift-out')
    """
    folder, count = Path(name), 1
    while folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
        count += 1
        folder = Path(f"{name}-{count}")
    return folder


def check_replaceable(folder: Path, *, force: bool) -> None:
    """Refuse to write over anything but results of ours that nobody touched."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise FileExistsError(f"{folder} is a file: choose another --out.")
    if not any(folder.iterdir()):
        return
    if not force:
        raise FileExistsError(f"{folder} exists: choose another --out, or give --force.")
    written = read_manifest(folder)
    if written is None:
        raise FileExistsError(
            f"{folder} was not written by gradsift (it has no {MANIFEST} of ours): it is not "
            f"replaced, even with --force. It holds {listed(names_in(folder))}."
        )
    added = sorted(set(names_in(folder)) - {*written, MANIFEST})
    changed = [
        name for name in written if (folder / name).exists() and not same(folder, written, name)
    ]
    for what, names in (("added to", added), ("changed in", changed)):
        if names:
            raise FileExistsError(
                f"files were {what} {folder} since gradsift wrote it: {listed(names)}. Move them "
                "elsewhere, or choose another --out."
            )


def names_in(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_LISTED
    return ", ".join(names[:MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


def same(folder: Path, written: dict[str, str], name: str) -> bool:
    file = folder / name
    return file.is_file() and not file.is_symlink() and checksum(file) == written[name]


def checksum(file: Path) -> str:
    with file.open("rb") as stream:
        return f"sha256:{hashlib.file_digest(stream, 'sha256').hexdigest()}"


def write_manifest(folder: Path) -> None:
    """List the files of a folder, with their content as a checksum."""
    files = {name: checksum(folder / name) for name in names_in(folder)}
    content = {"kind": KIND, "files": files}
    (folder / MANIFEST).write_text(json.dumps(content, indent=1), encoding="utf-8")


def read_manifest(folder: Path) -> dict[str, str] | None:
    """File -> checksum, None where no manifest of ours is there."""
    try:
        content = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    files = content.get("files") if isinstance(content, dict) else None
    if not isinstance(files, dict) or content.get("kind") != KIND:
        return None
    return {str(name): str(digest) for name, digest in files.items()}


def make_parents(path: Path) -> None:
    """The folders above, or a sentence on why they cannot be had."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise NotADirectoryError(f"{path}: something above it is a file, not a folder.") from None
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise PermissionError(f"{path.parent} cannot be written to: choose another --out.")


def check_space(folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < LEAST_FREE:
        raise OSError(
            f"the disk of {folder.parent} has {free / 1e6:.1f} MB left, and results may take "
            f"{LEAST_FREE / 1e6:.0f} MB: free some space, or choose another --out."
        )
