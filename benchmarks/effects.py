"""How often the words for an effect are right: OMP_NUM_THREADS=1 python benchmarks/effects.py.

y = 1.5 x0 - 1.2 exp(.6 x1) + x2^2 - x3^2 + 1.5 sin(2.2 x4) + 1.7 x5 x6 + noise of sd .5, 40 normal
columns, 15 seeds that no threshold was chosen on.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from gradsift import GradientSiftRegressor
from gradsift.explain import summarise_variables

TRUTH = [
    "increasing",
    "decreasing",
    "U-shaped",
    "inverted U",
    "wavy",
    "through interactions",
    "through interactions",
]
PAIR = {5, 6}
SEEDS = range(100, 115)


def measure(n: int) -> str:
    """One row of the table."""
    seen, right, pairs = 0, 0, Counter()
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, 40))
        y = 1.5 * X[:, 0] - 1.2 * np.exp(0.6 * X[:, 1]) + X[:, 2] ** 2 - X[:, 3] ** 2
        y += 1.5 * np.sin(2.2 * X[:, 4]) + 1.7 * X[:, 5] * X[:, 6] + 0.5 * rng.normal(size=n)
        for row in summarise_variables(GradientSiftRegressor().fit(X, y), X):
            if row.column < len(TRUTH):
                seen += 1
                right += row.effect.shape == TRUTH[row.column]
            for other in row.partner_columns:
                pairs[{row.column, other} == PAIR] += row.column < other
    return f"| {n} | {right} of {seen} | {pairs[True]} of {len(SEEDS)} | {pairs[False]} |"


if __name__ == "__main__":
    print("| n | shape right, of those selected | true pair found | false pairs |")
    print("|--:|--:|--:|--:|")
    for n in (100, 300):
        print(measure(n), flush=True)
