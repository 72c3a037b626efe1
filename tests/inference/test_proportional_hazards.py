"""The test of proportional hazards."""

import numpy as np
import pytest

from gradsift.inference.proportional_hazards import proportional_hazards
from gradsift.responses import Survival
from gradsift.responses.survival import survival_records


def times(rng, risk, fades=False):
    """Hazards exp(risk); with `fades`, exp(risk) until t = .3 and one then on."""
    first = rng.exponential(size=len(risk)) * np.exp(-risk)
    if fades:
        first = np.where(first < 0.3, first, 0.3 + rng.exponential(size=len(risk)))
    end = rng.exponential(3.0, size=len(risk))
    return survival_records(np.minimum(first, end), first <= end)


def test_p_values_are_uniform_where_hazards_are_proportional(rng):
    p_values = []
    for _ in range(200):
        risk = rng.normal(size=100)
        p_values.append(proportional_hazards(Survival.of(times(rng, risk)), risk).p_value)
    assert 0.01 <= np.mean(np.array(p_values) < 0.05) <= 0.1
    assert 0.4 < np.mean(p_values) < 0.6


def test_an_effect_that_fades_is_seen_and_said(rng):
    risk = rng.normal(size=400)
    found = proportional_hazards(Survival.of(times(rng, risk, fades=True)), risk)
    assert not found.holds
    assert found.trend < -0.5
    assert "weaker with time" in str(found)
    assert "strata" in str(found)
    constant = proportional_hazards(Survival.of(times(rng, risk)), np.ones(400))
    assert constant.p_value == 1.0
    assert "Nothing speaks against" in str(constant)


def test_the_statistic_is_that_of_lifelines(rng):
    lifelines = pytest.importorskip("lifelines")
    pandas = pytest.importorskip("pandas")
    statistics = pytest.importorskip("lifelines.statistics")
    risk = rng.normal(size=300)
    y = times(rng, risk, fades=True)
    frame = pandas.DataFrame({"t": y["time"], "e": y["event"], "z": risk})
    model = lifelines.CoxPHFitter().fit(frame, "t", "e")
    other = statistics.proportional_hazard_test(model, frame, time_transform="rank")
    found = proportional_hazards(Survival.of(y), risk)
    assert np.log10(found.p_value) == pytest.approx(np.log10(np.ravel(other.p_value)[0]), abs=1.0)
