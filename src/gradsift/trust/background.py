"""A random background: the many effects that are too weak to be selected.

Beside a design D, what is left of the response is taken to be

    r ~ N(0, s^2 [(1 - h) I + h K]),      K = sum over columns of x x', with mean eigenvalue one,

which is the mixed model of genome-wide studies. The share h is chosen by restricted maximum
likelihood from a short list; h = 0, which changes nothing, wins wherever no background shows.

Of many rows, K is known by its products with random vectors. They give its leading part (the
Nystroem approximation); what is left of its trace is spread over all directions alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gradsift._run.passes import each_block
from gradsift._typing import Array, Source
from gradsift.sift.columns import clipped_columns
from gradsift.sift.features import clipped
from gradsift.sift.rows import Rows
from gradsift.sift.settings import SiftSettings

SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
"""Values of h that are tried."""
PRICE = 1.0
"""What a background must gain in -2 log likelihood: without it, noise has one half of the time."""
MOST_ROWS = 600
"""Rows up to which K is known exactly: it takes n^3 operations for each test."""
PROBES = 200
"""Random vectors that K is known by where rows are more."""
MOST_PROBED = 20_000
"""Rows beyond which there is no background: the products would take more than 64 MB."""


@dataclass(frozen=True)
class Relationship:
    """K, as its products with some vectors: with all unit vectors, or with random ones.

    Attributes
    ----------
    products : (n, m) array
        K times the probe.
    probe : (n, m) array or None
        None: m = n unit vectors, and `products` is K.
    trace : float
        Trace of K.
    """

    products: Array
    probe: Array | None
    trace: float

    def without(self, C: Array) -> Relationship:
        """K less C C', for columns C (n, k)."""
        right = C if self.probe is None else self.probe.T @ C
        trace = self.trace - float(np.square(C).sum())
        return replace(self, products=self.products - C @ right.T, trace=trace)

    def scaled(self, rows: Array) -> Relationship:
        """K with its rows and columns multiplied by numbers (n,)."""
        if self.probe is None:
            return exactly(self.products * np.outer(rows, rows))
        # the trace of the leading part stands for the whole: both have the same mean of rows^2
        L, rest = self.leading()
        trace = float(np.square(L * rows[:, None]).sum() + rest * np.square(rows).sum())
        return Relationship(self.products * rows[:, None], self.probe / rows[:, None], trace)

    def leading(self) -> tuple[Array, float]:
        """L (n, m) and a number c with K nearly L L' + c I, where K is known by a probe."""
        assert self.probe is not None
        values, vectors = np.linalg.eigh(self.probe.T @ self.products)
        kept = values > 1e-10 * max(float(values[-1]), 1e-300)
        L = self.products @ (vectors[:, kept] / np.sqrt(values[kept]))
        return L, max(self.trace - float(np.square(L).sum()), 0.0) / len(L)


def exactly(K: Array) -> Relationship:
    """A relationship that is known exactly."""
    return Relationship(K, None, float(np.trace(K)))


@dataclass(frozen=True)
class WhiteRows:
    """Rows beside a design, turned and scaled so that what is left of the response is white.

    Attributes
    ----------
    W : (n, m) array
        W'D = 0 and W'r is white. m = n less the rank of D where K is known exactly.
    share : float
        h, the share of the background.
    axes : (n, m) array or None
        Orthonormal, of the same span as W, where m is smaller: rows keep their directions beside
        it.
    rest : float
        What these rows are multiplied by.
    """

    W: Array
    share: float
    axes: Array | None = None
    rest: float = 1.0

    def rotated(self, A: Array) -> Array:
        """Features A (n, ...), beside the design, in white rows."""
        along = self.W.T @ A
        if self.axes is None:
            return np.asarray(along)
        return np.concatenate([along, self.rest * (A - self.axes @ (self.axes.T @ A))])


def relationship(source: Source, rows: Rows, settings: SiftSettings) -> Relationship | None:
    """X X' of all clipped columns, rows scaled, in one pass; None where rows are too many."""
    n = rows.count(source.shape[0])
    if n > MOST_PROBED:
        return None
    probe = None
    if n > MOST_ROWS:
        probe = np.random.default_rng(0).standard_normal((n, PROBES))

    def products(X: Array) -> tuple[Array, float]:
        C = clipped(X, rows, settings) * np.reshape(rows.root, (-1, 1))
        return C @ (C.T if probe is None else C.T @ probe), float(np.square(C).sum())

    K, trace = np.zeros((n, n if probe is None else PROBES)), 0.0
    for _, (part, size) in each_block(source, lambda _: products):
        K += part
        trace += size
    return Relationship(K, probe, trace)


def without_columns(
    K: Relationship | None, source: Source, columns: list[int], rows: Rows, settings: SiftSettings
) -> Relationship | None:
    """`relationship` without the part of some columns."""
    if K is None or not columns:
        return K
    C = clipped_columns(source, np.array(columns), rows, settings)
    return K.without(C * np.reshape(rows.root, (-1, 1)))


def complement(D: Array) -> Array:
    """Orthonormal basis (n, n - df) of what is orthogonal to the orthonormal columns of D (n,
    df).
    """
    return np.asarray(np.linalg.qr(D, mode="complete")[0][:, D.shape[1] :])


def white_rows(r: Array, D: Array, K: Relationship | None, copies: float = 0.0) -> WhiteRows | None:
    """The rows in which a residual r (n,), orthogonal to D (n, df), is white; None where the
    background has no share, so that all rows are as good as they are.

    `copies` are the rows that weights stand for beyond n: directions in which neither the response
    nor any column changes.
    """
    if K is None:
        return None
    axes, values, rest = principal_axes(D, K)
    count = len(r) - D.shape[1] - len(values)
    total = float(values.sum()) + count * rest
    beside = len(values) + count + copies
    if total <= 0.0 or beside <= 0.0:
        return None
    mean = total / beside
    squares = np.square(axes.T @ r)
    # directions beside the axes are alike: one entry stands for their mean
    values = np.append(values, rest) / mean
    squares = np.append(squares, max(float(r @ r) - float(squares.sum()), 0.0) / max(count, 1))
    times = np.concatenate([np.ones(len(values) - 1), [count, copies]])
    every, all_squares = np.append(values, 0.0), np.append(squares, 0.0)
    costs = [_cost(all_squares, 1.0 - h + h * every, times) + PRICE * (h > 0) for h in SHARES]
    h = SHARES[int(np.argmin(costs))]
    if h == 0:
        return None
    sd = np.sqrt(1.0 - h + h * values)
    return WhiteRows(axes / sd[:-1], h, axes if count > 0 else None, float(1.0 / sd[-1]))


def principal_axes(D: Array, K: Relationship) -> tuple[Array, Array, float]:
    """Orthonormal axes (n, m) of K beside D, their eigenvalues (m,), and that of directions beside
    the axes.
    """
    if K.probe is None:
        N = complement(D)
        values, vectors = np.linalg.eigh(N.T @ K.products @ N)
        return N @ vectors, np.maximum(values, 0.0), 0.0
    L, rest = K.leading()
    L = L - D @ (D.T @ L)
    values, vectors = np.linalg.eigh(L.T @ L)
    kept = values > 1e-10 * max(float(values[-1]), 1e-300)
    axes = L @ (vectors[:, kept] / np.sqrt(values[kept]))
    return axes, values[kept] + rest, rest


def _cost(squares: Array, variances: Array, times: Array) -> float:
    """-2 log likelihood, up to a constant, at the best scale; entries count so many times."""
    scale = max(float(times @ (squares / variances)) / times.sum(), 1e-300)
    return float(times.sum() * np.log(scale) + times @ np.log(variances))
