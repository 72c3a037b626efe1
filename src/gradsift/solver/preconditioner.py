"""Approximate inverses of the Hessian on the rows of B that are not zero.

The Hessian is that of Phi plus that of the penalty (`RowBend`). Both inverses here take that of Phi
for one matrix over columns times one over tasks (`MeanHessian`). `TaskMean` is cheap: it has all
tasks alike. `MeanInverse` solves what is then left exactly, with w^3 m multiplications for w rows
and m tasks; on real tables it needs a fifth of the products.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradsift._typing import Array, MeanHessian
from gradsift.solver.penalty import row_norms

LEAST_BEND = 1e-3
"""Added to the matrix over columns, in means of its diagonal: more rows than samples leave it
singular.
"""
LEAST_TASK = 1e-6
"""Of the largest bend of a task: kernels have directions in which Phi hardly bends at all."""
NEARLY = 1e-10
"""Relative slack that keeps the inverse positive under rounding."""
TOGETHER = 50_000
"""Values of the unit directions that are multiplied together (.4 MB)."""


@dataclass(frozen=True)
class RowBend:
    """Second derivative of sum_k limit_k ||B_k|| at non-zero rows: stiff_k (I - u_k u_k').

    u_k is the row's direction and stiff_k = limit_k / ||B_k||: a row turns the harder the smaller
    it is, and grows or shrinks freely.
    """

    unit: Array
    stiff: Array

    @classmethod
    def at(cls, B: Array, limits: Array) -> RowBend:
        sizes = row_norms(B)
        sizes = np.where(sizes > 0.0, sizes, 1.0)[:, None]  # zero only where the limit is zero
        return cls(B / sizes, limits[:, None] / sizes)

    def _along(self, D: Array) -> Array:
        return np.asarray(np.einsum("ij,ij->i", self.unit, D)[:, None])

    def times(self, D: Array) -> Array:
        return self.stiff * D - (self.stiff * self._along(D)) * self.unit

    def solve(self, R: Array, curvature: float) -> Array:
        """(curvature I + this)^-1 R: the Hessian, had Phi the same curvature everywhere."""
        across = 1.0 / (curvature + self.stiff)
        return across * R + ((1.0 / curvature - across) * self._along(R)) * self.unit


@dataclass(frozen=True)
class TaskMean:
    """Approximate inverse Hessian, as if Phi bent alike in all tasks.

    A change of the rows is split: along each row, where the penalty does not bend, and across,
    where row k bends by stiff_k. Each part is solved for as if the other were not there.
    """

    unit: Array
    along: Array  # (w, w) inverses
    across: Array

    @classmethod
    def of(cls, bend: RowBend, mean: MeanHessian) -> TaskMean | None:
        """None where H is rounding only: every pair is predicted so well that none bends Phi."""
        H = lifted(mean.columns)
        if H is None:
            return None
        return cls(
            bend.unit,
            np.linalg.inv(H * (bend.unit @ bend.unit.T)),
            np.linalg.inv(H + np.diag(bend.stiff[:, 0])),
        )

    def _split(self, R: Array) -> tuple[Array, Array]:
        sizes = np.einsum("ij,ij->i", self.unit, R)[:, None]
        return sizes, R - sizes * self.unit

    def solve(self, R: Array) -> Array:
        sizes, across = self._split(R)
        return (self.along @ sizes) * self.unit + self._split(self.across @ across)[1]


def lifted(H: Array) -> Array | None:
    """The matrix over columns, made positive definite; None where it is rounding only."""
    if not (H.diagonal() > 0.0).all():
        return None
    mean = max(float(H.trace()) / len(H), np.finfo(float).tiny)
    return np.asarray(H + LEAST_BEND * mean * np.eye(len(H)))


def inner_products(rows: Array, unit: Array, inverse: Array) -> Array:
    """(w, w) inner products of the unit directions in the inverse without them, a few axes of the
    rows at a time: all together would be w times the coefficients.
    """
    w, root = len(rows), np.sqrt(inverse)
    out = np.zeros((w, w))
    step = max(1, TOGETHER // unit.size)
    for start in range(0, w, step):
        some = slice(start, start + step)
        half = rows[:, some, None, None] * (unit[:, None] * root[None, some, None, :])
        half = half.reshape(w, -1)
        out += half @ half.T
    return out


@dataclass(frozen=True)
class MeanInverse:
    """(H x A + bend)^-1, with H (w, w) over columns and A (m, m) over tasks.

    The bend is stiff x I less one direction per row. Without these directions, one change of axes
    makes everything diagonal: H = Q^-T Q^-1 and diag(stiff) = Q^-T diag(sigma) Q^-1, A = T diag(a)
    T'. The directions, w of them, come back by the Woodbury identity.

    Attributes
    ----------
    rows : (w, w) array
        Q.
    tasks : (m, m) array
        T.
    inverse : (w, m) array
        1 / (sigma_q + a_t).
    unit : (w, c, m) array
        The rows' directions in the axes of the tasks, times the roots of their stiffness.
    coupling : (w, w) array
        Inverse of the small matrix of the identity.
    """

    rows: Array
    tasks: Array
    inverse: Array
    unit: Array
    coupling: Array

    @classmethod
    def of(cls, bend: RowBend, mean: MeanHessian) -> MeanInverse | None:
        """None where H is rounding only: every pair is predicted so well that none bends Phi."""
        H = lifted(mean.columns)
        if H is None:
            return None
        w, m = len(H), len(mean.task_sizes)
        a = np.maximum(mean.task_sizes, LEAST_TASK * mean.task_sizes.max())
        stiff = bend.stiff[:, 0]
        root = np.linalg.inv(np.linalg.cholesky(H))
        sigma, V = np.linalg.eigh((root * stiff) @ root.T)
        rows = root.T @ V
        inverse = 1.0 / (a + np.maximum(sigma, 0.0)[:, None])
        unit = (np.sqrt(stiff)[:, None] * bend.unit).reshape(w, -1, m) @ mean.task_axes
        left = (1.0 + NEARLY) * np.eye(w) - inner_products(rows, unit, inverse)
        coupling = np.linalg.inv(left)
        return cls(rows, mean.task_axes, inverse, unit, coupling)

    def _without(self, R: Array) -> Array:
        """The inverse without the unit directions, in the axes of the tasks: (w, c, m)."""
        w = len(R)
        Z = (self.rows.T @ R.reshape(w, -1)).reshape(R.shape)
        Z *= self.inverse[:, None, :]
        return (self.rows @ Z.reshape(w, -1)).reshape(R.shape)

    def solve(self, R: Array) -> Array:
        w, m = len(R), len(self.tasks)
        first = self._without(R.reshape(w, -1, m) @ self.tasks)
        pull = self.coupling @ np.einsum("kcm,kcm->k", self.unit, first)
        second = self._without(pull[:, None, None] * self.unit)
        return ((first + second) @ self.tasks.T).reshape(R.shape)
