"""Long tables with as few rows as there are features.

The draws of a response of numbers use the rows in inner products only. Features, response and fits
of n rows can be turned to as many rows as there are of them, by the principal axes of their inner
products, and every inner product stays what it was.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradsift._typing import Array
from gradsift.trust.pool import Pool, Terms
from gradsift.trust.single_effects import Candidates

CHUNK = 4096
"""Rows added to the inner products at a time, in double precision."""


def inner_products(stacks: list[Array]) -> Array:
    """(m, m) inner products of all rows of some arrays (m_i, n)."""
    count, n = sum(map(len, stacks)), stacks[0].shape[1]
    gram = np.zeros((count, count))
    for first in range(0, n, CHUNK):
        some = np.concatenate([a[:, first : first + CHUNK] for a in stacks]).astype(np.float64)
        gram += some @ some.T
    return gram


def condensed(pool: Pool, terms: Terms) -> tuple[Pool, Terms]:
    """The same problem on fewer rows, where there are more rows than features."""
    kinds = [pool.own] if pool.products is None else [pool.own, pool.products]
    fits = [terms.response, *terms.own, *terms.products.values()]
    stacks = [*(c.Z.reshape(-1, c.Z.shape[2]) for c in kinds), *(fit.T for fit in fits)]
    if sum(map(len, stacks)) >= terms.response.shape[0]:
        return pool, terms
    values, vectors = np.linalg.eigh(inner_products(stacks))
    turned = vectors * np.sqrt(np.maximum(values, 0.0))
    parts = np.split(turned, np.cumsum([len(a) for a in stacks])[:-1])
    new = [on_axes(c, part) for c, part in zip(kinds, parts, strict=False)]
    Y, *rest = (part.T for part in parts[len(kinds) :])
    own = tuple(rest[: len(terms.own)])
    products = dict(zip(terms.products, rest[len(terms.own) :], strict=True))
    pool = replace(pool, own=new[0], products=new[1] if len(new) > 1 else None)
    return pool, Terms(Y, own, products)


def on_axes(candidates: Candidates, features: Array) -> Candidates:
    """Candidates with their features (k * features, axes) in other axes; zero ones stay zero."""
    Z = features.reshape(*candidates.Z.shape[:2], -1).astype(np.float32)
    Z[~candidates.present] = 0.0
    return replace(candidates, Z=Z)
