"""Columns that are one variable: the levels of a category, the probes of a gene, a pathway.

Of G variables each may spend alpha / G, whatever the number of its columns. A variable of m columns
divides its part: `joint_share` of it is for the joint group, all columns together, and the rest is
for the own groups of the columns, an m-th each. So a category is found that shifts the response a
little at every level, and one that does at a single level.

The joint group is the leading principal components of the columns, whitened: r features, as many
as there are directions in which the columns differ (L - 1 for the 0/1 columns of L levels). Its
statistic is chi2(r q) under the null, like that of any other group.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gradsift._typing import Array, IntArray, Source
from gradsift.sift.columns import clipped_columns
from gradsift.sift.levels import chi2_log_sf, own_levels, shares, squared_level
from gradsift.sift.rows import Rows
from gradsift.sift.settings import DEFAULT, SiftSettings


@dataclass(frozen=True)
class JointGroups:
    """The variables of a table, and the joint groups of those with several columns.

    Attributes
    ----------
    labels : (p,) int array
        The variable of each column, 0 to `count` - 1.
    count : int
        Number of variables that vary.
    divided : (p,) int array
        Columns that a variable's part of the level is divided among.
    members : tuple of tuples of int
        Columns of each joint group.
    features : (f, n) array
        Their features, one group after the other, rows scaled.
    size : (J,) int array
        Features of each joint group.
    """

    labels: IntArray
    count: int
    divided: IntArray
    members: tuple[tuple[int, ...], ...]
    features: Array
    size: IntArray

    def squares(self, R: Array, mix: Array) -> Array:
        """||Z_g R_i||_F^2, (b, J), for residuals R_i = R mix_i: R (n, w), mix (b, w, q)."""
        along = np.square(self.features @ R @ mix).sum(axis=2)
        starts = np.cumsum(self.size) - self.size
        return np.add.reduceat(along, starts, axis=1) if len(starts) else along

    def log_evidence(
        self, own: Array, R: Array, total: float, interactions: bool, settings: SiftSettings
    ) -> Array:
        """Log tails (p,) of the own groups of columns, and of their joint group against
        unit-variance residuals R where that says more, each corrected for its part of the level.
        """
        together = np.log(self.divided) - np.log1p(-settings.joint_share)
        out = own + np.where(self.divided > 1, together, 0.0)
        if len(self.size):
            share = settings.joint_share * sum(shares(interactions, settings)[:3])
            squares = self.squares(R, np.eye(R.shape[1])[None])[0]
            tails = chi2_log_sf(squares / total, self.size * R.shape[1])
            for columns, tail in zip(self.members, tails - np.log(share), strict=True):
                out[list(columns)] = np.minimum(out[list(columns)], tail)
        return out

    def own_levels(
        self, columns: IntArray, alpha: float, q: int, interactions: bool, settings: SiftSettings
    ) -> tuple[Array, Array]:
        """Squared levels (3 k,) of the own groups of some columns, of a new variable and of one
        already in the support.
        """
        divided = self.divided[columns]
        new, known = np.empty((3, len(columns))), np.empty((3, len(columns)))
        for m in np.unique(divided).tolist():
            part = alpha if m == 1 else alpha * (1.0 - settings.joint_share) / m
            levels = own_levels(part, self.count, q, interactions, settings)
            these = divided == m
            new[:, these], known[:, these] = levels[0][:, None], levels[1][:, None]
        return new.ravel(), known.ravel()

    def joint_levels(
        self, alpha: float, q: int, interactions: bool, settings: SiftSettings
    ) -> tuple[Array, Array]:
        """Squared levels (J,) of the joint groups, as in `own_levels`."""
        part = alpha * settings.joint_share * sum(shares(interactions, settings)[:3])
        known = min(self.count, settings.n_known)
        level = {
            r: (squared_level(part, self.count, r * q), squared_level(part, known, r * q))
            for r in np.unique(self.size).tolist()
        }
        both = np.array([level[r] for r in self.size.tolist()]).reshape(-1, 2)
        return both[:, 0], both[:, 1]


def joint_features(X: Array, rows: Rows, settings: SiftSettings = DEFAULT) -> Array:
    """Leading principal components (r, n) of clipped columns X (n, m), whitened, root-weighted.

    Components with next to no variance are rounding, or near-copies of the others; more than
    half of `most_df` n of them would fit anything.
    """
    Z = rows.centred(X) * np.reshape(rows.root, (-1, 1))
    wide = Z.shape[1] > len(Z)
    values, vectors = np.linalg.eigh((Z @ Z.T if wide else Z.T @ Z) / rows.total)
    most = max(1, int(settings.most_df / 2 * rows.total))
    order = np.argsort(-values, kind="stable")[:most]
    order = order[values[order] > settings.ridge]
    if wide:
        return np.asarray(vectors[:, order].T * np.sqrt(rows.total))
    return np.asarray((vectors[:, order] / np.sqrt(values[order])).T @ Z.T)


def columns_of_each(labels: IntArray) -> Iterator[IntArray]:
    """The columns of each variable that has several."""
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels))
    yield from (part for part in np.split(order, ends[:-1]) if len(part) > 1)


def make_joint(
    source: Source,
    labels: IntArray,
    varying: IntArray,
    R: Array,
    rows: Rows,
    settings: SiftSettings = DEFAULT,
) -> JointGroups:
    """The joint groups of a table, of columns that vary. Of those that would take more memory than
    the features of the columns may, the most promising against unit-variance residuals R (n, q) are
    kept.
    """
    labels = np.unique(labels, return_inverse=True)[1].astype(np.intp)
    divided = np.ones(len(labels), dtype=np.intp)
    found: list[tuple[float, tuple[int, ...], Array]] = []
    held, most = 0, settings.limits.most_values // 8
    for places in columns_of_each(labels[varying]):
        columns = varying[places]
        Z = joint_features(clipped_columns(source, columns, rows, settings), rows, settings)
        if len(Z) < 2:  # one direction, such as two levels: each column is the whole variable
            continue
        divided[columns] = len(columns)
        statistic = float(np.square(Z @ R).sum() / rows.total)
        tail = float(chi2_log_sf(np.array(statistic), len(Z) * R.shape[1]))
        found.append((tail, tuple(columns.tolist()), Z))
        held += Z.size
        while held > most and len(found) > 1:
            held -= found.pop(max(range(len(found)), key=lambda i: found[i][0]))[2].size
    n = rows.count(source.shape[0])
    features = np.concatenate([np.zeros((0, n)), *(Z for *_, Z in found)])
    size = np.array([len(Z) for *_, Z in found], dtype=np.intp)
    members = tuple(columns for _, columns, _ in found)
    count = len(np.unique(labels[varying]))
    return JointGroups(labels, count, divided, members, features, size)
