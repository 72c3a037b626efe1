"""What a long run shows: where it is, how fast, how much memory, and how long yet."""

import io
import logging
import re
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from helpers import make_data

from gradsift import (
    AlphaGrid,
    GradientSiftClassifier,
    GradientSiftRegressor,
    SiftOptions,
    SolverSettings,
    SparseGradientRegressor,
    SparseGradientRegressorCV,
    gradient_path,
)
from gradsift._run import progress
from gradsift._run.passes import Counter, counting, each_block
from gradsift._run.progress import (
    Bar,
    Lines,
    Standing,
    Steps,
    choose_display,
    follow,
    progress_to,
    time_left,
)
from gradsift.data import ArraySource


class Clock:
    """Time that passes when told to."""

    now = 0.0

    def __call__(self):
        return self.now


class Shown(list):
    """A display that remembers."""

    show = list.append
    closed = False

    def close(self):
        self.closed = True


def answer(selected):
    return SimpleNamespace(rows=SimpleNamespace(index=np.arange(selected)))


# ------------------------------------------------------------------ how long yet

GROWING = {  # seconds of each step, and how close the line must come from the middle on
    "even": (np.ones(50), 1e-9),
    "line": (1.0 + np.arange(50), 1e-9),
    "geometric": (1.05 ** np.arange(50), 0.3),
    "jump": (np.r_[np.ones(10), 5.0 + np.arange(40)], 0.15),
}


@pytest.mark.parametrize("shape", GROWING)
@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_time_left_follows_the_trend(shape, noise):
    """Far closer than the mean, which is off by half or more where costs grow."""
    costs, close = GROWING[shape]
    costs = costs * np.exp(noise * np.random.default_rng(0).normal(size=50))
    for done in (25, 35, 45):
        truth, left = costs[done:].sum(), time_left(costs[:done], 50, 50)
        assert left == pytest.approx(truth, rel=close + 2 * noise)
        if shape != "even":
            by_mean = costs[:done].mean() * (50 - done)
            assert abs(left - truth) < 0.6 * abs(by_mean - truth)
    for done in range(3, 50):  # never wild: a few noisy steps must not promise days
        assert time_left(costs[:done], 50, 50) < 5 * costs[done:].sum()


def test_no_time_is_named_too_early_and_none_is_left_at_the_end():
    assert time_left(np.ones(2), 50, 50) is None
    assert time_left(np.ones(50), 50, 50) == 0.0


def test_costs_never_fall_below_what_they_are():
    """A path gets no cheaper: a falling start is noise."""
    assert time_left(np.array([5.0, 4.0, 3.0, 2.0]), 8, 8) == pytest.approx(4 * 3.5)


def test_later_folds_cost_what_earlier_ones_did():
    once = 1.0 + np.arange(10.0)
    assert time_left(once, 30, 10) == pytest.approx(2 * once.sum())
    # the second fold is twice as slow so far
    assert time_left(np.r_[once, 2 * once[:4]], 30, 10) == pytest.approx(
        2 * once[4:].sum() + 2 * once.sum()
    )


# ------------------------------------------------------------------ steps


def test_steps_tell_where_the_run_is(monkeypatch):
    monkeypatch.setattr(progress, "resident_memory", lambda: 812_000_000)
    clock, display, seen = Clock(), Shown(), Counter()
    steps = Steps(5, 5, display, seen, clock)
    for selected in (0, 3, 7, 7):
        clock.now += 2.0
        seen.columns += 1_000_000
        steps(answer(selected))
    assert display[2] == Standing(3, 5, 7, 500_000.0, 812_000_000, 6.0, pytest.approx(4.0))
    assert str(display[-1]) == (
        "4/5 alphas, 7 selected, 500,000 columns/s, 812 MB, 8.0 s, about 2.0 s left"
    )
    clock.now += 92.0
    steps(answer(1234))
    assert str(display[-1]) == "5/5 alphas, 1,234 selected, 812 MB, 1 min 40 s"


def test_steps_done_elsewhere_count_together():
    clock, display = Clock(), Shown()
    steps = Steps(12, 4, display, Counter(), clock)
    clock.now = 8.0
    steps.upto(4)
    assert steps.costs == [2.0] * 4
    assert display[-1].left == pytest.approx(16.0)
    clock.now = 16.0
    steps.upto(8)
    assert display[-1].left == pytest.approx(8.0)
    steps.upto(8)
    assert len(display) == 2


def test_passes_are_counted_where_they_happen():
    source = ArraySource(np.ones((3, 70)))

    def go_over():
        for _ in each_block(source, lambda where: np.sum, width=8):
            pass

    go_over()
    with counting() as seen:
        go_over()
        assert seen.columns == 70
        with counting() as inside:
            go_over()
        go_over()
    go_over()
    assert (seen.columns, inside.columns) == (140, 70)


def test_passes_in_single_precision_count_too():
    X = np.random.default_rng(0).normal(size=(20, 2100))
    with counting() as seen:
        path = gradient_path(X, X[:, 0], n_alphas=5, eps=0.5)
    assert seen.columns >= 2100 * (1 + (path.n_iter > 0).sum())  # one for the largest alpha


# ------------------------------------------------------------------ displays


def standing(done, total=100):
    return Standing(done, total, 1, None, None, float(done), None)


def test_lines_keep_a_log_short():
    clock, said = Clock(), []
    lines = Lines(said.append, clock)
    for done in range(1, 101):
        lines.show(standing(done))
        clock.now += 0.4
    numbers = [int(line.split("/")[0]) for line in said]
    assert numbers[0] == 1
    assert numbers[-1] == 100
    assert all(gap >= 13 for gap in np.diff(numbers)[:-1])


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_gets_a_bar(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "120")
    X, y = make_data("regression", n=20, p=30)
    gradient_path(X, y, n_alphas=4, verbose=1)
    assert "4/4 alphas" in terminal.getvalue()
    assert "━" in terminal.getvalue()


def test_a_terminal_without_rich_gets_lines(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    assert isinstance(choose_display(), Lines)


def test_a_bar_is_closed_when_a_run_fails(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    bars = []
    monkeypatch.setattr(progress, "Bar", lambda: bars.append(Bar()) or bars[-1])

    def run():
        with follow(1, 3) as steps:
            steps(answer(1))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run()
    assert bars[0].bar.live.is_started is False


def test_lines_go_to_the_logger_if_somebody_listens(caplog, capsys):
    progress.say_line("one")
    with caplog.at_level(logging.INFO, logger="gradsift"):
        progress.say_line("two")
    progress.say_line("three")
    assert [record.message for record in caplog.records] == ["two"]
    assert capsys.readouterr().err == "gradsift: one\ngradsift: three\n"


# ------------------------------------------------------------------ estimators


@pytest.fixture(scope="module")
def table():
    return make_data("regression", n=30, p=10)


CALLS = {
    "path": lambda X, y, verbose: gradient_path(X, y, n_alphas=4, verbose=verbose),
    "fit": lambda X, y, verbose: SparseGradientRegressor(
        solver=SolverSettings(verbose=verbose)
    ).fit(X, y),
    "cv": lambda X, y, verbose: SparseGradientRegressorCV(
        cv=2, alphas=AlphaGrid(n_alphas=4, eps=0.1), solver=SolverSettings(verbose=verbose)
    ).fit(X, y),
    "sift": lambda X, y, verbose: GradientSiftRegressor(options=SiftOptions(verbose=verbose)).fit(
        X, y
    ),
    "sift labels": lambda X, y, verbose: GradientSiftClassifier(
        options=SiftOptions(verbose=verbose)
    ).fit(X, y > 0.5),
}


@pytest.mark.parametrize("name", CALLS)
def test_silent_unless_asked(name, table, capfd):
    CALLS[name](*table, 0)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("name", "total"), [("path", 4), ("fit", 3), ("cv", 12)])
def test_paths_show_their_steps(name, total, table, capfd):
    CALLS[name](*table, 1)
    out, err = capfd.readouterr()
    assert out == ""
    last = err.splitlines()[-1]
    assert re.fullmatch(
        rf"gradsift: {total}/{total} alphas, \d+ selected, [\d,]+ columns/s, .* s", last
    ), last


@pytest.mark.parametrize("name", ["sift", "sift labels"])
def test_a_sift_says_which_stage_begins(name, table, capfd, monkeypatch):
    monkeypatch.setattr(progress, "LONG", 0.0)
    CALLS[name](*table, 1)
    err = capfd.readouterr().err
    stages = ("standardising 10 columns", "screening 10", "path and search", "products", "refit on")
    places = [err.index(f"gradsift: {stage}") for stage in stages]
    assert places == sorted(places)
    assert re.search(r"standardising 10 columns: [\d,]+ columns/s, \d+ MB, 0\.\d s\n", err)
    assert re.search(r"gradsift: done \(.*\)\n$", err)


def test_folds_in_other_processes_count_when_they_are_done(table, capfd):
    SparseGradientRegressorCV(
        cv=2, n_jobs=2, alphas=AlphaGrid(n_alphas=3, eps=0.1), solver=SolverSettings(verbose=1)
    ).fit(*table)
    assert "9/9 alphas" in capfd.readouterr().err


def test_a_listener_hears_a_fit_and_the_logger_of_the_process_is_left_alone(table, caplog):
    log = logging.getLogger("gradsift")
    before, heard = (log.level, list(log.handlers), log.propagate), []
    with progress_to(heard.append):
        GradientSiftRegressor().fit(*table)
        SparseGradientRegressor().fit(*table)
        assert (log.level, list(log.handlers), log.propagate) == before
    assert any("standardising" in line for line in heard)
    assert any("alphas" in line for line in heard)
    assert caplog.records == []
    count = len(heard)
    GradientSiftRegressor().fit(*table)  # nobody listens any more
    assert len(heard) == count


def test_only_the_calling_thread_is_listened_to(table):
    heard = []
    with progress_to(heard.append):
        other = threading.Thread(target=lambda: GradientSiftRegressor().fit(*table))
        other.start()
        other.join()
    assert heard == []
