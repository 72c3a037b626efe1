"""Genotypes in linkage disequilibrium with planted effects.

A locus of 300 variants: haplotypes are mosaics of 30 founders (Li and Stephens 2003), whose alleles
follow a tree and the neutral spectrum; a third of the variants has another one with r2 above .8.
One to three variants act, and together explain a quarter of the response.
"""

from __future__ import annotations

import numpy as np


def locus(rng: np.random.Generator, n: int, p: int = 300, founders: int = 30) -> np.ndarray:
    """Numbers of minor alleles, (n, p)."""
    pool = np.zeros((founders, p), dtype=int)
    order = rng.permutation(founders)
    for k in range(p):
        if k % 40 == 0:  # another tree
            order = rng.permutation(founders)
        sizes = np.arange(2, founders // 2)
        size = int(rng.choice(sizes, p=(1 / sizes) / (1 / sizes).sum()))
        first = rng.integers(founders // 4) * 4 % (founders - size)
        pool[order[first : first + size], k] = 1
    out = np.zeros((2 * n, p), dtype=int)
    jumps = rng.uniform(size=(2 * n, p)) < 0.01
    source = rng.integers(founders, size=2 * n)
    for k in range(p):
        source = np.where(jumps[:, k], rng.integers(founders, size=2 * n), source)
        out[:, k] = pool[source, k]
    X = (out[:n] + out[n:]).astype(float)
    return X[:, (X.std(axis=0) > 0) & (X.mean(axis=0) > 0.04)]


def planted(seed: int, n: int, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Genotypes, response, and the variants that act; together they explain a quarter of it."""
    rng = np.random.default_rng(seed)
    X = locus(rng, n)
    true = rng.choice(X.shape[1], rng.integers(1, 4), replace=False)
    G = X[:, true]
    effect = (G > 0).astype(float) if kind == "dominant" else G
    Z = (effect - effect.mean(axis=0)) / np.maximum(effect.std(axis=0), 1e-9)
    g = Z @ rng.choice([-1.0, 1.0], len(true))
    noise = rng.standard_t(4, size=n) if kind == "heavy tails" else rng.normal(size=n)
    return X, g / g.std() + np.sqrt(3.0) * noise / noise.std(), true
