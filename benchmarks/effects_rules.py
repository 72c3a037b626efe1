"""Rules that name the variables acting together: ours, and those that lost to it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from gradsift.explain import gradient_columns
from gradsift.explain.additive import fit_additive, target_of
from gradsift.explain.dependence import LEVEL, fit_with_pairs, score_tests

Pairs = set[tuple[int, int]]
Rule = Callable[[Any, np.ndarray, np.ndarray, np.ndarray], Pairs]
"""(model, X, y, selected columns) -> pairs of places among the selected."""


def stepwise(model: Any, X: np.ndarray, y: np.ndarray, columns: np.ndarray) -> Pairs:
    """Ours: products that the data show beside an additive model, taken in one by one."""
    target = target_of(y, getattr(model, "classes_", None))
    return set(fit_with_pairs(X[:, columns], target).design.pairs)


def one_by_one(model: Any, X: np.ndarray, y: np.ndarray, columns: np.ndarray) -> Pairs:
    """The same tests, each beside the additive model alone."""
    target = target_of(y, getattr(model, "classes_", None))
    pairs = list(combinations(range(len(columns)), 2))
    if not pairs:
        return set()
    p = score_tests(X[:, columns], fit_additive(X[:, columns], target), pairs)
    return {pair for pair, value in zip(pairs, p) if value * len(pairs) <= LEVEL}


def sifted(model: Any, X: np.ndarray, y: np.ndarray, columns: np.ndarray) -> Pairs:
    """Products that the sift took in: labels count as numbers there."""
    place = {int(c): k for k, c in enumerate(columns)}
    found = {frozenset((pair.first, pair.second)) for pair in model.interactions_}
    return {
        (min(place[a], place[b]), max(place[a], place[b]))
        for a, b in map(tuple, found)
        if a in place and b in place
    }


def by_gradient(model: Any, X: np.ndarray, y: np.ndarray, columns: np.ndarray) -> Pairs:
    """Before: gradients that vary with another variable, and what the sift took in.

    A cubic in both variables explains 10 % of one's mean squared gradient beyond a cubic in itself,
    and 2 % of the other's.
    """
    Z = (X[:, columns] - X[:, columns].mean(axis=0)) / X[:, columns].std(axis=0)
    shares = dependence(Z, strongest_gradient(model, X, columns))
    both = np.triu(np.minimum(shares, shares.T), 1) >= 0.02
    first, second = np.nonzero(both & (np.maximum(shares, shares.T) >= 0.1))
    return set(zip(first.tolist(), second.tolist())) | sifted(model, X, y, columns)


def by_weighted_gradient(model: Any, X: np.ndarray, y: np.ndarray, columns: np.ndarray) -> Pairs:
    """The same for labels with samples weighted by p (1 - p): where they say something."""
    if not hasattr(model, "classes_"):
        return by_gradient(model, X, y, columns)
    P = model.predict_proba(X)
    root = np.sqrt((P * (1 - P)).mean(axis=1))
    Z = (X[:, columns] - X[:, columns].mean(axis=0)) / X[:, columns].std(axis=0)
    shares = dependence(Z, strongest_gradient(model, X, columns), root / root.max())
    both = np.triu(np.minimum(shares, shares.T), 1) >= 0.02
    first, second = np.nonzero(both & (np.maximum(shares, shares.T) >= 0.1))
    return set(zip(first.tolist(), second.tolist()))


def strongest_gradient(model: Any, X: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """(n, a): along each variable, of the class it matters to most."""
    G = gradient_columns(model, X, columns) * X[:, columns].std(axis=0)
    return G[np.square(G).mean(axis=1).argmax(axis=0), :, np.arange(len(columns))].T


def dependence(Z: np.ndarray, G: np.ndarray, root: np.ndarray | None = None) -> np.ndarray:
    """Row k, column l: the share of gradient k that varies with variable l, noise taken off."""
    n, a = Z.shape
    root = np.ones(n) if root is None else root
    shares = np.zeros((a, a))

    def left_over(columns: list[np.ndarray], g: np.ndarray) -> tuple[float, int]:
        A = np.column_stack(columns) * root[:, None]
        b, _, rank, _ = np.linalg.lstsq(A, root * g, rcond=1e-10)
        return float(np.sum((root * g - A @ b) ** 2)), int(rank)

    for k in range(a):
        g, z = G[:, k], Z[:, k]
        if g.std() <= 1e-9 * np.abs(g).max(initial=0.0):
            continue
        own = [np.ones(n), z, z**2, z**3]
        small = left_over(own, g)
        for j in range(a):
            if j != k:
                x = Z[:, j]
                large = left_over([*own, x, x**2, x**3, x * z, x**2 * z, x * z**2], g)
                noise = (large[1] - small[1]) * large[0] / max(n - large[1], 1)
                gain = small[0] - large[0] - noise
                shares[k, j] = gain / float(np.sum((root * g) ** 2))
    return shares.clip(0, 1)


def own_shares(model: Any, X: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Before: the share of each mean squared gradient that the variable's own value explains.

    Below .7 the words said 'depends on others' or 'through interactions'.
    """
    G, out = strongest_gradient(model, X, columns), []
    for g, x in zip(G.T, X[:, columns].T):
        group = np.argsort(np.argsort(x)) * 12 // len(x)
        size = np.bincount(group)
        centres = np.bincount(group, weights=x) / size
        means = np.bincount(group, weights=g) / size
        left = np.sum((g - np.interp(x, centres, means)) ** 2) / (len(x) - len(centres))
        out.append(1 - left / np.mean(g**2) if g.any() else 1.0)
    return np.array(out)


RULES: dict[str, Rule] = {
    "stepwise tests (ours)": stepwise,
    "each test by itself": one_by_one,
    "products of the sift": sifted,
    "gradients (before)": by_gradient,
    "gradients weighted by p (1 - p)": by_weighted_gradient,
}
