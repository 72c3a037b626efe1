"""The response of a table: which reading was taken, why, and the options for the others."""

import numpy as np
import pytest

from gradsift.tables import Choices, TableError, open_new, open_table, prepare
from gradsift.tables.frame import make_frame
from gradsift.tables.response import event_value, read_task

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


def test_a_rating_is_said_to_be_read_as_classes(rng):
    X, y = ratings(rng, [0, 1, 2, 3, 4])
    table = prepared(X, y)
    notes = {note.kind: note for note in table.notes}
    assert table.task == "classification"
    assert "'stars' holds the 5 whole numbers 1 to 5" in notes["suggestion"].text
    assert notes["suggestion"].change == "task=ordinal, task=regression"
    assert prepared(X, y, task="regression").notes == ()


@pytest.mark.parametrize(
    ("y", "task", "said"),
    [
        (np.array([0.0, 1.0] * 20), "classification", []),
        (np.array([1.5, 2.5] * 5), "classification", []),
        (np.repeat([1.0, 2.0, 3.0], 10), "classification", ["task=regression"]),
        (np.repeat([0.0, 2.0, 7.0], 9), "classification", ["task=regression"]),
        (np.repeat(np.arange(12.0), 9), "regression", []),
        (np.linspace(0, 1, 50), "regression", []),
        (
            np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 5, 9, 14.0] * 3),
            "regression",
            ["task=counts"],
        ),
        (np.array(["a", "b", "c"], dtype=object), "classification", []),
        (np.array(["low", "high", "medium"], dtype=object), "classification", ["task=ordinal"]),
    ],
)
def test_the_task_follows_from_the_target(y, task, said):
    found, notes = read_task(y, "auto", "y")
    assert found == task
    assert [note.change for note in notes] == said
    with pytest.raises(ValueError, match="task 'tree'"):
        read_task(y, "tree", "y")


@pytest.mark.parametrize("value", ["yes", 3.5])
def test_a_target_of_one_value_is_refused(value):
    y = np.array([value] * 60, dtype=object if isinstance(value, str) else float)
    with pytest.raises(ValueError, match=rf"'y' is {value} in all 60 rows: there is nothing"):
        read_task(y, "auto", "y")


def test_a_target_called_a_count_is_one_wherever_it_begins():
    y = np.array([3, 3, 4, 4, 6, 9, 20, 45, 90.0])
    assert [note.change for note in read_task(y, "auto", "Freq")[1]] == ["task=counts"]
    assert read_task(y, "auto", "price")[1] == []


def test_an_interval_has_an_event(rng):
    time = rng.integers(1, 60, size=60).astype(float)
    frame = survival_frame(rng, time1=time, time2=time + 5.0, status=rng.integers(0, 2, size=60))
    table = prepare(frame, Choices("time2"))
    assert "status" not in table.names
    assert any("survival" in note.text and note.change == "event=status" for note in table.notes)


def survival_frame(rng, **columns):
    n = 60
    base = {"x": rng.normal(size=n), "months": rng.exponential(size=n) + 1.0}
    base |= {name: np.asarray(values) for name, values in columns.items()}
    return make_frame(list(base), list(base.values()))


@pytest.mark.parametrize(
    ("kinds", "name", "value"),
    [
        (["0", "1"], "died", "1"),
        (["0", "1"], "censored", "0"),
        (["1", "2"], "status", "2"),
        (["False", "True"], "event", "True"),
        (["no", "yes"], "relapse", "yes"),
        (["Alive", "Dead"], "vital", "Dead"),
        (["0:LIVING", "1:DECEASED"], "OS_STATUS", "1:DECEASED"),
        (["censored", "transplant"], "status", "transplant"),
        (["1"], "died", "1"),
        (["0", "1", "2"], "status", ""),
        (["a", "b"], "status", ""),
    ],
)
def test_what_means_the_event_is_understood(kinds, name, value):
    assert event_value(kinds, name) == value


def test_survival_times_are_read_from_their_columns(rng):
    died = np.array(["alive", "dead", "dead"] * 20, dtype=object)
    died[3] = None
    frame = survival_frame(rng, status=died, start=np.zeros(60), site=np.repeat([1.0, 2.0], 30))
    table = prepare(frame, Choices("months", event="status", entry="start", strata="site"))
    assert table.task == "survival"
    assert table.names == ("x",)
    assert len(table.y) == 59
    np.testing.assert_array_equal(table.y["event"], np.delete(died == "dead", 3))
    np.testing.assert_array_equal(table.y["stratum"], np.delete(np.repeat([0, 1], 30), 3))
    assert (table.y["entry"] == 0).all()
    said = [note.text for note in table.notes]
    assert "dead in 'status' means the event, in 40 of 59 rows" in said
    assert "1 row without 'status'" in said
    other = prepare(frame, Choices("months", event="status=alive"))
    np.testing.assert_array_equal(other.y["event"], ~table.y["event"])


def test_an_event_that_is_unclear_is_asked_for(rng):
    frame = survival_frame(rng, status=np.arange(60.0) % 3)
    with pytest.raises(TableError, match="Say which value means") as error:
        prepare(frame, Choices("months", event="status"))
    assert error.value.change == "event=status=VALUE"
    table = prepare(frame, Choices("months", event="status=2"))
    assert table.y["event"].sum() == 20
    with pytest.raises(TableError, match="has no '9'"):
        prepare(frame, Choices("months", event="status=9"))


def test_times_without_an_event_all_count_as_events(rng):
    table = prepare(survival_frame(rng), Choices("months", task="survival"))
    assert table.y["event"].all()
    (note,) = [note for note in table.notes if note.kind == "caution"]
    assert note.text.startswith("every time in 'months' counts as an event")
    assert note.change == "event=COLUMN"


@pytest.mark.parametrize(
    ("target", "change"),
    [("months", "event=died, use=died"), ("died", "target=months, event=died, use=months")],
)
def test_a_column_that_looks_like_the_event_is_asked_for(rng, target, change):
    frame = survival_frame(rng, died=np.arange(60.0) % 2)
    with pytest.raises(TableError, match="look like survival times: name both") as error:
        prepare(frame, Choices(target, task="survival"))
    assert error.value.change == change
    for aside in ({"use": ("died",)}, {"drop": ("died",)}):
        table = prepare(frame, Choices("months", task="survival", **aside))
        assert table.y["event"].all()
        assert ("died" in table.names) == ("use" in aside)


def test_counts_have_an_exposure(rng):
    visits = rng.poisson(2.0, size=60).astype(float)
    years = rng.uniform(1.0, 3.0, size=60)
    frame = survival_frame(rng, visits=visits, years=years)
    table = prepare(frame, Choices("visits", exposure="years"))
    assert table.task == "counts"
    assert table.names == ("x", "months")
    np.testing.assert_array_equal(table.sample_params["exposure"], years)
    with pytest.raises(TableError, match="positive numbers"):
        prepare(
            survival_frame(rng, visits=visits, years=-years), Choices("visits", exposure="years")
        )
    with pytest.raises(TableError, match="counts are whole numbers"):
        prepare(frame, Choices("months", task="counts"))


def test_ordered_answers_are_places_in_their_order(rng):
    grades = np.array(["severe", "none", "mild"] * 20, dtype=object)
    frame = survival_frame(rng, grade=grades, stars=np.arange(60.0) % 5 + 1)
    table = prepare(frame, Choices("grade", task="ordinal"))
    assert table.recipe.levels == ("none", "mild", "severe")
    assert table.y[:3].tolist() == [2.0, 0.0, 1.0]
    table = prepare(frame, Choices("stars", task="ordinal"))
    assert table.recipe.levels == ("1", "2", "3", "4", "5")
    with pytest.raises(TableError, match="Write numbers, or"):
        prepare(survival_frame(rng, kind=np.array(["a", "b", "c"] * 20, dtype=object)),
                Choices("kind", task="ordinal"))  # fmt: skip


def test_several_targets_are_one_response(rng):
    frame = survival_frame(rng, protein=rng.normal(size=60), fat=rng.normal(size=60))
    table = prepare(frame, Choices("protein", more_targets=("fat",)))
    assert table.y.shape == (60, 2)
    assert table.names == ("x", "months")
    assert table.recipe.response.targets == ("protein", "fat")
    text = np.array(["a", "b"] * 30, dtype=object)
    with pytest.raises(TableError, match="must all be numbers"):
        prepare(survival_frame(rng, kind=text), Choices("months", more_targets=("kind",)))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"event": "x", "exposure": "months"}, "cannot be combined"),
        ({"event": "x", "task": "counts"}, "cannot be combined"),
        ({"entry": "x"}, "belongs to survival times"),
        ({"event": "months", "entry": "months"}, "named twice for the response"),
        ({"event": "sttus"}, "no column 'sttus'"),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(rng, asked, said):
    with pytest.raises(TableError, match=said):
        prepare(survival_frame(rng, out=np.arange(60.0)), Choices("out", **asked))


def test_a_new_table_has_the_response_as_the_fit_had_it(tmp_path, rng):
    rows = [f"{k % 7},{k + 1},{'dead' if k % 3 else 'alive'}" for k in range(40)]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["x,months,status", *rows]))
    table = open_table(path, Choices("months", event="status"))
    path.write_text("x,months,status\n1,2,dead\n3,,alive\n")
    new = open_new(path, table.recipe)
    assert new.y["event"][0]
    assert np.isnan(new.y["time"][1])
    path.write_text("x,months\n1,2\n3,4\n")
    assert open_new(path, table.recipe).y is None
