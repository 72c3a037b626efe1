"""The target among the variables: left out where it is certain, named where it may be chance."""

import numpy as np
import pytest

from gradsift.tables import Choices, prepare
from gradsift.tables.frame import make_frame

N = 60


def texts(values):
    return np.array([str(v) for v in values], dtype=object)


def frame(rng, y, n=N, p=5, **more):
    noise = rng.normal(size=(n, p))
    names = [f"g{k}" for k in range(p)]
    return make_frame([*names, *more, "y"], [*noise.T, *more.values(), y])


def loud(table):
    return [note for note in table.notes if note.kind == "caution"]


LABELS = {
    "a copy": lambda c: c.astype(float),
    "other numbers": lambda c: np.where(c == 1, -5.0, 17.0),
    "text": lambda c: texts(np.where(c == 1, "ill", "well")),
    "a copy with missing values": lambda c: np.where(np.arange(len(c)) % 5 == 0, np.nan, c),
}


@pytest.mark.parametrize("name", LABELS)
@pytest.mark.parametrize("as_text", [False, True])
def test_classes_under_any_name_are_left_out(rng, name, as_text):
    classes = rng.integers(2, size=N)
    y = texts(np.where(classes == 1, "yes", "no")) if as_text else classes.astype(float)
    table = prepare(frame(rng, y, leak=LABELS[name](classes)), Choices("y"))
    assert table.names == ("g0", "g1", "g2", "g3", "g4")
    (note,) = loud(table)
    assert (note.columns, note.change) == (("leak",), "use")
    used = prepare(frame(rng, y, leak=LABELS[name](classes)), Choices("y", use=("leak",)))
    assert "leak" in {origin.split("=")[0] for origin in used.names}


@pytest.mark.parametrize("change", [np.copy, np.log, lambda v: 2 * v + 1, lambda v: -v, np.sqrt])
def test_functions_of_the_target_are_left_out(rng, change):
    y = rng.gamma(2.0, size=N)
    table = prepare(frame(rng, y, leak=change(y)), Choices("y"))
    assert "leak" not in table.names
    assert [note.columns for note in loud(table)] == [("leak",)]


@pytest.mark.parametrize(
    "combine", [lambda a, b: a + b, lambda a, b: 2 * a - b, lambda a, b: a * b]
)
def test_parts_that_add_up_or_multiply_to_the_target_are_left_out(rng, combine):
    a, b = rng.gamma(2.0, size=(2, N))
    table = prepare(frame(rng, combine(a, b) + 0.0, a=a, b=b), Choices("y"))
    assert {"a", "b"}.isdisjoint(table.names)


def test_a_rounded_mean_of_columns_is_left_out(rng):
    low, width = rng.normal(50, 9, size=(2, N))
    y = np.round(low + width / 2, 1)
    table = prepare(
        frame(rng, y, low=np.round(low, 1), high=np.round(low + width, 1)), Choices("y")
    )
    assert {"low", "high"}.isdisjoint(table.names)


@pytest.mark.parametrize("n", [120, 300])
def test_the_target_rounded_is_left_out(rng, n):
    y = 2.0 * rng.normal(size=n) if n == 120 else 2.0 * rng.normal(size=n) ** 3
    for leak in (np.round(y), np.floor(y / 2), np.where(rng.random(n) < 0.2, np.nan, np.round(y))):
        table = prepare(frame(rng, y, n=n, leak=leak), Choices("y"))
        assert "leak" not in table.names
        assert loud(table)[0].columns == ("leak",)


def test_levels_of_an_experiment_are_variables(rng):
    """A calibration with hardly any noise: values lie apart, around those of each level."""
    dose = np.repeat(np.arange(12.0), 5)
    y = 3.0 * dose + rng.normal(scale=0.2, size=60)
    assert "dose" in prepare(frame(rng, y, dose=dose), Choices("y")).names


def test_a_table_that_is_a_sum_as_a_whole_is_used_with_a_caution(rng):
    a, b = rng.normal(size=(2, N))
    table = prepare(make_frame(["a", "b", "y"], [a, b, a + 2 * b]), Choices("y"))
    assert table.names == ("a", "b")
    assert [set(note.columns) for note in loud(table)] == [{"a", "b"}]


def test_a_column_missing_in_one_class_only_is_left_out(rng):
    classes = np.arange(N) % 2
    gone = np.where(classes == 1, np.nan, rng.normal(size=N))
    table = prepare(frame(rng, texts(classes), leak=gone), Choices("y"))
    assert "leak" not in table.names


def test_what_may_be_chance_is_named_and_kept(rng):
    """A 0/1 column equals a 0/1 target in 20 rows: among 20,000 columns that happens."""
    y = np.repeat([0.0, 1.0], 10)
    noise = rng.integers(2, size=(20, 20_000)).astype(float)
    noise[:, 77] = y
    names = [f"s{k}" for k in range(20_000)]
    table = prepare(make_frame([*names, "y"], [*noise.T, y]), Choices("y"))
    assert table.X.shape == (20, 20_000)
    assert [note.columns for note in loud(table)] == [("s77",)]


def test_strong_but_honest_predictors_raise_no_alarm(rng):
    names = [f"g{k}" for k in range(30)]
    for _ in range(20):
        x = rng.normal(size=(200, 30))
        y = x[:, 0] + 1e-2 * rng.normal(size=200)
        assert loud(prepare(make_frame([*names, "y"], [*x.T, y]), Choices("y"))) == []
        classes = (x[:, 0] + 0.3 * rng.normal(size=200) > 0).astype(float)
        assert loud(prepare(make_frame([*names, "y"], [*x.T, classes]), Choices("y"))) == []


@pytest.mark.parametrize("missing", [False, True])
def test_another_time_of_the_same_follow_up_is_left_out(rng, missing):
    """Such as the time to death next to that to a relapse: equal where there was none."""
    relapse, death, end = (rng.exponential(size=N) * scale for scale in (1.0, 2.0, 3.0))
    dead = np.minimum(death, end)
    y, event = np.minimum(relapse, dead), (np.minimum(relapse, death) <= end).astype(float)
    follow = np.where(np.arange(N) % 9 == 0, np.nan, dead) if missing else dead
    entered, dose = y * rng.uniform(size=N), np.minimum(np.ceil(y), rng.integers(0, 2, N))
    table = prepare(
        frame(rng, y, days=follow, died=event, entered=entered, dose=dose),
        Choices("y", event="died"),
    )
    assert table.names == ("g0", "g1", "g2", "g3", "g4", "entered", "dose")
    (note,) = (note for note in loud(table) if "'days' left out" in note.text)
    assert "drop its event, too" in note.text
    kept = prepare(
        frame(rng, y, days=follow, died=event), Choices("y", event="died", use=("days",))
    )
    assert "days" in kept.names
