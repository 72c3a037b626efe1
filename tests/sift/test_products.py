"""The screen of products: every pair by brute force, any strips and threads, wide tables."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import gradsift.sift.products as screening
from gradsift import GradientSiftRegressor
from gradsift._run.threads import one_blas_thread
from gradsift.data import ArraySource
from gradsift.sift import Limits, SiftSettings, make_sift, sift
from gradsift.sift.criterion import robust_fit, whiten_residual
from gradsift.sift.groups import pair_tests, squared_level
from gradsift.sift.rows import make_rows

ALPHA = 0.075


def columns_of(X: np.ndarray, index: np.ndarray) -> np.ndarray:
    return X[:, index].astype(np.float32)


def screened(n: int = 300, k: int = 700, q: int = 2, weight=None) -> tuple:
    """A screen of a table with products, some of selected columns, and what it was made from."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n, k))
    R = rng.normal(size=(n, q))
    R[:, 0] += 2 * X[:, 3] * X[:, 270] + X[:, 7] * X[:, 8] + 2 * X[:, 20] * X[:, 280]
    columns, selected = 2 * np.arange(k), [2 * 20, 2 * 7, 2 * 8]
    read = partial(columns_of, np.repeat(X, 2, axis=1))
    found = screening.screen(read, columns, R, make_rows(n, weight), selected, ALPHA)
    return found, X, R, columns, selected


def brute_force(X: np.ndarray, R: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """z^2 of all pairs, (k, k), zero for a column with itself."""
    k = X.shape[1]
    out = np.zeros((k, k))
    for a in range(k):
        products = X[:, [a]] * X
        for r in R.T:
            out[a] += (weight * r @ products) ** 2 / (weight * r**2 @ products**2)
    np.fill_diagonal(out, 0.0)
    return out


@pytest.mark.parametrize("held", [10**9, 300 * 512])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_pair_is_tested_at_the_level_of_its_class(held, weighted, monkeypatch) -> None:
    monkeypatch.setattr(screening, "HELD_VALUES", held)
    weight = np.tile([1.0, 2.0, 3.0], 100) if weighted else np.ones(300)
    found, X, R, columns, selected = screened(weight=weight if weighted else None)
    z = brute_force(X, R, weight)
    inside = np.isin(columns, selected)
    matters = z.max(axis=0) >= squared_level(1.0, len(columns), 2)  # chance gives as much to one
    assert matters.any()
    np.testing.assert_allclose(found.best[matters], z.max(axis=0)[matters], rtol=1e-4)
    assert (found.best <= z.max(axis=0) * (1 + 1e-4)).all()
    np.testing.assert_allclose(found.best_selected, z[inside].max(axis=0), rtol=1e-4)
    levels = [squared_level(ALPHA, t, 2) for t in pair_tests(len(columns), 3)]
    level = np.array(levels)[inside[:, None].astype(int) + inside]
    a, b = np.nonzero(np.triu(z > level))
    order = np.argsort(-(z / level)[a, b])
    want = [(int(columns[i]), int(columns[j])) for i, j in zip(a[order], b[order], strict=True)]
    want = want[: SiftSettings().n_known]
    assert {(6, 540), (14, 16), (40, 560)} <= set(want)
    assert list(found.passed) == want
    assert found.passed == {v: pytest.approx(level[v[0] // 2, v[1] // 2]) for v in want}


def test_strips_and_threads_give_the_same_bits(monkeypatch) -> None:
    whole, *_ = screened()
    monkeypatch.setattr(screening, "HELD_VALUES", 300 * 512)
    with one_blas_thread(workers=3):
        parts, *_ = screened()
    assert parts.passed == whole.passed
    assert np.array_equal(parts.best, whole.best)
    assert np.array_equal(parts.best_selected, whole.best_selected)


def test_only_the_strongest_of_many_pairs_are_kept() -> None:
    rng = np.random.default_rng(0)
    causes = rng.uniform(-1, 1, size=(300, 2))
    X = np.repeat(causes, 40, axis=1) + 0.1 * rng.normal(size=(300, 80))
    R = causes.prod(axis=1, keepdims=True) + 0.1 * rng.normal(size=(300, 1))
    read = partial(columns_of, X)
    found = screening.screen(read, np.arange(80), R, make_rows(300, None), [], ALPHA)
    assert len(found.passed) == SiftSettings().n_known


def genotypes(seed: int, n: int, p: int) -> tuple[np.ndarray, np.ndarray, set[int]]:
    """Genotypes, of which two act by their product alone."""
    rng = np.random.default_rng([seed, 9])
    X = rng.binomial(2, rng.uniform(0.05, 0.5, p), (n, p)).astype(float)
    pair = rng.choice(p, 2, replace=False)
    X[:, pair] = rng.binomial(2, 0.4, (n, 2))
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    return X, 1.5 * X[:, pair].prod(axis=1) + rng.normal(size=n), set(pair.tolist())


def test_product_is_found_among_ten_thousand_columns() -> None:
    for seed in range(2):
        X, y, pair = genotypes(seed, 200, 10_000)
        assert pair <= set(make_sift(ArraySource(X), y[:, None]).run().selected.tolist())


def test_tables_of_any_width_pair_what_they_can_afford() -> None:
    def paired(n: int, p: int, q: int = 1, **how) -> int:
        rng = np.random.default_rng(0)
        table = ArraySource(np.broadcast_to(0.0, (n, p)))
        return make_sift(table, rng.normal(size=(n, q)), **how).n_paired

    assert paired(500, 10_000) == 10_000
    assert paired(100, 10**5) == 10**5
    assert paired(100, 10**6) == 10**4
    assert paired(100, 10**6, q=2) == 5_000
    assert paired(100_000, 5_000) == 4_000
    assert paired(100, 10**6, groups=np.arange(100) // 2) < 10**4
    assert paired(500, 10_000, interactions=False) == 0


def test_level_is_that_of_the_pairs_that_were_tested() -> None:
    X, y, pair = genotypes(0, 200, 60)
    few = SiftSettings(limits=Limits(most_columns=20, most_products=0))
    problem = make_sift(ArraySource(X), y[:, None], always_keep=sorted(pair), settings=few)
    groups = problem.run().groups
    residual = robust_fit(groups, problem.fixed(groups), problem.response)[0]
    R = whiten_residual(residual, groups.rows.total)
    statistics = problem.univariate_statistics(groups, R)
    found = problem.evidence(R, statistics, sorted(pair)).products
    assert len(found.columns) == 20
    tests = pair_tests(20, 2)[2]
    level = squared_level(problem.false_positives * few.shares[3], tests, 1)
    assert found.passed[min(pair), max(pair)] == pytest.approx(level)


@pytest.mark.filterwarnings("ignore::gradsift.exceptions.NothingSelectedWarning")
def test_fitted_model_says_how_many_columns_were_paired(monkeypatch) -> None:
    X, y, _ = genotypes(1, 80, 40)
    assert GradientSiftRegressor().fit(X, y).n_paired_columns_ == 40
    assert GradientSiftRegressor(interactions=False).fit(X, y).n_paired_columns_ == 0
    few = SiftSettings(limits=Limits(most_columns=15, most_products=0))
    monkeypatch.setattr(GradientSiftRegressor, "sift_settings", few)
    assert GradientSiftRegressor().fit(X, y, covariates=X[:, :2]).n_paired_columns_ == 15


def test_restricted_pairs_still_hold_selected_columns() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(150, 40))
    y = X[:, 3] + X[:, 11] + X[:, 3] * X[:, 11] + 0.3 * rng.normal(size=150)
    few = SiftSettings(limits=Limits(most_columns=10, most_products=0))
    found = sift(ArraySource(X), y[:, None], settings=few)
    assert found.selected.tolist() == [3, 11]
    assert [pair[:2] for pair in found.interactions] == [(3, 11)]
