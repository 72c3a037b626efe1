"""Smoothness over labelled and unlabelled samples: against a double loop and finite differences."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import finite_difference, make_assembly, make_data, plain_weights
from scipy import sparse

from gradsift.pairwise.datafit import smoothing_matrix


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_smoothing_is_its_double_loop(rng, storage):
    """mu / N^2 sum_ij W_ij ||f(x_i) - f(x_j)||^2, also where W is not symmetric."""
    B, L = rng.normal(size=(3, 4)), rng.normal(size=(7, 4))
    W = rng.uniform(size=(7, 7))
    F = L @ B.T
    by_hand = sum(W[i, j] * ((F[i] - F[j]) ** 2).sum() for i in range(7) for j in range(7))
    got = np.vdot(B @ smoothing_matrix(L, storage(W), 0.3), B)
    assert got == pytest.approx(0.3 / 49 * by_hand)


@pytest.mark.parametrize("task", ["regression", "binary", "multiclass"])
def test_smoothing_in_the_datafit(task, rng):
    """Restricted to columns, the value gains <B Gamma, B> of every output, and the slope is its
    derivative.
    """
    X, y = make_data(task, n=7, p=3)
    assembly = make_assembly(task, X, y)
    plain, L = assembly.problem.datafit, assembly.factor.L
    gamma = smoothing_matrix(L, plain_weights(X), 2.0)
    phi = replace(plain, smoothing=gamma).restrict(X)
    without = plain.restrict(X)
    B, v = rng.normal(size=(3, plain.n_tasks)), rng.normal(size=plain.start().shape)

    def at(B):
        return phi.value(phi.image(B, v), B, v)

    parts = B.reshape(3, plain.n_outputs, -1).transpose(1, 0, 2)
    added = sum(np.vdot(part @ gamma, part) for part in parts)
    assert at(B) == pytest.approx(without.value(without.image(B, v), B, v) + added)
    np.testing.assert_allclose(
        phi.gradient(phi.image(B, v), B, v)[0], finite_difference(at, B), atol=1e-5
    )
