"""Covariates: known influences that are adjusted for, and are never findings.

A covariate becomes one or more columns of numbers: itself, or with splines beside it, or 0/1
columns of its categories. The sift always keeps these columns beside those of X. The predictor has
a linear part in them, which is estimated beside what was selected, and is added to the rest.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradsift._typing import Array, IntArray, Source
from gradsift.data.categories import (
    holds_times,
    level_columns,
    level_name,
    numbers_or_levels,
    table_columns,
    text_levels,
    unseen_levels,
)
from gradsift.data.lazy import refuse_lazy
from gradsift.exceptions import ExtrapolationWarning
from gradsift.numerics.robust import quantiles
from gradsift.numerics.splines import natural_splines

MISSING_LEVEL = "(missing)"
"""The category of rows in which nothing is written."""
MOST_COLUMNS = 1 / 3
"""Columns that covariates may take, as a part of the rows: more would explain anything."""
KNOTS = (0.05, 0.275, 0.5, 0.725, 0.95)
"""Quantiles at which smooth effects may bend (Harrell's choice for five knots)."""
LEAST_VALUES = 10
"""Distinct values of a number without which its effect is a line."""
SAME = 1e-8
"""Part of a column that is left beside the others, below which it says nothing new."""


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
        Where the effect of a number may bend, in standard deviations from the mean.
    marked : bool
        Whether a 0/1 column says where the number is missing.
    """

    name: str
    levels: tuple[str, ...] = ()
    reference: str = ""
    mean: float = 0.0
    scale: float = 1.0
    knots: tuple[float, ...] = ()
    marked: bool = False

    @property
    def columns(self) -> list[str]:
        """Names of its columns."""
        if self.reference:
            return [level_name(self.name, level) for level in self.levels]
        bends = [f"{self.name} (bend {k + 1})" for k in range(len(self.knots) - 2)]
        return [self.name, *bends, *([f"{self.name} {MISSING_LEVEL}"] * self.marked)]

    def encode(self, values: Any) -> Array:
        """Its columns (n, k) at values as `read_column` gives them."""
        texts = values.dtype.kind == "O"
        if self.reference and not texts and np.isnan(values).all():
            values, texts = np.full(len(values), MISSING_LEVEL, dtype=object), True
        if texts and not self.reference and (values == MISSING_LEVEL).all():
            values, texts = np.full(len(values), np.nan), False
        if texts != bool(self.reference):
            was, is_now = ("categories", "numbers") if self.reference else ("numbers", "texts")
            raise ValueError(
                f"covariate {self.name!r} holds {is_now}, such as {values[0]!r}, but held {was} at "
                "the fit."
            )
        return self._levels(values) if texts else self._numbers(values)

    def _levels(self, values: Any) -> Array:
        texts, what = values.tolist(), f"the covariate {self.name!r}"
        every = [*self.levels, self.reference]
        if note := unseen_levels(what, texts, every, f"as {self.reference!r}"):
            warnings.warn(note, ExtrapolationWarning, stacklevel=2)
        return level_columns(texts, self.levels)

    def _numbers(self, values: Array) -> Array:
        there = ~np.isnan(values)
        z = np.where(there, (values - self.mean) / self.scale, 0.0)
        bends = natural_splines(z, np.array(self.knots)) if self.knots else np.zeros((len(z), 0))
        marks = (~there).astype(float)[:, None]
        return np.column_stack([z, bends, marks] if self.marked else [z, bends])


@dataclass(frozen=True, eq=False)
class Covariates:
    """All covariates of a fit, and the linear part that they have in predictions.

    Attributes
    ----------
    parts : tuple of Covariate
    used : (k,) int array
        Their columns that say something the ones before them do not.
    mean : (k,) array
        Means of these columns at the fit: there, their part is zero.
    coefficients : (k, q) array
        Of the part in the response, in the log odds of the second class, or in the scores of all
        classes; zeros until they are known.
    explained : float
        Share of the variance of the response, or of the class indicators, that they explain alone.
    """

    parts: tuple[Covariate, ...]
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
        return tuple(every[int(k)] for k in self.used)

    def encode(self, covariates: Any, n: int | None = None) -> Array:
        """Columns (n, k) of the covariates of n rows, less their means at the fit."""
        given = dict(read_columns(covariates, n))
        lost = [name for name in self.names if name not in given]
        if lost:
            raise ValueError(
                f"covariates lacks {lost[0]!r}: the model was fitted with "
                f"{', '.join(map(repr, self.names))}, and {', '.join(map(repr, given))} were given."
            )
        whole = [part.encode(given[part.name]) for part in self.parts]
        return np.asarray(np.column_stack(whole)[:, self.used] - self.mean)

    def shift(self, covariates: Any, n: int) -> Array:
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


def check_covariates(
    covariates: Any, X: Source, kept: IntArray, weight: Array | None, smooth: bool
) -> tuple[Covariates | None, Array | None]:
    """How covariates become columns, and these columns at the kept rows, of mean zero."""
    if covariates is None:
        return None, None
    given = [(name, X.align_rows(values)) for name, values in read_columns(covariates)]
    wrong = [len(values) for _, values in given if len(values) != X.shape[0]]
    if wrong:
        raise ValueError(
            f"covariates has {wrong[0]} rows but X has {X.shape[0]}: give one row for each."
        )
    if not given:
        return None, None
    given = [(name, values[kept]) for name, values in given]
    check_names([name for name, _ in given])
    counts = np.ones(len(kept)) if weight is None else weight
    parts = tuple(learn(name, values, counts, smooth) for name, values in given)
    whole = np.column_stack(
        [part.encode(values) for part, (_, values) in zip(parts, given, strict=True)]
    )
    mean = counts @ whole / counts.sum()
    used = independent_columns(whole - mean)
    if len(used) > MOST_COLUMNS * len(kept):
        raise ValueError(
            f"the covariates take {len(used)} columns, for {len(kept)} rows: at most a third as "
            "many columns as rows can be adjusted for. Leave some out, or join rare categories."
        )
    found = Covariates(parts, used, mean[used], np.zeros((len(used), 1)))
    return found, (whole - mean)[:, used]


def check_same_covariates(fitted: Covariates | None, covariates: Any) -> None:
    """Refuse to ask about a fitted model with other covariates than its own."""
    if (fitted is None) != (covariates is None):
        what = "without" if fitted is None else "with"
        raise ValueError(
            f"the model was fitted {what} covariates: give the table, the response and the "
            "covariates that it was fitted to."
        )


def check_names(names: Sequence[str]) -> None:
    twice = [name for k, name in enumerate(names) if name in names[:k]]
    if twice:
        raise ValueError(f"two covariates are named {twice[0]!r}: rename one.")


def read_columns(covariates: Any, n: int | None = None) -> list[tuple[str, Any]]:
    """(name, values) of each covariate: numbers, NaN where missing, or texts in an object array.

    Parameters
    ----------
    covariates : data frame, dict of columns, or array (n,) or (n, k)
    n : int, optional
        The rows there should be.
    """
    refuse_lazy(covariates, "covariates")
    if isinstance(covariates, dict):
        found = [(str(name), values) for name, values in covariates.items()]
    elif hasattr(covariates, "columns") and not callable(covariates.columns):
        found = list(table_columns(covariates))
    elif np.ndim(covariates) == 1:
        name = getattr(covariates, "name", None)
        found = [("covariate0" if name in (None, "") else str(name), covariates)]
    else:
        table = np.asarray(covariates)
        if table.ndim != 2:
            raise ValueError(
                f"covariates has shape {table.shape}: give a data frame, an array (n,) or (n, k), "
                "or a dict of columns."
            )
        found = [(f"covariate{k}", values) for k, values in enumerate(table.T)]
    out = [(name, read_column(name, values)) for name, values in found]
    for name, values in out:
        if n is not None and len(values) != n:
            raise ValueError(f"covariate {name!r} has {len(values)} values for {n} rows of X.")
    return out


def read_column(name: str, values: Any) -> Any:
    """One covariate: numbers (NaN where missing), or texts for categories."""
    plain = np.asarray(values)
    if plain.ndim != 1:
        raise ValueError(f"covariate {name!r} has shape {plain.shape}: one value for each row.")
    if plain.dtype.kind == "c" or holds_times(plain):
        held = "complex numbers" if plain.dtype.kind == "c" else "dates or times"
        raise ValueError(
            f"covariate {name!r} holds {held}: turn it into numbers first, such as days since a "
            "start, or into texts, which count as categories."
        )
    found: Any = numbers_or_levels(values)
    if found.dtype.kind == "O":
        found[[value is None for value in found]] = MISSING_LEVEL
        return found
    bad = np.flatnonzero(np.isinf(found))
    if len(bad):
        raise ValueError(f"covariate {name!r} is infinite in row {int(bad[0])}.")
    return found


def learn(name: str, values: Any, counts: Array, smooth: bool) -> Covariate:
    """How a covariate becomes columns, from its values at rows that count so many times."""
    if values.dtype.kind == "O":
        levels = text_levels(values)
        if len(levels) > max(MOST_COLUMNS * len(values), 2):
            raise ValueError(
                f"covariate {name!r} holds {len(levels)} different texts in {len(values)} rows: "
                "too many for categories. Turn it into numbers, or leave it out."
            )
        number = {level: k for k, level in enumerate(levels)}
        most = int(np.bincount([number[value] for value in values], counts).argmax())
        return Covariate(name, (*levels[:most], *levels[most + 1 :]), levels[most])
    there = ~np.isnan(values)
    if not there.any():
        raise ValueError(f"covariate {name!r} is missing in all {len(values)} rows.")
    values, counts = values[there], counts[there]
    mean = float(np.average(values, weights=counts))
    spread = float(np.sqrt(np.average((values - mean) ** 2, weights=counts)))
    scale = spread if spread > 1e-12 * float(np.abs(values).max()) else np.inf
    knots: tuple[float, ...] = ()
    if smooth and len(np.unique(values)) >= LEAST_VALUES:
        places = np.unique(quantiles((values - mean) / scale, np.array(KNOTS), counts))
        knots = tuple(places.tolist()) if len(places) > 2 else ()
    return Covariate(name, (), "", mean, scale, knots, marked=not there.all())


def independent_columns(C: Array) -> IntArray:
    """Columns that are not (nearly) sums of those before them; none that is constant."""
    kept: list[int] = []
    basis = np.zeros((len(C), 0))
    for k, column in enumerate(C.T):
        size = float(np.linalg.norm(column))
        rest = column - basis @ (basis.T @ column)
        rest -= basis @ (basis.T @ rest)
        left = float(np.linalg.norm(rest))
        if size > SAME and left > SAME * size:
            kept.append(k)
            basis = np.column_stack([basis, rest / left])
    return np.array(kept, dtype=np.intp)
