"""p- and q-values given reduced models, and selection by a false discovery rate."""

import numpy as np
import pytest
from scipy import sparse, stats

from gradsift import GradientSiftClassifier, GradientSiftRegressor, significance
from gradsift.data import ArraySource
from gradsift.inference.score_tests import (
    Relationship,
    product_tests,
    relationship,
    residual_of,
    univariate_tests,
    white_rows,
)
from gradsift.inference.settings import TESTS
from gradsift.numerics.statistics import benjamini_hochberg
from gradsift.pipeline import load_model, save_model
from gradsift.sift.rows import make_rows
from gradsift.sift.settings import SiftSettings
from gradsift.tables import Recipe, ResponseColumns


@pytest.fixture
def curved(rng):
    X = rng.normal(size=(150, 60))
    return X, X[:, 3] ** 2 + X[:, 7] + rng.normal(size=150)


def test_q_values_are_those_of_benjamini_and_hochberg(rng):
    p = rng.uniform(size=50) ** 3
    expected = stats.false_discovery_control(p)
    assert benjamini_hochberg(np.log(p)) == pytest.approx(expected)
    # tests that are not listed count with p = 1
    padded = stats.false_discovery_control(np.r_[p, np.ones(30)])[:50]
    assert benjamini_hochberg(np.log(p), 80) == pytest.approx(padded)


def exactly(K):
    """A relationship that is known exactly."""
    return Relationship(K, np.eye(len(K)), np.trace(K))


def residual_squares(y, A, weight):
    root = np.sqrt(weight)
    B = np.linalg.lstsq(A * root[:, None], y * root, rcond=None)[0]
    return np.sum(weight * (y - A @ B) ** 2)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_linear_test_is_the_f_test_of_nested_fits(rng, weighted):
    n = 60
    x, terms, y = rng.normal(size=n), rng.normal(size=(n, 2)), rng.normal(size=n)
    y = y + 0.3 * x
    weight = rng.integers(1, 4, n).astype(float) if weighted else np.ones(n)
    residual = residual_of(y, terms, weight, 0.0, None)
    Z = np.zeros((10, n))
    Z[0] = x
    found = univariate_tests(residual, Z, SiftSettings())
    small = np.column_stack([np.ones(n), terms])
    big = np.column_stack([small, x])
    without, with_x = (residual_squares(y, A, weight) for A in (small, big))
    df = weight.sum() - 4
    f = (without - with_x) / (with_x / df)
    assert np.exp(found[0]) == pytest.approx(stats.f.sf(f, 1, df))
    assert found[1:] == [0.0, 0.0]  # features that are not there are not tested


def test_labels_are_tested_by_the_logistic_score(rng):
    n = 80
    terms, x = rng.normal(size=(n, 2)), rng.normal(size=n)
    labels = (terms[:, 0] + 0.5 * x + rng.logistic(size=n) > 0).astype(float)
    weight = np.ones(n)
    residual = residual_of(labels, terms, weight, 0.0, None, labels=True)
    # the same by hand: penalised fit, score, efficient information
    A = np.column_stack([np.ones(n), terms])
    ridge, b = np.array([1e-6, TESTS.label_ridge, TESTS.label_ridge]), np.zeros(3)
    for _ in range(50):
        mu = 1 / (1 + np.exp(-A @ b))
        H = (A * (mu * (1 - mu))[:, None]).T @ A + np.diag(ridge)
        b = b - np.linalg.solve(H, A.T @ (mu - labels) + ridge * b)
    mu = 1 / (1 + np.exp(-A @ b))
    v = mu * (1 - mu)
    project = A @ np.linalg.solve((A * v[:, None]).T @ A, (A * v[:, None]).T)
    x_left = x - project @ x
    score = x_left @ (labels - mu)
    information = np.sum(v * x_left**2)
    along = residual.adjusted(x[:, None])[:, 0]
    assert (along @ residual.r) ** 2 / (along @ along) == pytest.approx(
        score**2 / information, rel=1e-3
    )
    assert residual.least == n - 3  # labels never count as less noisy than they are


def test_white_rows_undo_the_background(rng):
    n = 40
    X = rng.normal(size=(n, 10)) * 3
    D = np.linalg.qr(np.column_stack([np.ones(n), rng.normal(size=n)]))[0]
    r = X @ rng.normal(size=10)
    r = r - D @ (D.T @ r)
    found = white_rows(r, D, exactly(X @ X.T))
    assert found.share > 0.5
    N = np.linalg.svd(D, full_matrices=True)[0][:, 2:]
    K = N.T @ X @ X.T @ N
    K *= len(K) / np.trace(K)
    A = N @ np.linalg.cholesky((1 - found.share) * np.eye(len(K)) + found.share * K)
    assert found.rotated(A).T @ found.rotated(A) == pytest.approx(np.eye(n - 2), abs=1e-7)
    assert np.abs(found.axes.T @ D).max() < 1e-10
    white = rng.normal(size=n)
    assert white_rows(white - D @ (D.T @ white), D, exactly(np.eye(n))).share == 0


def test_a_background_known_by_random_vectors_is_the_same(rng):
    """Of a rank below their number, the vectors tell all; with weights of labels too."""
    n = 50
    X, A = rng.normal(size=(n, 10)) * 3, rng.normal(size=(n, 4))
    D = np.linalg.qr(np.column_stack([np.ones(n), rng.normal(size=n)]))[0]
    r, A = (B - D @ (D.T @ B) for B in (X @ rng.normal(size=10) + rng.normal(size=n), A))
    probe = rng.normal(size=(n, 25))
    sd = rng.uniform(0.5, 1.0, n)
    exact, probed = exactly(X @ X.T), Relationship(X @ (X.T @ probe), probe, np.square(X).sum())
    pairs = [(exact, probed), (exact.without(X[:, :3]), probed.without(X[:, :3]))]
    for one, two in [*pairs, (exact.scaled(sd), probed.scaled(sd))]:
        found, other = white_rows(r, D, one), white_rows(r, D, two)
        assert found.share == other.share > 0
        expected = found.rotated(A).T @ found.rotated(A)
        assert other.rotated(A).T @ other.rotated(A) == pytest.approx(expected, rel=1e-6)
        assert other.rotated(A).T @ other.rotated(r[:, None]) == pytest.approx(
            found.rotated(A).T @ found.rotated(r[:, None]), rel=1e-6, abs=1e-8
        )


@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize("kind", [GradientSiftRegressor, GradientSiftClassifier])
def test_tables_of_few_columns_have_no_background(rng, p, kind):
    """The columns of the design are all there are, so that nothing is left of the relationship."""
    X = rng.normal(size=(40, p))
    y = X[:, 0] if kind is GradientSiftRegressor else X[:, 0] > 0
    model = kind(false_discovery_rate=0.1).fit(X, y)
    assert model.get_support()[0]
    K = exactly(X @ X.T).without(X)
    assert white_rows(rng.normal(size=40), np.ones((40, 1)) / np.sqrt(40), K).share == 0


def test_nothing_is_found_in_a_residual_of_zeros(rng):
    residual = residual_of(np.zeros(30), rng.normal(size=(30, 2)), np.ones(30), 0.0, None)
    assert univariate_tests(residual, rng.normal(size=(10, 30)), SiftSettings()) == [0.0] * 3


def test_many_weak_effects_show_above_600_rows(rng):
    n, p = 700, 400
    X = rng.normal(size=(n, 20)) @ rng.normal(size=(20, p)) + rng.normal(size=(n, p))
    X = (X - X.mean(0)) / X.std(0)
    weak = X @ rng.normal(size=p)
    y = weak / weak.std() + rng.normal(size=n)
    K = relationship(ArraySource(X), make_rows(n, None), SiftSettings())
    assert K.products.shape == (n, 200)
    assert K.trace == pytest.approx(n * p, rel=0.02)  # but for clipped values
    D = np.full((n, 1), n**-0.5)
    r = y - y.mean()
    found, exact = white_rows(r, D, K), white_rows(r, D, exactly(X @ X.T))
    assert found.share == pytest.approx(exact.share, abs=0.15)
    white = rng.normal(size=n)
    assert white_rows(white - white.mean(), D, K).share == 0
    # a column that only follows the weak effects of all others is no discovery
    tested = significance(GradientSiftRegressor(interactions=False), X, y, columns=[0])
    assert max(t.alone.background for t in tested.tests) > 0


def test_products_are_normalised_by_themselves(rng):
    n = 100
    X, y = rng.normal(size=(n, 5)), rng.normal(size=n)
    residual = residual_of(y, X[:, :1], np.ones(n), 0.0, None)
    found = product_tests(residual, X[:, 1], X[:, 2:])
    for z2, x in zip(found, X[:, 2:].T, strict=True):
        own = np.column_stack([np.ones(n), x, x**2])
        own[:, 1:] -= own[:, 1:].mean(0)
        h = X[:, 1] * x
        h = h - own @ np.linalg.lstsq(own, h, rcond=None)[0]
        D = np.column_stack([np.ones(n), X[:, 0]])
        h = h - D @ np.linalg.lstsq(D, h, rcond=None)[0]
        assert z2 == pytest.approx((h @ residual.r) ** 2 / np.sum(h**2 * residual.r**2), rel=0.05)


def test_what_acts_is_discovered_and_the_rest_is_not(curved):
    found = significance(GradientSiftRegressor(), *curved)
    assert sorted(found.discoveries(0.05).tolist()) == [3, 7]
    first = {t.column: t.alone for t in found.tests}
    assert first[3].part == "quadratic"
    assert first[7].part == "linear"
    assert 3 not in first[3].columns  # the model does without the column
    assert first[3].unexplained > 0.3


def test_near_copies_are_found_as_a_set_only(rng):
    hidden = rng.normal(size=(120, 8))
    X = np.repeat(hidden, 5, axis=1) + 0.15 * rng.normal(size=(120, 40))
    y = X[:, 0] + X[:, 10] + 0.5 * rng.normal(size=120)
    found = significance(GradientSiftRegressor(), X, y)
    sets = found.discoveries(0.1, findings=True)
    assert sorted((sets // 5).tolist()) == [0, 2]
    by_column = {t.column: t for t in found.tests}
    assert all(by_column[k].together == tuple(range(k // 5 * 5, k // 5 * 5 + 5)) for k in sets)
    assert set(found.discoveries(0.1).tolist()) <= {0, 10}


def test_noise_brings_few_discoveries():
    wrong = 0
    for seed in range(20):
        rng = np.random.default_rng([seed, 5])
        X, y = rng.normal(size=(50, 60)), rng.normal(size=50)
        wrong += len(significance(GradientSiftRegressor(), X, y).discoveries(0.1)) > 0
    assert wrong <= 5  # 2 expected; more than 5 has a chance of .011


def test_p_values_of_null_columns_are_not_too_small():
    p_values = []
    for seed in range(6):
        rng = np.random.default_rng([seed, 6])
        X = rng.lognormal(size=(80, 40))
        y = np.log(X[:, 0]) + rng.standard_t(3, size=80)
        null = list(range(10, 35))
        found = significance(GradientSiftRegressor(), X, y, columns=null)
        p_values.append(found.p_values[null])
    small = np.mean(np.concatenate(p_values) <= 0.05)
    assert small <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / 150)


def test_several_classes(rng):
    X = rng.normal(size=(200, 50))
    scores = np.column_stack([2 * X[:, 1], 2 * X[:, 5], np.zeros(200)])
    y = np.array(["a", "b", "c"])[(scores + rng.gumbel(size=(200, 3))).argmax(axis=1)]
    found = significance(GradientSiftClassifier(), X, y)
    assert sorted(found.discoveries(0.1).tolist()) == [1, 5]


def test_a_product_has_a_p_value_of_its_own(rng):
    X = rng.normal(size=(200, 30))
    y = X[:, 2] * X[:, 9] + X[:, 4] + 0.5 * rng.normal(size=200)
    model = GradientSiftRegressor(false_discovery_rate=0.01).fit(X, y)
    product = model.significance_.products[0]
    assert (product.first, product.second) == (2, 9)
    assert product.p_value < product.q_value < 1e-6
    assert [(i.first, i.second) for i in model.interactions_] == [(2, 9)]
    assert model.get_support(indices=True).tolist() == [2, 4, 9]


def test_counts_of_rows_are_repetitions(curved):
    X, y = curved
    weight = np.ones(150)
    weight[:6], weight[9] = 2.0, 0.0
    rows = np.repeat(np.arange(150), weight.astype(int))
    counted = significance(GradientSiftRegressor(), X, y, sample_weight=weight)
    repeated = significance(GradientSiftRegressor(), X[rows], y[rows])
    for one, two in zip(counted.tests, repeated.tests, strict=True):
        if one.alone.background == two.alone.background == 0:
            assert one.alone.log_p == pytest.approx(two.alone.log_p, abs=1e-6)


def test_storage_and_runs_change_nothing(curved):
    X, y = curved
    X = np.where(np.abs(X) < 0.3, 0.0, X)
    one = significance(GradientSiftRegressor(), X, y)
    two = significance(GradientSiftRegressor(), sparse.csc_matrix(X), y)
    three = significance(GradientSiftRegressor(), X, y)
    assert np.array_equal(one.p_values, three.p_values)
    assert np.log(one.p_values) == pytest.approx(np.log(two.p_values), abs=1e-6)


def test_strict_tests_are_made_once(curved):
    strict = significance(GradientSiftRegressor(), *curved, strict=True)
    assert sorted(strict.discoveries(0.1).tolist()) == [3, 7]


def test_columns_that_are_always_kept_are_no_discoveries(curved):
    X, y = curved
    model = GradientSiftRegressor(false_discovery_rate=0.1, always_keep=[7]).fit(X, y)
    assert model.get_support(indices=True).tolist() == [3, 7]
    assert model.significance_.discoveries(0.1).tolist() == [3]


def test_a_false_discovery_rate_selects(curved, tmp_path):
    X, y = curved
    model = GradientSiftRegressor(false_discovery_rate=0.1).fit(X, y)
    assert model.get_support(indices=True).tolist() == [3, 7]
    assert sorted(model.ranking_[[3, 7]].tolist()) == [1, 2]
    assert sorted(model.ranking_.tolist()) == list(range(1, 61))
    path = tmp_path / "model.gradsift"
    save_model(path, model, Recipe(ResponseColumns("y"), "regression"))
    again = load_model(path).model
    assert np.array_equal(again.significance_.q_values, model.significance_.q_values)
    assert again.significance_.tests == model.significance_.tests
    plain = GradientSiftRegressor().fit(X, y)
    assert not hasattr(plain, "significance_")


@pytest.mark.parametrize("rate", [0.0, 1.0, -0.1])
def test_rates_that_are_no_shares_are_refused(curved, rate):
    with pytest.raises(ValueError, match="false_discovery_rate"):
        GradientSiftRegressor(false_discovery_rate=rate).fit(*curved)


@pytest.mark.filterwarnings("ignore::gradsift.exceptions.RepeatedRowsWarning")
@pytest.mark.filterwarnings("ignore::gradsift.exceptions.CountedRowsWarning")
@pytest.mark.parametrize("task", ["numbers", "two classes", "three classes"])
def test_a_row_of_weight_two_is_the_row_twice(task):
    """Also where a background has a share in what an explanation leaves."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 30))
    y = X[:, 0] + X[:, 1] ** 2 + 0.3 * X[:, 5:] @ rng.normal(size=25) + 0.3 * rng.normal(size=100)
    weight = rng.integers(1, 3, size=100)
    each = np.repeat(np.arange(100), weight)
    target = {"numbers": y, "two classes": (y > 1) * 1, "three classes": np.digitize(y, [0, 1.5])}
    y = target[task]
    kind = GradientSiftRegressor if task == "numbers" else GradientSiftClassifier
    weighted = kind(false_discovery_rate=0.1).fit(X, y, sample_weight=weight).significance_
    repeated = kind(false_discovery_rate=0.1).fit(X[each], y[each]).significance_
    np.testing.assert_allclose(weighted.p_values, repeated.p_values, rtol=1e-6)
