"""Effective dimension reduction: leading directions of a gradient outer product.

For gradients G (n, a) of a response in a selected variables, the eigenvectors of G' G / n span the
directions along which it changes; in coordinates of a kernel's factor the same matrix is the
sparse empirical gradient covariance matrix (S-EGCM).

References
----------
:cite:`xia-2002`
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from gradsift.protocols import Array, IntArray

ENERGY = 0.99
"""Share of the trace of the gradient covariance that 'auto' directions hold."""


@dataclass(frozen=True)
class Directions:
    """Orthonormal directions, most important first.

    Attributes
    ----------
    components : (r, p) array
        Non-zero only on selected variables.
    eigenvalues : (a,) array
        All eigenvalues of the outer product on the selected variables, decreasing.
    """

    components: Array
    eigenvalues: Array


def find_directions(
    index: IntArray,
    B: Array,
    n_features: int,
    n_components: int | Literal["auto"],
) -> Directions:
    """Eigenvectors of B B' (a, a), placed on the selected variables.

    B B' is the S-EGCM when the rows of B are coefficients in factor coordinates, and the averaged
    outer product of gradients when they are gradients at the samples over sqrt(n).

    Parameters
    ----------
    index : (a,) int array
        Variable of each row of B.
    n_components : int or 'auto'
        'auto': the fewest directions with `ENERGY` of the trace.
    """
    flat = ~B.any(axis=1)  # no part in any direction, and the SVD's rounding must not say otherwise
    index, B = index[~flat], B[~flat]
    U, s, _ = np.linalg.svd(B, full_matrices=False)
    values = s**2
    rank = int(np.count_nonzero(values > 1e-12 * values.max(initial=0.0)))
    if n_components == "auto":
        r = int(np.searchsorted(np.cumsum(values[:rank]), ENERGY * values.sum()) + 1) if rank else 0
        r = min(r, rank)
    else:
        r = min(int(n_components), rank)
    components = np.zeros((r, n_features))
    components[:, index] = orient(U[:, :r].T)
    return Directions(components, values)


JOINT_VALUES = 1 << 22
"""Memory: numbers of a product that `joint_importance` holds at a time (32 MB)."""


def joint_importance(gradients: Array, columns: Array) -> float:
    """Importance of several columns as one variable: root mean square of what they change together
    where they vary as they do in the table.

    It is the root of the sum over pairs of columns of mean products of their partial derivatives
    times mean products of their values. Of one column it is the root mean square of its partial
    derivatives. Those of independent columns add up in squares. The 0/1 columns of a category are
    correlated, and give the standard deviation of its effects.

    Parameters
    ----------
    gradients : (a, m) array
        Partial derivatives per standard deviation, times the roots of the shares of their rows.
    columns : (n, a) array
        Standardised columns, times the roots of the shares of their rows.

    Examples
    --------
    A category of two equally frequent levels whose effects differ by 20:

    >>> level = np.array([[1.0, -1], [-1, 1]]) / np.sqrt(2)
    >>> round(joint_importance(np.array([[5.0], [-5]]), level), 9)
    10.0
    """
    n, m = len(columns), gradients.shape[1]
    total = 0.0
    if len(gradients) <= n:
        step = max(1, JOINT_VALUES // len(gradients))
        for start in range(0, len(gradients), step):
            some = slice(start, start + step)
            total += float(((gradients[some] @ gradients.T) * (columns[:, some].T @ columns)).sum())
    else:  # many columns of few rows: the same sum by rows
        step = max(1, JOINT_VALUES // max(m, 1))
        for start in range(0, n, step):
            total += float(np.square(columns[start : start + step] @ gradients).sum())
    return float(np.sqrt(max(total, 0.0)))


def orient(components: Array) -> Array:
    """Signs are free: make the largest loading of each direction positive."""
    if components.size == 0:
        return components
    peak = np.abs(components).argmax(axis=1)
    sign = np.sign(components[np.arange(len(components)), peak])
    return components * np.where(sign == 0.0, 1.0, sign)[:, None]


def subspace_distance(P: Array, Q: Array) -> float:
    """sqrt(1 - ||P' Q||_F^2 / r) between the row spaces of P and Q; 0 = the same, 1 = orthogonal.

    Examples
    --------
    >>> subspace_distance(np.eye(3)[:2], np.array([[1.0, 1, 0], [1, -1, 0]]))
    0.0
    """
    P, Q = np.linalg.qr(P.T)[0], np.linalg.qr(Q.T)[0]
    overlap = np.linalg.norm(P.T @ Q) ** 2 / max(P.shape[1], Q.shape[1])
    return float(np.sqrt(max(0.0, 1.0 - round(overlap, 12))))
