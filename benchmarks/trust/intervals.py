"""Do the intervals of loadings hold? `component_intervals_` beside the true direction.

    python -m trust.intervals                 # 20 seeds of each design
    python -m trust.intervals --seeds 5

Run from `benchmarks/` with the package installed, on one thread. The response is a function of one
direction with three columns, plus as much noise; the first direction of the fit has its sign turned
to the true one's. *Found*: columns of the three that are selected. *In the interval*: part of the
loadings of these that lie in their interval of 90 %.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from gradsift import GradientSiftRegressor

LOADINGS = np.array([0.8, -0.5, 0.33])
COLUMNS = np.array([2, 7, 11])
LINKS = {
    "line": lambda u: u,
    "square": np.square,
    "exponential": lambda u: np.exp(0.7 * u),
    "step": lambda u: np.tanh(3.0 * u),
}
SIZES = ((100, 30, 0.0), (300, 30, 0.0), (150, 30, 0.7))
"""Rows, columns, and the correlation of neighbouring columns."""


def table(link: str, n: int, p: int, rho: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """X and y; half of the variance of y is noise."""
    rng = np.random.default_rng([seed, n, len(link)])
    X = rng.normal(size=(n, p))
    for k in range(1, p):
        X[:, k] = rho * X[:, k - 1] + np.sqrt(1.0 - rho**2) * X[:, k]
    u = X[:, COLUMNS] @ LOADINGS
    signal = LINKS[link](u / u.std())
    return X, signal / signal.std() + rng.normal(size=n)


def covered(X: np.ndarray, y: np.ndarray) -> list[bool]:
    """Whether the interval of each column that acts and is selected holds its loading."""
    model = GradientSiftRegressor(inference=True, random_state=0).fit(X, y)
    if model.n_components_ == 0:
        return []
    true = np.zeros(X.shape[1])
    true[COLUMNS] = LOADINGS * X[:, COLUMNS].std(axis=0)
    true /= np.linalg.norm(true)
    if model.components_[0] @ true < 0:
        true = -true
    low, high = model.component_intervals_[0].T
    inside = (low <= true) & (true <= high)
    return inside[COLUMNS][model.get_support()[COLUMNS]].tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    seeds = parser.parse_args().seeds
    warnings.simplefilter("ignore")
    print("intervals")
    print("| link | rows | correlation | tables | found | in the interval (s.e.) |")
    print("|---|---|---|---|---|---|")
    for n, p, rho in SIZES:
        for link in LINKS:
            found = [covered(*table(link, n, p, rho, seed)) for seed in range(seeds)]
            each = [np.mean(inside) for inside in found if inside]
            error = np.std(each, ddof=1) / np.sqrt(len(each))
            part = f"{np.mean([len(inside) for inside in found]) / len(COLUMNS):.2f}"
            held = f"{np.mean(each):.2f} ({error:.2f})"
            cells = link, n, f"{rho:g}", seeds, part, held
            print(f"| {' | '.join(map(str, cells))} |", flush=True)


if __name__ == "__main__":
    main()
