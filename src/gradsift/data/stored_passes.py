"""Passes over all columns made by separate jobs, whose results a folder keeps.

A fit goes over all columns a few times and does everything else with what these passes return. Of
a `StoredPasses` table, a pass whose results are in the folder is read from it. The first one that
is not is written there as jobs, and `PassNeededError` ends the fit. Once `run_part` has done all of
its blocks, the same fit is made again from the start, up to the next pass. Blocks depend on the
whole table alone, and a fit is deterministic: the answer has the same bits for any number of
parts, and as a fit in one process.

    folder/pass-000/jobs              what is to be done to each block
    folder/pass-000/blocks-0-12       results of some of them, in order

These are pickles: run only folders of your own.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from gradsift._run.passes import pieces, run_jobs
from gradsift.data.source import SourceView, block_width, windows
from gradsift.protocols import Array, GenotypeSums, Job, Runner, Source

Found = list[tuple[slice, Any]]
Task = Callable[[Source], Found]
"""What is done to a table for one block of a pass: the results of its pieces."""

VARIANTS = 1 << 14
"""Variants of a block of sums by genotype."""
JOBS = "jobs"


class PassNeededError(Exception):
    """A fit cannot go on before all blocks of this pass are done."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"{folder.name} is to be done by `gradsift scan --part`.")
        self.folder = folder


@dataclass(frozen=True)
class PassFolder:
    """The passes of one fit, in a folder; each fit begins with a new object."""

    path: Path
    numbers: Iterator[int] = field(default_factory=count)

    def results(self, tasks: Callable[[], Sequence[Task]]) -> Iterator[tuple[slice, Any]]:
        """What the blocks of the next pass return, in order."""
        folder = self.path / f"pass-{next(self.numbers):03d}"
        if not (folder / JOBS).exists():
            folder.mkdir(parents=True, exist_ok=True)
            write(folder / JOBS, pickled(list(tasks())))
        if missing(folder):
            raise PassNeededError(folder)
        at, parts = 0, stored(folder)
        while at < n_blocks(folder):
            first, last, file = next(part for part in parts if part[0] <= at < part[1])
            for found in pickle.loads(file.read_bytes())[at - first :]:
                yield from found
            at = last


@dataclass(frozen=True)
class StoredPasses(SourceView):
    """A table whose passes are made by separate jobs."""

    folder: PassFolder

    @property
    def runner(self) -> Runner:
        return self.run

    def run(
        self, job_for: Callable[[slice], Job[Any]], width: int | None
    ) -> Iterator[tuple[slice, Any]]:
        """Jobs on all columns, as a runner of blocks that lie elsewhere."""

        def task(where: slice) -> Task:
            return partial(
                on_block, where, [(part, job_for(part)) for part in pieces(where, width)]
            )

        n, p = self.shape
        return self.folder.results(lambda: [task(where) for where in windows(p, block_width(n))])

    def genotype_sums(self, D: Array, which: slice | None = None) -> GenotypeSums | None:
        if self.base.genotype_sums(D) is None:
            return None
        p = self.shape[1]
        return self.folder.results(lambda: [partial(sums_of, D, w) for w in windows(p, VARIANTS)])


def on_block(where: slice, jobs: list[tuple[slice, Job[Any]]], source: Source) -> Found:
    """The results of jobs on the pieces of a block."""
    found = run_jobs(jobs, where.start, source.block(where))
    return [(piece, result) for (piece, _), result in zip(jobs, found, strict=True)]


def sums_of(D: Array, where: slice, source: Source) -> Found:
    """Sums by genotype of some columns."""
    found = source.genotype_sums(D, where)
    assert found is not None
    return list(found)


def with_passes(source: Source, folder: Path) -> Source:
    """The same table, its views unchanged, with passes kept in a folder."""
    passes = PassFolder(folder)

    def wrapped(source: Source) -> Source:
        base = getattr(source, "base", None)
        if base is not None:
            return replace(source, base=wrapped(base))  # type: ignore[type-var]
        if source.runner is not None:
            raise ValueError("this table has a cluster of its own (dask), and needs no parts.")
        return StoredPasses(source, passes)

    return wrapped(source)


def stored_base(source: Source) -> Source:
    """The table in the file, below all views."""
    while (base := getattr(source, "base", None)) is not None:
        source = base
    return source


def last_pass(path: Path) -> Path:
    """The pass that is under way."""
    passes = sorted(folder for folder in path.glob("pass-*") if (folder / JOBS).exists())
    if not passes:
        raise FileNotFoundError(f"{path} holds no pass: begin with `gradsift scan --init`.")
    return passes[-1]


def n_blocks(folder: Path) -> int:
    return len(pickle.loads((folder / JOBS).read_bytes()))


def stored(folder: Path) -> list[tuple[int, int, Path]]:
    """Blocks that are done: first, last (excluded), and the file with their results."""
    ends = [(*map(int, file.name.split("-")[1:]), file) for file in folder.glob("blocks-*-*")]
    return sorted(ends)  # type: ignore[arg-type]


def missing(folder: Path) -> list[tuple[int, int]]:
    """Ranges of blocks that are not done: first, last (excluded)."""
    at, out = 0, []
    for first, last, _ in [*stored(folder), (n_blocks(folder), n_blocks(folder), folder)]:
        if first > at:
            out.append((at, first))
        at = max(at, last)
    return out


def run_part(source: Source, path: Path, part: int, parts: int) -> bool:
    """Do part `part` (from 1) of `parts` of the blocks of the pass under way; whether there was
    anything to do. What was done before is not done again.
    """
    folder = last_pass(path)
    tasks = pickle.loads((folder / JOBS).read_bytes())
    first, last = ((k * len(tasks)) // parts for k in (part - 1, part))
    if not any(max(first, a) < min(last, b) for a, b in missing(folder)):
        return False
    found = [task(stored_base(source)) for task in tasks[first:last]]
    write(folder / f"blocks-{first}-{last}", pickle.dumps(found))
    return True


def pickled(tasks: Sequence[Task]) -> bytes:
    """Tasks as bytes, functions that were made inside of others included."""
    try:
        from joblib.externals import cloudpickle
    except ImportError:  # from joblib 1.6 on it is a package that joblib depends on
        import cloudpickle
    return bytes(cloudpickle.dumps(tasks))


def write(file: Path, content: bytes) -> None:
    """A file that is there whole or not at all."""
    scratch = file.with_name(f".{file.name}.{os.getpid()}")
    scratch.write_bytes(content)
    scratch.replace(file)
