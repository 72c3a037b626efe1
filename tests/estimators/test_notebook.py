"""What a notebook shows of an estimator."""

import numpy as np
import pytest
from sklearn import config_context

from gradsift import GradientSiftRegressor, RidgeGradientRegressor
from gradsift.exceptions import NothingSelectedWarning


@pytest.fixture
def fitted(rng):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(rng.normal(size=(100, 6)), columns=["<script>a</script>", *"bcdef"])
    return GradientSiftRegressor().fit(X, X["b"] + X.iloc[:, 0])


@pytest.mark.parametrize("door", ["html", "bundle"])
def test_the_finding_comes_first_and_the_diagram_stays(fitted, door):
    html = fitted._repr_html_() if door == "html" else fitted._repr_mimebundle_()["text/html"]
    plain = RidgeGradientRegressor()._repr_html_()
    assert html.index("2 of 6 variables selected") < html.index("sk-container")
    assert "sk-container" in plain
    assert "variables selected" not in plain  # not fitted
    assert "<script>a" not in html
    assert "&lt;script&gt;a&lt;/script&gt;" in html


def test_text_display_has_no_html(fitted):
    with config_context(display="text"):
        assert not hasattr(fitted, "_repr_html_")
        assert set(fitted._repr_mimebundle_()) == {"text/plain"}


def test_many_variables_are_capped(rng):
    X = rng.normal(size=(20, 30))
    html = RidgeGradientRegressor().fit(X, X[:, 0])._repr_html_()
    assert "30 of 30 variables selected" in html
    assert "20 more" in html
    assert html[: html.index("<style")].count(", ") == 10


def test_nothing_selected(rng):
    with pytest.warns(NothingSelectedWarning):
        model = GradientSiftRegressor(1e-9).fit(rng.normal(size=(30, 3)), np.arange(30.0))
    assert "0 of 3 variables selected" in model._repr_html_()


def test_with_inference_the_answer_is_shown(rng):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(rng.normal(size=(100, 3)), columns=["<b>a</b>", "b", "c"])
    y = (2 * X["<b>a</b>"] + rng.normal(size=100)).rename("<i>dose</i>")
    html = GradientSiftRegressor(inference=True).fit(X, y)._repr_html_()
    assert "&lt;b&gt;a&lt;/b&gt; goes with &lt;i&gt;dose&lt;/i&gt;." in html
    assert "<b>a</b>" not in html
    assert "<i>dose</i>" not in html
    assert html.index("goes with") < html.index("sk-container")
