"""Numbers or classes: which reading was taken, why, and the option for the other."""

import numpy as np
import pytest

from gradsift.tables import BEWARE, Choices, prepare
from gradsift.tables.frame import make_frame
from gradsift.tables.task import order_note, read_target_as

N = 300


def ratings(rng, order):
    """Five classes whose variable x1 has means in this order; four columns of noise."""
    y = rng.integers(1, 6, size=N).astype(float)
    X = rng.normal(size=(N, 5))
    X[:, 1] += np.array(order, dtype=float)[y.astype(int) - 1]
    return X, y


def prepared(X, y, **asked):
    names = [f"x{k}" for k in range(X.shape[1])]
    return prepare(make_frame([*names, "stars"], [*X.T, y]), Choices("stars", **asked))


def test_a_rating_is_said_to_be_read_as_classes_and_recommended_as_numbers(rng):
    X, y = ratings(rng, [0, 1, 2, 3, 4])
    table = prepared(X, y)
    notes = "\n".join(table.notes)
    assert table.recipe.task == "classification"
    assert "because 'stars' has 5 different whole numbers only (1 to 5)" in notes
    assert "--task regression reads them as amounts" in notes
    assert f"{BEWARE}the classes of 'stars' follow an order: 'x1' rises or falls" in notes
    assert prepared(X, y, task="regression").notes == ()


@pytest.mark.parametrize("order", [[2, 0, 3, 1, 4], [0, 3, 0, 3, 0], [0, 2, 4, 2, 0]])
def test_classes_without_an_order_get_no_such_advice(rng, order):
    X, y = ratings(rng, order)
    assert not any("follow an order" in note for note in prepared(X, y).notes)


def test_noise_gets_no_such_advice():
    """Classes that no variable tells apart: at most the promised share of tables."""
    found = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 4, size=60).astype(float)
        found += (
            order_note(y, rng.normal(size=(60, 50)), [f"x{k}" for k in range(50)], "y") is not None
        )
    assert found <= 6  # 2 expected at most


def test_missing_values_do_not_matter(rng):
    X, y = ratings(rng, [4, 3, 2, 1, 0])
    X[::7, 1] = np.nan
    assert order_note(y, X, list("abcde"), "y") is not None


@pytest.mark.parametrize(
    ("y", "parts"),
    [
        (np.array([0.0, 1.0] * 20), ["classification", "two values", "--task regression"]),
        (np.repeat([0.0, 2.0, 7.0], 9), ["classification", "3 different", "--task regression"]),
        (np.repeat(np.arange(12.0), 9), ["regression", "12 different", "--task classification"]),
        (np.linspace(0, 1, 50), ["regression", "50 different numbers"]),
    ],
)
def test_every_reading_is_said_with_its_reason(y, parts):
    note = read_target_as(y, "auto", "y").note
    for part in parts:
        assert part in note
