"""The recipes of CONTRIBUTING.md work: their code is run, and what it makes is really used."""

import re
import sys

import numpy as np
import pytest
from matplotlib import pyplot as plt
from recipes import ROOT, recipe

from gradsift import GradientSiftRegressor, SparseGradientRegressor, displays
from gradsift.data.formats import registry
from gradsift.numerics import kernels


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8))
    return X, X[:, 2] ** 2 + X[:, 5] + 0.1 * rng.normal(size=60)


def test_a_kernel(table, monkeypatch):
    X, y = table
    kernel = recipe("A kernel").RationalQuadratic
    monkeypatch.setitem(kernels.KERNELS, "rational", kernel(2.0))
    ways = "rational", kernel(2.0), by_formula
    fits = [SparseGradientRegressor(kernel=one).fit(X, y) for one in ways]
    for model in fits[1:]:
        np.testing.assert_allclose(model.gradient(X), fits[0].gradient(X), rtol=1e-6, atol=1e-9)
    assert fits[0].get_support()[[2, 5]].all()


def by_formula(products):
    return 1 / (1 + products.sqdist / 8)


def test_a_format(table, monkeypatch, tmp_path):
    X, y = table
    made = recipe("A format")
    monkeypatch.setitem(sys.modules, "gradsift.data.formats.pickled", made)
    monkeypatch.setitem(registry.SUFFIXES, ".pickled", "pickled")
    path = tmp_path / "table.pickled"
    X.dump(path)
    from_file = GradientSiftRegressor().fit(path, y)
    expected = GradientSiftRegressor().fit(X, y)
    np.testing.assert_allclose(from_file.predict(path), expected.predict(X))


def test_a_display(table, monkeypatch):
    kind = recipe("A display").RankDisplay
    monkeypatch.setattr(displays, "RankDisplay", kind, raising=False)
    model = GradientSiftRegressor().fit(*table)
    shown = displays.RankDisplay.from_estimator(model)
    heights = [bar.get_height() for bar in shown.ax_.patches]
    assert heights == sorted(model.feature_importances_, reverse=True)
    plt.close(shown.figure_)


def test_what_the_recipes_name_is_there():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    package = ROOT / "src" / "gradsift"
    rooms = {path.stem for path in package.iterdir() if path.suffix in ("", ".py")}
    assert {room for room in rooms if room[:2] != "__"} - set(re.findall(r"`(\w+)`", page)) == set()
    tops = (ROOT, package, package / "data")
    named = re.findall(r"`((?!build)[a-z]+/[\w/]*(?:\.\w+)?)`", page)
    assert len(named) > 10
    assert [f for f in named if not any((top / f).exists() for top in tops)] == []
