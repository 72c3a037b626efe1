"""How much there is to read: walks of calls, and counts of the source.

    python -m walks.count                       this checkout
    python -m walks.count --compare CHECKOUT    and another one, counted by the same code
    python -m walks.count --list                also what was counted, by name

Run from `benchmarks/` with the package installed, or its `src` on PYTHONPATH. `tests/test_walks.py`
holds the limits.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

from checkout import checkout
from walks import source
from walks.trace import PACKAGE, walks

import gradsift

ROOM = Path(PACKAGE)


def public_estimators() -> list[type]:
    """The classes of `gradsift.__all__` that have `fit`."""
    every = [getattr(gradsift, name) for name in gradsift.__all__]
    return [one for one in every if inspect.isclass(one) and hasattr(one, "fit")]


def own_classes(estimator: type) -> list[str]:
    """The classes of this package in the method resolution order, the class itself first."""
    return [one.__name__ for one in estimator.__mro__ if one.__module__.startswith("gradsift")]


def parameters(estimator: type) -> list[str]:
    """What the constructor takes."""
    return list(inspect.signature(estimator).parameters)


def static_counts() -> dict[str, int]:
    """Label -> count, of the source."""
    found: dict[str, int] = {}
    for room, (lines, files) in source.rooms(ROOM).items():
        found[f"{room or 'gradsift'}: lines"] = lines
        found[f"{room or 'gradsift'}: files"] = files
    every = source.rooms(ROOM).values()
    found["all rooms: lines"] = sum(lines for lines, _ in every)
    found["all rooms: files"] = sum(files for _, files in every)
    found["module cycles"] = len(source.cycles(ROOM))
    found["private imports across rooms"] = len(source.private_imports(ROOM))
    found["private uses across rooms"] = len(source.private_uses(ROOM))
    found["Any in signatures"] = source.any_in_signatures(ROOM).total()
    found["numbers in settings"] = len(source.setting_fields(ROOM))
    found["loose numbers"] = len(source.loose_numbers(ROOM))
    for estimator in public_estimators():
        found[f"{estimator.__name__}: own classes"] = len(own_classes(estimator))
        found[f"{estimator.__name__}: parameters"] = len(parameters(estimator))
    return found


def counts() -> dict[str, int]:
    """Label -> count, of the walks and of the source."""
    found = {
        f"{name}: {what}": count
        for name, walk in walks().items()
        for what, count in walk._asdict().items()
    }
    return found | static_counts()


def counts_of(checkout: Path) -> dict[str, int]:
    """The counts of another checkout, in a process of its own."""
    here = Path(__file__).resolve().parents[1]
    paths = os.pathsep.join([str(checkout.resolve() / "src"), str(here)])
    done = subprocess.run(
        [sys.executable, "-m", "walks.count", "--json"],
        env={**os.environ, "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        check=True,
    )
    return dict(json.loads(done.stdout))


def lists() -> list[str]:
    """What was counted, where it has a name."""
    every = {
        "module cycles": [" ".join(group) for group in source.cycles(ROOM)],
        "private imports across rooms": source.private_imports(ROOM),
        "private uses across rooms": source.private_uses(ROOM),
        "Any in signatures": [f"{n} {room}" for room, n in source.any_in_signatures(ROOM).items()],
        "numbers in settings": source.setting_fields(ROOM),
        "loose numbers": source.loose_numbers(ROOM),
        "own classes": [" < ".join(own_classes(one)) for one in public_estimators()],
    }
    return [line for name, found in every.items() for line in ("", name, *sorted(found))]


def markdown(columns: dict[str, dict[str, int]]) -> str:
    """Counts of several checkouts as one table; walks in one row each."""
    lines = [f"| | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    rows: dict[str, dict[str, list[str]]] = {}
    for column, found in columns.items():
        for label, count in found.items():
            name, _, what = label.partition(": ")
            rows.setdefault(name, {}).setdefault(column, []).append(f"{count:,} {what}".strip())
    for name, cells in rows.items():
        shown = (" / ".join(cells.get(column, ["none"])) for column in columns)
        lines.append(f"| {name} | {' | '.join(shown)} |")
    return "\n".join(lines)


def checkout_name(checkout: Path) -> str:
    """The folder of a checkout and its commit, where git knows it."""
    command = ["git", "-C", str(checkout), "rev-parse", "--short", "HEAD"]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return f"{checkout.resolve().name} {said}".strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compare", type=checkout, metavar="CHECKOUT", help="count it too")
    parser.add_argument("--list", action="store_true", help="also print what was counted")
    parser.add_argument("--json", action="store_true", help="print the counts as JSON")
    asked = parser.parse_args()
    found = counts()
    if asked.json:
        print(json.dumps(found))
        return
    columns = {checkout_name(ROOM.parents[1]): found}
    if asked.compare is not None:
        columns = {checkout_name(asked.compare): counts_of(asked.compare), **columns}
    print(markdown(columns))
    if asked.list:
        print("\n".join(lists()))


if __name__ == "__main__":
    main()
