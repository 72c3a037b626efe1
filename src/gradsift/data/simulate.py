"""Problems with a known answer: which variables matter, and along which directions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gradsift.protocols import Array, IntArray


class Simulated(NamedTuple):
    """Data with its truth: `support` holds the columns that matter."""

    X: Array
    y: Array
    support: IntArray


def turlach(
    n_samples: int = 100,
    n_features: int = 10,
    *,
    noise: float = 0.05**0.5,
    random_state: int | np.random.Generator | None = None,
) -> Simulated:
    """y = (2 x1 - 1)^2 + x2 + x3 + x4 + x5 + noise on the unit cube: x1 is uncorrelated with y.

    The paper's regression example; its "variance 0.05" can be read as noise 0.05 or sqrt(0.05).

    Examples
    --------
    >>> X, y, support = turlach(random_state=0)
    >>> X.shape, support.tolist()
    ((100, 10), [0, 1, 2, 3, 4])
    """
    rng = np.random.default_rng(random_state)
    X = rng.uniform(size=(n_samples, n_features))
    y = (2 * X[:, 0] - 1) ** 2 + X[:, 1:5].sum(axis=1) + noise * rng.normal(size=n_samples)
    return Simulated(X, y, np.arange(5))


def circles(
    n_samples: int = 40,
    n_features: int = 200,
    *,
    radii: tuple[float, float] = (3.0, 7.5),
    noise: float = 3.0,
    random_state: int | np.random.Generator | None = None,
) -> Simulated:
    """Labels 1 on the inner and -1 on the outer circle of (x1, x2); the other columns are noise.

    The paper's classification example.

    Examples
    --------
    >>> X, y, support = circles(random_state=0)
    >>> np.hypot(X[:, 0], X[:, 1]).round(1).tolist()[:2], y[:2].tolist()
    ([3.0, 3.0], [1, 1])
    """
    rng = np.random.default_rng(random_state)
    y = np.repeat([1, -1], [(n_samples + 1) // 2, n_samples // 2])
    angle = rng.uniform(0, 2 * np.pi, n_samples)
    X = noise * rng.normal(size=(n_samples, n_features))
    radius = np.where(y > 0, *radii)
    X[:, 0], X[:, 1] = radius * np.cos(angle), radius * np.sin(angle)
    return Simulated(X, y, np.arange(2))


def two_index(
    n_samples: int = 200,
    n_features: int = 20,
    *,
    noise: float = 0.3,
    random_state: int | np.random.Generator | None = None,
) -> Simulated:
    """y = (b1 . x)^2 + exp(b2 . x) / 2 + noise, b1 on x1, x2 and b2 on x3, x4: two directions.

    Examples
    --------
    >>> two_index(random_state=0).support.tolist()
    [0, 1, 2, 3]
    """
    rng = np.random.default_rng(random_state)
    X = rng.normal(size=(n_samples, n_features))
    first, second = (X[:, 0] + X[:, 1]) / np.sqrt(2), (X[:, 2] - X[:, 3]) / np.sqrt(2)
    signal = first**2 + np.exp(second) / 2
    y = signal + noise * signal.std() * rng.normal(size=n_samples)
    return Simulated(X, y, np.arange(4))
