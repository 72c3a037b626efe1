"""Fields and Taylor predictions against brute force."""

import numpy as np
import pytest
from helpers import loop_sqdist, make_assembly, make_data, split_outputs

from gradsift.pairwise.field import kernel_field, taylor_average, taylor_predictor
from gradsift.solver import Rows


@pytest.fixture
def fitted(task):
    """A random answer on variables 1 and 3 of a standardised problem."""
    X, y = make_data(task, n=11, p=5)
    X = X * [1.0, 3.0, 0.1, 2.0, 1.0] + 4.0
    assembly = make_assembly(task, X, y, kernel="gaussian", standardize=True)
    rng = np.random.default_rng(2)
    datafit = assembly.problem.datafit
    rows = Rows(np.array([1, 3]), rng.normal(size=(2, datafit.n_tasks)))
    return X, y, assembly, rows, rng.normal(size=datafit.start().shape)


def test_field_at_training_rows_is_L_B(fitted):
    X, _, assembly, rows, v = fitted
    field, L = kernel_field(assembly, rows, v), assembly.factor.L
    by_hand = split_outputs(rows.dense(5), L)[:, :, [1, 3]] / X.std(axis=0)[[1, 3]]
    np.testing.assert_allclose(field.gradient(X), by_hand, atol=1e-8)
    if len(v):
        np.testing.assert_allclose(field.offset(X), L @ v, atol=1e-8)


def test_field_anywhere_is_the_representer_expansion(fitted):
    """f^k(x) = sum_i c_i^k K(x, x_i) with C = B L^+."""
    X, _, assembly, rows, v = fitted
    new = X[:3] + 0.7
    Z, Z_new = ((A - X.mean(axis=0)) / X.std(axis=0) for A in (X, new))
    D = loop_sqdist(Z, Z)
    K_new = np.exp(-loop_sqdist(Z_new, Z) / (2 * 0.25 * np.median(D[D > 0])))
    L_new = K_new @ np.linalg.pinv(assembly.factor.L).T
    by_hand = split_outputs(rows.dense(5), L_new)[:, :, [1, 3]] / X.std(axis=0)[[1, 3]]
    np.testing.assert_allclose(kernel_field(assembly, rows, v).gradient(new), by_hand, atol=1e-7)


def test_taylor_prediction_by_brute_force(fitted):
    """sum_i v_i(x) (y_i + f(x_i).(x - x_i)) / sum_i v_i(x), in the selected variables alone."""
    X, y, assembly, rows, v = fitted
    L = assembly.factor.L
    Z = ((X - X.mean(axis=0)) / X.std(axis=0))[:, [1, 3]]
    new = np.vstack([Z[:2], Z[3:5] + 0.4])
    fields = split_outputs(rows.dense(5), L)[:, :, [1, 3]]
    anchors = (L @ v).T if len(v) else y[None]
    D = loop_sqdist(Z, Z)
    s2 = 0.25 * np.median(D[D > 0])
    expected = np.empty((len(anchors), len(new)))
    for c in range(len(anchors)):
        for a, x in enumerate(new):
            weight = [np.exp(-((x - z) ** 2).sum() / (2 * s2)) for z in Z]
            around = [anchors[c, i] + fields[c, i] @ (x - Z[i]) for i in range(len(Z))]
            expected[c, a] = np.average(around, weights=weight)
    got = taylor_predictor(assembly, rows, v)(new)
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_taylor_average_edges(rng):
    Z, share = rng.normal(size=(6, 2)), np.array([0.3, 0.2, 0.1, 0.1, 0.2, 0.1])
    slope = np.array([2.0, -1.0])
    # an exactly linear response with its true gradient is predicted exactly, however far away
    predict = taylor_average(Z, (Z @ slope)[None], np.tile(slope, (1, 6, 1)), share)
    far = np.array([[1e3, -1e3], [0.0, 0.0]])
    np.testing.assert_allclose(predict(far), [far @ slope], rtol=1e-9, atol=1e-9)
    # nothing selected: the weighted mean
    y = rng.normal(size=6)
    none = taylor_average(np.zeros((6, 0)), y[None], np.zeros((1, 6, 0)), share)
    np.testing.assert_allclose(none(np.zeros((3, 0))), np.full((1, 3), share @ y))
