"""How often the words for an effect are right: OMP_NUM_THREADS=1 python benchmarks/effects.py.

Four designs of known effects among 30 columns, 200 rows; numbers, two and three classes; weakly and
strongly separated; independent and correlated columns (neighbours .7); ten seeds that nobody had
looked at when thresholds were chosen (those below 200 were). `--seeds 2` is a quick look, `--real`
adds tables that everybody has. The record that `docs/inspection.md` shows, in `benchmarks/`:
PYTHONPATH=. python -m tables record effects python -m effects.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
from effects_rules import RULES, own_shares
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from gradsift import GradientSiftClassifier, GradientSiftRegressor
from gradsift.explain import best_selected, summarise_variables

N, P = 200, 30
FIRST_SEED = 200
CLASS_WEIGHTS = np.array([[1, 0, -1], [-1, 1, 0], [0, -1, 1], [1, -1, 0]], dtype=float)
OPPOSITE = {
    "increasing": "decreasing",
    "decreasing": "increasing",
    "U-shaped": "inverted U",
    "inverted U": "U-shaped",
    "through interactions": "through interactions",
}
SHAPES = ("straight", "bent", "product", "xor")
TASKS = ("numbers", "two classes", "three classes")

Term = tuple[np.ndarray, dict[int, str]]


@dataclass(frozen=True)
class Drawn:
    """A table, the true shape of each variable's effect on each output, and the true pairs."""

    X: np.ndarray
    y: np.ndarray
    truth: dict[int, dict[str | None, str]]
    pairs: set[tuple[int, int]]
    correlation: float

    def pairs_among(self, selected: list[int]) -> set[tuple[int, int]]:
        """True pairs of selected variables, those that stand in for another one included.

        Where a member of a pair is not selected, what is known of it are the selected variables
        that it is correlated with, and each of them acts together with the other member.
        """
        by = set(selected)
        found = set()
        for pair in self.pairs:
            members = [{k} if k in by else by if self.correlation else set() for k in pair]
            found |= {(min(a, b), max(a, b)) for a, b in itertools.product(*members) if a != b}
        return found


def terms_of(shape: str, X: np.ndarray) -> list[Term]:
    """Terms of a design, each with the shapes of its variables."""
    x = X.T
    up, down, through = "increasing", "decreasing", "through interactions"
    if shape == "straight":
        return [(x[0], {0: up}), (-x[3], {3: down}), (0.8 * x[6], {6: up}), (0.8 * x[9], {9: up})]
    if shape == "bent":
        return [
            (x[0], {0: up}),
            (0.8 * (x[3] ** 2 - 1), {3: "U-shaped"}),
            (-0.8 * (x[6] ** 2 - 1), {6: "inverted U"}),
            (1.3 * np.tanh(1.5 * x[9]), {9: up}),
        ]
    if shape == "product":
        return [
            (x[0], {0: up}),
            (1.2 * x[3] * x[6], {3: through, 6: through}),
            (x[9] + 0.9 * x[9] * x[12], {9: up, 12: through}),
        ]
    return [
        (x[0], {0: up}),
        (1.3 * np.sign(x[3] * x[6]), {3: through, 6: through}),
        (-0.8 * x[9], {9: down}),
    ]


PAIRS = {"product": {(3, 6), (9, 12)}, "xor": {(3, 6)}}


def draw(shape: str, task: str, strong: bool, correlation: float, seed: int) -> Drawn:
    """One table."""
    rng = np.random.default_rng([seed, 17])
    X = rng.normal(size=(N, P))
    for k in range(1, P):
        X[:, k] = correlation * X[:, k - 1] + np.sqrt(1 - correlation**2) * X[:, k]
    terms = terms_of(shape, X)
    pairs = PAIRS.get(shape, set())
    if task == "three classes":
        F = sum(t[:, None] * w for (t, _), w in zip(terms, CLASS_WEIGHTS))
        F = F / F.std() * (6 if strong else 2)
        y = np.array(["a", "b", "c"])[(F + rng.gumbel(size=F.shape)).argmax(axis=1)]
        truth = {
            k: {c: s if w > 0 else OPPOSITE[s] for c, w in zip("abc", weights) if w != 0}
            for (_, shapes), weights in zip(terms, CLASS_WEIGHTS)
            for k, s in shapes.items()
        }
        return Drawn(X, y, truth, pairs, correlation)
    f = sum(t for t, _ in terms)
    f = f / f.std()
    shapes = {k: s for _, part in terms for k, s in part.items()}
    if task == "numbers":
        y = f + (0.25 if strong else 0.8) * rng.normal(size=N)
        return Drawn(X, y, {k: {None: s} for k, s in shapes.items()}, pairs, correlation)
    f = f * (8 if strong else 2.5)
    y = np.array(["a", "b"])[(f + rng.logistic(size=N) > 0).astype(int)]
    return Drawn(X, y, {k: {"b": s} for k, s in shapes.items()}, pairs, correlation)


def fit(X: np.ndarray, y: np.ndarray) -> Any:
    kind = GradientSiftRegressor if y.dtype.kind == "f" else GradientSiftClassifier
    return kind(predict_with="selected").fit(X, y)


def count_words(model: Any, table: Drawn, count: Counter[str]) -> None:
    """Add what the words say of one table."""
    for row in summarise_variables(model, table.X, table.y):
        truth = table.truth.get(row.column)
        if truth is None:
            continue
        for output, effect in row.effects:
            count_effect(effect, truth.get(output), count, xor=table.pairs == PAIRS["xor"])


def count_effect(effect: Any, truth: str | None, count: Counter[str], xor: bool) -> None:
    """Add what is said of one variable and one output; None: it does nothing there."""
    if truth is None:
        where = "beside XOR" if xor else "elsewhere"
        count[f"nothing {where}"] += 1
        count[f"said {where}"] += effect.shape != "unclear"
        return
    count["effects"] += 1
    partly = effect.above is not None or effect.below is not None
    if effect.shape == "unclear" or partly or effect.alone:
        count["left open"] += 1
    else:
        count["wrong shape"] += effect.shape != truth
    if truth != "through interactions":
        count["with an effect of its own"] += 1
        count["said of others"] += effect.shape == "through interactions"


def count_pairs(model: Any, table: Drawn, count: dict[str, Counter[str]]) -> None:
    """Add which pairs each rule names."""
    columns = best_selected(model, 30)
    place = {int(c): k for k, c in enumerate(columns)}
    true = in_places(table.pairs, place)
    fair = in_places(table.pairs_among(columns.tolist()), place)
    for name, rule in RULES.items():
        found = rule(model, table.X, table.y, columns) if len(columns) else set()
        count[name]["true"] += len(true)
        count[name]["found"] += len(found & true)
        count[name]["invented"] += 2 * len(found - fair)
        count[name]["variables"] += len(columns)


def in_places(pairs: set[tuple[int, int]], place: dict[int, int]) -> set[tuple[int, ...]]:
    """Pairs of columns as pairs of places among the selected, those of which both are there."""
    there = [(place[a], place[b]) for a, b in pairs if a in place and b in place]
    return {tuple(sorted(pair)) for pair in there}


def count_before(model: Any, table: Drawn, count: Counter[str]) -> None:
    """Add how often a variable of additive effect was said to depend on others before."""
    columns = best_selected(model, 30)
    if len(columns) == 0:
        return
    for k, share in zip(columns.tolist(), own_shares(model, table.X, columns)):
        if k in table.truth and not any(k in pair for pair in table.pairs):
            count["additive"] += 1
            count["before"] += share < 0.7 and len(columns) > 1
    for row in summarise_variables(model, table.X, table.y):
        if row.column in table.truth and not any(row.column in pair for pair in table.pairs):
            count["after"] += any(e.mixed for _, e in row.effects)


def measure(seeds: int) -> None:
    """Both tables."""
    words: dict[tuple[str, bool], Counter[str]] = defaultdict(Counter)
    pairs: dict[tuple[str, bool], dict[str, Counter[str]]] = defaultdict(
        lambda: defaultdict(Counter)
    )
    for task, strong, shape, correlation in itertools.product(
        TASKS, (False, True), SHAPES, (0.0, 0.7)
    ):
        for seed in range(FIRST_SEED, FIRST_SEED + seeds):
            table = draw(shape, task, strong, correlation, seed)
            model = fit(table.X, table.y)
            count_words(model, table, words[task, strong])
            count_before(model, table, words[task, strong])
            count_pairs(model, table, pairs[task, strong])
    show_words(words)
    show_pairs(pairs)


def show_words(words: dict[tuple[str, bool], Counter[str]]) -> None:
    print("words")
    print("| response | separation | wrong shape | left open | additive, said to depend on others:"
          " before | after | something said where nothing is: beside an XOR"
          " | elsewhere |")  # fmt: skip
    print("|---|---|--:|--:|--:|--:|--:|--:|")
    for (task, strong), c in words.items():
        nothing = " | ".join(
            f"{c[f'said {where}']} of {c[f'nothing {where}']}" if c[f"nothing {where}"] else "–"
            for where in ("beside XOR", "elsewhere")
        )
        print(
            f"| {task} | {'strong' if strong else 'weak'} | {c['wrong shape']} of {c['effects']} "
            f"| {c['left open']} | {c['before']} of {c['additive']} "
            f"| {c['after']} of {c['additive']} | {nothing} |",
            flush=True,
        )


def show_pairs(pairs: dict[tuple[str, bool], dict[str, Counter[str]]]) -> None:
    print("\npairs")
    print("| rule | true pairs named | invented partners per variable |" + "".join(
        f" {task}, {'strong' if strong else 'weak'} |" for task, strong in pairs
    ))  # fmt: skip
    print("|---|--:|--:|" + "--:|" * len(pairs))
    for rule in RULES:
        each = [counts[rule] for counts in pairs.values()]
        total = sum(each, Counter())
        print(
            f"| {rule} | {total['found']} of {total['true']} "
            f"| {total['invented'] / total['variables']:.2f} |"
            + "".join(f" {c['invented'] / max(c['variables'], 1):.2f} |" for c in each),
            flush=True,
        )


def measure_real() -> None:
    """What each rule says of tables that everybody has, where nobody knows the truth."""
    for name, load in (
        ("wine", load_wine), ("tumours", load_breast_cancer), ("diabetes", load_diabetes),
    ):  # fmt: skip
        data = load()
        y = data.target if name == "diabetes" else data.target.astype(str)
        model = fit(data.data, y)
        columns = best_selected(model, 30)
        said = {rule: len(RULES[rule](model, data.data, y, columns)) for rule in RULES}
        print(f"\n{name}, {len(columns)} variables; pairs named: {said}")
        for row in summarise_variables(model, data.data, y, names=list(data.feature_names)):
            print(f"  {row.name}: {row.words}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--real", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    measure(asked.seeds)
    if asked.real:
        measure_real()
