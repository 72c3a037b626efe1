"""Factors of the kernel, K = L L': coordinates in which ||f||_K is a plain Euclidean norm.

A function of the kernel's space is f(x) = L(x) . b with ||f||_K = ||b||. With landmarks R among the
samples, L(x) = K(x, R) T where T = V Lambda^(-1/2) from the eigendecomposition of K(R, R). All rows
as landmarks give the exact factor; fewer give the Nystroem approximation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradsift._typing import Array, IntArray

LEAST_EIGENVALUE = 1e-10
"""Eigenvalues below this part of the largest one are rounding, and are dropped."""


@dataclass(frozen=True)
class Factor:
    """L for the training samples, and what extends it to new ones.

    Attributes
    ----------
    L : (n, m) array
    landmarks : (r,) int array
        Rows the kernel is evaluated against.
    T : (r, m) array
        L(x) = K(x, landmarks) T.
    """

    L: Array
    landmarks: IntArray
    T: Array

    def extend(self, K_new: Array) -> Array:
        """L at new samples, from their kernel values against the landmarks."""
        return K_new @ self.T


def nystroem_factor(K: Array, landmarks: IntArray) -> Factor:
    """Factor of a positive semidefinite kernel through landmarks; exact where all rows are.

    Parameters
    ----------
    K : (n, r) array
        Kernel values of all samples against the landmarks.
    landmarks : (r,) int array
    """
    values, vectors = np.linalg.eigh(K[landmarks])
    largest = max(values[-1], 0.0)
    if largest == 0.0:
        raise ValueError("the kernel is zero at every sample: no gradient can be represented.")
    if values[0] < -1e-6 * largest:
        raise ValueError(
            f"the kernel is not positive semidefinite: its smallest eigenvalue is {values[0]:.3g} "
            f"beside a largest of {largest:.3g}."
        )
    keep = np.flatnonzero(values > LEAST_EIGENVALUE * largest)[::-1]
    T = vectors[:, keep] / np.sqrt(values[keep])
    return Factor(K @ T, landmarks, T)
