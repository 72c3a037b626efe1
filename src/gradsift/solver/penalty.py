"""Penalties on the rows of B. As ||f^k||_K = ||B_k||_2 there, they know no kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradsift._typing import Array, IntArray


def row_norms(B: Array) -> Array:
    """Euclidean norm of each row."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", B, B)))


@dataclass(frozen=True)
class GroupLasso:
    """alpha * sum_k omega_k ||B_k||_2: a variable is in or out as a whole.

    Parameters
    ----------
    omega : (p,) array
        Penalty factor per variable; 0 keeps a variable unpenalised.
    """

    omega: Array

    def take(self, index: IntArray) -> GroupLasso:
        return GroupLasso(self.omega[index])

    def value(self, B: Array, alpha: float) -> float:
        return float(alpha * (self.omega @ row_norms(B)))

    def limits(self, alpha: float) -> Array:
        return alpha * self.omega

    def prox(self, B: Array, step: float) -> Array:
        """argmin_C 1/2 ||C - B||^2 + step * sum_k omega_k ||C_k||: shrink each row, or zero it."""
        norms = row_norms(B)
        threshold = step * self.omega
        shrunk = 1.0 - threshold / np.where(norms > 0.0, norms, 1.0)
        keep = np.where(norms > threshold, shrunk, 0.0)
        keep[threshold <= 0.0] = 1.0  # untouched to the bit, even where a norm underflows
        return keep[:, None] * B

    def violation(self, B: Array, gradient: Array, alpha: float) -> Array:
        """Distance of -gradient to the subdifferential, per row: zero at the solution."""
        norms = row_norms(B)
        limit = self.limits(alpha)
        unit = B / np.where(norms > 0.0, norms, 1.0)[:, None]
        inside = row_norms(gradient + limit[:, None] * unit)
        outside = np.maximum(0.0, row_norms(gradient) - limit)
        return np.where(norms > 0.0, inside, outside)


@dataclass(frozen=True)
class Ridge:
    """alpha * sum_k ||B_k||_2^2: gradient learning (GL), dense, the paper's comparison."""

    def value(self, B: Array, alpha: float) -> float:
        return float(alpha * np.vdot(B, B))

    def gradient(self, B: Array, alpha: float) -> Array:
        return 2.0 * alpha * B

    def prox(self, B: Array, step: float) -> Array:
        return B / (1.0 + 2.0 * step)

    def violation(self, B: Array, gradient: Array, alpha: float) -> Array:
        return row_norms(gradient + self.gradient(B, alpha))
