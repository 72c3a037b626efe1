"""Are the words for effects right, and do their intervals hold? In `benchmarks/`:

    python -m effects --tables 60

Tables of 30 columns, neighbours correlated .3, with effects of equal variance: a line, exp, tanh, a
U, a step and a product; numbers (200 rows), labels (300 rows), three classes (300 rows), counts and
survival times (300 rows). All steps are those of a user: the fit selects, so that false columns are
in the model too. Judged is every finding about a single true column: the word (rises, falls,
U-shaped), and whether the interval of the size holds the true contrast of quarter means: of
numbers, probabilities, log rates and log hazards.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Callable

import numpy as np
from scipy.special import softmax

from gradsift import GradientSiftClassifier, GradientSiftRegressor, GradientSiftSurvival
from gradsift.answer import Answer

P = 30
ROWS = {"numbers": 200, "labels": 300, "three classes": 300, "counts": 300, "survival": 300}
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
    """Expected response or log hazard, or probabilities of the classes of an answer."""
    s = signal(X)
    if task in ("numbers", "survival"):
        return s[:, None] * (1.0 if task == "numbers" else 0.6)
    if task == "counts":
        return np.exp(0.4 * s)[:, None]
    if task == "labels":
        return 1 / (1 + np.exp(-s))[:, None]
    return softmax(np.column_stack([-s, 0.5 * s, 0.5 * s]) * 0.8, axis=1)


def fitted(rng: np.random.Generator, X: np.ndarray, task: str) -> Answer:
    """The answer of a fit to a drawn response."""
    mean = outcomes(X, task)
    if task == "survival":
        death, end = rng.exponential(np.exp(-mean[:, 0])), rng.exponential(2.0, size=len(X))
        y, event = np.minimum(death, end), death < end
        return GradientSiftSurvival(inference=True).fit(X, y, event=event).answer_
    if task == "counts":
        kind = GradientSiftRegressor(inference=True, family="poisson")
        return kind.fit(X, rng.poisson(mean[:, 0])).answer_
    if task == "numbers":
        y = mean[:, 0] + np.sqrt(6.0) * 0.5 * rng.normal(size=len(X))
        return GradientSiftRegressor(inference=True).fit(X, y).answer_
    if task == "labels":
        y = np.where(rng.random(len(X)) < mean[:, 0], "b", "a")
    else:
        draws = rng.random((len(X), 1)) > np.cumsum(mean, axis=1)
        y = np.array(["a", "b", "c"])[draws.sum(axis=1).clip(0, 2)]
    return GradientSiftClassifier(inference=True).fit(X, y).answer_


def true_contrasts(X: np.ndarray, k: int, task: str) -> tuple[np.ndarray, np.ndarray]:
    """(rise, turn) of every outcome: contrasts of quarter means with the true function."""
    q = np.quantile(X[:, k], (np.arange(20) + 0.5) / 20, method="nearest")
    means = []
    for value in q:
        at = X.copy()
        at[:, k] = value
        mean = outcomes(at, task).mean(axis=0)
        means.append(np.log(mean) if task == "counts" else mean)
    low, mid, high = (np.mean(part, axis=0) for part in (means[:5], means[5:15], means[15:]))
    return high - low, (low + high) / 2 - mid


def judge(seed: int, task: str) -> list[tuple[str, bool, bool]]:
    """(effect, word right, size covered) of the findings of one table."""
    rng = np.random.default_rng(10_000 + seed)
    X = draw(rng, ROWS[task])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = fitted(rng, X, task)
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
        true = np.exp(true) if c.is_ratio else true
        out.append((name, c.shape == word, c.size.low <= true <= c.size.high))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=60)
    parser.add_argument("--tasks", nargs="+", default=list(ROWS))
    arguments = parser.parse_args()
    count = arguments.tables
    print(
        "| response | effect | findings | word right | size covered (s.e.) |\n|---|---|---|---|---|"
    )
    for task in arguments.tasks:
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
