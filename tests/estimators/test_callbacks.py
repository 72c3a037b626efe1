"""scikit-learn's callbacks see the folds and alphas of a cross-validated fit."""

import importlib
import sys

import numpy as np
import pytest
from helpers import make_data
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gradsift import SparseGradientRegressorCV
from gradsift.estimators import sparse_cv as _callbacks

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")


class Recorder:
    """A callback that remembers, as a tree of task names."""

    max_propagation_depth = None

    def __init__(self, fail_at=None):
        self.events = []
        self.fail_at = fail_at

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.events.append(("begin", context.task_name, context.task_id, context.max_subtasks))
        if context.task_name == self.fail_at:
            raise RuntimeError("enough")

    def on_fit_task_end(self, estimator, context):
        self.events.append(("end", context.task_name, context.task_id, context.max_subtasks))


@pytest.fixture
def model():
    return SparseGradientRegressorCV(n_alphas=3, cv=2, eps=0.1)


@pytest.fixture(scope="module")
def table():
    return make_data("regression", n=30, p=6)


def tasks(name, number, inside=()):
    count = len(inside) // 2
    return [("begin", name, number, count), *inside, ("end", name, number, count)]


def alphas(count=3):
    return [event for i in range(count) for event in tasks("alpha", i)]


def test_folds_and_alphas_are_tasks(model, table):
    seen = Recorder()
    model.set_callbacks(seen).fit(*table)
    parts = [("fold", 0), ("fold", 1), ("path", 2)]
    inside = [event for name, i in parts for event in tasks(name, i, alphas())]
    root = ("fit", 0, 3)
    assert seen.events == ["setup", ("begin", *root), *inside, ("end", *root), "teardown"]


def test_folds_in_other_processes_are_tasks_without_parts(model, table):
    seen = Recorder()
    model.set_params(n_jobs=2).set_callbacks(seen).fit(*table)
    folds = [event for i in range(2) for event in tasks("fold", i)]
    assert seen.events[2:6] == folds
    assert seen.events[6:-2] == tasks("path", 2, alphas())


def test_a_finished_run_ends_every_task_it_begins(model, table, tmp_path):
    model.set_params(checkpoint=tmp_path / "run").fit(*table)
    seen = Recorder()
    model.set_callbacks(seen).fit(*table)
    begun, ended = ([e[1:] for e in seen.events[1:-1] if e[0] == k] for k in ("begin", "end"))
    assert sorted(begun) == sorted(ended)


def test_callbacks_are_put_away_when_a_fit_fails(model, table):
    seen = Recorder(fail_at="path")
    with pytest.raises(RuntimeError, match="enough"):
        model.set_callbacks(seen).fit(*table)
    assert seen.events[-1] == "teardown"
    seen.fail_at = None
    model.fit(*table)


def test_a_progress_bar_changes_nothing(model, table, capsys):
    plain = clone(model).fit(*table)
    shown = clone(model).set_callbacks(callback.ProgressBar()).fit(*table)
    assert "SparseGradientRegressorCV" in capsys.readouterr().out
    np.testing.assert_array_equal(plain.feature_importances_, shown.feature_importances_)


def test_callbacks_of_a_pipeline_reach_inside(model, table):
    seen = Recorder()
    make_pipeline(StandardScaler(), model).set_callbacks(seen).fit(*table)
    assert ("end", "alpha", 2, 0) in seen.events
    assert seen.events.count("teardown") == 1


def test_without_callbacks_in_scikit_learn_nothing_happens(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.callback", None)
    try:
        old = importlib.reload(_callbacks)

        class Plain(old.CallbackSupportMixin):
            @old.with_callbacks
            def fit(self):
                with (
                    old.fit_task(self, 2) as task,
                    task.part("a", 2) as part,
                    part.loop("b", 2) as step,
                ):
                    step()
                    step()
                return self

        assert not hasattr(Plain().fit(), "set_callbacks")
    finally:
        monkeypatch.undo()
        importlib.reload(_callbacks)
