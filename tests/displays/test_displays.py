"""What the displays hold and draw; that they are pretty was checked by eye."""

import inspect
import sys
from functools import cache

import numpy as np
import pytest
from matplotlib import pyplot as plt

from gradsift import GradientSiftRegressor, RidgeGradientRegressor, displays, gradient_path
from gradsift.displays import (
    ConfidenceDisplay,
    CVDisplay,
    EigenvaluesDisplay,
    GradientFieldDisplay,
    LoadingsDisplay,
    ManhattanDisplay,
    PathDisplay,
    ProjectionDisplay,
    QQDisplay,
    VolcanoDisplay,
)
from gradsift.displays.style import label

NASTY = ["cost $5 or $6", "_under", "<script>alert(1)</script>", "two\nlines", "nul\x00", "é" * 60]


def nasty_names(count):
    return [f"{NASTY[k % 6]}{k}" for k in range(count)]


WAVELENGTHS = [f"{900 + 2 * k} nm" for k in range(24)]


@cache
def spectra():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 24)).cumsum(axis=1)
    return X, X[:, 12] + rng.normal(size=60)


@cache
def spectrum():
    """A sift that knows how sure it is, along a spectrum."""
    return GradientSiftRegressor(inference=True).fit(*spectra())


def test_probabilities_lie_at_their_wavelengths():
    shown = ConfidenceDisplay.from_estimator(spectrum(), names=WAVELENGTHS)
    assert shown.ax_.get_xlabel() == "nm"
    assert shown.ax_.get_xlim() == (900.0, 946.0)
    tips = [segment[1] for segment in shown.lines_.get_segments()]
    best = int(spectrum().confidence_.argmax())
    assert max(tips, key=lambda tip: tip[1])[0] == 900 + 2 * best
    with pytest.raises(ValueError, match="give no order"):
        ConfidenceDisplay.from_estimator(spectrum())


def draw_all(numbers, labels, path_model, names=None, **options):
    """Every display, by its usual door."""
    model, X, y = numbers
    each = {"names": names, **options}
    three, X3, y3 = labels
    return [
        GradientFieldDisplay.from_estimator(model, X, 1, **each),
        GradientFieldDisplay.from_estimator(three, X3, 0, **options),
        ProjectionDisplay.from_estimator(model, X, y, **options),
        ProjectionDisplay.from_estimator(three, X3, y3, **options),
        LoadingsDisplay.from_estimator(model, **each),
        EigenvaluesDisplay.from_estimator(model, **options),
        ManhattanDisplay.from_estimator(spectrum(), names=WAVELENGTHS, **options),
        QQDisplay.from_estimator(spectrum(), **options),
        VolcanoDisplay.from_estimator(spectrum(), *spectra(), names=WAVELENGTHS, **options),
        PathDisplay.from_estimator(path_model, **options),
        CVDisplay.from_estimator(path_model, **options),
        ConfidenceDisplay.from_estimator(spectrum(), names=WAVELENGTHS, **options),
    ]


def test_every_display_draws_and_labels_its_axes(numbers, labels, path_model):
    shown = draw_all(numbers, labels, path_model)
    assert {type(d).__name__ for d in shown} == set(displays.__all__)
    for display in shown:
        assert display.ax_.figure is display.figure_
        assert display.ax_.get_xlabel() or display.ax_.get_xticklabels()
        display.figure_.canvas.draw()


def test_a_display_draws_where_it_is_told(numbers, labels, path_model):
    figure, ax = plt.subplots()
    for display in draw_all(numbers, labels, path_model, ax=ax):
        assert display.ax_ is ax
        again = plt.figure().add_subplot()
        assert display.plot(ax=again).ax_ is again
    assert display.figure_ is not figure


def test_names_are_data(numbers, labels, path_model):
    """Dollars start no formula, underscores hide nothing, control characters break no file."""
    for display in draw_all(numbers, labels, path_model, names=nasty_names(16)):
        display.figure_.canvas.draw()
    shown = LoadingsDisplay.from_estimator(numbers[0], names=nasty_names(16))
    texts = [t.get_text() for t in shown.ax_.get_yticklabels()]
    assert any(t.startswith(r"cost \$5 or \$6") for t in texts)
    assert "nul�4" not in texts  # column 4 is not selected
    assert label("_x") == " _x"


def test_loadings_are_capped_and_say_so(rng):
    X = rng.normal(size=(20, 500))
    model = RidgeGradientRegressor().fit(X, X[:, 0])
    shown = LoadingsDisplay.from_estimator(model, most=20)
    assert shown.loadings.shape[1] == 20
    peaks = np.abs(shown.loadings).max(axis=0)
    assert np.array_equal(peaks, np.sort(peaks)[::-1])
    assert "and 480 more variables" in shown.ax_.get_xlabel()


def test_eigenvalues_are_shares_of_their_sum(numbers):
    model, _, _ = numbers
    shown = EigenvaluesDisplay.from_estimator(model)
    heights = [bar.get_height() for bar in shown.ax_.patches]
    assert np.allclose(heights, model.eigenvalues_ / model.eigenvalues_.sum())


def test_the_field_is_the_gradient(numbers, labels):
    model, X, _ = numbers
    shown = GradientFieldDisplay.from_estimator(model, X, "x2", against=3)
    assert np.array_equal(shown.gradient, model.gradient(X)[:, 2])
    assert np.array_equal(shown.x, X[:, 3])
    model, X, _ = labels
    shown = GradientFieldDisplay.from_estimator(model, X, 0, class_name="low")
    assert np.array_equal(shown.gradient, model.gradient(X)[1][:, 0])
    assert "log odds of low" in shown.ax_.get_ylabel()


def test_bad_questions_get_an_answer(numbers, labels):
    model, X, y = numbers
    with pytest.raises(ValueError, match="no column is called 'nobody'"):
        GradientFieldDisplay.from_estimator(model, X, "nobody")
    with pytest.raises(ValueError, match="columns are 0 to 15"):
        GradientFieldDisplay.from_estimator(model, X, 16)
    with pytest.raises(ValueError, match="use one of"):
        GradientFieldDisplay.from_estimator(labels[0], labels[1], 0, class_name="none")
    with pytest.raises(ValueError, match="has no path"):
        PathDisplay.from_estimator(model)
    with pytest.raises(ValueError, match="chose nothing by cross-validation"):
        CVDisplay.from_estimator(model)
    with pytest.warns(UserWarning, match="no variable was selected"):
        empty = type(model)(false_positives=1e-9).fit(X, np.random.default_rng(1).normal(size=150))
    with pytest.raises(ValueError, match="no direction to project on"):
        ProjectionDisplay.from_estimator(empty, X, y)
    # nothing to see is still a picture
    EigenvaluesDisplay.from_estimator(empty).figure_.canvas.draw()


def test_names_of_neighbours_do_not_lie_on_each_other():
    at = np.arange(20.0)
    shown = displays.scale.Positions(at, "nm")
    p = 10.0 ** -np.r_[np.arange(10.0), np.arange(10.0)[::-1]]
    display = ManhattanDisplay(
        positions=shown, p_values=p, q_values=p, names=[f"{k} nm" for k in range(20)]
    ).plot()
    said = [text.get_text() for text in display.ax_.texts]
    assert said[0] == "9 nm"
    assert "10 nm" not in said
    assert "12 nm" in said


def test_the_path_marks_the_chosen_alpha_and_counts(path_model):
    shown = PathDisplay.from_estimator(path_model)
    assert shown.alpha == path_model.alpha_
    counts = [len(s) for s in path_model.path_.supports]
    ticks = [int(t.get_text()) for t in shown.top_.get_xticklabels()]
    assert ticks[0] == counts[0] == 0
    assert ticks[-1] == counts[-1]
    assert len(shown.lines_) == np.count_nonzero(path_model.path_.importances.any(axis=0))
    named = [text.get_text() for text in shown.ax_.get_legend().get_texts()]
    assert set(named[:2]) == {"x0", "x1"}


def test_a_wide_path_is_capped(rng):
    X = rng.normal(size=(60, 500))
    path = gradient_path(X, X[:, :30].sum(axis=1), n_alphas=10, eps=0.01)
    ever = int(path.importances.any(axis=0).sum())
    shown = PathDisplay.from_path(path).plot()
    assert len(shown.lines_) == min(ever, 200)


def test_the_curve_is_the_mean_over_folds(path_model):
    shown = CVDisplay.from_estimator(path_model)
    line = shown.ax_.lines[0]
    assert np.allclose(line.get_ydata(), -path_model.cv_scores_.mean(axis=1))
    assert shown.alpha_min == path_model.alpha_min_


def test_without_matplotlib_the_error_names_the_extra(numbers, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"gradsift\[plot\]"):
        EigenvaluesDisplay.from_estimator(numbers[0])


def test_importing_the_room_does_not_import_matplotlib():
    import subprocess

    code = "import sys, gradsift.displays; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", displays.__all__)
def test_every_parameter_is_documented(name):
    kind = getattr(displays, name)
    for function in (kind.__init__, kind.from_estimator, kind.plot):
        doc = kind.__doc__ if function is kind.__init__ else function.__doc__
        for parameter in inspect.signature(function).parameters:
            assert parameter == "self" or parameter in doc, (name, function, parameter)
