"""Survival times: Cox's partial likelihood, and the estimator on it."""

import numpy as np
import pytest

from gradsift import GradientSiftSurvival
from gradsift.responses.survival import Survival, concordance, survival_of, survival_records

PHReg = pytest.importorskip("statsmodels.duration.hazard_regression").PHReg


def table(rng, n=300, p=30, censored=0.4):
    X = rng.normal(size=(n, p))
    eta = X[:, min(3, p - 1)] + 0.7 * (X[:, min(7, p - 2)] ** 2 - 1)
    death = rng.exponential(np.exp(-eta))
    end = rng.exponential(np.quantile(death, 1 - censored) * 2, size=n)
    return X, np.minimum(death, end), death <= end, eta


@pytest.mark.parametrize("entry", [False, True])
@pytest.mark.parametrize("strata", [False, True])
def test_coefficients_are_those_of_statsmodels(rng, entry, strata):
    X, time, event, _ = table(rng, p=3)
    time = np.ceil(8 * time) + 1.0  # ties
    start = rng.uniform(0, 0.5, 300) * time if entry else None
    block = rng.integers(3, size=300) if strata else None
    response = Survival.of(survival_records(time, event, start, block))
    beta = response.fit(X, np.ones(300), penalty=0.0)
    other = PHReg(time, X, status=event, entry=start, strata=block, ties="efron").fit()
    np.testing.assert_allclose(beta[:, 0], other.params, atol=1e-4)


def test_the_second_derivative_is_exact(rng):
    X, time, event, _ = table(rng, n=60, p=3)
    response = Survival.of(survival_records(np.ceil(5 * time), event))
    beta, weight, h = rng.normal(size=(3, 1)), rng.uniform(0.5, 2, 60), 1e-5
    H = response.curvature(X, X @ beta, weight)
    for j in range(3):
        step = h * np.eye(3)[:, [j]]
        up, down = (response.score(X @ b, weight) for b in (beta + step, beta - step))
        slope = -X.T @ (weight[:, None] * (up - down)) / (2 * h)
        np.testing.assert_allclose(H[:, [j]], slope, atol=1e-6)


def test_the_baseline_is_breslows(rng):
    X, time, event, _ = table(rng, n=80, p=2)
    response, eta = Survival.of(survival_records(time, event)), 0.5 * X[:, [0]]
    link = response.link(eta, np.ones(80))
    for t, H in zip(link.times[0], link.cumulative[0]):
        by_hand = sum(1.0 / np.exp(eta[time >= s]).sum() for s in time[event & (time <= t)])
        np.testing.assert_allclose(H, by_hand)


def test_every_form_of_y_is_the_same_response(rng):
    pandas = pytest.importorskip("pandas")
    _, time, event, _ = table(rng, n=20)
    records = survival_records(time, event)
    structured = np.array(list(zip(event, time)), dtype=[("cens", "?"), ("time", "f8")])
    frame = pandas.DataFrame({"died": event.astype(int), "months": time})
    for y in (records, structured, frame, np.column_stack([time, event])):
        np.testing.assert_array_equal(survival_of(y), records)


@pytest.mark.parametrize(
    ("y", "event", "words"),
    [
        ([1.0, 2.0, 3.0], None, "y has no events: pass event="),
        ([1.0, -2.0, 3.0], [1, 1, 0], "a survival time is -2"),
        ([1.0, np.inf, 3.0], [1, 1, 0], "a survival time is inf"),
        ([1.0, 2.0, 3.0], [1, 2, 0], "event holds"),
        ([1.0, 2.0, 3.0], ["dead", "alive", "dead"], "event holds .dead., .alive.: it is True"),
        ([1.0, 2.0, 3.0], [1, None, 0], "event holds 1, None, 0: .* and never missing"),
        ([1.0, 2.0, 3.0], [0, 0, 1], "at least two are needed"),
    ],
)
def test_a_wrong_y_is_refused_in_our_words(y, event, words):
    with pytest.raises(ValueError, match=words):
        GradientSiftSurvival().fit(np.eye(3), y, event=event)


@pytest.mark.parametrize(
    ("entry", "strata", "words"),
    [
        (["a", "b", "c"], None, "entry holds values that are not numbers"),
        ([0.0, np.nan, 0.0], None, "entry is one number for each row, and none is missing"),
        ([0.0, 0.0], None, "entry is one number for each row"),
        (None, ["a", None, "b"], "strata is missing for 1 of 3 rows, the first in row 1"),
        (None, [1.0, 2.0, np.nan], "strata is missing for 1 of 3 rows"),
        (None, [["a"], ["b"], ["c"]], r"strata has shape \(3, 1\)"),
    ],
)
def test_a_wrong_entry_or_stratum_is_refused_in_our_words(entry, strata, words):
    with pytest.raises(ValueError, match=words):
        survival_records([1.0, 2.0, 3.0], [1, 1, 0], entry, strata)


def test_truth_values_of_a_table_of_mixed_cells_are_events(rng):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.array([[5.0, True], [2.0, False], [3.0, True]], dtype=object))
    assert survival_of(frame)["event"].tolist() == [True, False, True]


def test_a_time_or_a_stratum_that_there_is_none_of_is_refused(rng):
    X, time, event, _ = table(rng, n=60, p=3)
    model = GradientSiftSurvival().fit(X, time, event=event, strata=np.arange(60) % 2)
    assert model.predict_survival_function(X[:2], 0.5).shape == (2, 1)
    for wrong in (2, -1, "b"):
        with pytest.raises(ValueError, match="the model has 2, numbered from 0"):
            model.predict_survival_function(X[:2], [0.5], stratum=wrong)
        with pytest.raises(ValueError, match="the model has 2, numbered from 0"):
            model.predict_median(X[:2], stratum=wrong)
    with pytest.raises(ValueError, match="times holds nan"):
        model.predict_cumulative_hazard_function(X[:2], [0.5, np.nan])


def test_the_variables_of_the_hazard_are_found_and_predict_it(rng):
    X, time, event, eta = table(rng)
    model = GradientSiftSurvival(inference=True).fit(X, time, event=event)
    assert {3, 7} <= set(model.get_support(indices=True).tolist())
    assert model.n_events_ == event.sum()
    assert np.corrcoef(model.predict(X), eta)[0, 1] > 0.9
    assert {int(f.representative) for f in model.findings_[:2]} == {3, 7}
    new, t, d, _ = table(rng)
    assert model.score(new, t, event=d) > 0.7


def test_survival_curves_fall_from_one_and_are_calibrated(rng):
    X, time, event, _ = table(rng, n=600)
    model = GradientSiftSurvival().fit(X, time, event=event)
    new, _, _, eta = table(rng, n=2000)
    at = np.quantile(time[event], [0.0, 0.25, 0.5, 0.75])
    S = model.predict_survival_function(new, at)
    assert S.shape == (2000, 4)
    assert (np.diff(S, axis=1) <= 0).all()
    assert (S <= 1.0).all()
    true = np.exp(-at * np.exp(eta)[:, None])
    np.testing.assert_allclose(S.mean(axis=0), true.mean(axis=0), atol=0.05)
    H = model.predict_cumulative_hazard_function(new, at)
    np.testing.assert_allclose(np.exp(-H), S)


def test_the_median_is_where_the_curve_falls_to_one_half(rng):
    X, time, event, _ = table(rng)
    strata = np.arange(300) % 2
    model = GradientSiftSurvival().fit(X, time, event=event, strata=strata)
    for s in (0, 1):
        times = np.unique(time[event & (strata == s)])
        S = model.predict_survival_function(X, times, stratum=s)
        falls = [times[row <= 0.5][0] if (row <= 0.5).any() else np.inf for row in S]
        found = model.predict_median(X, stratum=s)
        np.testing.assert_array_equal(found, falls)
        assert np.isinf(found).any()
        assert np.isfinite(found).any()


def test_concordance_is_that_of_all_pairs_by_hand(rng):
    time, event, risk = rng.integers(1, 6, 25), rng.random(25) < 0.7, rng.integers(0, 4, 25)
    good = pairs = 0.0
    for i in range(25):
        for j in range(25):
            later = time[j] > time[i] or (time[j] == time[i] and not event[j])
            if event[i] and later:
                pairs += 1
                good += (risk[i] > risk[j]) + 0.5 * (risk[i] == risk[j])
    assert concordance(survival_records(time, event), risk) == pytest.approx(good / pairs)


def test_strata_and_entry_reach_the_likelihood(rng):
    X, time, event, _ = table(rng)
    block = np.arange(300) % 2
    time = np.where(block == 1, 20.0 * time, time)  # another baseline
    model = GradientSiftSurvival().fit(X, time, event=event, strata=block)
    assert {3, 7} <= set(model.get_support(indices=True).tolist())
    assert len(model.link_.times) == 2
    one, other = (model.predict_survival_function(X[:5], [1.0], stratum=s) for s in (0, 1))
    assert (one < other).all()


def test_a_search_starts_with_the_events_however_few(rng):
    """Normal scores of 8 events in 200 rows hold little but the order of the censored rows."""
    time, event = rng.exponential(size=200), np.arange(200) < 8
    response, weight = Survival.of(survival_records(time, event)), np.ones(200)
    start, score = response.start()[:, 0], response.score(np.zeros((200, 1)), weight)[:, 0]
    assert np.corrcoef(start, score)[0, 1] > 0.99


def test_few_events_select_nothing(rng):
    for _ in range(6):
        X = rng.normal(size=(150, 100))
        event = np.arange(150) < 8
        model = GradientSiftSurvival().fit_for(
            "support", X, survival_records(rng.exponential(size=150), event)
        )
        assert model.get_support().sum() <= 1


def test_noise_has_about_as_many_false_variables_as_promised(rng):
    found = []
    for _ in range(24):
        X, time = rng.normal(size=(150, 60)), rng.exponential(size=150)
        y = survival_records(time, rng.random(150) < 0.5)
        found.append(GradientSiftSurvival().fit_for("support", X, y).get_support().sum())
    assert np.mean(found) <= 0.75


@pytest.mark.filterwarnings("ignore:no variable was selected")
def test_many_weak_effects_order_the_rows_where_few_events_were_seen(rng):
    scores = []
    for _ in range(8):
        beta = rng.normal(size=30) * 0.2
        X = rng.normal(size=(500, 30))
        time = rng.exponential(np.exp(-X @ beta))
        y = survival_records(time, rng.random(500) < 0.35)
        model = GradientSiftSurvival().fit_for("predictions", X[:150], y[:150])
        scores.append(model.score(X[150:], y[150:]))
    assert np.mean(scores) > 0.6
