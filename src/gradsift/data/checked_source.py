"""Values that are not numbers: found as columns are read, refused by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

import numpy as np

from gradsift.data.source import ArraySource, SourceView
from gradsift.protocols import Array, IntArray, Job, Runner, Source

SHOWN = 5
FILL = (
    "Drop those rows or columns, or fill them: missing='mean' puts the column's mean in place of "
    "NaN (estimators that have the parameter; --missing mean on the command line), or use "
    "sklearn.impute.SimpleImputer."
)


def is_bad(X: Array, allow_missing: bool) -> Array:
    """Where a value is infinite, or NaN unless that is allowed."""
    return np.isinf(X) if allow_missing else ~np.isfinite(X)


def all_good(X: Array, allow_missing: bool) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(X.sum()):  # one pass, no temporary: the usual case
            return True
    return not is_bad(X, allow_missing).any()


def labels_of(columns: IntArray, names: list[str] | None) -> list[str]:
    """What to call these columns in a message."""
    return [f"column {c}" for c in columns] if names is None else [repr(name) for name in names]


def refuse(
    source: Source, label: Callable[[IntArray], list[str]], allow_missing: bool = False
) -> NoReturn:
    """Say how many bad values there are, in which columns, and where the first one is."""
    total, n_columns = 0, 0
    shown: list[int] = []
    first = 0, np.nan
    for where, block in source.blocks():
        bad = is_bad(block, allow_missing)
        found = np.flatnonzero(bad.any(axis=0))
        if len(found) and not n_columns:
            row = int(np.flatnonzero(bad[:, found[0]])[0])
            first = row, float(block[row, found[0]])
        total += int(bad.sum())
        n_columns += len(found)
        shown += (where.start + found[: SHOWN - len(shown)]).tolist()
    what = "NaN" if np.isnan(first[1]) else "infinity (inf)"
    names = ", ".join(label(np.array(shown))) + (", ..." if n_columns > SHOWN else "")
    raise ValueError(
        f"Input X contains {what}: {total} bad value(s) (NaN or infinity) in {n_columns} "
        f"column(s): {names}; the first in row {first[0]}. {FILL}"
    )


@dataclass(frozen=True)
class CheckedSource(SourceView):
    """Another source whose values are looked at as they are read; no pass of its own."""

    allow_missing: bool = False

    def label(self, columns: IntArray) -> list[str]:
        return labels_of(columns, self.base.names(columns))

    def columns(self, index: IntArray) -> Array:
        X = self.base.columns(index)
        if not all_good(X, self.allow_missing):
            refuse(ArraySource(X), lambda found: self.label(index[found]), self.allow_missing)
        return X

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        for where, block in self.base.blocks():
            if not all_good(block, self.allow_missing):
                refuse(self.base, self.label, self.allow_missing)
            yield where, block

    @property
    def runner(self) -> Runner | None:
        base = self.base.runner
        if base is None:
            return None

        def run(
            job_for: Callable[[slice], Job[Any]], width: int | None
        ) -> Iterator[tuple[slice, Any]]:
            for where, (good, found) in base(
                lambda where: partial(on_checked, self.allow_missing, job_for(where)), width
            ):
                if not good:
                    refuse(self.base, self.label, self.allow_missing)
                yield where, found

        return run


def on_checked(allow_missing: bool, job: Job[Any], block: Array) -> tuple[bool, Any]:
    """Whether all values are good, and what the job makes of them if they are."""
    good = all_good(block, allow_missing)
    return good, job(block) if good else None


def checked(source: Source, missing: str) -> CheckedSource:
    """Refuse infinity, and NaN too unless it will be filled."""
    return CheckedSource(source, missing == "mean" or source.expects_missing)
