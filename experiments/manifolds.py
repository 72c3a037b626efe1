"""Where gradients are known: a cube, and a flat torus bent isometrically into many dimensions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from gradsift.protocols import Array


@dataclass(frozen=True)
class Truth:
    """Samples, noise-free response, and the gradient in `frame`, orthonormal tangent vectors.

    Attributes
    ----------
    X : (n, p) array
    f : (n,) array
    gradient : (n, d) array
    frame : (n, d, p) array, or None for the whole space
    """

    X: Array
    f: Array
    gradient: Array
    frame: Array | None = None

    def error(self, field: Array) -> float:
        """Relative error of an estimated field (n, p) in L2, its tangent part only (theorem 2)."""
        if self.frame is not None:
            field = np.einsum("ndp,np->nd", self.frame, field)
        return float(np.linalg.norm(field - self.gradient) / np.linalg.norm(self.gradient))


@dataclass(frozen=True)
class Cube:
    """f = K(x, a) - K(x, b) on the unit cube, K Gaussian: its gradient lies in K's space."""

    dim: int
    scale: float = 0.5

    @property
    def ambient(self) -> int:
        return self.dim

    def sample(self, n: int, rng: np.random.Generator) -> Truth:
        X = rng.uniform(size=(n, self.dim))
        f, gradient = np.zeros(n), np.zeros((n, self.dim))
        tilt = np.where(np.arange(self.dim) % 2 == 0, 1.0, 0.6)  # not on the diagonal
        for sign, place in ((1.0, 0.25), (-1.0, 0.75)):
            step = X - place * tilt
            bump = sign * np.exp(-(step**2).sum(axis=1) / (2 * self.scale**2))
            f += bump
            gradient -= bump[:, None] * step / self.scale**2
        return Truth(X, f, gradient)


@dataclass(frozen=True)
class Torus:
    """The flat torus, d = 2, in any number of dimensions from 4 on.

    Each angle t runs along the curve (a_k cos k t, a_k sin k t)_k of unit speed, so the embedding
    is isometric; a fixed rotation then spreads it over all coordinates.
    """

    ambient: int
    scale: float = 1.0
    dim: int = 2

    def sample(self, n: int, rng: np.random.Generator) -> Truth:
        t = rng.uniform(0.0, 2.0 * np.pi, size=(n, 2))
        k = np.arange(1, self.ambient // 4 + 1)
        a = k**-2.0
        a /= np.sqrt((a**2 * k**2).sum())
        width = 2 * len(k)
        X, frame = np.zeros((n, self.ambient)), np.zeros((n, 2, self.ambient))
        for c in range(2):
            own, angle = slice(c * width, (c + 1) * width), np.outer(t[:, c], k)
            X[:, own] = np.hstack([a * np.cos(angle), a * np.sin(angle)])
            frame[:, c, own] = np.hstack([-a * k * np.sin(angle), a * k * np.cos(angle)])
        f = np.sin(t[:, 0]) + 0.5 * np.cos(t[:, 0] + t[:, 1])
        shared = -0.5 * np.sin(t[:, 0] + t[:, 1])
        gradient = np.column_stack([np.cos(t[:, 0]) + shared, shared])
        turn = rotation(self.ambient)
        return Truth(X @ turn, f, gradient, frame @ turn)


@cache
def rotation(dim: int) -> Array:
    """One fixed random rotation."""
    return np.linalg.qr(np.random.default_rng(dim).normal(size=(dim, dim)))[0]
