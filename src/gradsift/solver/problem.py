"""What is to be solved, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np

from gradsift._typing import Array, Datafit, IntArray, Penalty, Source
from gradsift.solver.penalty import row_norms
from gradsift.solver.screening import LEAST_COLUMNS, Screen


@dataclass(frozen=True)
class Problem:
    """minimise Phi(X B, v) + alpha * penalty(B)."""

    source: Source
    datafit: Datafit
    penalty: Penalty

    @property
    def n_features(self) -> int:
        return self.source.shape[1]

    @cached_property
    def screen(self) -> Screen | None:
        """Columns in single precision, where the table is in memory and wide."""
        if self.source.array is None or self.n_features < LEAST_COLUMNS:
            return None
        return Screen.of(self.source.array)


class Status(Enum):
    CONVERGED = "optimal within tol"
    MAX_ITER = (
        "stopped at max_iter before reaching tol; raise max_iter, loosen tol, or use a larger alpha"
    )
    STALLED = (
        "stopped where rounding leaves nothing to gain before reaching tol; loosen tol, or "
        "standardise the columns"
    )


@dataclass(frozen=True)
class Rows:
    """The rows of B that may be non-zero: a p-row matrix stored by its support."""

    index: IntArray
    values: Array

    def dense(self, n_features: int) -> Array:
        B = np.zeros((n_features, self.values.shape[1]))
        B[self.index] = self.values
        return B

    def drop_zeros(self) -> Rows:
        """Without rows of norm zero, so that what is stored is what counts as selected."""
        keep = row_norms(self.values) > 0.0
        return Rows(self.index[keep], self.values[keep])

    def restrict(self, index: IntArray) -> Array:
        """The rows at a sorted `index`, zeros where nothing is stored."""
        out = np.zeros((len(index), self.values.shape[1]))
        _, to, at = np.intersect1d(index, self.index, assume_unique=True, return_indices=True)
        out[to] = self.values[at]
        return out


@dataclass(frozen=True)
class Certificate:
    """How far from optimal an answer can be, judged over ALL variables.

    Attributes
    ----------
    primal, dual : float
        Objective and a lower bound of the optimum.
    gap : float
        (primal - dual) / (objective at B = 0).
    violation : float
        Largest distance to the optimality conditions of any variable, divided by alpha_max.
    """

    primal: float
    dual: float
    gap: float
    violation: float


@dataclass(frozen=True)
class Solution:
    """An answer with its certificate, and what warm-starts the next one.

    Attributes
    ----------
    alpha : float
    rows : Rows
        Non-zero rows of B.
    v : array
        Free parameters.
    norms : (p,) array
        ||X_k' M||, the size of every variable's gradient at this answer; to six digits where it is
        clearly below its limit.
    """

    alpha: float
    rows: Rows
    v: Array
    norms: Array
    certificate: Certificate
    status: Status
    n_iter: int
