"""The groups in play: three per pooled column, one per product, each with its squared level.

Groups are numbered: with k pooled columns, group `part * k + j` is part 0 (linear), 1 (quadratic)
or 2 (local) of pooled column j, and group `3 k + i` is the i-th product. A support is a sorted
tuple of such numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradsift._memory import in_own_pages
from gradsift._typing import Source
from gradsift.sift.columns import clipped_columns
from gradsift.sift.features import N_FEATURES, PART_SIZES, PARTS, own_features, product_feature
from gradsift.sift.rows import Array, IntArray, Rows

Support = tuple[int, ...]
DOUBLE_VALUES = 40_000_000
"""Feature values up to which they are kept in double precision, if they are of all columns."""
READ_VALUES = 300_000
"""Values of columns read at a time (2 MB)."""
PIECE_VALUES = 120_000
"""Feature values made at a time (1 MB, and some temporaries of that size)."""
SOLVE_RIDGE = 1e-3
"""Ridge of every least-squares fit: keeps nearly dependent groups solvable, costs .1 % of a
coefficient.
"""


@dataclass(frozen=True)
class Groups:
    columns: IntArray
    """(k,) column of the source behind each pooled column."""
    Z: Array
    """(k, 2 + J, n) their whitened features; single precision where they are those of some columns
    of a wide table."""
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
        return np.concatenate([self.features(g) for g in support], dtype=np.float64)

    def parents_of(self, group: int) -> tuple[int, ...]:
        """Source columns a group belongs to."""
        k = len(self.columns)
        return self.parents[group - 3 * k] if group >= 3 * k else (int(self.columns[group % k]),)

    def variables(self, support: Support) -> list[int]:
        """Source columns a support uses, sorted."""
        return sorted({v for g in support for v in self.parents_of(g)})

    def only(self, supports: list[Support]) -> tuple[Groups, list[Support]]:
        """The groups of the columns some supports use, and the supports in their numbers."""
        k = len(self.columns)
        used = sorted({g % k for support in supports for g in support if g < 3 * k})
        place = {j: i for i, j in enumerate(used)}

        def number(g: int) -> int:
            return g // k * len(used) + place[g % k] if g < 3 * k else g - 3 * (k - len(used))

        kept = [part * k + j for part in range(3) for j in used]
        kept += range(3 * k, len(self.level))
        groups = replace(
            self,
            columns=self.columns[used],
            Z=self.Z[used],
            level=self.level[kept],
            further=self.further[kept],
            size=self.size[kept],
        )
        return groups, [tuple(sorted(map(number, support))) for support in supports]

    def squared_norms(self, R: Array) -> Array:
        """||Z_g R||_F^2 / n for residuals R (n, q) or (b, n, q): (G,) or (b, G)."""
        many = R if R.ndim == 3 else R[None]
        b, n, q = many.shape
        flat = many.transpose(1, 0, 2).reshape(n, b * q)
        k = len(self.columns)
        along = self.Z.reshape(k * N_FEATURES, n) @ flat.astype(self.Z.dtype, copy=False)
        own = np.square(along, dtype=np.float64).reshape(k, N_FEATURES, b, q).sum(axis=3)
        pairs = ((self.products @ flat) ** 2).reshape(-1, b, q).sum(axis=2)
        parts = [own[:, part].sum(axis=1) for part in PARTS]
        out = np.concatenate([*parts, pairs]).T / self.rows.total
        return out if R.ndim == 3 else out[0]


def features_by_pieces(source: Source, columns: IntArray, rows: Rows, dtype: Any) -> Array:
    """`own_features` of some columns without temporaries of their size: a few columns are read, and
    fewer made into features, at a time.
    """
    n, k = source.shape[0] if rows.kept is None else len(rows.kept), len(columns)
    Z = in_own_pages((k, N_FEATURES, n), dtype)
    read = max(1, READ_VALUES // max(n, 1))
    step = max(1, PIECE_VALUES // (N_FEATURES * max(n, 1)))
    for first in range(0, k, read):
        X = clipped_columns(source, columns[first : first + read], rows)
        for start in range(0, X.shape[1], step):
            piece = own_features(X[:, start : start + step], rows)
            Z[first + start : first + start + len(piece)] = piece
    return Z


def pool(source: Source, columns: IntArray, rows: Rows, levels: Array, further: Array) -> Groups:
    """Groups of some columns without products; `levels` as from `own_levels`."""
    k = len(columns)
    few = k == source.shape[1] and k * N_FEATURES * source.shape[0] <= DOUBLE_VALUES
    dtype = np.float64 if few else np.float32
    Z = features_by_pieces(source, columns, rows, dtype)
    return Groups(
        columns=columns,
        Z=Z,
        products=np.zeros((0, Z.shape[2])),
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
        products=np.array(made).reshape(len(made), groups.Z.shape[2]),
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
