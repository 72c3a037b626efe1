"""Second opinions: small problems, the paper's formulas as double loops, and a cvxpy twin.

Nothing here uses gradsift's factor, weights, datafit or solver, so agreement means something.
"""

import warnings
from dataclasses import fields

import cvxpy as cp
import numpy as np
from scipy.special import expit, softmax

from gradsift import AlphaGrid, Penalties, SolverSettings
from gradsift.data import ArraySource
from gradsift.numerics.ard_kernels import Anova, ArdGaussian, DotProduct
from gradsift.pairwise.assemble import PairResponse, Settings, assemble

TASKS = ["regression", "binary", "multiclass"]
N_CLASSES = {"regression": 1, "binary": 2, "multiclass": 3}
ALPHA_0 = 0.03


def make_data(task, *, n=12, p=6, seed=0):
    """(X, y): y depends on columns 0 (curved) and 1; labels are 0, 1(, 2)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = X[:, 0] ** 2 + X[:, 1] + 0.3 * rng.normal(size=n)
    if task == "regression":
        return X, y
    cuts = np.quantile(y, np.arange(1, N_CLASSES[task]) / N_CLASSES[task])
    return X, np.searchsorted(cuts, y)


def standard(X):
    """Columns of mean zero and variance one."""
    return (X - X.mean(axis=0)) / X.std(axis=0)


def class_probabilities(eta):
    """(n, C) from log odds (n, 1), or from scores (n, C)."""
    return softmax(np.column_stack([0 * eta, eta]) if eta.shape[1] == 1 else eta, axis=1)


def classes(eta):
    """(n,) the likeliest class of each row."""
    return class_probabilities(eta).argmax(axis=1)


# ------------------------------------------------------------------ what rounding may change


REFIT_TOL = 1e-6
"""Tolerance of the search for the kernel of a refit (`gradsift.refit.evidence`)."""


def accuracy(tol):
    """How far apart, relative to their size, two answers of a solver may lie.

    The same sums in another order (column blocks, processes of a cluster, weights for copies,
    sparse for dense, another processor's BLAS) differ by rounding, some 1e-16 of their size. An
    answer is no sum, and promises less. A solver stops once the duality gap certifies
    F(A) - F* <= tol F(0), and rounding decides which of the points that satisfy this it stops at.
    Where F curves by mu around its optimum A*, mu / 2 |A - A*|^2 <= F(A) - F* <= tol F(0), so that

        |A - A*| / |A*| <= sqrt(tol) sqrt(2 F(0) / (mu |A*|^2)).

    Two answers agree to the root of the tolerance, times the root of a condition number, for which
    ten is allowed here; that holds for a search that stops at a flat optimum, and with the
    rounding unit for tol it holds for a linear system. Which variables are selected is no matter
    of degree: tests ask for the same set, on data where no variable is at the edge.
    """
    return 10 * np.sqrt(max(tol, np.finfo(float).eps))


def assert_same_answer(found, expected, tol):
    """Equal as far as `accuracy` says that two answers with this tolerance are."""
    expected = np.asarray(expected)
    size = np.abs(expected).max(initial=0.0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=accuracy(tol) * size)


def assert_same_sums(found, expected):
    """Sums of at most some thousands of numbers, in another order: equal but for rounding.

    A sum of k products is off by k eps times the sum of their sizes at most; 1e-10 of the largest
    result leaves room for a million.
    """
    expected = np.asarray(expected)
    size = np.abs(expected).max(initial=0.0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * size)


def make_response(task, y):
    if task == "regression":
        return PairResponse.numbers(y)
    return PairResponse.labels(np.asarray(y), N_CLASSES[task])


def make_assembly(task, X, y, **settings):
    """Our problem, on the columns as they are."""
    if task != "regression":
        settings.setdefault("alpha_0", ALPHA_0)
    settings.setdefault("standardize", False)
    return assemble(ArraySource(X), make_response(task, y), Settings(**settings))


def sparse_params(**flat):
    """Parameters of `SparseGradient*` with rare ones in their settings objects.

    `method` is the solver's; `n_alphas`, `eps` and `max_features` make a grid.
    """
    kinds = {"solver": SolverSettings, "penalties": Penalties, "alphas": AlphaGrid}
    home = {f.name: name for name, kind in kinds.items() for f in fields(kind)}
    home.pop("alphas")
    parts = {}
    for name in [name for name in flat if name in home]:
        parts.setdefault(home[name], {})[name] = flat.pop(name)
    if "alphas" in parts:
        parts["alphas"]["alphas"] = flat.pop("alphas", None)
    return {**flat, **{name: kinds[name](**part) for name, part in parts.items()}}


# ------------------------------------------------------------------ the paper's formulas, by loops


def loop_kernel(function, A, B):
    return np.array([[function(a, b) for b in B] for a in A], dtype=float)


def loop_sqdist(A, B):
    return loop_kernel(lambda a, b: ((a - b) ** 2).sum(), A, B)


def plain_weights(X, scale=None):
    """exp(-d^2 / (2 s^2)), s half the median distance between different rows."""
    D = loop_sqdist(X, X)
    s = scale or 0.5 * np.sqrt(np.median(D[D > 0]))
    return np.exp(-D / (2 * s * s))


def targets(task, y):
    """t_c: the numbers, the labels -1 and 1, or one-hot labels, (c, n)."""
    if task == "regression":
        return np.asarray(y, float)[None]
    if task == "binary":
        return 2.0 * np.asarray(y)[None] - 1.0
    return np.eye(3)[:, y]


def pair_predictions(X, fields, offsets):
    """e_cij = f0_c(x_i) + f_c(x_i) . (x_j - x_i) from fields (c, n, p), offsets (c, n)."""
    c, n = offsets.shape
    E = np.empty((c, n, n))
    for o in range(c):
        for i in range(n):
            for j in range(n):
                E[o, i, j] = offsets[o, i] + fields[o, i] @ (X[j] - X[i])
    return E


def pair_losses(task, y, E):
    """(psi_ij, d psi_ij / d e_cij), straight from sections 2 and 5 of the paper."""
    t = targets(task, y)
    if task == "regression":
        residual = t[:, :, None] - t[:, None, :] + E
        return (residual**2).sum(axis=0), 2 * residual
    far = t[:, None, :]
    if task == "binary":
        return np.log1p(np.exp(-far * E)).sum(axis=0), -far * expit(-far * E)
    return np.log(np.exp(E).sum(axis=0)) - (far * E).sum(axis=0), softmax(E, axis=0) - far


def split_outputs(B, L):
    """B (p, c m), c slowest, as fields at the samples (c, n, p)."""
    B = B.reshape(len(B), -1, L.shape[1])
    return np.einsum("nm,pcm->cnp", L, B)


def loop_value(task, X, y, W, L, B, v, alpha_0=ALPHA_0):
    """The data term, W holding 1/n^2; v is (m, c) or (0, c)."""
    fields = split_outputs(B, L)
    offsets = (L @ v).T if len(v) else np.zeros(fields.shape[:2])
    psi, _ = pair_losses(task, y, pair_predictions(X, fields, offsets))
    return (W * psi).sum() + (alpha_0 * (v**2).sum() if len(v) else 0.0)


def loop_gradient(task, X, y, W, L, B, v, alpha_0=ALPHA_0):
    """Gradients of `loop_value` in B and v, pair by pair."""
    fields = split_outputs(B, L)
    offsets = (L @ v).T if len(v) else np.zeros(fields.shape[:2])
    _, slope = pair_losses(task, y, pair_predictions(X, fields, offsets))
    c, n, m = len(slope), len(X), L.shape[1]
    G, g = np.zeros((X.shape[1], c, m)), np.zeros((m, c))
    for o in range(c):
        for i in range(n):
            for j in range(n):
                G[:, o] += W[i, j] * slope[o, i, j] * np.outer(X[j] - X[i], L[i])
                g[:, o] += W[i, j] * slope[o, i, j] * L[i]
    g = g + 2 * alpha_0 * v if len(v) else np.zeros_like(v)
    return G.reshape(len(B), -1), g


def kkt_violation(G, B, limits):
    """Largest distance of -G to the subdifferential of sum_k limits_k ||B_k||, row by row."""
    worst = 0.0
    for g, b, limit in zip(G, B, limits):
        size = np.linalg.norm(b)
        if size > 0:
            off = np.linalg.norm(g + limit * b / size)
        else:
            off = max(0.0, np.linalg.norm(g) - limit)
        worst = max(worst, off)
    return worst


def finite_difference(function, x, h=1e-6):
    """Central differences of a scalar function of an array."""
    g = np.zeros_like(x)
    for at in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[at] = h
        g[at] = (function(x + step) - function(x - step)) / (2 * h)
    return g


# ------------------------------------------------------------------ cvxpy twin


def affine_features(X):
    """K(x, z) = 1 + x . z has the features (1, x)."""
    return np.column_stack([np.ones(len(X)), X])


def cvxpy_optimum(task, X, y, phi, W, alpha, *, omega=None, ridge=False, alpha_0=ALPHA_0):
    """(objective, fields (c, n, p)) of the paper's problem; W holds 1/n^2.

    f^k(x_i) = C_k . phi_i with explicit features phi of the kernel, so ||f^k||_K = min ||C_k||.
    """
    n, p = X.shape
    omega = np.ones(p) if omega is None else omega
    t = targets(task, y)
    C = [cp.Variable((p, phi.shape[1])) for _ in t]
    v = [cp.Variable(phi.shape[1]) for _ in t]
    loss = 0.0
    for i in range(n):
        E = [(X - X[i]) @ (c @ phi[i]) for c in C]
        if task == "regression":
            loss += cp.sum(cp.multiply(W[i], cp.square(y[i] - y + E[0])))
            continue
        E = [e + phi[i] @ offset for e, offset in zip(E, v)]
        if task == "binary":
            loss += cp.sum(cp.multiply(W[i], cp.logistic(-cp.multiply(t[0], E[0]))))
        else:
            total = cp.log_sum_exp(cp.vstack(E), axis=0)
            seen = sum(cp.multiply(a, e) for a, e in zip(t, E))
            loss += cp.sum(cp.multiply(W[i], total - seen))
    if task != "regression":
        loss += alpha_0 * sum(cp.sum_squares(offset) for offset in v)
    if ridge:
        loss += alpha * sum(cp.sum_squares(c) for c in C)
    else:
        loss += alpha * sum(
            omega[k] * cp.norm(cp.hstack([c[k] for c in C]), 2) for k in range(p) if omega[k]
        )
    problem = cp.Problem(cp.Minimize(loss))
    with warnings.catch_warnings():  # "may be inaccurate": asked for more digits than it can give
        warnings.simplefilter("ignore")
        problem.solve(
            solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10, max_iter=200
        )
    assert problem.status in ("optimal", "optimal_inaccurate")
    return problem.value, np.stack([phi @ c.value.T for c in C])


# ------------------------------------------------ kernels of the refit
N_AXES = 3
AXES = np.linalg.qr(np.random.default_rng(7).normal(size=(N_AXES, N_AXES)))[0]
KERNELS = {
    "ard": ArdGaussian(np.log([0.8, 1.5, 3.0])),
    "ard with prior": ArdGaussian(np.log([0.8, 1.5, 3.0]), prior=(1.0, 0.7)),
    "rotated": ArdGaussian(np.log([0.8, 1.5, 3.0]), AXES),
    "anova": Anova(np.log([0.5, 2.0, 0.1]), np.log([0.9, 2.0, 3.0])),
    "linear": DotProduct(N_AXES),
}


def numeric_gradient(f, X, step=1e-5):
    """Central differences of f: (n, d) -> (n,), at the rows of X."""
    columns = []
    for k in range(X.shape[1]):
        shift = step * np.eye(X.shape[1])[k]
        columns.append((f(X + shift) - f(X - shift)) / (2 * step))
    return np.stack(columns, axis=1)


def monte_carlo_error(tally, batches=20):
    """Standard errors of the probabilities of a tally from batches of its views, in their order:
    chains of one sweep look at the same candidates by chance, and are not independent.
    """
    views = np.array([view.mean(axis=0, dtype=float) for view in tally.views])
    means = np.array([batch.mean(axis=0) for batch in np.array_split(views, batches)])
    return means.std(axis=0, ddof=1) / np.sqrt(batches)
