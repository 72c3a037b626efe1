"""Products that only the link makes.

Least squares on labels fits probabilities. Where the log odds are a sum of effects, probabilities
are not: they flatten out, and what a sum of effects misses looks like a product of two columns. A
product is an interaction of the columns if the log odds need it, too. That is asked by a score test
beside a (multinomial) logistic model of everything else in the support.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from gradsift.numerics.losses import log_sum_exp, softmax
from gradsift.numerics.newton import conjugate_gradients
from gradsift.protocols import Array, IntArray
from gradsift.sift.groups import Groups, Support
from gradsift.sift.response import Response
from gradsift.sift.rows import Rows

MOST_STEPS = 50
MOST_PRODUCTS = 500
SETTLED = 1e-8
"""A Newton step that promises less, relative to the rows, is the last."""
FORCING = 1e-6
"""Relative residual of the linear systems; the objective is off by the square of it."""


class Classes(NamedTuple):
    """The classes of rows whose contrasts are told beside a known part of the log odds."""

    codes: IntArray
    known: Array
    """(n, C - 1) that part, against the first class."""

    def take(self, rows: Rows) -> tuple[Array, Array]:
        """Indicators (n, C) and the known part of the rows that are kept."""
        codes = self.codes if rows.kept is None else self.codes[rows.kept]
        return np.eye(self.known.shape[1] + 1)[codes], rows.take(self.known)


def interactions_of(
    groups: Groups, support: Support, response: Response, classes: Classes | None = None
) -> list[int]:
    """Products of a support that are not made by the link; all of them for numbers."""
    products = list(groups.index.products_of(support))
    known = None
    if classes is None or groups.rows.clusters is not None:
        T = indicators(response.Y)
    else:
        T, known = classes.take(groups.rows)
    if T is None or not products:
        return products
    weight = np.ones(len(T)) if groups.rows.weight is None else groups.rows.weight
    D = np.vstack([np.ones(len(T)), groups.stack(support) / groups.rows.root])
    whole = LogOdds(D, T, weight, groups.settings.ridge, known=known).fitted()
    places = range(len(D) - len(products), len(D))  # products have the last numbers
    statistic = [whole.without(place).score_statistic(D[place]) for place in places]
    return [g for g, t in zip(products, statistic, strict=True) if t >= groups.levels.new[g]]


def indicators(Y: Array) -> Array | None:
    """0/1 columns (n, C) of the C classes that contrasts (n, C - 1) stand for; None for numbers."""
    values, place = np.unique(Y.round(9), axis=0, return_inverse=True)
    if len(values) != Y.shape[1] + 1:
        return None
    return np.eye(len(values))[place.reshape(-1)]


@dataclass(frozen=True)
class LogOdds:
    """A multinomial logistic model of classes, with a ridge.

    Coefficients (m, q) are those of the log odds of q classes against the first one.
    """

    D: Array
    """(m, n) features; the first, the constant, is not penalised."""
    T: Array
    """(n, q + 1) indicators of the classes."""
    weight: Array
    ridge: float
    start: Array | None = None
    """Coefficients to begin with; None = zero."""
    blocks: Array | None = None
    """(q, m, m) a guess of the information of each class by itself."""
    known: Array | None = None
    """(n, q) part of the log odds that is known; None = none."""

    @property
    def penalty(self) -> Array:
        out = np.full((len(self.D), self.T.shape[1] - 1), self.ridge * self.weight.sum())
        out[0] = 0.0
        return out

    def log_odds(self, B: Array) -> Array:
        U = self.D.T @ B if self.known is None else self.D.T @ B + self.known
        return np.column_stack([np.zeros(len(self.T)), U])

    def probabilities(self, B: Array) -> Array:
        """(n, q + 1)"""
        return softmax(self.log_odds(B).T).T

    def objective(self, B: Array) -> float:
        U = self.log_odds(B)
        loss = self.weight @ (log_sum_exp(U.T) - (self.T * U).sum(axis=1))
        return float(loss + (self.penalty * B * B).sum() / 2)

    def coefficients(self) -> Array:
        """The coefficients of least objective, by Newton steps."""
        m, q = len(self.D), self.T.shape[1] - 1
        B = np.zeros((m, q)) if self.start is None else self.start
        value = self.objective(B)
        for _ in range(MOST_STEPS):
            P = self.probabilities(B)
            grad = (self.D * self.weight) @ (P - self.T)[:, 1:] + self.penalty * B
            step = -self.solver(P)(grad)
            size = 1.0
            while size > SETTLED and not (new := self.objective(B + size * step)) < value:
                size /= 2
            if size <= SETTLED:
                break
            B, before, value = B + size * step, value, new
            if before - value < SETTLED * self.weight.sum():
                break
        return B

    def information(self, P: Array) -> Callable[[Array], Array]:
        """Product of the information, penalty included, with coefficients (m, q)."""
        Q, weighed, penalty = P[:, 1:], self.D * self.weight, self.penalty + 1e-9

        def product(B: Array) -> Array:
            U = self.D.T @ B
            return np.asarray(weighed @ (Q * (U - (Q * U).sum(axis=1, keepdims=True)))) + (
                penalty * B
            )

        return product

    def class_blocks(self, P: Array) -> Array:
        """Information of each class by itself, (q, m, m): all of it for two classes."""
        bends = (self.weight[:, None] * P * (1.0 - P))[:, 1:].T
        return np.stack([(self.D * bend) @ self.D.T for bend in bends])

    def solver(self, P: Array) -> Callable[[Array], Array]:
        """From the product of the information with coefficients (m, q) back to them."""
        blocks = self.class_blocks(P) if self.blocks is None else self.blocks
        penalty = (self.penalty + 1e-9).T[:, :, None] * np.eye(len(self.D))
        inverse, product = np.linalg.inv(blocks + penalty), self.information(P)

        def precondition(R: Array) -> Array:
            return np.asarray((inverse @ R.T[:, :, None])[:, :, 0].T)

        def solve(R: Array) -> Array:
            return conjugate_gradients(product, R, precondition, FORCING, MOST_PRODUCTS)[0]

        return solve

    def fitted(self) -> LogOdds:
        """The same model, beginning where it ends."""
        B = self.coefficients()
        return replace(self, start=B, blocks=self.class_blocks(self.probabilities(B)))

    def without(self, place: int) -> LogOdds:
        """The model without one feature, which begins near its end."""
        kept: IntArray = np.delete(np.arange(len(self.D)), place)
        start = None if self.start is None else self.start[kept]
        blocks = None if self.blocks is None else self.blocks[:, kept[:, None], kept]
        return replace(self, D=self.D[kept], start=start, blocks=blocks)

    def score_statistic(self, z: Array) -> float:
        """Score statistic, chi-square(q) if log odds do not need z (n,) beside the features."""
        P = self.probabilities(self.coefficients())
        Q = P[:, 1:]
        q = Q.shape[1]
        s = (self.weight * z) @ (self.T - P)[:, 1:]
        bend = self.weight[:, None, None] * (np.eye(q) * Q[:, None, :] - Q[:, :, None] * Q[:, None])
        V = np.tensordot(z * z, bend, axes=1)
        cross = np.einsum("mn,ncd->dmc", self.D, z[:, None, None] * bend, optimize=True)
        explained = list(map(self.solver(P), cross))
        V -= np.tensordot(cross, np.array(explained), axes=([1, 2], [1, 2]))
        return float(s @ np.linalg.solve(V + 1e-12 * np.eye(q), s))
