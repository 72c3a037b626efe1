"""What the effect of a variable depends on: itself, or others."""

from __future__ import annotations

import numpy as np

from gradsift._run.threads import same_bits
from gradsift._typing import Array

CLEAR, FAINT = 0.1, 0.02  # shares of an effect that another variable must explain, both ways


@same_bits
def effect_dependence(Z: Array, G: Array) -> Array:
    """Share of each gradient that varies with each variable: hints at interactions.

    Parameters
    ----------
    Z : (n, a) array
        Standardised variables.
    G : (n, a) array
        Gradients along them.

    Returns
    -------
    shares : (a, a) array
        Row k, column l: the part of the mean of (f^k)^2 that a cubic in (x^k, x^l) explains beyond
        a cubic in x^k alone, between 0 and 1. On the diagonal, what the cubic in x^k explains
        beyond a constant. Zero for a straight effect.

    Examples
    --------
    >>> Z = np.random.default_rng(0).normal(size=(100, 2))
    >>> effect_dependence(Z, Z[:, ::-1]).round(1)  # of y = x1 x2
    array([[0., 1.],
           [1., 0.]])
    """
    n, a = Z.shape
    shares = np.zeros((a, a))
    for k in range(a):
        g, z = G[:, k], Z[:, k]
        power = float(g @ g)
        # the gradient of a straight line is constant but for rounding
        if g.std() <= 1e-9 * np.abs(g).max(initial=0.0):
            continue
        own = np.column_stack([np.ones(n), z, z**2, z**3])
        alone = _left_over(own[:, :1], g)
        with_own = _left_over(own, g)
        shares[k, k] = _gain(alone, with_own, n) / power
        for j in range(a):
            if j != k:
                x = Z[:, j]
                both = np.column_stack([own, x, x**2, x**3, x * z, x**2 * z, x * z**2])
                shares[k, j] = _gain(with_own, _left_over(both, g), n) / power
    return np.clip(shares, 0.0, 1.0)


def _left_over(A: Array, g: Array) -> tuple[float, int]:
    """(residual sum of squares, rank) of g on the columns of A."""
    coefficients, _, rank, _ = np.linalg.lstsq(A, g, rcond=1e-10)
    residual = g - A @ coefficients
    return float(residual @ residual), int(rank)


def _gain(small: tuple[float, int], large: tuple[float, int], n: int) -> float:
    """What the larger model explains beyond the smaller, less what it would explain of noise."""
    noise = large[0] / max(n - large[1], 1)
    return small[0] - large[0] - (large[1] - small[1]) * noise


def acting_together(shares: Array) -> list[tuple[int, int]]:
    """Pairs (k, l) that change each other's effect, clearest first.

    Parameters
    ----------
    shares : (a, a) array
        From `effect_dependence`.

    Returns
    -------
    pairs : list of (int, int)

    Examples
    --------
    >>> acting_together(np.array([[0.0, 0.9, 0.2], [0.3, 0.0, 0.0], [0.0, 0.0, 0.5]]))
    [(0, 1)]
    """
    both = np.triu(np.minimum(shares, shares.T), 1)
    either = np.maximum(shares, shares.T)
    first, second = np.nonzero((both >= FAINT) & (either >= CLEAR))
    order = np.argsort(-either[first, second], kind="stable")
    return list(zip(first[order].tolist(), second[order].tolist()))
