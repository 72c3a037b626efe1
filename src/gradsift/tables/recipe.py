"""How a table becomes columns: what the user asked for, and what was done, to do it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from gradsift.data.categories import level_columns, level_name, number_text, unseen_levels
from gradsift.data.odd_cells import odd_cells
from gradsift.data.read_options import PLAIN, ReadOptions
from gradsift.data.source import ColumnsSource, block_width, windows
from gradsift.protocols import Array, IntArray, Source
from gradsift.tables.frame import Frame, counted, listed

Task = Literal["regression", "classification"]


@dataclass(frozen=True)
class Choices:
    """What the user asked for.

    Parameters
    ----------
    target : str
    task : {'auto', 'regression', 'classification'}
    drop, categorical, keep : tuples of str
        Columns to leave out; to take for categories; never to be penalised.
    id : str, optional
        Column that names the rows.
    log : bool
        Take log2(1 + x) of the columns of numbers.
    missing : {'error', 'mean', 'drop'}
        Refuse missing values, let the estimator impute column means, or drop such rows.
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
    """

    target: str
    task: str = "auto"
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    id: str | None = None
    log: bool = False
    missing: str = "error"
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
        """The columns given to each option."""
        return {
            "--drop": self.drop,
            "--id": () if self.id is None else (self.id,),
            "--categorical": self.categorical,
            "--keep": self.keep,
            "--group": () if self.group is None else (self.group,),
        }


@dataclass(frozen=True)
class Recipe:
    """How a table becomes columns: enough to do the same to a new one. Plain data only.

    Attributes
    ----------
    numbers : tuple of str
        Columns of numbers, in order.
    levels : dict
        Column of categories -> its levels; each is a column of 0 and 1.
    classes : dict
        Number, as text -> name of the class it stands for, where the file tells.
    options : ReadOptions
        How the file was read; new tables are read likewise.
    stored : int array, optional
        Of a table that was too large for memory: the columns that were used, by their number in
        the file; None = all.
    """

    target: str
    task: Task
    numbers: tuple[str, ...]
    levels: dict[str, tuple[str, ...]]
    id: str | None = None
    log: bool = False
    missing: str = "error"
    classes: dict[str, str] = field(default_factory=dict)
    options: ReadOptions = PLAIN
    stored: IntArray | None = field(default=None, compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        """Columns after encoding."""
        encoded = (level_name(c, level) for c, levels in self.levels.items() for level in levels)
        return (*self.numbers, *encoded)

    @property
    def origins(self) -> tuple[str, ...]:
        """The column of the table behind each of `names`."""
        encoded = (column for column, levels in self.levels.items() for _ in levels)
        return (*self.numbers, *encoded)

    def needed(self, used: IntArray | None = None) -> set[str]:
        """The columns of the table behind encoded columns (None = all)."""
        origins = self.origins
        return set(origins) if used is None else {origins[int(k)] for k in used}

    def of_stored(self, X: Any) -> Any:
        """Those columns of a large file, given as a source or an array, that were used."""
        if self.stored is None:
            return X
        if X.shape[1] <= int(self.stored[-1]):
            raise ValueError(
                f"the table has {X.shape[1]:,} columns, and the model uses column "
                f"{int(self.stored[-1]) + 1:,} of the file that it was fitted to: give a table "
                "with the columns of that file, in their order."
            )
        return ColumnsSource(X, self.stored) if isinstance(X, Source) else X[:, self.stored]

    def of_named(self, source: Source) -> Source:
        """The columns of another source that have the names of those that were used."""
        where = {name: k for k, name in enumerate(source.names() or ())}
        lost = [name for name in self.numbers if name not in where]
        if lost:
            raise ValueError(f"the table lacks {listed(lost)}, which the model was fitted to.")
        kept = np.array([where[name] for name in self.numbers], dtype=np.intp)
        if (np.diff(kept) < 0).any():
            raise ValueError(
                "the columns of the table are in another order than those of the fit, and it is "
                "too large to be taken into memory: bring them into that order."
            )
        return ColumnsSource(source, kept)

    def unseen(self, frame: Frame) -> list[str]:
        """Sentences on columns of categories that hold others than those of the fit, or none."""
        notes = []
        for name, levels in self.levels.items():
            if name in frame.order:
                texts = as_texts(frame, name)
                lost = sum(text is None for text in texts)
                notes.append(unseen_levels(repr(name), texts, levels))
                notes += [f"{without_category(name, lost)} as none of those known"] * (lost > 0)
        return [note for note in notes if note]

    def columns(
        self, frame: Frame, used: IntArray | None = None, fill: Array | None = None
    ) -> Array:
        """The encoded columns of a frame, (n, len(names)).

        Parameters
        ----------
        frame : Frame
        used : int array, optional
            The encoded columns that matter. The frame may lack the others, which get `fill`.
        fill : (len(names),) array, optional
        """
        needed = self.needed(used)
        self._check(frame, needed)
        where = {name: k for k, name in enumerate(frame.names)}
        X = np.empty((frame.n_rows, len(self.names)))
        if fill is not None:
            X[:] = fill
        take = np.array([k for k, name in enumerate(self.numbers) if name in needed], dtype=np.intp)
        chosen = [where[self.numbers[k]] for k in take]
        for rows in windows(frame.n_rows, block_width(max(len(take), 1))):  # no copy of all
            X[rows, take] = frame.numbers[rows, chosen]
        if self.log:
            X[:, take] = log_columns(X[:, take], [self.numbers[k] for k in take])
        k = len(self.numbers)
        for name, levels in self.levels.items():
            if name in needed:
                X[:, k : k + len(levels)] = level_columns(as_texts(frame, name), levels)
            k += len(levels)
        return X

    def _check(self, frame: Frame, needed: set[str]) -> None:
        """All that is needed is there, and what should be numbers is."""
        there = set(frame.order)
        wanted = [name for name in (*self.numbers, *self.levels) if name in needed]
        lost = [name for name in wanted if name not in there]
        if lost:
            raise ValueError(f"the table lacks {listed(lost)}, which the model uses.")
        problems = [
            self._not_numbers(frame, name)
            for name in self.numbers
            if name in needed and name in frame.texts
        ]
        if problems:
            raise ValueError(" ".join(problems))

    def _not_numbers(self, frame: Frame, name: str) -> str:
        values = frame.texts[name]
        row = next((k for k, v in enumerate(values) if v is not None), 0)
        odd = odd_cells(name, values, lambda k: frame.places.of(name, k), frame.options)
        if odd is not None:
            return odd.sentence()
        return (
            f"column {name!r} should hold numbers but holds {values[row]!r} "
            f"({frame.places.of(name, row)})."
        )


def without_category(name: str, count: int) -> str:
    """The beginning of a sentence on rows in which no category is written.

    Examples
    --------
    >>> without_category("sex", 1)
    "1 row without a category of 'sex' counts"
    """
    return f"{counted(count, 'row')} without a category of {name!r} count{'s' * (count == 1)}"


def as_texts(frame: Frame, name: str) -> list[Any]:
    """A column as texts; whole numbers without a decimal point."""
    values = frame.column(name)
    if values.dtype.kind == "O":
        return list(values)
    return [None if np.isnan(v) else number_text(v) for v in values]


def log_columns(X: Array, names: Sequence[str]) -> Array:
    """log2(1 + x), refused for negative values."""
    bad = np.flatnonzero((X < 0).any(axis=0))
    if len(bad):
        raise ValueError(
            f"--log needs values of at least 0, but {listed([names[int(k)] for k in bad])} hold "
            f"negative ones (e.g. {np.nanmin(X[:, bad[0]]):g})."
        )
    return np.log2(1.0 + X)
