"""Assembling: responses, sample weights, settings and their checks."""

import numpy as np
import pytest
from helpers import make_assembly, make_data, plain_weights

from gradsift.data import ArraySource
from gradsift.numerics.losses import Logistic, Multinomial, Squared
from gradsift.pairwise.assemble import (
    PairResponse,
    Settings,
    assemble,
    check_penalty_factor,
    default_offset_penalty,
)
from gradsift.pairwise.geometry import DensePairs
from gradsift.pairwise.weights import NearestNeighbors
from gradsift.solver import null_solution


def test_response_round_trip():
    codes = np.array([0, 2, 1, 2])
    three = PairResponse.labels(codes, 3)
    assert three.values.tolist() == [[1, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 1]]
    assert three.codes().tolist() == codes.tolist()
    two = PairResponse.labels(np.array([1, 0]), 2)
    assert two.values.tolist() == [[1.0, -1.0]]
    assert two.codes().tolist() == [1, 0]
    numbers = PairResponse.numbers([3, 4, 5])
    assert numbers.take(np.array([2, 0])).values.tolist() == [[5.0, 3.0]]
    assert numbers.codes().tolist() == [0, 0, 0]


def test_loss_follows_the_response(task):
    X, y = make_data(task)
    datafit = make_assembly(task, X, y).problem.datafit
    expected = {"regression": Squared, "binary": Logistic, "multiclass": Multinomial}
    assert isinstance(datafit.loss, expected[task])


def test_sample_weights_enter_as_products(task, rng):
    X, y = make_data(task, n=8)
    w = rng.uniform(0.5, 2.0, 8)
    scale = 1.5
    from_weights = assemble(
        ArraySource(X), PairResponse.numbers(np.asarray(y, float)),
        Settings(weights=NearestNeighbors(7, "plain", scale), standardize=False), w,
    )  # fmt: skip
    share = w / w.sum()
    expected = share[:, None] * plain_weights(X, scale) * share
    np.testing.assert_allclose(from_weights.problem.datafit.pairs.weight, expected.ravel())


def test_a_function_of_products_equals_the_kernel_of_that_name(task):
    X, y = make_data(task)
    named = null_solution(make_assembly(task, X, y, kernel="affine").problem)
    called = null_solution(make_assembly(task, X, y, kernel=lambda p: 1 + p.inner).problem)
    assert named.alpha == pytest.approx(called.alpha, rel=1e-8)


def test_default_offset_penalty_is_scale_free(rng):
    """Scaling the kernel by c scales ||f0||_K^2 of the same function by 1/c: the product stays."""
    L, share = rng.normal(size=(6, 3)), np.full(6, 1 / 6)
    pairs = DensePairs(rng.uniform(size=(6, 6)) / 36)
    one, four = (default_offset_penalty(pairs, c * L, share) for c in (1.0, 2.0))
    assert four == pytest.approx(4 * one)
    assert one == pytest.approx(1e-4 * pairs.weight.sum() * (L**2).sum() / 6)


def test_checks():
    assert check_penalty_factor(None, 3).tolist() == [1, 1, 1]
    assert check_penalty_factor([0, 2], 2).tolist() == [0, 2]
    with pytest.raises(ValueError, match=r"shape \(2,\) but there are 3 variables: need \(3,\)"):
        check_penalty_factor([1, 2], 3)
    with pytest.raises(ValueError, match=r"penalty_factor\[1\] is -2.0: factors are finite and"):
        check_penalty_factor([1, -2], 2)
    with pytest.raises(ValueError, match=r"penalty_factor\[0\] is nan"):
        check_penalty_factor([np.nan, 1], 2)
    X, y = make_data("binary")
    with pytest.raises(ValueError, match="alpha_0=0 must be positive"):
        make_assembly("binary", X, y, alpha_0=0)
