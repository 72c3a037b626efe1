"""What every response answers, and that a new one needs one class: an exponential law."""

import numpy as np
import pytest
from recipes import recipe

from gradsift import findings
from gradsift.responses import Counts, Labels, Likelihood, Numbers, Ordinal, Response, Survival
from gradsift.responses.survival import survival_records

MADE = recipe("A response")
Exponential, GradientSiftExponential = MADE.Exponential, MADE.GradientSiftExponential


def waiting_times(rng, n=200, p=30):
    X = rng.normal(size=(n, p))
    eta = X[:, 3] + X[:, 7] ** 2 - 1
    return X, rng.exponential(np.exp(1.0 + eta)), eta


RESPONSES = {
    "numbers": lambda rng: Numbers.of(rng.normal(size=40)),
    "two classes": lambda rng: Labels.of(rng.integers(2, size=40)),
    "three classes": lambda rng: Labels.of(rng.integers(3, size=40)),
    "exponential": lambda rng: Exponential.of(rng.exponential(size=40)),
    "survival": lambda rng: Survival.of(some_times(rng, 40)),
    "survival with entry and strata": lambda rng: Survival.of(some_times(rng, 40, more=True)),
    "counts": lambda rng: Counts.of(rng.negative_binomial(2, 0.4, size=40)),
    "ordered classes": lambda rng: Ordinal.of(np.r_[:4, rng.integers(4, size=36)]),
    "several numbers": lambda rng: Numbers.of(rng.normal(size=(40, 3))),
}
LABELS = ("two classes", "three classes")
LIKELIHOODS = [name for name in RESPONSES if not name.endswith("numbers") and name not in LABELS]


def some_times(rng, n, *, more=False):
    """Survival times with ties and censoring; entry times and strata too where `more`."""
    time, event = np.ceil(6.0 * rng.exponential(size=n)), rng.random(n) < 0.6
    if not more:
        return survival_records(time, event)
    return survival_records(time, event, time * rng.uniform(-1, 0.9, n), rng.integers(2, size=n))


@pytest.fixture(params=RESPONSES)
def response(request, rng):
    return RESPONSES[request.param](rng)


def test_a_response_answers_the_protocol(response):
    assert isinstance(response, Response)
    start = response.start()
    assert start.shape[0] == len(response.values) == 40
    assert start.ndim == 2


def test_the_start_of_some_rows_is_that_of_their_own_response(response):
    rows = np.arange(0, 40, 2)
    if isinstance(response, Likelihood):  # ranks depend on the rows
        some = type(response).of(response.y[rows])
        np.testing.assert_array_equal(response.take(rows).start(), some.start())
    else:
        np.testing.assert_array_equal(response.take(rows).start(), response.start()[rows])


def test_a_known_part_of_zero_changes_nothing(response):
    one, other = response.start(), response.given(np.zeros((40, response.offset_columns))).start()
    np.testing.assert_allclose(other - other.mean(axis=0), one - one.mean(axis=0), atol=1e-12)


def test_known_parts_add_up(response, rng):
    parts = rng.normal(size=(2, 40, response.offset_columns))
    twice, once = response.given(parts[0]).given(parts[1]), response.given(parts.sum(axis=0))
    np.testing.assert_allclose(twice.start(), once.start(), atol=1e-9)


def test_what_covariates_explain_is_not_explained_again(response, rng):
    C = rng.normal(size=(40, 2))
    C -= C.mean(axis=0)
    adjusted = response.adjusted_for(C, None)
    left = adjusted.coefficients(C, np.zeros((40, 0)), None)
    before = response.coefficients(C, np.zeros((40, 0)), None)
    assert np.abs(left).max() < 0.1 * np.abs(before).max() + 0.02
    assert response.adjusted_for(None, None) is response


def test_the_order_of_rows_does_not_matter(response, rng):
    order = rng.permutation(40)
    C = rng.normal(size=(40, 2))
    one = response.coefficients(C, np.zeros((40, 0)), None)
    other = response.take(order).coefficients(C[order], np.zeros((40, 0)), None)
    np.testing.assert_allclose(one, other, atol=1e-6)


def test_a_row_of_weight_two_counts_as_two_rows(response, rng):
    C, weight = rng.normal(size=(40, 2)), rng.integers(1, 3, size=40)
    if isinstance(response, Numbers):  # robust scales of copies are their own
        response = Numbers(response.y, robust=False)
    rows = np.repeat(np.arange(40), weight)
    one = response.coefficients(C, np.zeros((40, 0)), weight.astype(float))
    other = response.take(rows).coefficients(C[rows], np.zeros((len(rows), 0)), None)
    np.testing.assert_allclose(one, other, atol=1e-6)


# ------------------------------------------------ likelihoods


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_the_score_is_the_derivative_of_the_deviance(name, rng):
    response = RESPONSES[name](rng).given(rng.normal(size=(40, 1)))
    eta, weight, h = rng.normal(size=(40, 1)), rng.uniform(0.5, 2, size=40), 1e-5
    score = response.score(eta, weight)[:, 0]
    for i in range(40):
        up, down = eta.copy(), eta.copy()
        up[i], down[i] = up[i] + h, down[i] - h
        slope = (response.deviance(up, weight) - response.deviance(down, weight)) / (2 * h)
        np.testing.assert_allclose(-slope / 2.0, weight[i] * score[i], atol=1e-6)


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_the_deviance_of_a_row_of_weight_two_is_that_of_two_rows(name, rng):
    response = RESPONSES[name](rng)
    eta, weight = rng.normal(size=(40, 1)), rng.integers(1, 4, size=40)
    rows = np.repeat(np.arange(40), weight)
    once = response.deviance(eta, weight.astype(float))
    written_out = response.take(rows).deviance(eta[rows], np.ones(len(rows)))
    np.testing.assert_allclose(once, written_out, rtol=1e-9)


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_a_constant_added_to_eta_changes_nothing(name, rng):
    response, eta, weight = RESPONSES[name](rng), rng.normal(size=(40, 1)), np.ones(40)
    for method in (response.deviance, response.score):
        np.testing.assert_allclose(method(eta + 3.0, weight), method(eta, weight), atol=1e-6)


def test_a_penalised_fit_is_where_its_slope_is_zero(rng):
    X, y, _ = waiting_times(rng, n=80, p=8)
    response, weight = Exponential.of(y), np.ones(80)
    beta = response.fit(X, weight, penalty=2.0)
    slope = X.T @ response.score(X @ beta, weight) - 2.0 * beta
    np.testing.assert_allclose(slope, 0.0, atol=1e-3)


def test_least_squares_to_the_working_response_stays_at_the_largest_likelihood(rng):
    X, y, _ = waiting_times(rng, n=80, p=8)
    X = X - X.mean(axis=0)
    response, weight = Exponential.of(y), np.ones(80)
    beta = response.fit(X, weight, penalty=0.0)
    W = response.working(X @ beta, weight)
    np.testing.assert_allclose(np.linalg.lstsq(X, W, rcond=None)[0], beta, atol=1e-4)


def test_a_new_response_goes_through_fit_predict_and_findings(rng):
    X, y, eta = waiting_times(rng)
    model = GradientSiftExponential(inference=True).fit(X, y)
    assert model.get_support(indices=True).tolist() == [3, 7]
    predicted = model.predict(X)
    assert (predicted > 0).all()
    assert np.corrcoef(np.log(predicted), eta)[0, 1] > 0.95
    np.testing.assert_allclose(np.average(y / predicted), 1.0, rtol=1e-6)  # the constant
    clear = {int(f.representative) for f in model.findings_ if f.confidence > 0.95}
    assert clear == {3, 7}
    again = findings(model, X, y)
    np.testing.assert_array_equal(again.confidence, model.confidence_)


def test_a_new_response_takes_covariates_and_offsets(rng):
    X, y, _ = waiting_times(rng)
    age = rng.normal(size=200)
    model = GradientSiftExponential().fit(X, y * np.exp(2 * age), covariates={"age": age})
    assert model.get_support(indices=True).tolist() == [3, 7]
    np.testing.assert_allclose(model.covariates_.coefficients[0], 2.0, atol=0.3)
    known = GradientSiftExponential().fit(X, y * np.exp(2 * age), offset=2 * age)
    assert known.get_support(indices=True).tolist() == [3, 7]


def test_noise_has_no_more_false_variables_than_promised(rng):
    found = 0
    for _ in range(20):
        X = rng.normal(size=(80, 40))
        model = GradientSiftExponential().fit_for("support", X, rng.exponential(size=80))
        found += model.get_support().sum()
    assert found <= 14  # .3 are expected in each table
