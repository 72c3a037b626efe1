"""Quadratics of the field beside the loss: against double loops and numerical Jacobians."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import finite_difference, make_assembly, make_data, plain_weights
from scipy import sparse

from gradsift.numerics.kernels import Delta, Gaussian, as_kernel, cross_kernel, nystroem_factor
from gradsift.pairwise.quadratic_terms import curl_term, laplacian_term

KERNELS = {"affine": "affine", "linear": "linear", "constant": "constant", "gauss": Gaussian(1.7)}


def value(term, X, B):
    """q(B) = <B gamma, B> + <U, pull(U)> / 2 with one output."""
    U = (X @ B)[:, None, :]
    return np.vdot(B @ term.gamma, B) + 0.5 * np.vdot(U, term.pull(U))


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_laplacian_is_its_double_loop(rng, storage):
    """mu / N^2 sum_ij W_ij ||f(x_i) - f(x_j)||^2, also where W is not symmetric."""
    X, B, L = rng.normal(size=(7, 3)), rng.normal(size=(3, 4)), rng.normal(size=(7, 4))
    W = rng.uniform(size=(7, 7))
    F = L @ B.T
    by_hand = sum(W[i, j] * ((F[i] - F[j]) ** 2).sum() for i in range(7) for j in range(7))
    got = value(laplacian_term(L, storage(W), 0.3), X, B)
    assert got == pytest.approx(0.3 / 49 * by_hand)


@pytest.mark.parametrize("name", KERNELS)
def test_curl_is_the_asymmetry_of_the_jacobian(rng, name):
    """gamma / (2 n) sum_i ||J(x_i) - J(x_i)'||^2, J by finite differences of the field."""
    kernel, n, p = as_kernel(KERNELS[name]), 7, 3
    X = rng.normal(size=(n, p))
    K = cross_kernel(kernel, X, X)
    factor = nystroem_factor(K, np.arange(len(K)))
    B = rng.normal(size=(p, factor.L.shape[1]))

    def field(x):
        return B @ (cross_kernel(kernel, x[None], X) @ factor.T)[0]

    total = 0.0
    for x in X:
        J = np.array([finite_difference(lambda z, k=k: field(z)[k], x) for k in range(p)])
        total += ((J - J.T) ** 2).sum()
    got = value(curl_term(kernel, X @ X.T, K, factor.T, 0.4), X, B)
    assert got == pytest.approx(0.4 / (2 * n) * total, rel=1e-5, abs=1e-8)


def test_curl_needs_derivatives():
    with pytest.raises(ValueError, match="the curl penalty knows the derivatives of"):
        curl_term(Delta(), np.eye(3), np.eye(3), np.eye(3), 1.0)


@pytest.mark.parametrize("task", ["regression", "binary"])
def test_term_in_the_datafit(task, rng):
    """Restricted to columns, the value gains q(B), and the slope is its derivative."""
    X, y = make_data(task, n=7, p=3)
    assembly = make_assembly(task, X, y)
    plain, L = assembly.problem.datafit, assembly.factor.L
    term = laplacian_term(L, plain_weights(X), 2.0)
    phi = replace(plain, field_term=term).restrict(X)
    without = plain.restrict(X)
    B, v = rng.normal(size=(3, plain.n_tasks)), rng.normal(size=plain.start().shape)

    def at(B):
        return phi.value(phi.image(B, v), B, v)

    assert at(B) == pytest.approx(without.value(without.image(B, v), B, v) + value(term, X, B))
    np.testing.assert_allclose(
        phi.gradient(phi.image(B, v), B, v)[0], finite_difference(at, B), atol=1e-5
    )
