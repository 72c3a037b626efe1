"""How a table becomes columns: what the user asked for, and what was done, to do it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from gradsift.data.read_options import PLAIN, ReadOptions
from gradsift.data.source import ColumnsSource
from gradsift.protocols import Array, IntArray, Source
from gradsift.tables.columns import TableEncoder
from gradsift.tables.frame import Frame
from gradsift.tables.notes import Note, TableError, listed
from gradsift.tables.response import ResponseColumns, Task


@dataclass(frozen=True)
class Choices:
    """What the user asked for.

    Parameters
    ----------
    target : str
    task : {'auto', 'regression', 'classification', 'counts', 'ordinal', 'survival'}
    drop, use, categorical, keep : tuples of str
        Columns to leave out; to take for variables whatever they look like; to take for
        categories; never to be penalised.
    id : str, optional
        Column that names the rows.
    transform : {'', 'log', 'clr'}
        Take log2(1 + x) of the columns of numbers, or the centred log ratio of those of each row;
        not of columns in `keep`.
    missing : {'auto', 'mean', 'indicator', 'drop', 'error'}
        Missing values are filled, and 'auto' also marks them where that they are missing goes with
        the target, 'indicator' everywhere; or such rows are dropped, or refused.
    options : ReadOptions
        How the file is written.
    group : str, optional
        Column that says which rows belong together.
    aggregate : {'mean', 'sum'}, optional
        Make one row of each group.
    covariates : Path, optional
        Another table of known influences to adjust for; samples are found by identifier.
    covariate_names : tuple of str
        The columns of it that are taken; all where none is named.
    offset : str, optional
        Column of that table with a known part of the response.
    keep_samples, remove_samples : Path, optional
        Lists of the only samples that count, and of samples that do not.
    maf : float, optional
        Least frequency of the rarer allele, for genotypes.
    max_missing : float, optional
        Largest share of missing values of a column.
    by : str, optional
        How rows of other tables are found: 'COLUMN', 'COLUMN=COLUMN' (of the table, of the other
        one) or 'position'. None = by the pair of columns with most values in common.
    more_targets : tuple of str
        Other outcomes that are explained together with the target.
    event : str, optional
        Of survival times, which the target holds: the column that says whether they ended in an
        event, or COLUMN=VALUE, where VALUE is the event. None = all did.
    entry, strata : str, optional
        Of survival times: from when on rows were observed; rows with a baseline hazard of their
        own.
    exposure : str, optional
        Of counts: the time or area that they refer to.
    """

    target: str
    task: str = "auto"
    drop: tuple[str, ...] = ()
    use: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    id: str | None = None
    transform: str = ""
    missing: str = "auto"
    options: ReadOptions = PLAIN
    group: str | None = None
    aggregate: Literal["mean", "sum"] | None = None
    covariates: Path | None = None
    covariate_names: tuple[str, ...] = ()
    offset: str | None = None
    keep_samples: Path | None = None
    remove_samples: Path | None = None
    maf: float | None = None
    max_missing: float | None = None
    by: str | None = None
    more_targets: tuple[str, ...] = ()
    event: str | None = None
    entry: str | None = None
    strata: str | None = None
    exposure: str | None = None

    @property
    def response(self) -> ResponseColumns:
        """The columns that hold the response."""
        event, _, value = (self.event or "").partition("=")
        return ResponseColumns(
            self.target, self.more_targets, event or None, self.entry, self.strata, self.exposure,
            value,
        )  # fmt: skip

    @property
    def asks_for_samples(self) -> bool:
        """Whether other files say which samples count, or what is known of them."""
        return any((self.covariates, self.keep_samples, self.remove_samples))

    @property
    def filters(self) -> bool:
        """Whether columns are left out by what they hold."""
        return self.maf is not None or self.max_missing is not None

    @property
    def roles(self) -> dict[str, tuple[str, ...]]:
        """The columns given to each choice."""
        return {
            "drop": self.drop,
            "use": self.use,
            "id": () if self.id is None else (self.id,),
            "categorical": self.categorical,
            "keep": self.keep,
            "group": () if self.group is None else (self.group,),
        }


@dataclass(frozen=True)
class Recipe:
    """How a table becomes columns: enough to do the same to a new one. Plain data only.

    Attributes
    ----------
    encoder : TableEncoder
        The variables, in order, and how they are read and encoded.
    response : ResponseColumns
    id : str, optional
        The column that names the rows.
    transform : {'', 'log', 'clr'}
        What is taken of the columns of numbers.
    untouched : tuple of str
        Columns of the table that `transform` leaves as they are.
    levels : tuple of str
        Of ordered answers, lowest first.
    options : ReadOptions
        How the file was read; new tables are read likewise.
    stored : int array, optional
        Of a table that was too large for memory: the columns that were used, by their number in
        the file; None = all.
    """

    response: ResponseColumns
    task: Task
    encoder: TableEncoder = field(default_factory=TableEncoder)
    id: str | None = None
    transform: str = ""
    untouched: tuple[str, ...] = ()
    missing: str = "auto"
    levels: tuple[str, ...] = ()
    options: ReadOptions = PLAIN
    stored: IntArray | None = field(default=None, compare=False)

    @property
    def target(self) -> str:
        return self.response.target

    @property
    def names(self) -> tuple[str, ...]:
        """Columns after encoding."""
        return self.encoder.names

    @property
    def feature_groups(self) -> tuple[str, ...] | None:
        """The column of the table behind each of `names`; None where they are the same."""
        return None if self.encoder.is_plain else self.encoder.origin_names

    def needed(self, used: IntArray | None = None) -> set[str]:
        """The columns of the table behind encoded columns (None = all). A log ratio needs all."""
        origins = self.encoder.origin_names
        used = None if self.transform == "clr" else used
        return set(origins) if used is None or not origins else {origins[int(k)] for k in used}

    def of_stored(self, source: Source) -> Source:
        """Those columns of a large file that were used."""
        if self.stored is None:
            return source
        if source.shape[1] <= int(self.stored[-1]):
            raise ValueError(
                f"the table has {source.shape[1]:,} columns, and the model uses column "
                f"{int(self.stored[-1]) + 1:,} of the file that it was fitted to: give a table "
                "with the columns of that file, in their order."
            )
        return ColumnsSource(source, self.stored)

    def of_named(self, source: Source) -> Source:
        """The columns of another source that have the names of those that were used."""
        where = {name: k for k, name in enumerate(source.names() or ())}
        lost = [name for name in self.encoder.table if name not in where]
        if lost:
            raise ValueError(f"the table lacks {listed(lost)}, which the model was fitted to.")
        kept = np.array([where[name] for name in self.encoder.table], dtype=np.intp)
        if (np.diff(kept) < 0).any():
            raise ValueError(
                "the columns of the table are in another order than those of the fit, and it is "
                "too large to be taken into memory: bring them into that order."
            )
        return ColumnsSource(source, kept)

    def columns(
        self, frame: Frame, used: IntArray | None = None, fill: Array | None = None
    ) -> tuple[Array, list[Note]]:
        """The encoded columns of a frame, (n, len(names)), and what is odd about its rows.

        Parameters
        ----------
        frame : Frame
        used : int array, optional
            The encoded columns that matter. The frame may lack the others, which get `fill`.
        fill : (len(names),) array, optional
        """
        X, notes = self.encoder.read(frame, None if used is None else self.needed(used), fill)
        self.transform_columns(X, None if self.transform == "clr" else used)
        return X, notes

    def transform_columns(self, X: Array, used: IntArray | None = None) -> None:
        """Replace the columns of numbers, of those that matter, by what `transform` asks for."""
        if not self.transform:
            return
        origins = self.encoder.origin_names
        which = [k for k in self.encoder.amounts.tolist() if origins[k] not in self.untouched]
        which = which if used is None else np.intersect1d(which, used).tolist()
        if not which:
            return
        refuse_negative(X[:, which], [self.names[k] for k in which], self.transform)
        X[:, which] = TRANSFORMS[self.transform](X[:, which])


def refuse_negative(X: Array, names: Sequence[str], transform: str) -> None:
    """Refuse columns of which no logarithm can be taken."""
    bad = np.flatnonzero((X < 0).any(axis=0))
    if len(bad):
        raise TableError(
            f"{transform} needs values of at least 0, but {listed([names[int(k)] for k in bad])} "
            f"hold negative ones (e.g. {np.nanmin(X[:, bad[0]]):g})."
        )


def centred_log_ratios(X: Array) -> Array:
    """Logarithms of the known values of each row, less their mean; a zero counts as half the
    smallest positive value of its row.

    Examples
    --------
    >>> counts = np.array([[0.0, 1.0, 2.0], [3.0, 3.0, 3.0]])
    >>> centred_log_ratios(counts).round(2).tolist()
    [[-0.69, 0.0, 0.69], [0.0, 0.0, 0.0]]
    """
    smallest = np.where(X > 0, X, np.inf).min(axis=1, keepdims=True)
    empty = np.flatnonzero(np.isinf(smallest))
    if len(empty):
        raise TableError(
            f"clr needs a positive value in every row, but row {int(empty[0]) + 1} holds none "
            f"({len(empty):,} such in all): leave these rows out."
        )
    logs = np.log(np.where(X == 0, smallest / 2.0, X))
    return logs - np.nanmean(logs, axis=1, keepdims=True)


TRANSFORMS = {"log": lambda X: np.log2(1.0 + X), "clr": centred_log_ratios}
