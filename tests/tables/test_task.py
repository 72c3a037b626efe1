"""Numbers or classes: which reading was taken, why, and the option for the other."""

import numpy as np
import pytest

from gradsift.tables import Choices, prepare
from gradsift.tables.frame import make_frame
from gradsift.tables.task import order_note, read_task

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
    notes = {note.kind: note for note in table.notes}
    assert table.task == "classification"
    assert "'stars' holds the 5 whole numbers 1 to 5" in notes["suggestion"].text
    assert "the classes of 'stars' follow an order: 'x1' rises or falls" in notes["caution"].text
    assert {note.change for note in notes.values()} == {"task=regression"}
    assert prepared(X, y, task="regression").notes == ()


@pytest.mark.parametrize("order", [[2, 0, 3, 1, 4], [0, 3, 0, 3, 0], [0, 2, 4, 2, 0]])
def test_classes_without_an_order_get_no_such_advice(rng, order):
    X, y = ratings(rng, order)
    assert not any("follow an order" in note.text for note in prepared(X, y).notes)


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
    ("y", "task", "said"),
    [
        (np.array([0.0, 1.0] * 20), "classification", []),
        (np.array([1.5, 2.5] * 5), "classification", []),
        (np.repeat([1.0, 2.0, 3.0], 10), "classification", ["task=regression"]),
        (np.repeat([0.0, 2.0, 7.0], 9), "classification", ["task=regression"]),
        (np.repeat(np.arange(12.0), 9), "regression", []),
        (np.linspace(0, 1, 50), "regression", []),
        (np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 5, 9, 14.0] * 3), "regression", [""]),
        (np.array(["a", "b", "c"], dtype=object), "classification", []),
    ],
)
def test_the_task_follows_from_the_target(y, task, said):
    found, notes = read_task(y, "auto", "y")
    assert found == task
    assert [note.change for note in notes] == said
    with pytest.raises(ValueError, match="task 'tree'"):
        read_task(y, "tree", "y")
