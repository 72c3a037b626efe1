"""Draws of effects against enumerated posteriors, and inner products against plain features."""

from dataclasses import replace

import numpy as np
import pytest

from gradsift.data import ArraySource
from gradsift.inference import candidates as room
from gradsift.inference.candidates import kept_features, make_candidates
from gradsift.inference.gibbs import at_most, draw
from gradsift.inference.settings import FindingSettings, univariate_prior
from gradsift.sift import SiftSettings
from gradsift.sift.features import Columns, clipped_known, univariate_features
from gradsift.sift.rows import make_rows

PARTS = SiftSettings().part_sizes


def candidates_of(X, y, kept=(), weight=None, noise=None, terms=(), entropy=None):
    rows = make_rows(len(X), weight)
    table = Columns(ArraySource(np.asarray(X, dtype=float)), rows)
    columns = np.setdiff1d(np.arange(X.shape[1]), kept)
    basis = kept_features(table, kept)
    Y = rows.centred(rows.take(np.atleast_2d(y.T).T)) * np.reshape(rows.root, (-1, 1))
    Y = Y - basis.T @ (basis @ Y) / rows.total
    settings = FindingSettings()
    return make_candidates(table, Y, terms, columns, basis, settings, noise=noise, entropy=entropy)


@pytest.fixture(scope="module")
def small():
    """Three columns, two of them alike, and a response of two."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(24, 3))
    X[:, 1] = 0.8 * X[:, 0] + 0.6 * X[:, 1]
    X = (X - X.mean(0)) / X.std(0)
    y = 0.6 * X[:, 0] + 0.3 * X[:, 2] ** 2 + rng.normal(size=24)
    return X, y - y.mean()


def test_features_are_orthonormal_within_a_column_and_ties_leave_few():
    rng = np.random.default_rng(0)
    X = np.stack([rng.normal(size=80), rng.integers(0, 2, 80), rng.integers(0, 3, 80)], axis=1)
    found = candidates_of((X - X.mean(0)) / X.std(0), rng.normal(size=80))
    f = len(found.part)
    for k in range(3):
        own = found.gram[k * f : (k + 1) * f, k * f : (k + 1) * f]
        present = np.diag(own) > 0.5
        np.testing.assert_allclose(own, np.diag(present.astype(float)), atol=1e-5)
    assert found.counts.sum(axis=0).tolist() == [7, 1, 2]


def test_scores_are_those_of_the_features_of_the_sift(small):
    """What linear and quadratic features of a column explain, by plain least squares."""
    X, y = small
    found = candidates_of(X, y)
    rows, f = make_rows(len(X), None), len(found.part)
    for k in range(3):
        Z = univariate_features(clipped_known(X[:, [k]], rows), rows)[0]
        for last in (1, 2):
            fit = Z[:last].T @ np.linalg.lstsq(Z[:last].T, y, rcond=None)[0]
            squares = np.square(found.scores[0, k * f : k * f + last]).sum()
            assert squares == pytest.approx(fit @ fit, rel=1e-5)


def test_pieces_of_columns_add_up(small, monkeypatch):
    X, y = small
    how = {"terms": [(0, 2)], "entropy": 20.0}
    whole = candidates_of(X, y, **how)
    monkeypatch.setattr(room, "FEATURE_VALUES", 1)
    parts = candidates_of(X, y, **how)
    assert len(whole.pairs) > 0
    for name in ("gram", "scores", "skewness"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), atol=1e-5)


def test_features_given_kept_columns_do_not_see_them():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4))
    X[:, 3] = X[:, 0]
    X = (X - X.mean(0)) / X.std(0)
    found = candidates_of(X, X[:, 0] + 0.1 * rng.normal(size=50), kept=[0])
    f = len(found.part)
    assert found.gram[2 * f, 2 * f] == pytest.approx(0.0, abs=1e-5)  # nothing is left of the copy
    assert found.gram[0, 0] == pytest.approx(1.0, abs=1e-5)
    assert found.total < 1.0


def log_evidence(found, prior, effects, power, noise=None):
    """log p(y | effects)^power up to a constant, coefficients (and noise) integrated out by a
    determinant and a solve; `effects`: (column, setting).
    """
    f, n = len(found.part), found.n
    at = [j * f + i for j, _ in effects for i in range(f)]
    v = np.concatenate([prior.variance[c][found.part] for _, c in effects] or [np.zeros(0)])
    G = found.gram[np.ix_(at, at)].astype(float)
    root = np.sqrt(power * v)
    A = np.eye(len(at)) + root[:, None] * G * root
    u = root * found.scores[0, at]
    explained = u @ np.linalg.solve(A, u)
    half = -0.5 * np.linalg.slogdet(A)[1]
    if noise is not None:
        return half + power * explained / (2 * noise)
    return half - power * (n - 1) / 2 * np.log(found.total - explained)


def enumerated(found, settings, noise=None):
    """Exact confidence of every column for two slots: every column and setting in both."""
    p, power = len(found.columns), settings.power
    prior = univariate_prior(found.n, PARTS, settings)
    most = found.p * settings.most_odds
    further = min(settings.further_odds, most)
    first = min(settings.first_odds, 0.4 * most)
    single = [((), 0.0)]
    single += [(((j, c),), w - np.log(p)) for j in range(p) for c, w in enumerate(prior.log_weight)]
    log_p, inside = [], []
    for a, log_a in single:
        for b, log_b in single:
            filled = len(a) + len(b)
            odds = [0.0, np.log(first), np.log(first * further)][filled]
            log_p.append(odds + log_a + log_b + log_evidence(found, prior, a + b, power, noise))
            inside.append([any(j == column for column, _ in a + b) for j in range(p)])
    weight = np.exp(np.array(log_p) - max(log_p))
    return weight @ np.array(inside) / weight.sum()


@pytest.mark.parametrize("noise", [None, 0.8])
@pytest.mark.parametrize("power", [1.0, 0.8])
def test_draws_are_those_of_the_enumerated_posterior(small, power, noise):
    X, y = small
    settings = FindingSettings(
        spare_slots=2, power=power, burn_in=30, sweeps=600, chains=64, most_draws=10**7,
        most_odds=1.0,
    )  # fmt: skip
    found = candidates_of(X, y, noise=noise)
    expected = enumerated(found, settings, noise)
    drawn = draw(found, PARTS, 0, settings).views.mean(axis=0)
    np.testing.assert_allclose(drawn, expected, atol=0.015)


def test_what_is_elsewhere_takes_its_part(small):
    X, y = small
    found = candidates_of(X, y)
    alone, shared = (
        draw(replace(found, elsewhere=e), PARTS, 0, FindingSettings()).views.mean(axis=0).sum()
        for e in (0.0, 50.0)
    )
    assert shared < 0.7 * alone


def test_labels_are_worth_their_entropy_at_most():
    most = np.float32(30.0)
    g = np.array([0.0, 3.0, 30.0, 3000.0], dtype=np.float32)
    np.testing.assert_allclose(at_most(g, most), [0.0, 3.0, 30 / 2**0.25, 30.0], rtol=1e-3)


def test_weights_of_four_are_rows_four_times_also_in_the_skewness():
    rng = np.random.default_rng(3)
    X = np.exp(rng.normal(size=(60, 5)))
    X = (X - X.mean(0)) / X.std(0)
    y = (rng.permutation(60) < 9).astype(float)
    y = (y - y.mean()) / y.std()
    weighted = candidates_of(X, y, weight=np.full(60, 4.0), entropy=100.0)
    repeated = candidates_of(np.repeat(X, 4, axis=0), np.repeat(y, 4), entropy=100.0)
    straight = np.tile(weighted.part < 2, 5)  # the axes of local features may turn
    one, other = (np.abs(found.skewness[0, straight]) for found in (weighted, repeated))
    np.testing.assert_allclose(one, other, rtol=1e-3)
    assert weighted.n == repeated.n


def test_columns_with_many_copies_keep_their_own_products():
    rng = np.random.default_rng(4)
    X = np.repeat(rng.normal(size=(50, 2)), 12, axis=1)
    found = candidates_of(X, X[:, 11] * X[:, 23], terms=[(11, 23)])
    assert [11, 23] in found.pairs.tolist()


def test_scores_of_rare_cases_and_skewed_columns_count_less():
    rng = np.random.default_rng(2)
    X = np.exp(1.5 * rng.normal(size=(300, 40)))
    X = (X - X.mean(0)) / X.std(0)
    y = (rng.permutation(300) < 20).astype(float)
    found = candidates_of(X, (y - y.mean()) / y.std(), entropy=300 * 0.245)
    assert found.skewness is not None
    plain = replace(found, skewness=None)
    sure = [draw(one, PARTS, 0, FindingSettings()).views.mean() for one in (found, plain)]
    assert sure[0] < sure[1]
