"""Time and memory of readers of text tables: `python benchmarks/reading.py` (about two minutes).

Each reader runs in a process of its own, with one thread, on the same two files, and gives the
table as one array of float64. `polars in blocks` is what a bound on memory costs with
`polars.read_csv`: 16 MB of text at a time.
"""

from __future__ import annotations

import csv
import io
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import numpy as np

SHAPES = {"tall": (50_000, 60), "wide": (300, 50_000)}
BLOCK = 16 << 20


def ours(path: Path) -> np.ndarray:
    from gradsift.tables import read_frame

    return read_frame(path).numbers


def csv_and_float(path: Path) -> np.ndarray:
    with path.open(newline="") as file:
        rows = csv.reader(file)
        next(rows)
        return np.array([np.fromiter(map(float, row), dtype=float) for row in rows])


def polars_whole(path: Path) -> np.ndarray:
    import polars as pl

    return pl.read_csv(path).to_numpy()


def blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        file.readline()
        rest = b""
        while piece := file.read(BLOCK):
            *whole, rest = (rest + piece).rpartition(b"\n")
            if whole[0]:
                yield whole[0]
        if rest:
            yield rest


def polars_blocks(path: Path) -> np.ndarray:
    import polars as pl

    def numbers(text: bytes) -> np.ndarray:
        cells = pl.read_csv(io.BytesIO(text), has_header=False, infer_schema=False)
        return cells.cast(pl.Float64).to_numpy()

    return np.concatenate([numbers(text) for text in blocks(path)])


def pyarrow_whole(path: Path) -> np.ndarray:
    from pyarrow import csv as arrow_csv

    options = arrow_csv.ReadOptions(use_threads=False, block_size=BLOCK)
    table = arrow_csv.read_csv(path, read_options=options)
    out = np.empty(table.shape)
    for k, column in enumerate(table.itercolumns()):
        out[:, k] = column.to_numpy()
    return out


READERS: dict[str, Callable[[Path], np.ndarray]] = {
    "gradsift": ours,
    "csv and float()": csv_and_float,
    "polars.read_csv": polars_whole,
    "polars in blocks": polars_blocks,
    "pyarrow.csv": pyarrow_whole,
}


def measure(name: str, path: Path) -> str:
    """CPU seconds and megabytes above the interpreter, libraries imported before."""
    for library in ("polars", "pyarrow.csv", "gradsift.tables"):
        import_module(library)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    found = READERS[name](path)
    seconds = time.process_time() - start
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return f"{seconds:.2f} s, {peak:.0f} MB ({found.nbytes / 1e6:.0f} MB are numbers)"


def write(path: Path, shape: tuple[int, int]) -> None:
    X = np.random.default_rng(0).normal(size=shape)
    with path.open("w") as file:
        file.write(",".join(f"g{k}" for k in range(shape[1])) + "\n")
        file.writelines(",".join(f"{v:.7g}" for v in row) + "\n" for row in X)


def main() -> None:
    alone = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        for title, shape in SHAPES.items():
            path = Path(folder) / f"{title}.csv"
            write(path, shape)
            print(f"{shape[0]:,} x {shape[1]:,}")
            for name in READERS:
                call = [sys.executable, __file__, name, str(path)]
                done = subprocess.run(
                    call, env={**os.environ, **alone}, capture_output=True, check=True
                )
                print(f"  {name:16s} {done.stdout.decode().strip()}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(measure(sys.argv[1], Path(sys.argv[2])))
    else:
        main()
