"""Selectors: what a user would pick for the same job, at the settings that its own pages or papers
show; short implementations, or the packages of the authors where they are installed.

Each takes a standardised table, the response (labels are -1 and 1) and the task, and gives a score
for every column; those that choose a set give that too. OMP_NUM_THREADS threads (or processes) for
each, two if it is not set.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import combinations

import numpy as np
from designs.selection import Array
from methods.rankers import hsic_order, xrfm_order
from numpy.typing import NDArray
from sklearn.decomposition import SparsePCA
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import ElasticNetCV, Lasso, LassoCV
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import SplineTransformer

from gradsift import GradientSiftClassifier, GradientSiftRegressor, OuterProductGradient

JOBS = int(os.environ.get("OMP_NUM_THREADS", "2"))
RATE = 0.1  # false discovery rate of those that need one
MOST_NODES = 2_000  # columns up to which a desparsified Lasso keeps a matrix of all pairs of them
CLUSTERS = 200  # of columns beyond that, as in hidimstat's guide


@dataclass(frozen=True)
class Answer:
    scores: Array  # (p,), larger is better
    selected: NDArray[np.bool_] | None = None  # None: it ranks, and leaves the choice to the user


Selector = Callable[[Array, Array, str], Answer]


def from_order(order: NDArray[np.intp]) -> Array:
    """Scores of columns that are given best first."""
    scores = np.empty(len(order))
    scores[order] = -np.arange(len(order))
    return scores


def by_size(size: Array, X: Array, y: Array) -> Array:
    """Scores of columns by some size; those of the same size, such as zero, by correlation."""
    return from_order(np.lexsort((-np.abs(X.T @ (y - y.mean())), -size)))


def ours(X: Array, y: Array, task: str) -> Answer:
    kind = GradientSiftRegressor if task == "regression" else GradientSiftClassifier
    model = kind().fit(X, y)
    return Answer(-model.ranking_.astype(float), model.get_support())


def lasso(X: Array, y: Array, task: str) -> Answer:
    """5 folds, 100 alphas; labels as numbers; zero coefficients by correlation."""
    size = np.abs(LassoCV(cv=5, n_jobs=JOBS, random_state=0).fit(X, y).coef_)
    return Answer(by_size(size, X, y), size > 0)


def _trees(task: str, n_trees: int, **settings: object) -> RandomForestRegressor:
    kind = RandomForestRegressor if task == "regression" else RandomForestClassifier
    return kind(n_trees, n_jobs=JOBS, random_state=0, **settings)


def forest(X: Array, y: Array, task: str) -> Answer:
    """500 trees, else scikit-learn's defaults; impurity importance."""
    return Answer(_trees(task, 500).fit(X, y).feature_importances_)


def boruta(X: Array, y: Array, task: str) -> Answer:
    """As in its README: trees of depth 5, their number chosen by it, 100 rounds.

    Many columns share a rank, all confirmed ones the first: importance tells those apart.
    """
    from boruta import BorutaPy

    trees = _trees(task, 100, max_depth=5)
    model = BorutaPy(trees, n_estimators="auto", random_state=0).fit(X, y)
    history = np.nan_to_num(model.importance_history_).mean(axis=0)
    return Answer(from_order(np.lexsort((-history, model.ranking_))), model.support_)


def lassonet(X: Array, y: Array, task: str) -> Answer:
    """Defaults; its importance, and the set of the least validation loss on its path."""
    from lassonet import LassoNetClassifier, LassoNetRegressor

    settings = {"verbose": 0, "random_state": 0, "torch_seed": 0}
    if task == "regression":
        model, target = LassoNetRegressor(**settings), (y - y.mean()) / y.std()
    else:
        model, target = LassoNetClassifier(**settings), (y > 0).astype(int)
    path = model.path(X, target)
    best = min(path, key=lambda step: step.val_loss)
    return Answer(model.feature_importances_.numpy(), best.selected.numpy())


def xrfm(X: Array, y: Array, task: str) -> Answer:
    return Answer(from_order(xrfm_order(X, y, task == "classification")))


def desparsified(X: Array, y: Array, task: str) -> Answer:
    """Linear, as in hidimstat's guide: p-values of a Lasso without its bias, q-values up to .1.
    Labels as numbers. In wide tables of clusters of columns (CluDL), whose columns share a p-value.
    """
    from hidimstat import CluDL, DesparsifiedLasso
    from sklearn.cluster import FeatureAgglomeration

    model = DesparsifiedLasso(LassoCV(), random_state=0, n_jobs=JOBS)
    if X.shape[1] > MOST_NODES:
        model = CluDL(FeatureAgglomeration(CLUSTERS), model, random_state=0)
    model.fit_importance(X, y)
    return Answer(by_size(-model.pvalues_, X, y), model.fdr_selection(RATE) != 0)


def conditional_importance(X: Array, y: Array, task: str) -> Answer:
    """hidimstat's conditional feature importance of a forest of 100 trees, in five folds, else its
    defaults; the set by its p-values, q-values up to .1.
    """
    from hidimstat import CFICV

    settings = {"feature_types": "continuous", "random_state": 0, "n_jobs": JOBS}
    kind = KFold
    if task == "classification":
        settings |= {"loss": log_loss, "method": "predict_proba"}
        kind = StratifiedKFold
    trees = _trees(task, 100).set_params(n_jobs=1)
    model = CFICV(trees, kind(5, shuffle=True, random_state=0), **settings)
    model.fit_importance(X, y)
    chosen = model.fdr_selection(RATE) != 0
    return Answer(np.asarray(model.importances_).mean(axis=1), chosen)


def elastic_net(X: Array, y: Array, task: str) -> Answer:
    """Zou and Hastie 2005; mixing .5, penalty by 5 folds."""
    size = np.abs(ElasticNetCV(l1_ratio=0.5, cv=5).fit(X, y).coef_)
    return Answer(by_size(size, X, y), size > 0)


def group_lasso(Z: Array, y: Array, groups: int, alphas: Array) -> list[Array]:
    """Block coordinate descent on columns Z (n, groups * m) that are orthonormal in each group."""
    n, m = len(y), Z.shape[1] // groups
    beta, r, found = np.zeros((groups, m)), y - y.mean(), []
    blocks = [Z[:, k * m : (k + 1) * m] for k in range(groups)]
    for alpha in alphas:
        active = np.arange(groups)
        for turn in range(60):
            moved = 0.0
            for k in active:
                old = beta[k]
                c = blocks[k].T @ r / n + old
                size = np.linalg.norm(c)
                new = c * max(0.0, 1.0 - alpha / size) if size > 0 else c
                if (change := np.abs(new - old).max()) > 0:
                    r = r - blocks[k] @ (new - old)
                    beta[k], moved = new, max(moved, change)
            if moved < 1e-3:
                break
            all_of_them = turn % 5 == 4
            active = np.arange(groups) if all_of_them else np.flatnonzero(beta.any(axis=1))
            if not len(active):
                break
        found.append(beta.copy())
    return found


def spline_group_lasso(X: Array, y: Array, task: str) -> Answer:
    """In the place of COSSO (Lin and Zhang 2006), which has the same penalty on the components of a
    spline model: a group lasso on six cubic splines of each column, penalty by 5 folds.
    """
    p = X.shape[1]
    Z = SplineTransformer(n_knots=5, knots="quantile", include_bias=False).fit_transform(X)
    m = Z.shape[1] // p
    Z = Z - Z.mean(axis=0)
    Z = np.hstack([np.linalg.qr(Z[:, k * m : (k + 1) * m])[0] for k in range(p)]) * np.sqrt(len(y))
    r = y - y.mean()
    most = max(np.linalg.norm(Z[:, k * m : (k + 1) * m].T @ r) for k in range(p)) / len(y)
    alphas = most * np.geomspace(1.0, 0.1, 15)
    errors = np.zeros(len(alphas))
    for train, test in KFold(5, shuffle=True, random_state=0).split(Z):
        mean = y[train].mean()
        path = group_lasso(Z[train], y[train], p, alphas)
        errors += [np.sum((y[test] - mean - Z[test] @ b.ravel()) ** 2) for b in path]
    size = np.linalg.norm(group_lasso(Z, y, p, alphas)[int(np.argmin(errors))], axis=1)
    return Answer(by_size(size, X, y), size > 0)


def average_derivatives(X: Array, y: Array, task: str) -> Answer:
    """Haerdle and Stoker 1989, Samarov 1993: size of the mean gradient of local linear fits."""
    fit = OuterProductGradient().fit(X, y)
    return Answer(by_size(np.abs(fit.gradient(X).mean(axis=0)), X, y))


def rodeo(X: Array, y: Array, task: str, beta: float = 0.9, places: int = 30) -> Answer:
    """Lafferty and Wasserman 2008: at a point, the bandwidths of a local linear fit shrink along
    the columns in which the estimate changes with them. Score: mean of -log bandwidth over points.
    """
    n, p = X.shape
    rng = np.random.default_rng(0)
    sigma = np.sqrt(LassoCV(cv=5).fit(X, y).mse_path_.mean(axis=1).min())
    total = np.zeros(p)
    for at in X[rng.choice(n, min(places, n), replace=False)]:
        apart = X - at
        h = np.full(p, 2.0)
        active = np.ones(p, dtype=bool)
        while active.any() and (h > 0.1).all():
            w = np.exp(-0.5 * np.sum((apart / h) ** 2, axis=1) / (0.25 * p))
            if w.sum() < 1e-8:
                break
            A = np.column_stack([np.ones(n), apart])
            inverse = np.linalg.pinv((A.T * w) @ A + 1e-3 * w.sum() * np.eye(p + 1))
            row = inverse[0] @ (A.T * w)  # weights of the estimate at the point
            residual = y - A @ (inverse @ (A.T @ (w * y)))
            changes = (apart**2 / h**3) * row[:, None]
            moved = residual @ changes
            spread = sigma * np.linalg.norm(changes - row[:, None] * changes.sum(axis=0), axis=0)
            active &= np.abs(moved) > spread * np.sqrt(2.0 * np.log(p))
            h[active] *= beta
        total -= np.log(h)
    return Answer(by_size(total, X, y), total > total.min() + 1e-9)


def denovas(X: Array, y: Array, task: str) -> Answer:
    """Rosasco, Villa, Mosci, Santoro and Verri 2013, penalty on the derivatives of f itself:
    sum_a sqrt(mean_i (d_a f(x_i))^2), made smooth and minimised by reweighted least squares over
    an expansion in a polynomial kernel of degree 2 (their choice for products) and its derivatives.
    """
    n, p = X.shape
    features = np.hstack([X, np.square(X), *(X[:, [a]] * X[:, a + 1 :] for a in range(p - 1))])
    pairs = [(a,) for a in range(p)] + [(a, a) for a in range(p)] + list(combinations(range(p), 2))
    mean, r = features.mean(axis=0), y - y.mean()
    F = features - mean
    weight = np.ones(p)  # of the squared derivatives, turn by turn
    best: tuple[float, Array] = (np.inf, np.zeros(p))
    for tau in np.geomspace(1.0, 0.01, 6):
        for _ in range(12):
            cost = np.zeros(F.shape[1])
            for j, pair in enumerate(pairs):
                for a in set(pair):
                    cost[j] += weight[a] * (4.0 if len(set(pair)) < len(pair) else 1.0)
            scaled = F / (cost + 1e-9)
            coef = scaled.T @ np.linalg.solve(F @ scaled.T + tau * n * np.eye(n), r)
            size = np.array([derivative(coef, X, a, p) for a in range(p)])
            weight = 1.0 / (size + 1e-4)
        kernel = F @ (F / (cost + 1e-9)).T
        hat = kernel @ np.linalg.inv(kernel + tau * n * np.eye(n))
        left_out = (r - hat @ r) / (1.0 - np.minimum(hat.diagonal(), 0.99))
        if (error := float(np.mean(left_out**2))) < best[0]:
            best = error, size
    size = best[1]
    return Answer(by_size(size, X, y), size > 0.05 * max(size.max(), 1e-12))


def derivative(coef: Array, X: Array, a: int, p: int) -> float:
    """Root mean square of the a-th derivative of the quadratic with these coefficients."""
    slope = coef[a] + 2.0 * coef[p + a] * X[:, a]
    first = 2 * p + np.concatenate([[0], np.cumsum(np.arange(p - 1, 0, -1))])
    for b in range(p):
        if b != a:
            low, high = min(a, b), max(a, b)
            slope = slope + coef[first[low] + high - low - 1] * X[:, b]
    return float(np.sqrt(np.mean(slope**2)))


def sparse_pca(X: Array, y: Array, task: str) -> Answer:
    """Zou, Hastie and Tibshirani 2006, then least squares on the components."""
    parts = SparsePCA(10, alpha=1.0, max_iter=30, random_state=0).fit(X)
    T = parts.transform(X)
    weights = np.linalg.lstsq(T - T.mean(axis=0), y - y.mean(), rcond=None)[0]
    size = np.abs(weights @ parts.components_)
    return Answer(by_size(size, X, y), size > 0)


def left_out_fits(D: Array, y: Array) -> tuple[Array, Array]:
    """Least squares on few columns: predictions, and those with each row left out."""
    Q = np.linalg.qr(np.column_stack([np.ones(len(y)), D]))[0]
    fit, leverage = Q @ (Q.T @ y), np.square(Q).sum(axis=1)
    return fit, (fit - leverage * y) / (1.0 - leverage)


def uni_pairs(X: Array, y: Array, task: str) -> Answer:
    """uniPairs (arXiv 2512.14413) after its description: a scan of all pairs by the t-value of the
    product given its columns; fits of each column and each of the strongest pairs, rows left out,
    are joined by a lasso with coefficients >= 0.
    """
    n, p = X.shape
    C = X - X.mean(axis=0)
    pairs, strength = [], []
    for a in range(p - 1):
        product = C[:, [a]] * C[:, a + 1 :]
        product -= product.mean(axis=0)
        r = y - left_out_fits(C[:, [a]], y)[0]
        t = product.T @ r / (np.linalg.norm(product, axis=0) * r.std() + 1e-12)
        pairs += [(a, b) for b in range(a + 1, p)]
        strength.append(np.abs(t))
    flat = np.concatenate(strength)
    edge = np.sqrt(2.0 * np.log(max(len(pairs), 2)))
    chosen = [pairs[j] for j in np.argsort(-flat)[:n] if flat[j] > edge]
    parts = [(a,) for a in range(p)] + chosen
    fits = [left_out_fits(X[:, list(q)] if len(q) == 1 else both(X, q), y)[1] for q in parts]
    Z = np.column_stack(fits)
    coef = LassoCV(cv=5, positive=True).fit(Z, y).coef_ * Z.std(axis=0)
    size = np.zeros(p)
    for part, c in zip(parts, coef, strict=True):
        size[list(part)] = np.maximum(size[list(part)], c)
    return Answer(by_size(size, X, y), size > 1e-8)


def both(X: Array, pair: tuple[int, ...]) -> Array:
    """Two columns and their product."""
    return np.column_stack([X[:, list(pair)], X[:, pair[0]] * X[:, pair[1]]])


def nullstrap(X: Array, y: Array, task: str) -> Answer:
    """Nullstrap (arXiv 2501.05012) for the lasso: the size of coefficients on responses that the
    null model makes sets the threshold.
    """
    fit = LassoCV(cv=5).fit(X, y)
    size, rng = np.abs(fit.coef_), np.random.default_rng(0)
    noise = (y - fit.predict(X)).std()
    null = (
        np.concatenate(
            [
                np.abs(Lasso(fit.alpha_).fit(X, noise * rng.normal(size=len(y))).coef_)
                for _ in range(5)
            ]
        )
        + fit.alpha_ / 2
    )
    edges = np.sort(size[size > 0])
    fine = [t for t in edges if np.mean(null >= t) * len(size) <= RATE * (size >= t).sum()]
    return Answer(by_size(size, X, y), size >= (fine[0] if fine else np.inf))


def t_rex(X: Array, y: Array, task: str) -> Answer:
    """trexselector (Machkour, Muma and Palomar 2022)."""
    from trexselector import trex

    found = trex(X.copy(), y.astype(float), tFDR=RATE, seed=1, verbose=False)
    score = np.asarray(found["Phi_prime"], dtype=float)
    selected = np.isin(np.arange(X.shape[1]), np.asarray(found["selected_var"], dtype=int))
    return Answer(by_size(score, X, y), selected)


def ipss_forest(X: Array, y: Array, task: str) -> Answer:
    """ipss (Melikechi and Miller 2024) with forests."""
    from ipss.main import ipss

    found = ipss(X, y, selector="rf", target_fdr=RATE, force_regression=task == "regression")
    scores = np.array([found["efp_scores"].get(k, np.inf) for k in range(X.shape[1])], dtype=float)
    selected = np.isin(np.arange(X.shape[1]), np.array(found["selected_features"], dtype=int))
    return Answer(by_size(-scores, X, y), selected)


def hsic_lasso(X: Array, y: Array, task: str) -> Answer:
    """Asked for 50 variables, without blocks; the others by correlation."""
    return Answer(from_order(hsic_order(X, y, task == "classification")))


# name -> (module it needs, how it is run)
PEERS: dict[str, tuple[str, Selector]] = {
    "gradsift": ("gradsift", ours),
    "LassoCV": ("sklearn", lasso),
    "forest, 500 trees": ("sklearn", forest),
    "Boruta": ("boruta", boruta),
    "pyHSICLasso": ("pyHSICLasso", hsic_lasso),
    "LassoNet": ("lassonet", lassonet),
    "xRFM, l1": ("xrfm", xrfm),
    "hidimstat, d-Lasso": ("hidimstat", desparsified),
    "hidimstat, CFI": ("hidimstat", conditional_importance),
}
RELATIVES: dict[str, tuple[str, Selector]] = {
    "GradientSift": ("gradsift", ours),
    "lasso": ("sklearn", lasso),
    "elastic net": ("sklearn", elastic_net),
    "group lasso on splines": ("sklearn", spline_group_lasso),
    "average derivatives": ("gradsift", average_derivatives),
    "RODEO": ("sklearn", rodeo),
    "DENOVAS": ("sklearn", denovas),
    "sparse PCA, then least squares": ("sklearn", sparse_pca),
    "uniPairs": ("sklearn", uni_pairs),
    "Nullstrap": ("sklearn", nullstrap),
    "T-Rex": ("trexselector", t_rex),
    "IPSS": ("ipss", ipss_forest),
    "HSIC Lasso": ("pyHSICLasso", hsic_lasso),
}
MOST_COLUMNS = {"DENOVAS": 100, "sparse PCA, then least squares": 100}
"""Wider tables take too long: a term for every pair of columns, a dictionary of them all."""


def installed(selectors: dict[str, tuple[str, Selector]]) -> list[str]:
    return [name for name, (module, _) in selectors.items() if find_spec(module)]
