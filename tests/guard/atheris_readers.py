"""Coverage-guided fuzzing of whatever opens a file: python atheris_readers.py [libFuzzer options].

Bytes become a file of one of the formats, which is read, prepared and opened as a source. Whatever
the bytes are, that ends well or in an error that the command line turns into one sentence and exit
code 2. Anything else stops the run, and libFuzzer writes the bytes that did it into the folder it
runs in. Runs are bounded by libFuzzer's own arguments, such as -max_total_time=60 or -runs=10000.

The first byte says which format; the run begins with one small good file of each.
"""

from __future__ import annotations

import gzip
import io
import json
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

try:
    import atheris
except ImportError:
    sys.exit("atheris is not installed: pip install 'gradsift[fuzz]' (Linux, Python 3.11 to 3.13).")

with atheris.instrument_imports(include=["gradsift", "openpyxl", "csv", "zipfile", "gzip"]):
    import numpy as np

    from gradsift import GradientSiftRegressor
    from gradsift.data import convert, open_source
    from gradsift.pipeline import load_model, save_model
    from gradsift.tables import Choices, Recipe, ResponseColumns, prepare, read_frame
    from gradsift.tables.columns import TableEncoder

import openpyxl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

EXIT_2 = (ValueError, OSError, ImportError, TypeError, MemoryError, EOFError)
"""What the command line turns into one sentence and exit code 2."""
FOLDER = Path(tempfile.mkdtemp(prefix="atheris-"))
FIGURES = Path("build") / "atheris.json"


def table(suffix: str) -> Callable[[bytes], None]:
    """Read a file as a table, and prepare it with its last column as the target."""

    def run(data: bytes) -> None:
        path = FOLDER / f"table{suffix}"
        path.write_bytes(data)
        frame = read_frame(path)
        if frame.order:
            prepare(frame, Choices(frame.order[-1], missing="mean"))

    return run


def source(suffix: str) -> Callable[[bytes], None]:
    """Open a file as a source, and read its columns."""

    def run(data: bytes) -> None:
        path = FOLDER / f"source{suffix}"
        path.write_bytes(data)
        opened = open_source(path)
        if opened.shape[0] * opened.shape[1] < 10**6:
            opened.columns(np.arange(opened.shape[1]))

    return run


def conversion(data: bytes) -> None:
    path, out = FOLDER / "wide.csv", FOLDER / "wide.parquet"
    path.write_bytes(data)
    out.unlink(missing_ok=True)
    convert(path, out)


def model(data: bytes) -> None:
    path = FOLDER / "model.gradsift"
    path.write_bytes(data)
    load_model(path)


TARGETS: list[tuple[str, Callable[[bytes], None]]] = [
    (".csv", table(".csv")),
    (".tsv", table(".tsv")),
    (".csv.gz", table(".csv.gz")),
    (".xlsx", table(".xlsx")),
    (".npz", table(".npz")),
    (".parquet", table(".parquet")),
    (".feather", table(".feather")),
    (".npy", source(".npy")),
    (".csv", conversion),
    (".gradsift", model),
]
"""(format, what is done with it), by the first byte."""
TRIED = [0] * len(TARGETS)


def one_input(data: bytes) -> None:
    if not data:
        return
    which = data[0] % len(TARGETS)
    TRIED[which] += 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with suppress(*EXIT_2):
            TARGETS[which][1](data[1:])


def good_file(suffix: str) -> bytes:
    """A table of two columns of numbers and one of labels, in this format."""
    columns = {"a": [1.0, 2.5, None], "b": [0.0, 1.0, 2.0], "y": ["u", "v", "u"]}
    X, out = np.arange(6.0).reshape(3, 2), io.BytesIO()
    if suffix == ".gradsift":
        path = FOLDER / "good.gradsift"
        Z = np.random.default_rng(0).normal(size=(30, 3))
        fitted = GradientSiftRegressor().fit(Z, Z[:, 0])
        save_model(
            path, fitted, Recipe(ResponseColumns("y"), "regression", TableEncoder(("a", "b", "c")))
        )
        out.write(path.read_bytes())
    elif suffix == ".xlsx":
        book = openpyxl.Workbook()
        for row in [list(columns), *zip(*columns.values())]:
            book.active.append(list(row))
        book.save(out)
    elif suffix == ".npz":
        np.savez(out, X=X, y=np.array(["u", "v", "u"]))
    elif suffix == ".npy":
        np.save(out, X)
    elif suffix == ".parquet":
        pq.write_table(pa.table(columns), out)
    elif suffix == ".feather":
        pa.feather.write_feather(pa.table(columns), out)
    else:
        mark = "\t" if suffix == ".tsv" else ","
        text = 'a,"b b",y\n1,0,u\n2.5,1,"v, w"\nNA,2,u\n'.replace(",", mark).encode()
        if suffix.endswith(".gz"):
            text = gzip.compress(text)
        out.write(text)
    return out.getvalue()


def write_seeds(folder: Path) -> None:
    for which, (suffix, _) in enumerate(TARGETS):
        (folder / f"seed-{which}").write_bytes(bytes([which]) + good_file(suffix))


def write_figures() -> None:
    """Inputs tried per format; libFuzzer leaves the process without coming back here."""
    FIGURES.parent.mkdir(exist_ok=True)
    names = [f"{suffix} ({run.__qualname__.split('.')[0]})" for suffix, run in TARGETS]
    FIGURES.write_text(json.dumps(dict(zip(names, TRIED)), indent=2) + "\n")


def counted_input(data: bytes) -> None:
    one_input(data)
    if sum(TRIED) % 500 == 0:
        write_figures()


def main() -> None:
    corpus = FOLDER / "corpus"
    corpus.mkdir()
    write_seeds(corpus)
    atheris.Setup([*sys.argv, str(corpus), "-timeout=60", "-rss_limit_mb=4096"], counted_input)
    try:
        atheris.Fuzz()
    finally:
        shutil.rmtree(FOLDER, ignore_errors=True)


if __name__ == "__main__":
    main()
