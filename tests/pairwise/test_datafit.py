"""The pair data term against the paper's formulas as double loops, and finite differences."""

import numpy as np
import pytest
from helpers import (
    ALPHA_0,
    N_CLASSES,
    finite_difference,
    loop_gradient,
    loop_value,
    make_assembly,
    make_data,
    plain_weights,
)
from scipy import sparse

from gradsift.pairwise.datafit import GramForm, PairDatafit, ResidualForm
from gradsift.pairwise.geometry import SparsePairs, make_pairs
from gradsift.pairwise.weights import NearestNeighbors, pair_weights
from gradsift.solver import Solver, null_solution, solve


class Case:
    """A point (B, v) of a small problem, and our data term there."""

    def __init__(self, task, n=7, p=3, seed=1):
        rng = np.random.default_rng(seed)
        self.task = task
        self.X, self.y = make_data(task, n=n, p=p, seed=seed)
        self.assembly = make_assembly(task, self.X, self.y, kernel="affine", weights="gaussian")
        self.datafit = self.assembly.problem.datafit
        self.L = self.assembly.factor.L
        self.W = plain_weights(self.X) / n**2  # the paper's 1/n^2
        self.B = rng.normal(size=(p, self.datafit.n_tasks))
        self.v = rng.normal(size=self.datafit.start().shape)

    def value(self, B, v):
        return self.datafit.value(self.datafit.predict(self.X @ B, v), v)

    def gradient(self, datafit=None):
        datafit = datafit or self.datafit
        M, g = datafit.gradient(datafit.predict(self.X @ self.B, self.v), self.v)
        return self.X.T @ M, g


@pytest.fixture
def case(task):
    return Case(task)


def test_shapes(case):
    outputs = 3 if case.task == "multiclass" else 1
    assert case.datafit.n_tasks == outputs * case.L.shape[1]
    assert case.v.shape == (0 if case.task == "regression" else case.L.shape[1], outputs)


def test_value_matches_double_loop(case):
    by_hand = loop_value(case.task, case.X, case.y, case.W, case.L, case.B, case.v)
    assert case.value(case.B, case.v) == pytest.approx(by_hand, rel=1e-12)


def test_gradient_matches_double_loop_and_finite_differences(case):
    G, g = case.gradient()
    G_loop, g_loop = loop_gradient(case.task, case.X, case.y, case.W, case.L, case.B, case.v)
    np.testing.assert_allclose(G, G_loop, atol=1e-12)
    np.testing.assert_allclose(g, g_loop, atol=1e-12)
    by_B = finite_difference(lambda B: case.value(B, case.v), case.B)
    by_v = finite_difference(lambda v: case.value(case.B, v), case.v)
    np.testing.assert_allclose(G, by_B, atol=1e-6)
    np.testing.assert_allclose(g, by_v, atol=1e-6)


def test_dense_equals_csr(case, monkeypatch):
    """The same graph stored twice; a tiny chunk makes the CSR code cross chunk borders."""
    monkeypatch.setattr(SparsePairs, "_CHUNK", 5)
    n, d = len(case.X), case.datafit
    D = ((case.X[:, None] - case.X[None]) ** 2).sum(-1)
    graph = sparse.csr_array(pair_weights(NearestNeighbors(3, scale=1.5), D, 3) / n**2)
    values = case.assembly.response.values

    def build(W):
        pairs = make_pairs(W)
        target = pairs.at_far(values)
        if case.task == "regression":
            target = target - pairs.at_near(values)
        return PairDatafit(pairs, d.L, d.loss, target, d.n_outputs, d.offset_penalty)

    dense, csr = build(graph.toarray()), build(graph)
    E_dense, E_csr = (f.predict(case.X @ case.B, case.v) for f in (dense, csr))
    assert E_csr.shape == (d.n_outputs, graph.nnz)
    assert csr.value(E_csr, case.v) == pytest.approx(dense.value(E_dense, case.v))
    by_hand = loop_value(case.task, case.X, case.y, graph.toarray(), case.L, case.B, case.v)
    assert csr.value(E_csr, case.v) == pytest.approx(by_hand)
    for a, b in zip(case.gradient(dense), case.gradient(csr)):
        np.testing.assert_allclose(a, b, atol=1e-12)
    for shrink in (1.0, 0.3):
        assert csr.dual_value(E_csr, case.v, shrink) == pytest.approx(
            dense.dual_value(E_dense, case.v, shrink)
        )
    assert csr.curvature(E_csr, 0.1 * E_csr, case.v) == pytest.approx(
        dense.curvature(E_dense, 0.1 * E_dense, case.v)
    )


def test_curvature_bounds_the_change_along_a_step(case):
    """value(x + d) <= value(x) + <gradient, d> + curvature / 2: what a descent step rests on."""
    rng = np.random.default_rng(3)
    E, d = case.datafit.predict(case.X @ case.B, case.v), case.datafit
    G, g = case.gradient()
    for size in (1e-2, 1.0, 5.0):
        dB, dv = size * rng.normal(size=case.B.shape), size * rng.normal(size=case.v.shape)
        dE = d.predict(case.X @ dB, dv)
        ceiling = case.value(case.B, case.v) + np.vdot(G, dB) + np.vdot(g, dv)
        ceiling += 0.5 * d.curvature(E, dE, dv)
        assert case.value(case.B + dB, case.v + dv) <= ceiling * (1 + 1e-9)


def test_hessian_is_the_derivative_of_the_gradient(case):
    """On some of the rows, the others staying where they are."""
    rng, rows, h = np.random.default_rng(3), np.array([0, 2]), 1e-5
    forms = [ResidualForm(case.datafit, case.X)]
    if not len(case.v):
        forms.append(GramForm(case.datafit, case.X))
    dB, dv = rng.normal(size=case.B[rows].shape), rng.normal(size=case.v.shape)
    for phi in forms:
        image = phi.image(case.B, case.v)
        got, got_v = phi.take(rows).hessian(image)(dB, dv)

        def slope(t, phi=phi):
            B, v = case.B.copy(), case.v + t * dv
            B[rows] += t * dB
            return phi.gradient(phi.image(B, v), B, v)

        (after, after_v), (before, before_v) = slope(h), slope(-h)
        np.testing.assert_allclose(got, (after - before)[rows] / (2 * h), atol=1e-8)
        if len(dv):
            np.testing.assert_allclose(got_v, (after_v - before_v) / (2 * h), atol=1e-8)


def test_mean_hessian_averages_the_hessian_over_tasks(case):
    phi = ResidualForm(case.datafit, case.X)
    E = phi.image(case.B, case.v)
    product, none = phi.hessian(E), np.zeros_like(case.v)
    p, tasks = case.B.shape
    by_hand = np.zeros((p, p))
    for k in range(p):
        for t in range(tasks):
            unit = np.zeros((p, tasks))
            unit[k, t] = 1.0
            by_hand[:, k] += product(unit, none)[0][:, t] / tasks
    np.testing.assert_allclose(phi.mean_hessian(E).columns, by_hand, atol=1e-12)
    if case.task == "regression":
        gram = GramForm(case.datafit, case.X)
        np.testing.assert_allclose(gram.mean_hessian(E).columns, by_hand, atol=1e-12)


def test_tasks_of_the_mean_hessian_are_those_of_the_kernel_under_the_pair_weights(case):
    if case.task == "multiclass":
        return
    phi, L = ResidualForm(case.datafit, case.X), case.datafit.L
    mean = phi.mean_hessian(phi.image(case.B, case.v))
    pairs = case.datafit.pairs
    mass = pairs.near_sums(pairs.weight[None])[0]
    by_hand = L.T @ np.diag(mass) @ L
    found = (mean.task_axes * mean.task_sizes) @ mean.task_axes.T
    np.testing.assert_allclose(found, by_hand * len(by_hand) / np.trace(by_hand), atol=1e-10)


def test_offset_hessian_averages_the_second_derivative_over_outputs(case):
    phi = ResidualForm(case.datafit, case.X)
    E = phi.image(case.B, case.v)
    found = phi.offset_hessian(E)
    if case.task == "regression":
        assert found is None
        return
    product, none = phi.hessian(E), np.zeros_like(case.B)
    m, outputs = case.v.shape
    by_hand = np.zeros((m, m))
    for k, c in np.ndindex(m, outputs):
        unit = np.zeros((m, outputs))
        unit[k, c] = 1.0
        by_hand[k] += product(none, unit)[1][:, c] / outputs
    np.testing.assert_allclose(found, by_hand, atol=1e-12)


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
def test_scatter_is_the_double_loop(store, rng):
    S = rng.uniform(size=(6, 6)) * (rng.uniform(size=(6, 6)) < 0.6)
    X = rng.normal(size=(6, 3))
    pairs = make_pairs(store(S))
    by_hand = sum(S[i, j] * np.outer(X[j] - X[i], X[j] - X[i]) for i in range(6) for j in range(6))
    np.testing.assert_allclose(pairs.scatter(pairs.weight, X), by_hand, atol=1e-12)


@pytest.mark.parametrize("outputs", [1, 2])
def test_gram_form_is_the_residual_form(outputs):
    """Two ways to step on a few columns: the same function, slope, curvature and dual bound."""
    case, rng = Case("regression"), np.random.default_rng(4)
    d = case.datafit
    target = np.concatenate([d.target, np.sin(3 * d.target)])[:outputs]
    datafit = PairDatafit(d.pairs, d.L, d.loss, target, n_outputs=outputs)
    gram, residual = GramForm(datafit, case.X), ResidualForm(datafit, case.X)
    v = datafit.start()
    B, dB = (rng.normal(size=(3, datafit.n_tasks)) for _ in range(2))

    def everything(form):
        at, step = form.image(B, v), form.image(dB, v)
        duals = [form.dual_value(at, B, v, shrink) for shrink in (1.0, 0.4, 0.0)]
        return [form.value(at, B, v), form.curvature(at, step, dB, v), *duals]

    np.testing.assert_allclose(everything(gram), everything(residual), rtol=1e-9, atol=1e-12)
    slopes = [f.gradient(f.image(B, v), B, v)[0] for f in (gram, residual)]
    np.testing.assert_allclose(slopes[0], slopes[1], atol=1e-10)


def test_several_outputs_are_separate_regressions():
    """Two responses side by side: the value adds up, and each gradient is its own."""
    case = Case("regression")
    d, second = case.datafit, np.cos(case.y)
    pairs = d.pairs
    target = np.concatenate([d.target, pairs.at_far(second[None]) - pairs.at_near(second[None])])
    both = PairDatafit(pairs, d.L, d.loss, target, n_outputs=2)
    B2 = np.random.default_rng(5).normal(size=case.B.shape)
    E = both.predict(case.X @ np.hstack([case.B, B2]), both.start())
    values = [
        loop_value("regression", case.X, y, case.W, case.L, B, case.v)
        for y, B in ((case.y, case.B), (second, B2))
    ]
    assert both.value(E, both.start()) == pytest.approx(sum(values))
    G = case.X.T @ both.gradient(E, both.start())[0]
    G2, _ = loop_gradient("regression", case.X, second, case.W, case.L, B2, case.v)
    np.testing.assert_allclose(G, np.hstack([case.gradient()[0], G2]), atol=1e-12)


def test_weak_duality_and_equality_at_the_optimum(case):
    """A feasible dual point is a lower bound wherever it comes from; at the optimum it is tight."""
    problem = case.assembly.problem
    null = null_solution(problem)
    alpha = 0.2 * null.alpha
    best = solve(problem, alpha, null=null, solver=Solver(tol=1e-10, max_iter=200_000))
    optimum = best.certificate.primal
    for seed in range(5):
        rng = np.random.default_rng(seed)
        B, v = 0.3 * rng.normal(size=case.B.shape), 0.3 * rng.normal(size=case.v.shape)
        E = case.datafit.predict(case.X @ B, v)
        norms = np.linalg.norm(case.X.T @ case.datafit.gradient(E, v)[0], axis=1)
        shrink = min(1.0, alpha / norms.max())
        assert case.datafit.dual_value(E, v, shrink) <= optimum + 1e-10
    B = best.rows.dense(3)
    E = case.datafit.predict(case.X @ B, best.v)
    assert case.datafit.dual_value(E, best.v, 1.0) == pytest.approx(optimum, rel=1e-4)
    assert case.value(B, best.v) + alpha * np.linalg.norm(B, axis=1).sum() == pytest.approx(optimum)


def test_scaling_is_the_papers(task):
    """1/n^2 for equal samples, and the offset penalty asked for, not another."""
    X, y = make_data(task, n=7, p=3)
    datafit = make_assembly(task, X, y, weights="uniform").problem.datafit
    assert datafit.pairs.weight.sum() == pytest.approx(1.0)
    assert datafit.offset_penalty == (None if task == "regression" else ALPHA_0)
    assert N_CLASSES[task] == 1 or datafit.value(
        datafit.predict(np.zeros((7, datafit.n_tasks)), datafit.start()), datafit.start()
    ) == pytest.approx(np.log(N_CLASSES[task]))
