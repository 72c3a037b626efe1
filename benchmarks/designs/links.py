"""Functions of one to three sums of columns: known directions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

NOISE = 0.2  # standard deviation, in units of that of the response


@dataclass(frozen=True)
class Design:
    """A function of three orthogonal indices, the first of which are used."""

    formula: str
    n_directions: int
    link: Callable[..., np.ndarray]


DESIGNS = (
    Design("tanh(2u)", 1, lambda u, v, w: np.tanh(2 * u)),
    Design("u + u²/2", 1, lambda u, v, w: u + u**2 / 2),
    Design("sin(2u)", 1, lambda u, v, w: np.sin(2 * u)),
    Design("u / (.5 + (v + 1.5)²)", 2, lambda u, v, w: u / (0.5 + (v + 1.5) ** 2)),
    Design("u + u v", 2, lambda u, v, w: u + u * v),
    Design("u + v²/2", 2, lambda u, v, w: u + v**2 / 2),
    Design("u v + w", 3, lambda u, v, w: u * v + w),
    Design("u + v²/2 + sin(1.5w)", 3, lambda u, v, w: u + v**2 / 2 + np.sin(1.5 * w)),
)


FRESH = (
    Design("exp(u)", 1, lambda u, v, w: np.exp(u)),
    Design("u > 0", 1, lambda u, v, w: (u > 0.0).astype(float)),
    Design("u v", 2, lambda u, v, w: u * v),
    Design("u² - v²", 2, lambda u, v, w: u**2 - v**2),
    Design("u + cos(1.5v)", 2, lambda u, v, w: u + np.cos(1.5 * v)),
    Design("u + tanh(2v) + abs(w)", 3, lambda u, v, w: u + np.tanh(2 * v) + np.abs(w)),
)
"""Written after the rule that counts directions."""


def draw(design: Design, n: int, p: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Normal columns; u, v and w are sums of 3, 2 and 2 of them, of unit variance."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    indices = [X[:, k].sum(axis=1) / np.sqrt(len(k)) for k in ([0, 1, 2], [3, 4], [5, 6])]
    y = design.link(*indices)
    return X, y / y.std() + NOISE * rng.normal(size=n)
