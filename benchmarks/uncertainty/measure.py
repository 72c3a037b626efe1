"""How often intervals hold: new responses, and the gradient at fresh rows.

    python -m uncertainty.measure [--seeds 60] [--first 5000] [--jobs 2]

Functions of `refit.measure` (signal scaled to unit variance, noise sd .5) among 50 or 500 normal
columns (Friedman: uniform), and `weak30`, thirty linear effects of equal size, most of which cannot
be found in 100 rows. The columns are selected by the fit. Coverage of a prediction or a derivative
+- 1.96 std on 400 fresh rows, mean over seeds (standard error): of new responses, predicted by all
columns together (auto) or by the selected alone; of the derivatives along the selected columns, of
which false ones have a true derivative of zero. "std / error" is the predicted standard deviation
over the root mean square of the errors.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from refit.measure import DESIGNS, SCALE_ROWS

from gradsift import GradientSiftRegressor
from gradsift.exceptions import NothingSelectedWarning

Array = Any
FRESH, NOISE, Z = 400, 0.5, 1.96
CASES = [
    *((name, n, 50) for name in ("lin3", "add4", "int4", "fri5") for n in (100, 200, 500)),
    *((name, 100, 500) for name in ("lin3", "add4")),
    *(("weak30", n, 50) for n in (100, 200, 500)),
]


def weak30(X: Array) -> tuple[Array, Array]:
    signs = np.where(np.arange(30) % 2, 1.0, -1.0)
    return X @ signs, np.tile(signs, (len(X), 1))


def table(name: str, n: int, p: int, seed: int) -> tuple[Array, Array, Array]:
    """Columns, response and gradient of n + FRESH rows."""
    d, f = (30, weak30) if name == "weak30" else DESIGNS[name][::2]
    rng = np.random.default_rng([seed, n, p])

    def rows(m: int) -> Array:
        wide = np.sqrt(3)
        return rng.uniform(-wide, wide, (m, p)) if name == "fri5" else rng.normal(size=(m, p))

    sd = f(rows(SCALE_ROWS // 10)[:, :d])[0].std()
    X = rows(n + FRESH)
    value, slopes = f(X[:, :d])
    G = np.zeros(X.shape)
    G[:, :d] = slopes / sd
    return X, value / sd + NOISE * rng.normal(size=len(X)), G


def covered(error: Array, std: Array) -> tuple[float, float]:
    """Share of errors within the interval, and mean variance over mean squared error."""
    ratio = np.square(std).mean() / np.square(error).mean() if error.size else np.nan
    return (float((np.abs(error) <= Z * std).mean()) if error.size else np.nan), float(ratio)


def one(name: str, n: int, p: int, seed: int) -> list[float]:
    """Coverage and variance ratio of auto, of selected and of gradients."""
    X, y, G = table(name, n, p, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingSelectedWarning)
        model = GradientSiftRegressor().fit(X[:n], y[:n])
    out = []
    for mode in ("auto", "selected"):
        guess, std = model.set_params(predict_with=mode).predict(X[n:], return_std=True)
        out += covered(y[n:] - guess, std)
    chosen = model.get_support(indices=True)
    slopes, std = model.gradient(X[n:], return_std=True)
    return [*out, *covered((slopes - G[n:])[:, chosen], std[:, chosen])]


def cell(values: Array) -> str:
    """Mean (standard error)."""
    known = values[np.isfinite(values)]
    return f"{known.mean():.3f} ({known.std(ddof=1) / np.sqrt(len(known)):.3f})"


def main() -> None:
    parser = argparse.ArgumentParser()
    for option, value in (("--seeds", 60), ("--first", 5000), ("--jobs", 2)):
        parser.add_argument(option, type=int, default=value)
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.seeds)
    head = "design", "rows", "columns", "auto", "std / error", "selected", "std / error", "gradient"
    print("coverage\n| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for name, n, p in CASES:
        found = Parallel(given.jobs)(delayed(one)(name, n, p, seed) for seed in seeds)
        A = np.array(found)
        wide = np.sqrt(np.nanmean(A[:, [1, 3]], axis=0))
        cells = cell(A[:, 0]), f"{wide[0]:.2f}", cell(A[:, 2]), f"{wide[1]:.2f}", cell(A[:, 4])
        print("| " + " | ".join([name, str(n), str(p), *cells]) + " |", flush=True)


if __name__ == "__main__":
    main()
