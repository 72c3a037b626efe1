"""Rows of another table, matched by the pair of columns with most common values; genes in rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gradsift._run.suggest import did_you_mean
from gradsift.data.categories import to_text
from gradsift.data.cells import Texts
from gradsift.data.plink_samples import with_codes_of_plink
from gradsift.data.text import ROW_NAMES, names_apart
from gradsift.protocols import Array, IntArray
from gradsift.tables.columns import as_texts
from gradsift.tables.frame import Frame
from gradsift.tables.notes import Note, TableError, counted, is_or_are, listed

FAMILY, INDIVIDUAL = "FID", "IID"
"""Columns that name samples in PLINK's tables."""
BOTH = f"{FAMILY} and {INDIVIDUAL}"
POSITION = "position"
MOST_KEYS = 100
"""Columns of whole numbers that may name samples."""
DISTINCT = 0.5
"""Part of the rows in which the values of a column that names samples differ, at least."""
LEAST_MATCHED = 0.5
"""Part of the smaller table that is found in the other, at least."""

Key = list[str | None]
Fold = Callable[[str], str]


@dataclass(frozen=True)
class Samples:
    """The samples of a table: their number, and what may name them.

    Attributes
    ----------
    file : str
    n : int
    ids : sequence of str, optional
        None where nothing names them.
    families : sequence of str, optional
        PLINK's families, where it has them.
    column : str, optional
        The column they are in.
    keys : dict
        Column -> texts, of all columns that may name samples.
    stored : bool
        Whether the format has columns of numbers only, so that no column can name them.
    """

    file: str
    n: int
    ids: Sequence[str | None] | None
    families: Sequence[str | None] | None = None
    column: str | None = None
    keys: dict[str, Key] = field(default_factory=dict)
    stored: bool = False

    @property
    def every_key(self) -> dict[str, Key]:
        """Columns that may name the samples, the likeliest first."""
        first = {} if self.ids is None else {self.column or "names of rows": list(self.ids)}
        if self.ids is not None and self.families is not None:
            first[BOTH] = [f"{a} {b}" for a, b in zip(self.families, self.ids, strict=True)]
        return first | {name: key for name, key in self.keys.items() if name not in first}


def samples_of(frame: Frame, file: str, id: str | None) -> Samples:
    """The samples of a frame: named by `id`, its row names, IID, or the first texts that differ."""
    keys = key_columns(frame)
    unique = [name for name, key in keys.items() if None not in key and len(set(key)) == len(key)]
    texts = [name for name in unique if name in frame.texts]
    label = id or frame.id or (INDIVIDUAL if INDIVIDUAL in frame.order else next(iter(texts), None))
    ids = None if label is None else as_texts(frame.column(label)).tolist()
    both = label == INDIVIDUAL and FAMILY in frame.order
    families = as_texts(frame.column(FAMILY)).tolist() if both else None
    return Samples(file, frame.n_rows, ids, families, label, {} if id else keys)


def key_columns(frame: Frame) -> dict[str, Key]:
    """Columns that may name samples: texts or whole numbers, most of which differ."""
    out: dict[str, Key] = {}
    first = [name for name in frame.order if name in frame.texts]
    whole = [name for name in frame.order if name in frame.where][:MOST_KEYS]
    for name in (*first, *whole):
        values = frame.column(name)
        if values.dtype.kind == "f" and not (values == np.round(values)).all():
            continue
        texts = as_texts(values).tolist()
        if len(set(texts)) > DISTINCT * len(texts):
            out[name] = texts
    if {FAMILY, INDIVIDUAL} <= set(frame.order):
        pair = (as_texts(frame.column(name)).tolist() for name in (FAMILY, INDIVIDUAL))
        out[BOTH] = [f"{a} {b}" for a, b in zip(*pair, strict=True)]
    return {name: out[name] for name in (*frame.order, BOTH) if name in out}


def as_r_writes(text: str) -> str:
    """A name as R writes it, in small letters.

    Examples
    --------
    >>> as_r_writes("S-1 a") == as_r_writes("s.1.a")
    True
    """
    return re.sub(r"^x(?=[.\d])\.?", "", re.sub(r"\W|_", ".", text.casefold()))


def unchanged(text: str) -> str:
    return text


@dataclass(frozen=True)
class Match:
    """A pair of columns, and how many samples they find."""

    count: int
    own: str
    other: str
    fold: Fold


def best_match(own: dict[str, Key], others: dict[str, Key]) -> Match | None:
    """The pair of columns with most samples that have one row in the other table: exactly, or as R
    writes names.
    """
    best: Match | None = None
    for fold in (unchanged, as_r_writes):
        for other, keys in others.items():
            once = {key for key, count in folded_counts(keys, fold).items() if count == 1}
            for name, mine in own.items():
                count = sum(text is not None and fold(text) in once for text in mine)
                if count > (0 if best is None else best.count):
                    best = Match(count, name, other, fold)
        if best is not None and best.count == min(map(len, (*own.values(), *others.values()))):
            break
    return best


def folded_counts(keys: Key, fold: Fold) -> Counter[str]:
    return Counter(fold(text) for text in keys if text is not None)


def joined_rows(
    samples: Samples, other: Frame, file: str, by: str | None, columns: Collection[str] = ()
) -> tuple[IntArray, list[Note]]:
    """The row of each sample in another table, -1 for none, and notes.

    Parameters
    ----------
    samples : Samples
        Of the table.
    other : Frame
        The other table.
    file : str
        Its name.
    by : str, optional
        'position', 'COLUMN', or 'COLUMN=COLUMN' of both tables; None = the pair of columns with
        most values in common.
    columns : collection of str
        Columns that are no identifiers.
    """
    if by == POSITION or (by is None and samples.stored and samples.ids is None):
        if other.n_rows != samples.n:
            raise TableError(
                f"{file} has {other.n_rows} rows and {samples.file} {samples.n}: they cannot be "
                "taken in their order.",
                "by",
            )
        said = f"rows of {file} are assumed to be in the same order as those of {samples.file}"
        kind: Any = "joined" if by == POSITION else "caution"
        return np.arange(samples.n), [Note(kind, said, (), "by")]
    own, others = asked_keys(samples, other, file, by, columns)
    found = best_match(own, others)
    least = max(1.0, LEAST_MATCHED * min(samples.n, other.n_rows))
    if found is None or (by is None and found.count < min(least, 2)):
        mine = next(iter(own.items()), ("", []))
        theirs = next(iter(others.items()), ("", []))
        here, there = (listed([str(text) for text in key]) for key in (mine[1], theirs[1]))
        raise TableError(
            f"no column of {file} names samples of {samples.file}: {here} in {mine[0]!r}, {there} "
            f"in {theirs[0]!r}.",
            "by, by=position",
        )
    return matched(samples, own[found.own], others[found.other], found, file)


def asked_keys(
    samples: Samples, other: Frame, file: str, by: str | None, columns: Collection[str]
) -> tuple[dict[str, Key], dict[str, Key]]:
    """Columns of both tables that may name the samples: all, or those that were asked for."""
    own = samples.every_key
    others = {name: key for name, key in key_columns(other).items() if name not in columns}
    if by is None:
        return own, others
    mine, _, theirs = by.partition("=")
    theirs = theirs or mine
    if theirs not in other.order:
        raise TableError(
            f"{file} has no column {theirs!r}.{did_you_mean(theirs, other.order)} It has "
            f"{listed(other.order, 5)}.",
            "by",
        )
    if mine not in own and len(own) == 1:
        own = dict(zip([mine], own.values(), strict=True))
    return ({mine: own[mine]} if mine in own else own), {
        theirs: as_texts(other.column(theirs)).tolist()
    }


def matched(
    samples: Samples, own: Key, keys: Key, found: Match, file: str
) -> tuple[IntArray, list[Note]]:
    """The row of each sample in the other table, -1 for none; and what did not match."""
    mine = [None if text is None else found.fold(text) for text in own]
    theirs = [None if text is None else found.fold(text) for text in keys]
    here = set(mine)
    twice = [k for k, count in Counter(theirs).items() if count > 1 and k in here and k is not None]
    if twice:
        raise TableError(
            f"{file} names {listed(twice)} more than once in its column {found.other!r}. Leave "
            "one row for each.",
            "by",
        )
    where = {key: k for k, key in enumerate(theirs) if key is not None}
    rows = np.array([where.get(key or "", -1) for key in mine], dtype=np.intp)
    lost = [str(key) for key, row in zip(own, rows) if row < 0]
    beyond = [str(key) for key, folded in zip(keys, theirs) if folded not in here]
    pair = f"{found.other!r}" if found.own == found.other else f"{found.own!r} and {found.other!r}"
    said = f"{samples.n - len(lost)} of {samples.n} samples were found in {file} by {pair}"
    if beyond:
        said += f"; {counted(len(beyond), 'row')} of {file} matched no sample"
    notes = [Note("joined", said, (found.own, found.other), "by")]
    if lost:
        text = (
            f"{counted(len(lost), 'sample')} of {samples.file} {is_or_are(len(lost))} not in {file}"
        )
        notes.append(Note("caution", f"{text}: {listed(lost)}", (found.own,), "by"))
    return rows, notes


def target_of(other: Frame, target: str, file: str) -> tuple[Array | Texts, list[Note]]:
    """The target in a table of targets; PLINK's codes for missing values are missing."""
    if target not in other.order:
        raise TableError(
            f"the table of targets, {file}, has no column {target!r}."
            f"{did_you_mean(target, other.order)} It has {listed(other.order, 5)}."
        )
    values = other.column(target)
    return without_plink_codes(values, target) if INDIVIDUAL in other.order else (values, [])


def sample_columns(frame: Frame, other: Frame, target: str) -> list[str]:
    """Columns of a table with variables in rows that are samples of another table: half of these
    at least, and more than its own columns name; none where samples are in rows.
    """
    header: dict[str, Key] = {"": list(frame.names)}
    others = {name: key for name, key in key_columns(other).items() if name != target}
    across = best_match(header, others)
    if across is None or across.count < max(
        2.0, LEAST_MATCHED * min(len(frame.names), other.n_rows)
    ):
        return []
    down = best_match(key_columns(frame), others)
    if down is not None and down.count >= across.count:
        return []
    known = {across.fold(key) for key in others[across.other] if key is not None}
    return [name for name in frame.names if across.fold(name) in known]


def turned(frame: Frame, samples: Sequence[str], file: str) -> Frame:
    """Samples in rows. Of the columns that are no samples the one with most different texts names
    the variables; names that repeat are numbered.
    """
    chosen = set(samples)
    labels = [name for name in frame.order if name not in chosen]
    texts = [name for name in labels if name in frame.texts] or labels
    if not texts:
        raise TableError(f"{file}: no column names the variables in its rows.")
    columns = {name: as_texts(frame.column(name)).tolist() for name in texts}
    label = max(
        texts, key=lambda name: (len(set(columns[name])), -sum(map(len, map(str, columns[name]))))
    )
    given = [str(text) if text is not None else "unnamed" for text in columns[label]]
    names = names_apart(given, {ROW_NAMES})
    values = frame.numbers[:, [frame.where[name] for name in samples]].T
    said = f"{file}: variables are in rows, {len(samples)} samples in columns"
    others = [name for name in labels if name != label]
    verb = "describes" if len(others) == 1 else "describe"
    said += f"; {listed(others)} {verb} the variables" if others else ""
    repeated = len(given) - len(set(given))
    said += f"; {counted(repeated, 'name')} of variables repeated, numbered" if repeated else ""
    return replace(
        frame,
        names=tuple(names),
        numbers=np.ascontiguousarray(values),
        texts={ROW_NAMES: to_text(samples)},
        order=(ROW_NAMES, *names),
        notes=(*frame.notes, Note("read", said, (label, *others), "transpose")),
        id=ROW_NAMES,
        places=replace(frame.places, lines=None, columns=None),
    )


def without_plink_codes(values: Any, name: str, *, response: bool = True) -> tuple[Any, list[Note]]:
    """Values without PLINK's codes for missing ones, and a note on how many there were."""
    out, count = with_codes_of_plink(values, response=response)
    codes = "codes (-9, or 0 next to 1 and 2)" if response else "code -9"
    said = f"{counted(count, 'value')} of {name!r} read as missing: PLINK's {codes}"
    return out, [Note("read", said, (name,))] if count else []


def taken(values: Any, rows: IntArray) -> Any:
    """values[rows], with NaN or None where the row is -1."""
    out = values[rows]
    out[rows < 0] = None if values.dtype.kind == "O" else np.nan
    return out


def with_column(frame: Frame, name: str, values: Any) -> Frame:
    """The frame with one column more."""
    if name in frame.order:
        raise TableError(f"both tables have a column {name!r}: rename one.")
    order = (*frame.order, name)
    if values.dtype.kind == "O":
        return replace(frame, texts={**frame.texts, name: values}, order=order)
    numbers = np.column_stack([frame.numbers, values])
    return replace(frame, names=(*frame.names, name), numbers=numbers, order=order)
