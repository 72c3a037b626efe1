"""Are the words for effects right, and do their intervals hold? In `benchmarks/`:

    python -m effects --tables 60

Tables of 30 columns, neighbours correlated .3, with effects of equal variance: a line, exp, tanh, a
U, a step and a product; numbers (200 rows), labels (300 rows), three classes (300 rows). All steps
are those of a user: the fit selects, so that false columns are in the model too. Judged is every
finding about a single true column: the word (rises, falls, U-shaped), and whether the interval of
the size holds the true contrast of quarter means (for classes, of true probabilities).
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Callable

import numpy as np
from scipy.special import softmax

from gradsift import GradientSiftClassifier, GradientSiftRegressor

P, ROWS = 30, {"numbers": 200, "labels": 300, "three classes": 300}
Function = Callable[[np.ndarray], np.ndarray]
EFFECTS: dict[str, tuple[int, Function, str]] = {
    "line": (0, lambda x: x, "rises"),
    "exp": (4, lambda x: np.exp(0.9 * x) / 1.5, "rises"),
    "tanh": (8, lambda x: -1.3 * np.tanh(2 * x), "falls"),
    "U": (12, lambda x: (x**2 - 1) / np.sqrt(2), "U-shaped"),
    "step": (16, lambda x: np.where(x > 0, 1.0, -1.0), "rises"),
}


def draw(rng: np.random.Generator, n: int) -> np.ndarray:
    """Normal columns, neighbours correlated .3."""
    Z = rng.normal(size=(n, P))
    for k in range(1, P):
        Z[:, k] = 0.3 * Z[:, k - 1] + np.sqrt(1 - 0.09) * Z[:, k]
    return Z


def signal(X: np.ndarray) -> np.ndarray:
    return sum(f(X[:, k]) for k, f, _ in EFFECTS.values()) + X[:, 20] * X[:, 24]


def outcomes(X: np.ndarray, task: str) -> np.ndarray:
    """Expected response, or probabilities of the classes that answers are about."""
    s = signal(X)
    if task == "numbers":
        return s[:, None]
    if task == "labels":
        return 1 / (1 + np.exp(-s))[:, None]
    return softmax(np.column_stack([-s, 0.5 * s, 0.5 * s]) * 0.8, axis=1)


def response(rng: np.random.Generator, X: np.ndarray, task: str) -> np.ndarray:
    mean = outcomes(X, task)
    if task == "numbers":
        return mean[:, 0] + np.sqrt(6.0) * 0.5 * rng.normal(size=len(X))
    if task == "labels":
        return np.where(rng.random(len(X)) < mean[:, 0], "b", "a")
    draws = rng.random((len(X), 1)) > np.cumsum(mean, axis=1)
    return np.array(["a", "b", "c"])[draws.sum(axis=1).clip(0, 2)]


def true_contrasts(X: np.ndarray, k: int, task: str) -> tuple[np.ndarray, np.ndarray]:
    """(rise, turn) of every outcome: contrasts of quarter means with the true function."""
    q = np.quantile(X[:, k], (np.arange(20) + 0.5) / 20, method="nearest")
    means = []
    for value in q:
        at = X.copy()
        at[:, k] = value
        means.append(outcomes(at, task).mean(axis=0))
    low, mid, high = (np.mean(part, axis=0) for part in (means[:5], means[5:15], means[15:]))
    return high - low, (low + high) / 2 - mid


def judge(seed: int, task: str) -> list[tuple[str, bool, bool]]:
    """(effect, word right, size covered) of the findings of one table."""
    rng = np.random.default_rng(10_000 + seed)
    X = draw(rng, ROWS[task])
    y = response(rng, X, task)
    kind = GradientSiftRegressor if task == "numbers" else GradientSiftClassifier
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = kind(inference=True).fit(X, y).answer_
    names = {f"x{k}": (name, k, word) for name, (k, _, word) in EFFECTS.items()}
    classes = {"a": 0, "b": 1, "c": 2} if task == "three classes" else {"": 0, "b": 0}
    out = []
    for f in answer.findings:
        if f.partner or f.alone or f.members[0].name not in names:
            continue
        name, k, word = names[f.members[0].name]
        rise, turn = true_contrasts(X, k, task)
        (c,) = f.effect.comparisons
        o = classes[f.effect.outcome]
        turned = c.shape in ("U-shaped", "inverted U")
        true = (turn if turned else rise)[o]
        if task == "three classes":
            word = ("U-shaped" if turn[o] > 0 else "inverted U") if name == "U" else (
                "rises" if rise[o] > 0 else "falls"
            )  # fmt: skip
        out.append((name, c.shape == word, c.size.low <= true <= c.size.high))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=60)
    count = parser.parse_args().tables
    print(
        "| response | effect | findings | word right | size covered (s.e.) |\n|---|---|---|---|---|"
    )
    for task in ROWS:
        found = defaultdict(list)
        for seed in range(count):
            for name, right, covered in judge(seed, task):
                found[name].append((right, covered))
                found["all"].append((right, covered))
        for name, pairs in found.items():
            right, covered = np.mean(pairs, axis=0)
            error = np.sqrt(covered * (1 - covered) / len(pairs))
            print(f"| {task} | {name} | {len(pairs)} | {right:.2f} | {covered:.2f} ({error:.2f}) |")


if __name__ == "__main__":
    main()
