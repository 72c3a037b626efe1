"""Defects that were found and reported, and whose fix is not in this tree yet.

A case that only repeats one of them is passed over, and counted as such. When the fix lands, its
line goes, and the cases are tried again: nothing else needs to change.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from guard.files import Damage, FileTable
from guard.strategies import Case

from gradsift.tables import Choices

AWAITED: dict[str, Callable[[Case], bool]] = {
    "columns whose squares overflow or vanish": lambda case: (
        case.table.dtype == "float64"
        and bool({"huge", "tiny", "all scales"} & set(case.table.kinds))
    ),
    "labels of which some are missing": lambda case: case.response == "missing",
    "seeds that are none": lambda case: case.params.get("random_state") in (-1, "seed"),
    "weights of any size": lambda case: case.weight in ("huge", "tiny"),
}


def table_of(case: Any) -> FileTable:
    """The table behind a case of files, damaged or with a question asked of it."""
    table = case[0] if isinstance(case, tuple) else case
    return table.table if isinstance(table, Damage) else table


def choices_of(case: Any) -> Choices | None:
    return case[1] if isinstance(case, tuple) and isinstance(case[1], Choices) else None


def is_conversion(case: Any) -> bool:
    return isinstance(case, tuple) and isinstance(case[1], str)


AWAITED_FILES: dict[str, Callable[[Any], bool]] = {
    "text that is not UTF-8": lambda case: not table_of(case).encoding.startswith("utf-8"),
    "names that hold another separator": lambda case: (
        table_of(case).suffix in (".csv", ".txt", ".csv.gz")
        and bool(set("".join(table_of(case).names)) & (set(",;") - {table_of(case).delimiter}))
    ),
    "workbooks in which the last cells of a row are empty": lambda case: (
        table_of(case).suffix == ".xlsx" and None in table_of(case).columns[-1]
    ),
    "convert: quotes inside names": lambda case: (
        is_conversion(case) and any('"' in name for name in table_of(case).names)
    ),
    "convert: rows of nothing between tabs": lambda case: (
        is_conversion(case)
        and table_of(case).delimiter == "\t"
        and any(set(row) == {None} for row in zip(*table_of(case).columns))
    ),
    "damaged archives": lambda case: (
        isinstance(case, Damage) and case.table.suffix in (".xlsx", ".csv.gz", ".npz", ".feather")
    ),
    "categories that are the target or dropped": lambda case: (
        (asked := choices_of(case)) is not None
        and bool({asked.target, *asked.drop} & set(asked.categorical))
    ),
}


def awaited(case: Any) -> str | None:
    """The reported defect that this case would meet again, if any."""
    known = AWAITED if isinstance(case, Case) else AWAITED_FILES
    return next((name for name, meets in known.items() if meets(case)), None)
