"""The additive model: curves known in closed form, bands that cover, other people's fits."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from gradsift.answer.additive import fit_additive, pair_products
from gradsift.answer.effects import EffectModel
from gradsift.answer.targets import (
    SLOPE_SD,
    contrasts,
    information,
    label_target,
    number_target,
)
from gradsift.responses import Labels

CLASSES = np.array(["a", "b", "c"])


def centred(values):
    return values - values.mean()


def curve(fit, k, x):
    """(values, covariance) of the effect of a variable, in the units of the response."""
    block, unit = fit.design.blocks[k], getattr(fit.target, "unit", 1.0)
    B = fit.splines[k](x)
    V = fit.covariance[: len(fit.prior), : len(fit.prior)][block, block]
    return unit * (B @ fit.coefficients[block, 0]), unit**2 * (B @ V @ B.T)


def test_numbers_come_out_as_they_went_in(rng):
    X = rng.normal(size=(300, 3))
    fit = fit_additive(
        X, number_target(5 + 2 * X[:, 0] + X[:, 1] ** 2 + 0.1 * rng.normal(size=300))
    )
    grid = np.linspace(-1.5, 1.5, 21)
    for k, truth in enumerate([2 * grid, grid**2, 0 * grid]):
        found = curve(fit, k, grid)[0]
        assert np.abs(centred(found) - centred(truth)).max() < 0.1


def test_straight_numbers_are_least_squares(rng):
    X = rng.normal(size=(200, 2))
    y = X @ [1.0, -2.0] + rng.normal(size=200)
    fit = fit_additive(X, number_target(y))
    slopes = [np.diff(curve(fit, k, np.array([0.0, 1.0]))[0])[0] for k in range(2)]
    assert slopes == pytest.approx(LinearRegression().fit(X, y).coef_, abs=0.05)


def test_two_classes_are_penalised_logistic_regression(rng):
    """Two values leave no room for a bend, so the model is a logistic regression with a prior."""
    X = rng.integers(2, size=(300, 2)).astype(float)
    y = X[:, 0] - X[:, 1] + rng.logistic(size=300) > 0
    fit = fit_additive(X, label_target(Labels.of(y)))
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    twin = LogisticRegression(C=SLOPE_SD**2, tol=1e-8).fit(Z, y)
    assert fit.coefficients[:2, 0] == pytest.approx(twin.coef_[0], rel=1e-3)


def test_several_classes_are_multinomial_regression(rng):
    X = rng.integers(2, size=(300, 2)).astype(float)
    y = CLASSES[(np.column_stack([X, 0 * X[:, 0]]) + rng.gumbel(size=(300, 3))).argmax(axis=1)]
    target = label_target(Labels.of(y))
    fit = fit_additive(X, target)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    twin = LogisticRegression(C=target.slope_sd**2, tol=1e-8).fit(Z, y)
    assert np.abs(fit.coefficients[:2].T - twin.coef_).max() < 1e-3
    assert np.abs(fit.coefficients.sum(axis=1)).max() < 1e-6


def test_separated_classes_have_finite_slopes(rng):
    X = rng.normal(size=(80, 2))
    fit = fit_additive(X, label_target(Labels.of(X[:, 0] > 0)))
    values, covariance = curve(fit, 0, np.array([-1.0, 1.0]))
    assert 2 < np.diff(values)[0] < 20
    assert np.isfinite(covariance).all()


@pytest.mark.parametrize("kind", ["numbers", "two"])
def test_the_band_covers_the_truth(kind):
    """95 % bands hold the true curve at 95 % of places, on average over tables; 85 % at least."""
    grid, inside = np.linspace(-1.5, 1.5, 13), []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 3))
        truth = X[:, 0] + X[:, 1] ** 2
        if kind == "numbers":
            target = number_target(truth + rng.normal(size=200))
        else:
            target = label_target(Labels.of(truth + rng.logistic(size=200) > 1))
        fit = fit_additive(X, target)
        for k, true in enumerate([grid, grid**2]):
            h, V = curve(fit, k, grid)
            middle = np.eye(13) - np.eye(13)[6]  # changes from the middle of the grid
            error = np.sqrt(np.diagonal(middle @ V @ middle.T))
            inside.append(
                np.abs(middle @ (h - true))[np.arange(13) != 6] <= 1.96 * error[np.arange(13) != 6]
            )
    assert 0.85 < np.mean(inside) <= 1.0


def test_outliers_do_not_bend_the_curve(rng):
    X = rng.normal(size=(200, 2))
    y = X[:, 0] + 0.2 * rng.normal(size=200)
    y[:6] = 100.0
    fit = fit_additive(X, number_target(y))
    slope = np.diff(curve(fit, 0, np.array([-1.0, 1.0]))[0])[0] / 2
    assert slope == pytest.approx(1.0, abs=0.35)


def test_weights_are_copies_of_rows(rng):
    X, weight = rng.normal(size=(80, 2)), rng.integers(1, 4, size=80)
    y = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=80)
    again = np.repeat(np.arange(80), weight)
    one = fit_additive(X[:, :0], number_target(y, weight=weight.astype(float)))
    two = fit_additive(X[again][:, :0], number_target(y[again]))
    assert one.target.centre == pytest.approx(two.target.centre)
    assert one.covariance[0, 0] == pytest.approx(two.covariance[0, 0], rel=0.02)


@pytest.mark.parametrize("labels", [False, True])
def test_an_offset_is_a_known_part(rng, labels):
    X, part = rng.normal(size=(300, 1)), 2 * rng.normal(size=300)
    eta = X[:, 0] + part
    if labels:
        y = Labels.of(rng.random(300) < 1 / (1 + np.exp(-eta)))
        target = label_target(y.given(part[:, None]))
    else:
        target = number_target(eta + 0.1 * rng.normal(size=300) - part)
    fit = fit_additive(X, target)
    slope = np.diff(curve(fit, 0, np.array([0.0, 1.0]))[0])[0]
    assert slope == pytest.approx(1.0, abs=0.5 if labels else 0.1)


def test_rows_of_a_group_count_as_one(rng):
    """Copies of rows in groups: the interval is that of the rows, and not of the copies."""
    X = rng.normal(size=(60, 1))
    y = X[:, 0] + rng.normal(size=60)
    copies = np.repeat(np.arange(60), 5)
    alone = fit_additive(X, number_target(y))
    naive = fit_additive(X[copies], number_target(y[copies]))
    honest = fit_additive(X[copies], number_target(y[copies], groups=copies))
    wide, narrow, right = (np.sqrt(f.covariance[0, 0]) for f in (alone, naive, honest))
    assert narrow < 0.6 * wide
    assert right == pytest.approx(wide, rel=0.35)


def test_a_constant_column_does_nothing(rng):
    X = np.column_stack([np.ones(50), rng.normal(size=50)])
    fit = fit_additive(X, number_target(X[:, 1]))
    assert not curve(fit, 0, np.ones(3))[0].any()


def test_contrasts_are_orthonormal_and_sum_to_zero():
    Q = contrasts(4)
    assert np.allclose(Q.T @ Q, np.eye(3))
    assert np.allclose(Q.sum(axis=0), 0)


def test_information_matches_the_sum_over_samples(rng):
    A, root = rng.normal(size=(7, 3)), rng.normal(size=(7, 2, 2))
    W = root + root.transpose(0, 2, 1)
    brute = sum(np.kron(W[i], np.outer(A[i], A[i])) for i in range(7))
    assert np.allclose(information(A, W), brute)


@pytest.mark.parametrize("kind", ["numbers", "two", "three"])
def test_predictions_at_given_values_are_those_of_the_changed_table(rng, kind):
    """As from the design of a table in which the columns of the variables are replaced."""
    X = np.column_stack([rng.normal(size=(90, 2)), np.eye(3)[rng.integers(3, size=90)]])
    y = X[:, 0] * X[:, 1] + X[:, 0] * X[:, 3] + 0.3 * rng.normal(size=90)
    cuts = [[], [0.0], [-0.3, 0.3]][("numbers", "two", "three").index(kind)]
    labels = np.digitize(y, cuts)
    target = number_target(y) if kind == "numbers" else label_target(Labels.of(labels))
    pairs = [(0, 1), (0, 3), (0, 4)]
    fit = fit_additive(X[:, [0, 1, 2, 3, 4]], target, pairs)
    model = EffectModel({}, {0: [0], 1: [1], 2: [3, 4]}, fit, X, 1)
    first, second = np.array([0.4]), np.array([0.0, 0.0, 1.0])
    settings = [{0: first}, {0: -first}, {0: first, 2: second}, {0: first, 1: -first}, {1: first}]
    found = model.at(settings)
    D, splines = fit.design, fit.splines
    for row, values in enumerate(settings):
        changed = X.copy()
        for v, value in values.items():
            changed[:, model.where[v]] = value[-len(model.where[v]) :]
        together = (pair_products(changed, splines, pairs) - D.centre) / D.spread
        curves = [spline(x) for spline, x in zip(splines, changed.T)]
        again = np.hstack([*curves, together, np.ones((90, 1))])
        P, bend = target.means(fit.fitted)(again @ fit.coefficients)
        slope = np.einsum("ncf,nm->cfm", bend, again).reshape(P.shape[1], -1) / 90
        np.testing.assert_allclose(found.mean[row], P.mean(axis=0), atol=1e-12)
        np.testing.assert_allclose(found.slope[row], slope, atol=1e-12)
