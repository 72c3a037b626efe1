"""python -m experiments [NAME ...]: regenerate tables and figures of the paper.

Without a name, all of them. Run from the folder of the repository, or by `make reproduce`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter

from experiments import EXPERIMENTS, Settings
from experiments.leukemia_data import DataMissing
from experiments.page import write_page


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the named experiments and print the files; 1 where data for one of them is missing."""
    asked = parse(arguments)
    settings = Settings(repeats=asked.repeats, data=asked.data)
    missing = False
    for name in asked.names or EXPERIMENTS:
        print(f"{name}: {EXPERIMENTS[name].title}", flush=True)
        start = perf_counter()
        try:
            result = EXPERIMENTS[name].compute(settings, print_tenths())
        except DataMissing as error:
            missing = True
            print(f"{name} is left out: {error}")
            continue
        paths = EXPERIMENTS[name].write(result, asked.out)
        print(f"  {perf_counter() - start:.0f} s", *paths, sep="\n  ", flush=True)
    if asked.docs is not None:
        print(f"  {write_page(asked.docs, asked.out)}")
    return int(missing)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m experiments", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(EXPERIMENTS))
    parser.add_argument("--out", type=Path, default=Path("reproduced"), help="folder for the files")
    parser.add_argument("--data", type=Path, help="leukemia data (.npz); without it, OpenML")
    parser.add_argument("--repeats", type=int, help="simulated data sets per setting")
    parser.add_argument("--docs", type=Path, help="page (.md) whose tables are written from --out")
    asked = parser.parse_args(arguments)
    unknown = [name for name in asked.names if name not in EXPERIMENTS]
    if unknown:
        parser.error(f"no experiment {unknown[0]!r}. There are: {', '.join(EXPERIMENTS)}.")
    if asked.repeats is not None and asked.repeats < 1:
        parser.error("--repeats must be at least 1.")
    if asked.docs is not None and not asked.docs.is_file():
        parser.error(f"--docs: {asked.docs} is not a file.")
    return asked


def print_tenths() -> Callable[[int, int, str], None]:
    """Progress as a line at every tenth of the way."""
    tenths: dict[str, int] = {}

    def report(done: int, total: int, what: str) -> None:
        tenth = 10 * done // max(total, 1)
        if tenth > tenths.get(what, 0):
            tenths[what] = tenth
            print(f"  {what}: {done} of {total}", flush=True)

    return report


if __name__ == "__main__":
    sys.exit(main())
