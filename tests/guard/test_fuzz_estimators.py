"""Every public entry, on tables nobody would write by hand: a clear refusal or a sound answer."""

import numpy as np
import pytest
from guard.counting import try_cases
from guard.entries import ENTRIES, run
from guard.sound import Unclear, check_refusal
from guard.strategies import cases

import gradsift


@pytest.mark.parametrize("name", ENTRIES)
def test_a_call_is_refused_in_clear_words_or_answered_soundly(name):
    entry = ENTRIES[name]
    try_cases(name, cases(entry.labels, entry.params), lambda case: run(entry, case))


def test_every_public_name_is_tried():
    """What is no entry of its own (kernels, weight rules) is a setting of those that are."""
    tried = {name.split(" of ")[0] for name in ENTRIES}
    settings = {"Adaptive", "AlphaGrid", "Gaussian", "Landmarks", "NearestNeighbors", "Penalties"}
    settings |= {"SiftOptions", "SolverSettings", "Answer"}
    assert tried == set(gradsift.__all__) - settings - {"TheoryRate", "Uniform"}


@pytest.mark.parametrize(
    "call",
    [
        lambda: np.linalg.inv(np.zeros((2, 2))),
        lambda: [][0],
        lambda: np.random.default_rng(-1),
        lambda: (_ for _ in ()).throw(ValueError("")),
    ],
    ids=["singular matrix", "index", "words of a library", "no words"],
)
def test_what_tells_the_user_nothing_is_no_refusal(call):
    with pytest.raises(Exception) as met:
        call()
    with pytest.raises(Unclear):
        check_refusal(met.value)
