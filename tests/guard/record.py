"""Record what the guard measured: python tests/guard/record.py

The figures of the last `make fuzz` in this folder (build/guard.json, build/atheris.json) become the
record benchmarks/guard/fuzz.json, which docs/guarantees.md shows.
"""

from __future__ import annotations

import json
import sys
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
import tables  # noqa: E402

COUNTED = ("cases", "answered", "refused", "failures", "seconds")


def read(name: str) -> dict[str, Any]:
    path = ROOT / "build" / name
    if not path.exists():
        raise SystemExit(f"{path.name} is not there: run `make fuzz` first.")
    return json.loads(path.read_text())


if __name__ == "__main__":
    entries = sorted(read("guard.json")["entries"].items())
    cases = [[name, *(f"{count[key]:g}" for key in COUNTED)] for name, count in entries]
    inputs = [[name, str(tried)] for name, tried in read("atheris.json").items()]
    found = {
        "generated cases": {"head": ["entry", *COUNTED], "rows": cases},
        "files changed byte by byte": {"head": ["format", "inputs"], "rows": inputs},
    }
    tables.save("guard/fuzz", "make fuzz", found, date.today().isoformat())
