"""How many cases each entry met, and how they ended: the figures of a fuzz run."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import hypothesis
from hypothesis import given, settings
from hypothesis import strategies as st

FUZZ = os.environ.get("HYPOTHESIS_PROFILE") == "fuzz"
QUICK_SHARE = 4  # the quick profile tries a quarter of what it tries elsewhere, per entry
FIGURES = Path("build") / "guard.json"


@dataclass
class Count:
    """How the cases of one entry ended."""

    cases: int = 0
    answered: int = 0
    refused: int = 0
    failures: int = 0
    seconds: float = 0.0


COUNTS: dict[str, Count] = {}


@contextmanager
def counted(name: str) -> Iterator[Count]:
    """The count of one entry; what ends the run is a failure, and is raised on."""
    count, begun = COUNTS.setdefault(name, Count()), time.perf_counter()
    try:
        yield count
    except Exception as error:
        count.failures += len(getattr(error, "exceptions", [error]))
        raise
    finally:
        count.seconds = round(count.seconds + time.perf_counter() - begun, 1)


@contextmanager
def one_case(name: str) -> Iterator[None]:
    """One case of a relation that must hold."""
    with counted(name) as count:
        count.cases += 1
        yield
        count.answered += 1


def try_cases(name: str, cases: st.SearchStrategy[Any], run: Callable[[Any], bool]) -> None:
    """Run as many cases as the profile asks for; run(case) says answered (True) or refused."""
    count = COUNTS.setdefault(name, Count())
    most = settings.default.max_examples // (1 if FUZZ else QUICK_SHARE)

    @settings(max_examples=max(1, most))
    @given(case=cases)
    def attempt(case: Any) -> None:
        count.cases += 1
        answered = run(case)
        count.answered += answered
        count.refused += not answered

    with counted(name):
        attempt()


def table() -> list[str]:
    """The figures, one line per entry."""
    head = f"{'entry':<38}{'cases':>7}{'answered':>10}{'refused':>9}{'failures':>10}{'seconds':>9}"
    return [head] + [
        f"{name:<38}{c.cases:>7}{c.answered:>10}{c.refused:>9}{c.failures:>10}{c.seconds:>9.1f}"
        for name, c in COUNTS.items()
    ]


def write_figures(path: Path = FIGURES) -> None:
    """Figures as JSON, added to those of entries that were run before in this folder."""
    known = json.loads(path.read_text()) if path.exists() else {}
    entries = {**known.get("entries", {}), **{name: asdict(c) for name, c in COUNTS.items()}}
    path.parent.mkdir(exist_ok=True)
    content = {"hypothesis": hypothesis.__version__, "entries": entries}
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
