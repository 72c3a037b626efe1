"""Draws the pictures of docs/inspection.md: python docs/inspection/draw.py [FOLDER]."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from sklearn.datasets import make_friedman1

from gradsift import AlphaGrid, Answer, GradientSiftRegressor, SparseGradientRegressorCV, explain
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


def photograph(answer: Answer, png: Path) -> None:
    """The top of a report in Chromium, where there is one."""
    chromium = shutil.which("chromium")
    if chromium is None:
        print("no Chromium on the path: report.png is left as it is")
        return
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        page_file = Path(folder) / "report.html"
        page_file.write_text(answer.to_html(), encoding="utf-8")
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = play.chromium.launch(executable_path=chromium, args=flags)
        page = browser.new_page(viewport={"width": 1120, "height": 860})
        page.goto(page_file.as_uri())
        page.screenshot(path=png)
        browser.close()


def draw_spectrum() -> dict[str, Any]:
    """Two wavelengths of a smooth spectrum act, 80 samples."""
    rng = np.random.default_rng(0)
    peaks = np.exp(-0.5 * ((np.arange(200)[:, None] - np.arange(0, 200, 5)) / 4.0) ** 2)
    X = rng.normal(size=(80, 40)) @ peaks.T
    y = X[:, 60] - X[:, 140] + rng.normal(size=80)
    names = [f"{900 + 4 * k} nm" for k in range(200)]
    model = GradientSiftRegressor(inference=True).fit(X, y)
    return {
        "confidence": ConfidenceDisplay.from_estimator(model, names=names),
        "manhattan": ManhattanDisplay.from_estimator(model, names=names),
    }


def main(folder: Path) -> None:
    """Every display once: y = 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5, 50 columns."""
    mpl.use("Agg")
    X, y = make_friedman1(n_samples=200, n_features=50, noise=1.0, random_state=0)
    names = [f"x{k}" for k in range(1, 51)]
    model = GradientSiftRegressor(inference=True).fit(X, y)
    path = SparseGradientRegressorCV(cv=5, alphas=AlphaGrid(n_alphas=30, eps=0.03)).fit(X, y)
    called = {"target": "y"}
    displays: dict[str, Any] = {
        "field": GradientFieldDisplay.from_estimator(model, X, "x3", names=names, **called),
        "against": GradientFieldDisplay.from_estimator(
            model, X, "x1", against="x2", names=names, **called
        ),
        "projection": ProjectionDisplay.from_estimator(model, X, y, **called),
        "loadings": LoadingsDisplay.from_estimator(model, names=names),
        "eigenvalues": EigenvaluesDisplay.from_estimator(model),
        "path": PathDisplay.from_estimator(path, names=names),
        "cv": CVDisplay.from_estimator(path),
        "volcano": VolcanoDisplay.from_estimator(model, X, y, names=names),
        "qq": QQDisplay.from_estimator(model),
        **draw_spectrum(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, display in displays.items():
        plain = {
            "Software": None
        }  # the same bytes whatever the version of matplotlib says of itself
        display.figure_.savefig(folder / f"{name}.png", dpi=80, metadata=plain)

    photograph(explain(model, X, y, names=names, target="yield"), folder / "report.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
