"""Oscillating links: is a direction lost by the refit, or by the selection before it?

PYTHONPATH=benchmarks python -m directions.links

One index u, the normalised sum of 3 or 6 of 20 normal columns, 200 samples, noise a fifth of the
response's standard deviation. Distances of the first direction to the true one: of the refit and of
refined OPG, both told the columns of u and three more; then of refined OPG, of MAVE and of
`GradientSiftRegressor` on all columns.
"""

from __future__ import annotations

import warnings

import numpy as np

from gradsift import GradientSiftRegressor, MinimumAverageVariance, OuterProductGradient
from gradsift.exceptions import NothingSelectedWarning
from gradsift.numerics.directions import subspace_distance
from gradsift.refit import refit_regression

LINKS = {"sin(2u)": (np.sin, 2), "cos(2u)": (np.cos, 2), "sin(3u)": (np.sin, 3)}
SEEDS = range(100, 106)


def distances(wave, speed: int, width: int, seed: int) -> list[float]:
    """Refit and refined OPG, told; the latter, MAVE, GradientSift; the columns that it selects."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 20))
    y = wave(speed * X[:, :width].sum(axis=1) / np.sqrt(width))
    y = y / y.std() + 0.2 * rng.normal(size=200)
    truth, few = (np.arange(20) < width)[None].astype(float), slice(0, width + 3)
    slopes = refit_regression(X[:, few], y).gradient(X[:, few])[0]
    refit = np.linalg.svd(slopes, full_matrices=False)[2][:1]
    opg = OuterProductGradient(refined=True, n_components=1)
    mave = MinimumAverageVariance(n_components=1)
    sift = GradientSiftRegressor(predict_with="selected", n_components=1).fit(X, y)
    told = [
        subspace_distance(found, truth[:, few])
        for found in (refit, opg.fit(X[:, few], y).components_)
    ]
    all_columns = [subspace_distance(m.fit(X, y).components_, truth) for m in (opg, mave)]
    selected = sift.get_support()
    alone = subspace_distance(sift.components_, truth) if selected.any() else 1.0
    return [*told, *all_columns, alone, float(selected[:width].sum())]


if __name__ == "__main__":
    warnings.simplefilter("ignore", NothingSelectedWarning)
    print(
        "| response | columns of u | refit on them | refined OPG | refined OPG, all | MAVE, all "
        "| `GradientSift` | selected |\n" + "| --- " * 8 + "|"
    )
    for formula, (wave, speed) in LINKS.items():
        for width in (3, 6):
            found = np.array([distances(wave, speed, width, seed) for seed in SEEDS])
            *middle, selected = *np.median(found[:, :5], axis=0), found[:, 5].mean()
            shown = " | ".join(f"{value:.2f}" for value in middle)
            print(f"| {formula} | {width} | {shown} | {selected:.1f} |", flush=True)
