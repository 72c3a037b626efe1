"""Frames that hold a plan and no values."""

from __future__ import annotations

from typing import Any


def refuse_lazy(table: Any, what: str = "X") -> None:
    """Refuse a lazy frame of polars, and say what to pass in its place: every column is read many
    times, and each time the plan would be carried out anew.
    """
    kind = type(table)  # a column of a pandas frame may be called `lazy`
    if hasattr(kind, "collect") and hasattr(kind, "lazy"):
        raise TypeError(
            f"{what} is a {kind.__name__}, which holds a plan and no values yet: pass "
            f"{what}.collect()."
        )
