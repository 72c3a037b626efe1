"""Paths stay cheap: passes over the data and products per alpha, counted; time as a loose ratio.

Counts are the same on every machine, so they are held tight. The ratio of a path to one product
X'M only catches what the counts cannot see; it has much room for a busy machine.
"""

import time

import numpy as np
import pytest
from sklearn.linear_model import LassoCV
from threadpoolctl import threadpool_limits

import gradsift.solver.working_set as working_set
from gradsift import GradientSiftRegressor, gradient_path
from gradsift.data import ArraySource, open_source
from gradsift.refit import refit_regression
from gradsift.refit.all_columns import KernelColumns
from gradsift.refit.settings import NUMBERS
from gradsift.sift.features import Columns
from gradsift.sift.rows import make_rows


def surface(n, p):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    height = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * X[:, 3] ** 2 - 0.5 + 0.3 * rng.normal(size=n)
    return X, np.sign(height)


@pytest.mark.parametrize(
    ("task", "kernel", "products"),
    [
        ("regression", "gaussian", 10),
        ("classification", "gaussian", 16),
        ("regression", "affine", 60),
        ("classification", "affine", 100),
    ],
)
def test_passes_and_products_per_alpha(monkeypatch, task, kernel, products):
    X, y = surface(60, 1_000)
    passes, one_pass = [], working_set.gradient_norms
    monkeypatch.setattr(
        working_set, "gradient_norms", lambda *args: passes.append(1) or one_pass(*args)
    )
    path = gradient_path(X, y, task=task, kernel=kernel)
    assert path.converged.all()
    assert len(passes) <= 1.1 * len(path.alphas)  # a certificate needs one, and rarely two
    assert path.n_iter.mean() <= products


def test_a_path_costs_a_few_products_over_the_table():
    """Some 3 in units of X'M per alpha; 25 would mean that something is wrong, not slow."""
    X, y = surface(72, 7_129)
    M = np.random.default_rng(1).normal(size=(72, 72))
    with threadpool_limits(1, user_api="blas"):
        ratios = []
        for _ in range(3):
            start = time.process_time()
            for _ in range(10):
                X.T @ M
            one = (time.process_time() - start) / 10
            start = time.process_time()
            path = gradient_path(X, y, kernel="gaussian")
            ratios.append((time.process_time() - start) / len(path.alphas) / one)
    assert path.dual_gaps.max() <= 1e-4
    assert min(ratios) < 25


def curved(n, p):
    """A response of three columns, without any other."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n)


@pytest.mark.parametrize(("n", "p", "most"), [(200, 1_000, 10), (60, 5_000, 10), (1_000, 50, 200)])
@pytest.mark.filterwarnings("ignore::UserWarning")  # of fits that find nothing
def test_a_fit_takes_a_few_times_a_lasso_with_cross_validation(n, p, most):
    """1, 1 and 20 times; more than `most` would mean that something is wrong, not slow.

    Processor time of one thread in one process, the best of three, so that load counts little.
    """
    X, y = curved(n, p)
    ratios = []
    with threadpool_limits(1, user_api="blas"):
        for model in (GradientSiftRegressor(), LassoCV()):
            model.fit(X[:50, :10], y[:50])  # imports
            seconds = []
            for _ in range(3):
                start = time.process_time()
                model.fit(X, y)
                seconds.append(time.process_time() - start)
            ratios.append(min(seconds))
    assert ratios[0] < most * ratios[1]


@pytest.mark.parametrize("spread_over_all", [False, True])
def test_kernels_on_all_columns_are_tuned_on_all_rows_only_where_they_may_help(
    monkeypatch, spread_over_all
):
    X, y = curved(1_000, 12)
    if spread_over_all:
        rng = np.random.default_rng(1)
        y = 0.2 * X @ rng.normal(size=12) + rng.normal(size=1_000)
    rows, fit = [], KernelColumns.fit
    monkeypatch.setattr(
        KernelColumns, "fit", lambda *args: rows.append(len(args[2].Y)) or fit(*args)
    )
    GradientSiftRegressor(interactions=not spread_over_all).fit(X, y)
    assert max(rows) == (1_000 if spread_over_all else NUMBERS.kernel_trials[1])


def test_few_points_carry_a_refit_of_many_rows():
    X, y = curved(2_500, 3)
    found = refit_regression(X, y)
    assert len(found.function.points) <= 400  # of 1,000 landmarks


def test_sums_by_genotype_cost_a_part_of_a_pass_over_numbers(tmp_path):
    to_bed = pytest.importorskip("bed_reader").to_bed
    rng = np.random.default_rng(0)
    to_bed(tmp_path / "g.bed", rng.binomial(2, 0.3, (1_000, 1_500)).astype(float))
    table, rows = open_source(tmp_path / "g.bed"), make_rows(1_000, None)
    R = rng.normal(size=(1_000, 1))
    seconds = []
    for source in (table, ArraySource(table.columns(np.arange(1_500)))):
        start = time.process_time()
        Columns(source, rows).statistics(R)
        seconds.append(time.process_time() - start)
    assert seconds[0] < 0.5 * seconds[1]  # a tenth, on a quiet machine
