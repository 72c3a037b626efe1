"""Covariates: variables that a fit adjusts for, and that are never reported as findings.

A covariate becomes one or more columns of numbers: itself, or 0/1 columns of its categories; curves
of it and products with other covariates are added where the response depends on them. In the sift,
these columns follow those of X and are always kept, so that columns of X are selected given the
covariates. Predictions are the sum of a linear function of them and the predictor on the columns of
X. `covariate_terms` chooses the terms and computes that linear function.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradsift._run.warn import warn_user
from gradsift.data.arrays import array_like
from gradsift.data.categories import (
    level_columns,
    level_name,
    table_columns,
    unseen_levels,
)
from gradsift.exceptions import ExtrapolationWarning
from gradsift.numerics.statistics import cubic_splines
from gradsift.protocols import Array, IntArray, TableLike
from gradsift.tables.columns import MISSING, Column, with_levels
from gradsift.tables.frame import as_frame
from gradsift.tables.roles import parse_columns


@dataclass(frozen=True)
class Covariate:
    """How one covariate becomes columns.

    Attributes
    ----------
    name : str
    levels : tuple of str
        Categories that have a 0/1 column; empty for numbers.
    reference : str
        The most frequent category, which the others are compared with.
    mean, scale : float
        Of a number; the mean stands in for missing values.
    knots : tuple of float
        Where the curve of a number begins, bends and ends, in standard deviations from the mean;
        values beyond count as the nearest end. Without any, the effect is a line.
    jumps : tuple of float
        Where the effect of a number jumps, in the same unit.
    marked : bool
        Whether a 0/1 column says where the number is missing.
    column : Column
        How its values are read: numbers, texts, dates.
    """

    name: str
    levels: tuple[str, ...] = ()
    reference: str = ""
    mean: float = 0.0
    scale: float = 1.0
    knots: tuple[float, ...] = ()
    jumps: tuple[float, ...] = ()
    marked: bool = False
    column: Column = field(default_factory=lambda: Column(""))

    @property
    def columns(self) -> list[str]:
        """Names of its columns."""
        if self.reference:
            return [level_name(self.name, level) for level in self.levels]
        curve = range(1, len(self.knots) + 3) if self.knots else ()
        marks = [f"{self.name} {MISSING}"] * self.marked
        jumps = [f"{self.name} > {self.mean + self.scale * jump:.6g}" for jump in self.jumps]
        return [self.name, *marks, *(f"{self.name} (curve {k})" for k in curve), *jumps]

    @property
    def n_amounts(self) -> int:
        """Number of its first columns, those that enter products with other covariates."""
        return len(self.levels) if self.reference else 1

    def encode(self, values: NDArray[Any]) -> Array:
        """Its columns (n, k) at values as `read_column` gives them."""
        texts = values.dtype.kind == "O"
        if self.reference and not texts and np.isnan(values).all():
            values, texts = np.full(len(values), MISSING, dtype=object), True
        if texts and not self.reference and (values == MISSING).all():
            values, texts = np.full(len(values), np.nan), False
        if texts != bool(self.reference):
            was, is_now = ("categories", "numbers") if self.reference else ("numbers", "texts")
            raise ValueError(
                f"covariate {self.name!r} holds {is_now}, such as {values[0]!r}, but held {was} at "
                "the fit."
            )
        return self._levels(values) if texts else self._numbers(values)

    def _levels(self, values: NDArray[Any]) -> Array:
        texts, what = values.tolist(), f"the covariate {self.name!r}"
        unseen = [text for text in texts if text not in {*self.levels, self.reference, None}]
        if note := unseen_levels(what, unseen, len(texts), f"as {self.reference!r}"):
            warn_user(note, ExtrapolationWarning)
        return level_columns(texts, self.levels)

    def _numbers(self, values: Array) -> Array:
        there = ~np.isnan(values)
        z = np.where(there, (values - self.mean) / self.scale, 0.0)
        jumps = z[:, None] > np.array(self.jumps)
        z = np.clip(z, self.knots[0], self.knots[-1]) if self.knots else z
        marks = [~there] if self.marked else []
        curve = [cubic_splines(z, np.array(self.knots))] if self.knots else []
        return np.column_stack([z, *marks, *curve, jumps])


@dataclass(frozen=True, eq=False)
class Covariates:
    """All covariates of a fit, and the linear part that they have in predictions.

    Attributes
    ----------
    parts : tuple of Covariate
    products : tuple of (int, int)
        Numbers of covariates whose products follow the columns of all of them.
    used : (k,) int array
        The columns that are not linear combinations of those before them.
    mean : (k,) array
        Means of these columns at the fit; the part of covariates is zero at the means.
    coefficients : (k, q) array
        Of the part in the response, in the log odds of the second class, or in the scores of all
        classes; zeros until they are known.
    explained : float
        Share of the variance of the response, or of the class indicators, that they explain alone.
    """

    parts: tuple[Covariate, ...]
    products: tuple[tuple[int, int], ...]
    used: IntArray
    mean: Array
    coefficients: Array
    explained: float = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the covariates."""
        return tuple(part.name for part in self.parts)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that they became."""
        every = [name for part in self.parts for name in part.columns]
        for pair in self.products:
            one, other = (self.parts[k].columns[: self.parts[k].n_amounts] for k in pair)
            every += [f"{a} x {b}" for a in one for b in other]
        return tuple(every[int(k)] for k in self.used)

    def whole(self, values: Sequence[Any]) -> Array:
        """All columns, from the values of each covariate as `read_column` gives them."""
        blocks = [part.encode(value) for part, value in zip(self.parts, values, strict=True)]
        amounts = [block[:, : part.n_amounts] for block, part in zip(blocks, self.parts)]
        pairs = [products(amounts[k], amounts[j]) for k, j in self.products]
        return np.column_stack([*blocks, *pairs])

    def encode(self, covariates: TableLike, n: int | None = None) -> Array:
        """Columns (n, k) of the covariates of n rows, less their means at the fit."""
        known = {part.name: part.column for part in self.parts}
        given = {column.name: values for column, values in read_columns(covariates, n, known)}
        lost = [name for name in self.names if name not in given]
        if lost:
            raise ValueError(
                f"covariates lacks {lost[0]!r}: the model was fitted with "
                f"{', '.join(map(repr, self.names))}, and {', '.join(map(repr, given))} were given."
            )
        whole = self.whole([given[name] for name in self.names])
        return np.asarray(whole[:, self.used] - self.mean)

    def part(self, covariates: TableLike, n: int) -> Array:
        """(n, q) part of the covariates in predictions for n rows."""
        if isinstance(covariates, str) and covariates == "mean":
            return np.zeros((n, self.coefficients.shape[1]))
        if covariates is None:
            raise ValueError(
                f"the model was fitted with covariates ({', '.join(self.names)}): give "
                "covariates= of these rows too, or covariates='mean' to predict for rows whose "
                "covariates are as in the mean of the fit."
            )
        return self.encode(covariates, n) @ self.coefficients


def products(A: Array, B: Array) -> Array:
    """Each column of A times each of B."""
    return np.asarray((A[:, :, None] * B[:, None, :]).reshape(len(A), A.shape[1] * B.shape[1]))


def read_columns(
    covariates: TableLike, n: int | None = None, known: Mapping[str, Column] | None = None
) -> list[tuple[Column, Any]]:
    """How each covariate is read, and its values: numbers, NaN where missing, or texts.

    Parameters
    ----------
    covariates : data frame, dict of columns, or array (n,) or (n, k)
    n : int, optional
        The rows there should be.
    known : mapping, optional
        How the covariates of the fit were read, by their names.
    """
    if isinstance(covariates, dict):
        found = [(str(name), values) for name, values in covariates.items()]
    elif hasattr(given := array_like(covariates, "covariates"), "columns"):
        found = list(table_columns(covariates))
    elif np.ndim(given) == 1:
        name = getattr(covariates, "name", None)
        found = [("covariate0" if name in (None, "") else str(name), covariates)]
    else:
        table = np.asarray(given)
        if table.ndim != 2:
            raise ValueError(
                f"covariates has shape {table.shape}: give a data frame, an array (n,) or (n, k), "
                "or a dict of columns."
            )
        found = [(f"covariate{k}", values) for k, values in enumerate(table.T)]
    out = [read_column(name, values, (known or {}).get(name)) for name, values in found]
    for column, values in out:
        if n is not None and len(values) != n:
            raise ValueError(
                f"covariate {column.name!r} has {len(values)} values for {n} rows of X."
            )
    return out


def read_column(name: str, values: ArrayLike, known: Column | None = None) -> tuple[Column, Any]:
    """How one covariate is read, and its numbers (NaN where missing), or texts for categories; a
    date is its days since the first one.
    """
    values = array_like(values, "covariates")
    if np.ndim(values) != 1:
        shape = np.shape(values)
        raise ValueError(f"covariate {name!r} has shape {shape}: one value for each row.")
    frame = as_frame({name: values})
    cells = frame.column(name)
    column = known or parse_columns(frame)[0].get(name, Column(name))
    plain = column.role == "number" and column.style is None
    if column.role == "date":
        column = column if column.start else with_levels(column, cells)
        return column, column.encode(cells)[0][:, 0]
    found = cells if plain and cells.dtype.kind == "O" else column.read(cells)
    if column.role != "number" and cells.dtype.kind == "f":
        found = cells
    if found.dtype.kind == "O":
        found = found.copy()
        found[[value is None for value in found]] = MISSING
        return column, found
    bad = np.flatnonzero(np.isinf(found))
    if len(bad):
        raise ValueError(f"covariate {name!r} is infinite in row {int(bad[0])}.")
    return column, found
