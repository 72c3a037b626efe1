"""Terms, the pass, the pool, and long tables with few rows."""

import numpy as np
import pytest
from scipy import sparse

from gradsift import GradientSiftRegressor, credible_families
from gradsift.data import ArraySource
from gradsift.sift import SiftSettings, sift
from gradsift.sift.response import make_response
from gradsift.sift.rows import make_rows
from gradsift.trust.condense import condensed
from gradsift.trust.family_settings import FamilySettings
from gradsift.trust.looks import look_at_all
from gradsift.trust.pool import (
    distinct_pairs,
    make_pool,
    scan,
    sift_terms,
)
from gradsift.trust.single_effects import own_prior
from gradsift.trust.slots import Noise, slot_posterior

NOTHING_KEPT = np.zeros((0, 0))


@pytest.fixture(scope="module")
def sifted():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(120, 30))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = X[:, 2] + X[:, 5] ** 2 + 1.5 * X[:, 8] * X[:, 9] + 0.5 * rng.normal(size=120)
    source, Y = ArraySource(X), y[:, None]
    response = make_response(Y, make_rows(120, None), True)
    return source, response, sift_terms(source, response, sift(source, Y).groups)


def test_terms_add_up_to_the_fit_of_the_sift(sifted):
    terms = sifted[2]
    assert list(terms.products) == [(8, 9)]
    assert len(terms.own) >= 2
    assert np.square(terms.residual).mean() < 0.2
    assert len(terms.partial_residuals) == 2 + len(terms.own) + 1
    np.testing.assert_allclose(terms.partial_residuals[1], terms.residual)


def test_nothing_selected_leaves_the_response(sifted):
    source, response, _ = sifted
    terms = sift_terms(source, response, ())
    np.testing.assert_array_equal(terms.residual, response.start)


def test_the_pass_sees_what_the_pool_sees(sifted):
    """Bayes factors of the pass, features thrown away, and of the pool's own features."""
    source, response, terms = sifted
    rows, settings = response.rows, SiftSettings()
    prior = own_prior(rows.total, settings.part_sizes, FamilySettings())
    found = scan(source, terms, source.X[:, :2], rows, settings, prior)
    corr = np.abs(np.corrcoef(source.X.T))
    assert np.abs(found.correlation - corr[:2]).max() < 0.02  # columns are clipped
    pool = make_pool(source, terms, NOTHING_KEPT, rows, settings, FamilySettings())
    exact = slot_posterior(
        look_at_all(pool.own).likely_look(1),
        Noise(unit=False, dof=rows.total - 1),
        terms.residual.T[None].astype(np.float32),
        np.zeros(1),
        np.zeros(1),
    )
    order = [np.argsort(-a, kind="stable")[:2] for a in (found.beside, exact.weights[:, 0])]
    np.testing.assert_array_equal(*order)


def test_a_small_pool_holds_the_strongest_columns(sifted):
    source, response, terms = sifted
    few = FamilySettings(pool=10, pool_values=1)
    pool = make_pool(source, terms, NOTHING_KEPT, response.rows, SiftSettings(), few)
    assert pool.own.elsewhere == 0.0  # 48 columns are always pooled
    wide = ArraySource(np.hstack([source.X, np.random.default_rng(0).normal(size=(120, 60))]))
    pool = make_pool(wide, terms, NOTHING_KEPT, response.rows, SiftSettings(), few)
    assert len(pool.columns) == len(pool.own) == 48
    assert {2, 5} <= set(pool.columns.tolist())
    assert 0.0 < pool.own.elsewhere < 2.0


def test_pairs_of_neighbours_are_distinct():
    pairs = distinct_pairs(np.array([1, 2]), np.array([2, 3]))
    assert pairs.tolist() == [[1, 2], [1, 3], [2, 3]]


def test_fewer_rows_keep_all_inner_products():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 6))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = X[:, 2] + X[:, 1] * X[:, 4] + rng.normal(size=900)
    source, Y = ArraySource(X), y[:, None]
    response = make_response(Y, make_rows(900, None), True)
    terms = sift_terms(source, response, sift(source, Y).groups)
    rows = response.rows
    pool = make_pool(source, terms, NOTHING_KEPT, rows, SiftSettings(), FamilySettings())
    short, few = condensed(pool, terms)
    assert len(few.response) < 100
    for before, after in ((pool.own, short.own), (pool.products, short.products)):
        scores = before.scores(terms.residual.T[None].astype(np.float32))
        np.testing.assert_allclose(
            after.scores(few.residual.T[None].astype(np.float32)), scores, atol=0.02
        )
        np.testing.assert_array_equal(after.present, before.present)
    np.testing.assert_allclose(few.residual.T @ few.residual, terms.residual.T @ terms.residual)


@pytest.mark.parametrize("kind", ["sparse", "memmap", "float32"])
def test_the_storage_of_a_table_does_not_matter(kind, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.7, size=(90, 40)).astype(float)
    y = X[:, 3] + 0.5 * rng.normal(size=90)
    stored = X.astype(np.float32) if kind == "float32" else X
    if kind == "sparse":
        stored = sparse.csc_array(X)
    if kind == "memmap":
        stored = np.memmap(tmp_path / "table", dtype=float, mode="w+", shape=X.shape)
        stored[:] = X
    expected = credible_families(GradientSiftRegressor().fit(X, y), X, y)
    found = credible_families(GradientSiftRegressor().fit(stored, y), stored, y)
    np.testing.assert_array_equal(found.inclusion_probabilities, expected.inclusion_probabilities)
    assert [f.columns.tolist() for f in found] == [f.columns.tolist() for f in expected]
