"""The runner of all measurements: cases x methods x seeds, stored one by one, shown as tables.

    cd benchmarks
    python -m run                                     the names of all measurements
    python -m run trust/discoveries                   measure what is not stored yet, print tables
    python -m run peers/peers --cases xor --methods gradsift LassoCV --seeds 900 902
    python -m run real/ranking --processes 2 --store ranking.jsonl
    python -m run trust/findings --show               tables of what is stored
    python -m run selection/designs --record          the tables become the record of the pages
    python -m run selection/designs --compare before.jsonl after.jsonl

The name of a measurement is that of its record. Every value is one line of the store
(`NAME.jsonl` unless given), and what has its line is not measured again: a run that was stopped
goes on where it was. Seeds come first, so that a part of a run says something of every case.
`--compare` prints paired differences of two stores, such as those of two versions of the package.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from importlib import import_module
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import numpy as np
import tables

MODULES = ("accuracy", "calibration", "real_tables", "relatives")
Key = tuple[str, str, int]  # case, method, seed
Table = tuple[str, Sequence[str], Iterable[Sequence[str]]]  # title, head, rows


class Found:
    """Values by case, method and seed, in the order of the measurement."""

    def __init__(self, values: dict[Key, Any], cases: Sequence[str], methods: Sequence[str]):
        self.values = {key: value for key, value in values.items() if value is not None}
        self.cases = [c for c in cases if any(key[0] == c for key in values)]
        self.methods = [m for m in methods if any(key[1] == m for key in values)]

    def of(self, case: str, method: str | None = None) -> list[Any]:
        """The values of a case, by seed; those of the first method unless one is given."""
        method = self.methods[0] if method is None else method
        return [v for (c, m, _), v in sorted(self.values.items()) if (c, m) == (case, method)]

    def array(self, case: str, method: str | None = None) -> np.ndarray:
        return np.array(self.of(case, method), dtype=float)

    def by_seed(self, case: str) -> list[dict[str, Any]]:
        """Method -> value, of the seeds that every method has."""
        seeds = sorted({s for c, _, s in self.values if c == case})
        rows = [
            {m: self.values[case, m, s] for m in self.methods if (case, m, s) in self.values}
            for s in seeds
        ]
        return [row for row in rows if len(row) == len(self.methods)]


@dataclass(frozen=True)
class Measurement:
    """What is measured: a JSON value for every case, method and seed; and its tables."""

    measure: Callable[[str, str, int], Any]
    tables: Callable[[Found], Iterator[Table]]
    cases: Callable[[], Iterable[str]]
    methods: Sequence[str] = ("gradsift",)
    seeds: range = range(1)
    applies: Callable[[str, str, int], bool] = lambda case, method, seed: True
    limit: float | None = None
    """Seconds after which a value is given up, and with it the later seeds."""


def mean_error(values: Any, digits: int = 2) -> str:
    """Mean (standard error)."""
    known = np.asarray(values, dtype=float)
    known = known[np.isfinite(known)]
    error = known.std(ddof=1) / np.sqrt(len(known)) if len(known) > 1 else np.nan
    return f"{known.mean():.{digits}f} ({error:.{digits}f})" if len(known) else ""


def bold_above(values: Any, bar: float, digits: int = 2) -> str:
    """Mean (standard error), bold where the mean is above a bar by two standard errors."""
    text, values = mean_error(values, digits), np.asarray(values, dtype=float)
    if len(values) > 1 and values.mean() > bar + 2 * values.std(ddof=1) / np.sqrt(len(values)):
        return f"**{text}**"
    return text


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Processor seconds of this process, and the answer."""
    start = time.process_time()
    answer = call()
    return time.process_time() - start, answer


# ---------------------------------------------------------------------------- running


def measurements() -> dict[str, Measurement]:
    found: dict[str, Measurement] = {}
    for name in MODULES:
        found |= import_module(f"measurements.{name}").MEASUREMENTS
    return found


def read(store: Path) -> dict[Key, Any]:
    lines = store.read_text(encoding="utf-8").splitlines() if store.exists() else []
    rows = [json.loads(line) for line in lines]
    return {(case, method, seed): value for case, method, seed, value in rows}


def one(name: str, key: Key) -> Any:
    """One value; what others print goes to stderr."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return measurements()[name].measure(*key)


def serve(jobs: Connection, name: str) -> None:
    """A process of its own: measures what it is sent, until it is sent nothing."""
    sys.stdout = sys.stderr
    while (key := jobs.recv()) is not None:
        jobs.send(one(name, key))


class Worker:
    """A process that measures; a new one where a value took too long, or where it ended."""

    def __init__(self, name: str) -> None:
        self.name, self.key, self.deadline = name, None, np.inf
        self.start()

    def start(self) -> None:
        spawn = multiprocessing.get_context("spawn")
        self.pipe, there = spawn.Pipe()
        self.process = spawn.Process(target=serve, args=(there, self.name), daemon=True)
        self.process.start()
        there.close()

    def give(self, key: Key, limit: float | None) -> None:
        self.key, self.deadline = key, time.monotonic() + (limit or np.inf)
        self.pipe.send(key)

    def take(self) -> tuple[Key, Any] | None:
        """The key and its value, None for one given up; None while it is at work."""
        if not self.pipe.poll() and time.monotonic() < self.deadline:
            return None
        key, value = self.key, None
        try:
            value = self.pipe.recv() if self.pipe.poll() else None
        except EOFError:
            print(f"failed: {key}", file=sys.stderr)
        if value is None:
            self.process.kill()
            self.start()
        self.key = None
        return key, value


def in_processes(
    name: str, keys: list[Key], count: int, limit: float | None
) -> Iterator[tuple[Key, Any]]:
    """Values as they come; of a case and method given up, no further seeds."""
    workers, stopped = [Worker(name) for _ in range(count)], set[tuple[str, str]]()
    while keys or any(w.key for w in workers):
        for worker in workers:
            while keys and worker.key is None:
                key = keys.pop(0)
                if key[:2] not in stopped:
                    worker.give(key, limit)
        wait([w.pipe for w in workers], timeout=1.0)
        for worker in workers:
            if worker.key is not None and (done := worker.take()) is not None:
                if done[1] is None:
                    stopped.add(done[0][:2])
                yield done
    for worker in workers:
        worker.process.kill()


def run(name: str, asked: argparse.Namespace, store: Path) -> None:
    """Measure what is not stored."""
    what, done = measurements()[name], read(store)
    seeds = range(*asked.seeds) if asked.seeds else what.seeds
    keys = [
        (case, method, seed)
        for seed in seeds
        for case in chosen(what.cases(), asked.cases)
        for method in asked.methods or what.methods
        if (case, method, seed) not in done and what.applies(case, method, seed)
    ]
    if asked.processes > 1 or what.limit:
        values = in_processes(name, keys, asked.processes, what.limit)
    else:
        values = ((key, one(name, key)) for key in keys)
    for key, value in values:
        with store.open("a", encoding="utf-8") as file:
            file.write(json.dumps([*key, value]) + "\n")


def chosen(cases: Iterable[str], words: Sequence[str]) -> list[str]:
    """Cases that are named; where a word is no name, those that contain it."""
    cases = list(cases)
    if not words:
        return cases
    return [c for c in cases if any(w == c or (w not in cases and w in c) for w in words)]


def found(name: str, asked: argparse.Namespace, store: Path) -> Found:
    what, values = measurements()[name], read(store)
    if asked.seeds:
        values = {key: v for key, v in values.items() if key[2] in range(*asked.seeds)}
    methods = asked.methods or what.methods
    return Found(values, chosen(what.cases(), asked.cases), methods)


def compare(before: Path, after: Path) -> None:
    """Mean differences of the numbers of two stores, standard errors over seeds."""
    old, new = read(before), read(after)
    names = sorted({key[:2] for key in old.keys() & new.keys()})
    rows = []
    for pair in names:
        keys = [key for key in old.keys() & new.keys() if key[:2] == pair]
        apart = np.array([np.subtract(new[k], old[k], dtype=float) for k in keys])
        cells = [mean_error(column, 3) for column in apart.reshape(len(keys), -1).T]
        rows.append([*pair, ", ".join(cells)])
    print(tables.markdown(["case", "method", "differences"], rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?")
    parser.add_argument("--cases", nargs="+", default=[], help="names, or words in them")
    parser.add_argument("--methods", nargs="+", default=[])
    parser.add_argument("--seeds", nargs=2, type=int, metavar=("FIRST", "LAST"))
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--show", action="store_true", help="measure nothing")
    parser.add_argument("--record", action="store_true", help="keep the tables for the pages")
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("BEFORE", "AFTER"))
    asked = parser.parse_args()
    if asked.compare:
        compare(*asked.compare)
    elif asked.name in measurements():
        measure_and_show(asked)
    else:
        print("\n".join(measurements()))


def measure_and_show(asked: argparse.Namespace) -> None:
    store = asked.store or tables.HERE / f"{asked.name}.jsonl"
    store.parent.mkdir(exist_ok=True)
    if not asked.show:
        run(asked.name, asked, store)
    shown = list(measurements()[asked.name].tables(found(asked.name, asked, store)))
    text = "\n".join(f"{title}\n\n{tables.markdown(head, rows)}" for title, head, rows in shown)
    print(text)
    if asked.record:
        command = " ".join(["python -m run", *(a for a in sys.argv[1:] if a != "--record")])
        tables.save(asked.name, command, tables.parse(text), date.today().isoformat())


if __name__ == "__main__":
    main()
