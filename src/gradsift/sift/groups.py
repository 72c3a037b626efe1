"""The groups in play: three per pooled column, one per product, each with its squared level.

Groups are numbered: with k pooled columns, group `part * k + j` is part 0 (linear), 1 (quadratic)
or 2 (local) of pooled column j, and group `3 k + i` is the i-th product. A support is a sorted
tuple of such numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gradsift.sift.features import N_FEATURES, PART_SIZES, PARTS, own_features, product_feature
from gradsift.sift.rows import Array, IntArray, Rows

Support = tuple[int, ...]
PIECE_VALUES = 1_000_000
SOLVE_RIDGE = 1e-3
"""Ridge of every least-squares fit: keeps nearly dependent groups solvable, costs .1 % of a
coefficient.
"""


@dataclass(frozen=True)
class Groups:
    columns: IntArray
    """(k,) column of the source behind each pooled column."""
    X: Array
    """(n, k) clipped columns."""
    Z: Array
    """(k, 2 + J, n) their whitened features."""
    products: Array
    """(s, n) whitened products."""
    parents: tuple[tuple[int, int], ...]
    """Source columns of each product."""
    level: Array
    """(3 k + s,) squared levels t_g^2."""
    further: Array
    """(3 k + s,) squared levels of groups whose variable is in the support already."""
    size: IntArray
    """(3 k + s,) number of features."""
    rows: Rows

    def features(self, group: int) -> Array:
        """Whitened features of one group, (m, n)."""
        k = len(self.columns)
        if group >= 3 * k:
            return self.products[group - 3 * k : group - 3 * k + 1]
        return self.Z[group % k, PARTS[group // k]]

    def stack(self, support: Support) -> Array:
        """Features of a support, (df, n)."""
        if not support:
            return np.zeros((0, self.Z.shape[2]))
        return np.concatenate([self.features(g) for g in support])

    def parents_of(self, group: int) -> tuple[int, ...]:
        """Source columns a group belongs to."""
        k = len(self.columns)
        return self.parents[group - 3 * k] if group >= 3 * k else (int(self.columns[group % k]),)

    def variables(self, support: Support) -> list[int]:
        """Source columns a support uses, sorted."""
        return sorted({v for g in support for v in self.parents_of(g)})

    def squared_norms(self, R: Array) -> Array:
        """||Z_g R||_F^2 / n for residuals R (n, q) or (b, n, q): (G,) or (b, G)."""
        many = R if R.ndim == 3 else R[None]
        b, n, q = many.shape
        flat = many.transpose(1, 0, 2).reshape(n, b * q)
        k = len(self.columns)
        own = (
            ((self.Z.reshape(k * N_FEATURES, n) @ flat) ** 2)
            .reshape(k, N_FEATURES, b, q)
            .sum(axis=3)
        )
        pairs = ((self.products @ flat) ** 2).reshape(-1, b, q).sum(axis=2)
        parts = [own[:, part].sum(axis=1) for part in PARTS]
        out = np.concatenate([*parts, pairs]).T / self.rows.total
        return out if R.ndim == 3 else out[0]


def features_by_pieces(X: Array, rows: Rows) -> Array:
    """`own_features` without temporaries of their size: they are made a few columns at a time."""
    n, k = X.shape
    Z = np.empty((k, N_FEATURES, n))
    step = max(1, PIECE_VALUES // (N_FEATURES * max(n, 1)))
    for start in range(0, k, step):
        Z[start : start + step] = own_features(X[:, start : start + step], rows)
    return Z


def pool(columns: IntArray, X: Array, rows: Rows, levels: Array, further: Array) -> Groups:
    """Groups of clipped columns X (n, k) without products; `levels` as from `own_levels`."""
    k = len(columns)
    return Groups(
        columns=columns,
        X=X,
        Z=features_by_pieces(X, rows),
        products=np.zeros((0, X.shape[0])),
        parents=(),
        level=np.repeat(levels, k),
        further=np.repeat(further, k),
        size=np.repeat(np.array(PART_SIZES, dtype=np.intp), k),
        rows=rows,
    )


def with_products(
    groups: Groups, X: dict[int, Array], pairs: dict[tuple[int, int], float]
) -> Groups:
    """The same groups with these products (pair -> squared level) in place of any earlier ones."""
    k = len(groups.columns)
    made = [product_feature(np.stack([X[a], X[b]], axis=1), groups.rows) for a, b in pairs]
    return replace(
        groups,
        products=np.array(made).reshape(len(made), groups.X.shape[0]),
        parents=tuple(pairs),
        level=np.concatenate([groups.level[: 3 * k], np.array(list(pairs.values()))]),
        further=np.concatenate([groups.further[: 3 * k], np.array(list(pairs.values()))]),
        size=np.concatenate([groups.size[: 3 * k], np.ones(len(pairs), dtype=np.intp)]),
    )


def least_squares(Z: Array, Y: Array, total: float) -> Array:
    """Coefficients (df, q) of min ||Y - Z' B||^2 / n + ridge ||B||^2."""
    gram = Z @ Z.T / total
    gram[np.diag_indices_from(gram)] += SOLVE_RIDGE
    return np.asarray(np.linalg.solve(gram, Z @ Y / total))
