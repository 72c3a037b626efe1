"""Columns looked at one by one: exact tails, honest lists, and who is left out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import f as fisher

from gradsift import GradientSiftClassifier, GradientSiftRegressor
from gradsift.data import ArraySource
from gradsift.inference.marginal_tests import by_label, column_association
from gradsift.sift import SiftFit, make_sift
from gradsift.sift.criterion import whiten_residual
from gradsift.sift.features import Columns
from gradsift.sift.groups import association_log_p, pillai_log_p
from gradsift.sift.rows import make_rows
from gradsift.sift.saddlepoint import exchangeable_log_p

pytestmark = pytest.mark.filterwarnings(
    "ignore::gradsift.exceptions.NothingSelectedWarning"  # noise has no variables
)


def factor_table(seed: int, n: int = 100, copies: int = 20, others: int = 180):
    """Noisy copies of one hidden cause of the response, and columns of noise."""
    rng = np.random.default_rng(seed)
    cause = rng.normal(size=(n, 1))
    X = np.hstack([cause + rng.normal(size=(n, copies)), rng.normal(size=(n, others))])
    return X, cause[:, 0] + rng.normal(size=n)


@pytest.mark.parametrize(("m", "q"), [(1, 1), (8, 1), (1, 3)])
def test_tail_is_that_of_the_f_test(m: int, q: int) -> None:
    n, trace = 40, np.array([0.05, 0.3, 0.7])
    size, rest = max(m, q), n - 1 - max(m, q)
    ratio = trace / (1 - trace) * rest / size
    assert np.allclose(pillai_log_p(trace, n, m, q), fisher.logsf(ratio, size, rest))


def test_tail_of_several_features_and_responses_is_close_to_random_ones() -> None:
    rng, n, m, q, times = np.random.default_rng(0), 60, 8, 3, 4000
    found = np.empty(times)
    for i in range(times):
        Z = np.linalg.qr(centred(rng.normal(size=(n, m))))[0]
        R = np.linalg.qr(centred(rng.normal(size=(n, q))))[0]
        found[i] = np.square(Z.T @ R).sum()
    p = np.exp(pillai_log_p(found, n, m, q))
    for level in (0.5, 0.1, 0.02):
        error = np.sqrt(level * (1 - level) / times)
        assert np.mean(p < level) == pytest.approx(level, abs=4 * error)


def centred(X: np.ndarray) -> np.ndarray:
    return X - X.mean(axis=0)


def test_variable_pays_for_its_columns() -> None:
    log_p = np.log([0.01, 0.5, 0.2])
    assert np.allclose(np.exp(by_label(log_p, np.array([0, 0, 1]))), [0.02, 0.02, 0.2])


def test_list_holds_what_shares_a_cause_and_little_else() -> None:
    longer, false, selected = [], [], []
    for seed in range(8):
        X, y = factor_table(seed)
        model = GradientSiftRegressor(predict_with="selected").fit(X, y)
        found = model.association_.associated(0.1)
        longer.append(np.sum(found < 20))
        false.append(np.mean(found >= 20))
        selected.append(model.get_support().sum())
    assert np.mean(longer) > 17
    assert np.mean(selected) < 10  # the other list stays short
    assert np.mean(false) < 0.2


def test_noise_has_no_list() -> None:
    listed = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y = rng.exponential(size=(60, 300)), rng.integers(2, size=60)
        model = GradientSiftClassifier(predict_with="selected").fit(X, y)
        listed += len(model.association_.associated(0.1)) > 0
    assert listed <= 4  # one on average


COLUMNS = {
    "normal": lambda rng, n, p: rng.normal(size=(n, p)),
    "skewed": lambda rng, n, p: np.exp(rng.normal(size=(n, p))),
    "genotypes": lambda rng, n, p: rng.binomial(2, rng.uniform(0.05, 0.5, p), (n, p)) * 1.0,
}
RESPONSES = {
    "rare cases": lambda rng, n: np.where(rng.permutation(n) < 0.07 * n, 1.0, -1.0),
    "half zeros": lambda rng, n: np.exp(rng.normal(size=n)) * (rng.permutation(n) < 0.5 * n),
    "most zeros": lambda rng, n: np.exp(rng.normal(size=n)) * (rng.permutation(n) < 0.25 * n),
}


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("response", RESPONSES)
def test_rare_cases_and_many_zeros_rarely_have_a_list_in_noise(response, columns) -> None:
    listed, times, n, p = 0, 30, 120, 200
    for seed in range(times):
        rng = np.random.default_rng([seed, 31])
        X, y = standardised(COLUMNS[columns](rng, n, p)), RESPONSES[response](rng, n)
        problem = make_sift(ArraySource(X), y[:, None], robust=response != "rare cases")
        groups, marginal = problem.first_pool()
        found = column_association(SiftFit(problem, groups, (), (), marginal), p)
        listed += len(found.associated(0.1)) > 0
    assert listed <= 6  # three on average, at most; Beta tails give 7 to 20


def standardised(X: np.ndarray) -> np.ndarray:
    return centred(X) / np.maximum(X.std(axis=0), 1e-12)


@pytest.mark.parametrize("response", RESPONSES)
def test_tail_of_skewed_features_is_close_to_that_of_permutations(response) -> None:
    rng, n, p = np.random.default_rng(7), 150, 3000
    X = ArraySource(standardised(COLUMNS["skewed"](rng, n, p)))
    R, rows = standardised(RESPONSES[response](rng, n)[:, None]), make_rows(n, None)
    raw = association_log_p(Columns(X, rows).statistics(R), n, 1)
    near = np.flatnonzero(raw < np.log(0.05))
    found = exchangeable_log_p(Columns(X, rows), near, R, n)
    assert np.all(found >= raw[near] - 1e-6)
    assert 6 < np.sum(found < np.log(0.01)) <= 45  # 30 of 3,000 expected, at most
    assert np.sum(found < np.log(0.001)) <= 8 < np.sum(raw[near] < np.log(0.001))  # 3


def test_tail_counts_what_a_column_says_of_all_classes() -> None:
    """Two contrasts of three classes can have a trace above one."""
    rng, n = np.random.default_rng(0), 120
    place = np.arange(n) % 6
    X = ArraySource(standardised(place[:, None] + 0.05 * rng.normal(size=(n, 1))))
    contrasts, rows = centred(np.eye(3)[place % 3][:, :2]), make_rows(n, None)
    R = whiten_residual(contrasts, n)
    statistic = Columns(X, rows).statistics(R)
    assert statistic[2] > n
    raw = association_log_p(statistic, n, 2)
    assert exchangeable_log_p(Columns(X, rows), np.arange(1), R, n) < raw / 2


def test_tail_of_a_row_of_weight_two_is_that_of_the_row_twice() -> None:
    rng, n = np.random.default_rng(3), 60
    X, y = np.exp(rng.normal(size=(n, 20))), 1.0 * (np.arange(n) < 6)
    X[:6] *= 2
    weight = 1.0 + (np.arange(n) % 3 == 0)
    twice = np.repeat(np.arange(n), weight.astype(int))
    answers = []
    for some, w in ((slice(None), weight), (twice, None)):
        rows = make_rows(len(y[some]), w)
        R = whiten_residual(rows.centred(y[some][:, None]) * np.reshape(rows.root, (-1, 1)), 80)
        source = ArraySource(X[some])
        answers.append(exchangeable_log_p(Columns(source, rows), np.arange(20), R, rows.total))
    assert answers[0].min() < np.log(0.01)
    assert answers[0] == pytest.approx(answers[1], rel=1e-6)


def test_rare_values_cannot_be_surer_than_their_deals() -> None:
    """One row with a large response has every column to itself that differs there only."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 100))
    X[:, :14] = 0.0
    X[7, :14] = 1.0
    y = rng.normal(size=60)
    y[7] = 2.9
    found = GradientSiftRegressor(predict_with="selected").fit(X, y).association_
    assert found.p_values[:14] == pytest.approx(np.full(14, 1 / 60), rel=1e-6)
    assert len(found.associated(0.1)) == 0


def test_order_is_by_certainty_and_curves_count() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 30))
    y = X[:, 3] ** 2 + 0.5 * X[:, 9] + 0.3 * rng.normal(size=200)
    found = GradientSiftRegressor(predict_with="selected").fit(X, y).association_
    assert found.associated()[:2].tolist() == [3, 9]
    assert np.all(found.q_values >= found.p_values)


def test_columns_that_are_kept_and_covariates_are_not_tested_but_tested_beside() -> None:
    X, y = factor_table(3)
    cause = X[:, :20].mean(axis=1)
    kept = GradientSiftRegressor(predict_with="selected", always_keep=[0]).fit(X, y).association_
    assert np.isnan(kept.p_values[0])
    assert np.isnan(kept.q_values[0])
    beside = GradientSiftRegressor(predict_with="selected").fit(X, y, covariates=cause[:, None])
    alone = GradientSiftRegressor(predict_with="selected").fit(X, y)
    assert beside.association_.p_values.shape == (200,)
    assert len(beside.association_.associated()) < len(alone.association_.associated()) / 2


def test_rows_that_belong_together_have_no_list() -> None:
    X, y = factor_table(4)
    model = GradientSiftRegressor().fit(X, y, groups=np.arange(100) // 2)
    assert model.association_ is None


def test_categories_count_as_one_variable() -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(5)
    level = rng.integers(4, size=150)
    table = pandas.DataFrame(rng.normal(size=(150, 12)), columns=[f"x{k}" for k in range(12)])
    table["kind"] = pandas.Categorical.from_codes(level, list("abcd"))
    y = np.array([0.0, 1.0, 2.0, 0.0])[level] + rng.normal(size=150)
    model = GradientSiftRegressor().fit(table, y)
    assert model.association_.p_values.shape == (13,)
    assert model.association_.associated().tolist() == [12]
