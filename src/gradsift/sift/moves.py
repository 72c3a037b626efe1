"""Fits on all supports that are one move away from a support: a group leaves, enters, or both.

All of them follow from the fit on the support itself. Let G be its normal equations and A their
inverse, B = A c its coefficients for the products c of features and response.

* If the features I leave, B loses A[:, I] A[I, I]^-1 B[I], and A loses A[:, I] A[I, I]^-1 A[I, :].
* If features with products u among the support, g among themselves and c' with the response enter,
  they get b = (g - u' A u)^-1 (c' - u' B), and B loses A u b.

So a move costs m times a few numbers for m features, where solving its equations costs m^3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gradsift._typing import Array, IntArray
from gradsift.sift.criterion import Move, NormalEquations, log_dets
from gradsift.sift.groups import Support

TOGETHER = 1_000_000
"""Values of the coefficients that are computed together (8 MB)."""


@dataclass(frozen=True)
class Neighbours:
    """The fit on a support, and those one move away."""

    equations: NormalEquations
    """Of the groups of the support and those that may enter."""
    inside: dict[int, int]
    """First feature of each group of the support, among those of the support."""
    beside: Array
    """(m, features) inner products of the features of the support with all."""
    corr: Array
    """(m, q) and with the response."""
    inverse: Array
    """(m, m) inverse of the normal equations of the support."""
    B: Array
    """(m, q) coefficients on the support."""
    towards: Array
    """(m, features) `inverse` times `beside`."""

    @property
    def m(self) -> int:
        return len(self.B)

    def after(self, moves: list[Move]) -> Iterator[tuple[IntArray, Array, IntArray, Array]]:
        """Fits after moves, those with equally many features together: which they are (b,),
        coefficients (b, m, q) on the support, the features that enter (b, t) and their coefficients
        (b, t, q).
        """
        sizes, where = self.equations.sizes, self.equations.starts
        key = [(sizes.get(out, 0), sizes.get(new, 0)) for out, new in moves]
        for s, t in sorted(set(key)):
            same = np.array([i for i, size in enumerate(key) if size == (s, t)], dtype=np.intp)
            step = max(1, TOGETHER // max(self.m * (s + t + self.B.shape[1]), 1))
            for first in range(0, len(same), step):
                some = same[first : first + step]
                leave = [self.inside.get(moves[i][0], 0) for i in some]
                enter = [where.get(moves[i][1], 0) for i in some]
                yield some, *self.moved(places(leave, s), places(enter, t))

    def moved(self, leave: IntArray, enter: IntArray) -> tuple[Array, IntArray, Array]:
        """Coefficients (b, m, q) on the support, the features that enter, and their coefficients
        (b, t, q), after the features `leave` (b, s) made room for `enter` (b, t).
        """
        A, B, gram = self.inverse, self.B, self.equations.gram
        each = np.arange(len(leave))[:, None]
        lost = A[:, leave].transpose(1, 0, 2) @ np.linalg.inv(A[leave[:, :, None], leave[:, None]])
        rest = B - lost @ B[leave]
        rest[each, leave] = 0.0
        u = self.beside[:, enter].transpose(1, 0, 2)
        v = self.towards[:, enter].transpose(1, 0, 2)
        v = v - lost @ self.towards[leave[:, :, None], enter[:, None]]
        v[each, leave] = 0.0
        back = u.transpose(0, 2, 1)
        own = gram[enter[:, :, None], enter[:, None]] + self.equations.ridge * np.eye(
            enter.shape[1]
        )
        b = np.linalg.solve(own - back @ v, self.equations.corr[enter] - back @ rest)
        return rest - v @ b, enter, b

    def without(self, groups: list[int]) -> tuple[Array, Array]:
        """Coefficients (b, m, q), and covariances of the residuals (b, q, q), when one of these
        groups leaves.
        """
        B, cov = np.empty((len(groups), *self.B.shape)), self.room(len(groups))
        for some, rest, enter, b in self.after([(g, None) for g in groups]):
            B[some], cov[some] = rest, self.covariance(rest, enter, b)
        return B, cov

    def room(self, count: int) -> Array:
        return np.empty((count, *self.equations.cov.shape))

    def covariance(self, B: Array, enter: IntArray, b: Array) -> Array:
        """Covariances (b, q, q) of the residuals of fits as from `after`."""
        of = self.equations
        explained = B.transpose(0, 2, 1) @ (self.corr + of.ridge * B)
        explained += b.transpose(0, 2, 1) @ (of.corr[enter] + of.ridge * b)
        return np.asarray(of.cov - (explained + explained.transpose(0, 2, 1)) / 2)

    def covariances(self, moves: list[Move]) -> Array:
        """Covariances of the residuals after moves, (b, q, q)."""
        out = self.room(len(moves))
        for some, B, enter, b in self.after(moves):
            out[some] = self.covariance(B, enter, b)
        return out

    def log_dets(self, moves: list[Move]) -> Array:
        """log det of these covariances, (b,)."""
        return log_dets(self.covariances(moves))


def places(first: list[int], size: int) -> IntArray:
    """`size` numbers from each of some first ones on, (b, size)."""
    return np.array(first, dtype=np.intp)[:, None] + np.arange(size)


def neighbours(equations: NormalEquations, support: Support) -> Neighbours:
    """Fits one move away from a support."""
    at, size_of = equations.index(support), equations.sizes
    sizes = [size_of[g] for g in support]
    inside = dict(zip(support, (np.cumsum(sizes) - sizes).tolist(), strict=True))
    beside, corr = equations.gram[at], equations.corr[at]
    inverse = np.linalg.inv(beside[:, at] + equations.ridge * np.eye(len(at)))
    return Neighbours(equations, inside, beside, corr, inverse, inverse @ corr, inverse @ beside)


def after_move(support: Support, move: Move) -> Support:
    """The support that a move leads to."""
    out, new = move
    kept = [g for g in support if g != out]
    return tuple(sorted(kept if new is None else [*kept, new]))
