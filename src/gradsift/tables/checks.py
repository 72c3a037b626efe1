"""What is asked of a table before anything is computed from it, and what is said where it fails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from gradsift._run.suggest import did_you_mean
from gradsift.data.odd_cells import as_argument
from gradsift.data.text import BEWARE
from gradsift.tables.frame import listed
from gradsift.tables.leaks import Leaks


def check_columns_exist(order: Sequence[str], asked: Sequence[str]) -> None:
    """Refuse names that the table does not have."""
    there = set(order)
    lost = [name for name in asked if name not in there]
    if lost:
        hint = did_you_mean(lost[0], order) or f" It has {listed(order, 5)}."
        raise ValueError(f"the table has no column {listed(lost)}.{hint}")


def check_roles(target: str, asked: dict[str, set[str]]) -> None:
    """A column has one role: the target is no variable, what is dropped is not kept."""
    for option, names in asked.items():
        if target in names:
            raise ValueError(f"{target!r} is the target, so it cannot be given to {option} too.")
    for one, other in combinations(asked, 2):
        both = sorted(asked[one] & asked[other])
        if both and (one, other) != ("--categorical", "--keep"):
            raise ValueError(f"{listed(both)} cannot be given to both {one} and {other}.")


def check_encoded_names(names: Sequence[str], origins: Sequence[str], target: str) -> None:
    """Some columns are left, each with a name of its own."""
    if not names:
        raise ValueError(f"no column of numbers is left beside the target {target!r}.")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        behind = [o for o, name in zip(origins, names) if name == twice[0]]
        raise ValueError(
            f"two columns would be called {twice[0]!r}: they come from {listed(behind)} of the "
            "table, where categories are named COLUMN=CATEGORY. Rename one, or --drop "
            f"{as_argument(behind[0])}."
        )


def leak_notes(target: str, found: Leaks, n_rows: int) -> list[str]:
    """Refuse copies of the target among the columns; notes on what looks much like one."""
    if found.copies:
        one = len(found.copies) == 1
        raise ValueError(
            f"{listed(found.copies)} {'holds' if one else 'hold'} the target {target!r} itself, or "
            f"its values under other names, in all {n_rows} rows. Leave {'it' if one else 'them'} "
            f"out with --drop {as_argument(*found.copies)}."
        )
    notes = []
    for names, verbs, what in (
        (
            found.perhaps,
            ("tells", "tell"),
            "the target {} exactly, which may be chance",
        ),
        (found.monotone, ("orders", "order"), "the rows exactly as the target {} does"),
        (found.finer, ("has", "have"), "categories that each go with one value of the target {}"),
    ):
        if names:
            verb, it = (verbs[0], "it") if len(names) == 1 else (verbs[1], "them")
            notes.append(
                f"{BEWARE}{listed(names)} {verb} {what.format(repr(target))}. If made from the "
                f"target, leave {it} out with --drop {as_argument(*names[:3])}"
            )
    if found.finer:
        notes[-1] += (
            f". If rows of one category are rows of one subject or sample, give --group "
            f"{as_argument(found.finer[0])}"
        )
    return notes
