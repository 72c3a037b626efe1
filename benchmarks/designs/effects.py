"""Tables of 30 columns, neighbours correlated .3, with effects of equal variance: a line, exp,
tanh, a U, a step and a product; and the true contrasts of quarter means.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import softmax

P = 30
ROWS = {"numbers": 200, "labels": 300, "three classes": 300, "counts": 300, "survival": 300}
Function = Callable[[np.ndarray], np.ndarray]
EFFECTS: dict[str, tuple[int, Function, str]] = {
    "line": (0, lambda x: x, "rises"),
    "exp": (4, lambda x: np.exp(0.9 * x) / 1.5, "rises"),
    "tanh": (8, lambda x: -1.3 * np.tanh(2 * x), "falls"),
    "U": (12, lambda x: (x**2 - 1) / np.sqrt(2), "U-shaped"),
    "step": (16, lambda x: np.where(x > 0, 1.0, -1.0), "rises"),
}


def draw(rng: np.random.Generator, n: int) -> np.ndarray:
    """Normal columns, neighbours correlated .3."""
    Z = rng.normal(size=(n, P))
    for k in range(1, P):
        Z[:, k] = 0.3 * Z[:, k - 1] + np.sqrt(1 - 0.09) * Z[:, k]
    return Z


def signal(X: np.ndarray) -> np.ndarray:
    return sum(f(X[:, k]) for k, f, _ in EFFECTS.values()) + X[:, 20] * X[:, 24]


def outcomes(X: np.ndarray, task: str) -> np.ndarray:
    """Expected response or log hazard, or probabilities of the classes of an answer."""
    s = signal(X)
    if task in ("numbers", "survival"):
        return s[:, None] * (1.0 if task == "numbers" else 0.6)
    if task == "counts":
        return np.exp(0.4 * s)[:, None]
    if task == "labels":
        return 1 / (1 + np.exp(-s))[:, None]
    return softmax(np.column_stack([-s, 0.5 * s, 0.5 * s]) * 0.8, axis=1)


def true_contrasts(X: np.ndarray, k: int, task: str) -> tuple[np.ndarray, np.ndarray]:
    """(rise, turn) of every outcome: contrasts of quarter means with the true function."""
    q = np.quantile(X[:, k], (np.arange(20) + 0.5) / 20, method="nearest")
    means = []
    for value in q:
        at = X.copy()
        at[:, k] = value
        mean = outcomes(at, task).mean(axis=0)
        means.append(np.log(mean) if task == "counts" else mean)
    low, mid, high = (np.mean(part, axis=0) for part in (means[:5], means[5:15], means[15:]))
    return high - low, (low + high) / 2 - mid
