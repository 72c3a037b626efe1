"""Names of columns, computed on demand because a table may have ten million columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import overload

import numpy as np
from sklearn.base import BaseEstimator

from gradsift.protocols import IntArray, Source

MOST_NAMED = 20_000
"""Memory: names that are kept, those of the best columns."""


class Names(Sequence[str]):
    """Names of some columns; the others are called 'x0', 'x1' and so on.

    Parameters
    ----------
    count : int
        Number of columns.
    known : mapping
        Column number -> name.

    Examples
    --------
    >>> names = Names(10_000_000, {7: "rs7"})
    >>> names[7], names[-1], len(names)
    ('rs7', 'x9999999', 10000000)
    """

    def __init__(self, count: int, known: Mapping[int, str] | None = None) -> None:
        self._count, self._known = count, dict(known or {})

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(self._count))]
        k = range(self._count)[index]
        return self._known.get(k, f"x{k}")


def names_of_best(model: BaseEstimator, source: Source) -> Names:
    """What a source calls the best ranked columns of a fitted model."""
    count = source.shape[1]
    best: IntArray = np.flatnonzero(model.ranking_ <= MOST_NAMED)
    for finding in getattr(model, "findings_", ()):
        best = np.union1d(best, finding.columns)
    association = getattr(model, "association_", None)
    if association is not None:
        best = np.union1d(best, association.associated()[:MOST_NAMED])
    found = source.names(best)
    return Names(count, None if found is None else dict(zip(best.tolist(), found)))


def variable_names(model: BaseEstimator, names: Sequence[str] | None = None) -> Sequence[str]:
    """Names as given, as the fitted model knows them, or 'x0', 'x1' and so on.

    Parameters
    ----------
    model : fitted estimator
    names : sequence of str, optional

    Returns
    -------
    names : sequence of str
    """
    count = model.n_features_in_
    if names is None:
        names = getattr(model, "feature_names_in_", None)
    if names is None:
        return Names(count)
    if len(names) != count:
        raise ValueError(f"{len(names)} names were given for {count} columns: give one per column.")
    return names if isinstance(names, Names) else [str(name) for name in names]
