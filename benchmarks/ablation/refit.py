"""What each setting of the refit is worth: halved, doubled, switched off.

    python -m ablation.refit                    # designs (about 25 minutes of one core)
    python -m ablation.refit --real             # held-out rows of real data
    python -m ablation.refit --table            # the tables again, from what was measured

Run from `benchmarks/` with the package installed, on one thread. Every table of data is fitted with
all settings in turn. On designs the true variables are given, with some false ones (`refit.measure`
says which), so that only the refit is judged; a setting is tried on the kinds of design that can
feel it. Of the real data sets, which are taken from the folder that GRADSIFT_DATA names, the sift
of each fold is run once, and every setting refits and scores the same selection.
"""

from __future__ import annotations

import argparse
import copy
import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from ablation.measure import Measured, mean, paired, with_error
from refit.measure import (
    ALL_DESIGNS,
    ALL_LABEL_DESIGNS,
    label_data,
    label_scores,
    regression_data,
    regression_scores,
)
from selection.data_sets import REAL, RealCase, real_cases
from sklearn.metrics import log_loss

from gradsift import GradientSiftClassifier, GradientSiftRegressor
from gradsift.data import open_source, standardised
from gradsift.refit import (
    ClassScore,
    NumberScore,
    Predictor,
    average,
    refit_classification,
    refit_regression,
)
from gradsift.refit.settings import LABELS, NUMBERS, RefitSettings

FILE = Path(__file__).parent / "measured_refit.json"
SEEDS = range(600, 602)
OUTLYING = tuple(
    f"{name} {how}"
    for how in ("wild", "moved")
    for name in ("lin3+0", "two4+3", "int4+0", "fri5+3")
)
LONG = ("two4+0", "fri5+0", "add4+0")
LONG_LABELS = ("ring3+0", "add5+0")
LONG_ROWS, ROWS_OF_OTHERS = 1_500, 100
KINDS: dict[str, tuple[str, ...]] = {
    "numbers": tuple(ALL_DESIGNS),
    "labels": tuple(ALL_LABEL_DESIGNS),
    "outliers": OUTLYING,
    "many rows": tuple(f"{name} long" for name in (*LONG, *LONG_LABELS)),
}
"""Kind of design -> its designs: of 100 rows, or of 1,500 where they are many."""
ROWS = ("tuning_rows", "landmarks", "most_rows")
KERNELS = (
    "start_noise", "shrink_scales", "per_angle", "linear_per_variable", "rotation_rounds",
    "most_rotated", "anova_trial", "anova_hope",
)  # fmt: skip
ONLY_LABELS = ("penalties", "stretches")
OUTLIERS = (
    "outlier_z", "clip", "noise_floor", "robust_rounds", "settled", "robust_gain",
)  # fmt: skip
OFF: dict[str, dict[str, Any]] = {
    "per_angle": {"per_angle": 0.0},
    "linear_per_variable": {"linear_per_variable": np.inf},
    "rotation_rounds": {"rotation_rounds": 1},
    "most_rotated": {"most_rotated": 1},
    "anova_trial": {"anova_trial": 1, "anova_hope": -np.inf},
    "anova_hope": {"anova_hope": np.inf},
    "penalties": {"penalties": (1.0,)},
    "stretches": {"stretches": (1.0,)},
    "outlier_z": {"outlier_z": np.inf},
    "noise_floor": {"noise_floor": 0.0},
    "robust_rounds": {"robust_rounds": 1},
    "robust_gain": {"robust_gain": np.inf},
    "ensemble_rows": {"ensemble_rows": (10, 9)},
    "ridge_cut": {"ridge_cut": 0.0},
    "ridge_columns": {"ridge_columns": 0},
    "differences": {"differences": 0},
    "kernel_columns": {"kernel_columns": 0},
    "most_repeats": {"most_repeats": 1},
    "stacking_power": {"stacking_power": 1e6},
    "least_gain": {"least_gain": -np.inf},
    "least_weight": {"least_weight": 0.0},
}
"""What switches an ingredient off. No anova kernel: it is given up after one step. No ridge: of no
columns. No kernel ridge, no Laplace kernel: no table is small enough for them. A large power gives
the best member all.
"""
SCORE, SECONDS = range(2)


def changed(settings: RefitSettings, name: str, factor: float) -> Any:
    """A setting times a factor; of a grid, half or twice as many values."""
    value = getattr(settings, name)
    if isinstance(value, bool):
        return not value
    if name == "ensemble_rows":
        return round(value[0] * factor), value[1]
    if name == "stretches":
        return tuple(stretch**factor for stretch in value)
    if isinstance(value, tuple):
        return value[::2] if factor < 1 else refined(value)
    return max(1, round(value * factor)) if isinstance(value, int) else value * factor


def refined(grid: Sequence[float]) -> tuple[float, ...]:
    """A geometric grid with a value between any two."""
    between = np.sqrt(np.multiply(grid[1:], grid[:-1]))
    return tuple(float(v) for v in np.sort(np.append(grid, between)))


def variants(names: Sequence[str], default: RefitSettings) -> dict[str, RefitSettings]:
    """Label -> settings that differ from the default in one ingredient."""
    found = {"default": default}
    for name in names:
        own = getattr(default, name)
        factors = {"other": 2.0} if isinstance(own, bool) else {"half": 0.5, "double": 2.0}
        for how, factor in factors.items():
            value = changed(default, name, factor)
            if value != own:
                found[f"{name} {how}"] = replace(default, **{name: value})
        if name in OFF:
            found[f"{name} off"] = replace(default, **OFF[name])
    return found


# ------------------------------------------------ designs
def felt(kind: str, labels: bool) -> tuple[str, ...]:
    """The settings that a kind of design can feel."""
    if kind == "many rows":
        return ROWS
    if kind == "outliers":
        return OUTLIERS
    return KERNELS + (ONLY_LABELS if labels else ("outlier_z",))  # a false alarm would cost


def outlying(data: dict[str, Any], how: str, seed: int) -> dict[str, Any]:
    """One response in twenty is wild (Cauchy noise), or moved by five standard deviations."""
    rng = np.random.default_rng([seed, 5])
    rows = rng.choice(len(data["y"]), len(data["y"]) // 20, replace=False)
    y = data["y"].copy()
    y[rows] += rng.standard_cauchy(len(rows)) * 3.0 if how == "wild" else 5.0
    return {**data, "y": y}


def problem(design: str, seed: int) -> tuple[RefitSettings, Callable[[RefitSettings], list[float]]]:
    """The default settings of a design, and what scores others: R2, or log loss above Bayes."""
    name, _, how = design.partition(" ")
    n = LONG_ROWS if how == "long" else ROWS_OF_OTHERS
    if name in ALL_LABEL_DESIGNS:
        data = label_data(name, n, seed)
        return LABELS, lambda settings: timed(
            lambda: refit_classification(data["X"], data["labels"], n_classes=2, settings=settings),
            lambda fit: label_scores(fit, data)[1],
        )
    data = regression_data(name, n, seed)
    if how in ("wild", "moved"):
        data = outlying(data, how, seed)
    return NUMBERS, lambda settings: timed(
        lambda: refit_regression(data["X"], data["y"], settings=settings),
        lambda fit: regression_scores(fit, data)[1],
    )


def timed(fit: Callable[[], Any], score: Callable[[Any], float]) -> list[float]:
    start = process_time()
    fitted = fit()
    seconds = process_time() - start
    return [score(fitted), seconds]


def on_designs(names: Sequence[str]) -> Iterator[tuple[str, str, str, list[float]]]:
    """(label, design, seed, [score, seconds])."""
    for seed in SEEDS:
        for kind, designs in KINDS.items():
            for design in designs:
                default, score = problem(design, seed)
                some = [name for name in felt(kind, default is LABELS) if name in names]
                for label, settings in variants(some, default).items():
                    yield label, design, str(seed), score(settings)


# ------------------------------------------------ real data
def on_real(names: Sequence[str]) -> Iterator[tuple[str, str, str, list[float]]]:
    """(label, data set, fold, [R2 or log loss of held-out rows, seconds of the refit])."""
    for name, data in real_cases():
        for fold, (train, test) in enumerate(data.splits):
            for label, values in refits(data, train, test, names):
                yield label, name, str(fold), values


def refits(
    data: RealCase, train: Any, test: Any, names: Sequence[str]
) -> Iterator[tuple[str, list[float]]]:
    """Every variant on what the sift selects from the training rows of a fold."""
    labels = data.task == "classification"
    kind: Any = GradientSiftClassifier if labels else GradientSiftRegressor
    X, y = data.X[train], data.y[train]
    sifted = kind(predict_with="selected").fit(X, y).set_params(predict_with="auto")
    for label, settings in variants(names, LABELS if labels else NUMBERS).items():
        start = process_time()
        model = refitted(sifted, X, y, settings)
        seconds = process_time() - start
        if labels:
            score = log_loss(data.y[test], model.predict_proba(data.X[test]))
        else:
            score = model.score(data.X[test], data.y[test])
        yield label, [float(score), seconds]


def refitted(sifted: Any, X: Any, y: Any, settings: RefitSettings) -> Any:
    """A fitted model with other settings of its refit; its selection stays."""
    fitted = sifted.predictor_
    columns, Z = standardised(open_source(X), fitted.scaling), fitted.columns(X)
    if isinstance(sifted, GradientSiftRegressor):
        refit = refit_regression(Z, y, settings=settings)
        response: Any = NumberScore.of(y, None, refit, settings)
    else:
        codes = np.searchsorted(sifted.classes_, y)
        n_classes = len(sifted.classes_)
        refit = refit_classification(Z, codes, n_classes=n_classes, settings=settings)
        response = ClassScore.of(codes, n_classes, None, settings)
    model = copy.copy(sifted)
    alone = Predictor(fitted.scaling, fitted.index, refit)
    model.predictor_ = average(alone, columns, Z, response, settings)
    return model


# ------------------------------------------------ tables
def words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple) and len(value) > 3:
        return f"{len(value)} values"
    if isinstance(value, tuple):
        return ", ".join(words(v) for v in value)
    return f"{value:.3g}" if isinstance(value, float) else f"{value:,}"


def change(label: str) -> str:
    """What a label changes the setting to: of numbers, unless only labels have the setting."""
    name, how = label.split()
    if how == "off":
        return "off"
    return words(getattr(variants([name], NUMBERS)[label], name))


def slower(found: Measured, label: str, names: Sequence[str]) -> str:
    """Seconds over those of the default on the same tables, less one."""
    spent = [0.0, 0.0]
    for name in names:
        for seed, values in found[label].get(name, {}).items():
            spent[0] += values[SECONDS]
            spent[1] += found["default"][name][seed][SECONDS]
    return f"{spent[0] / spent[1] - 1:+.0%}" if spent[1] else ""


def rows_of(found: Measured, columns: dict[str, tuple[str, ...]]) -> Iterator[str]:
    """A table with the default's scores and the differences to them, a column per set of names;
    settings that make no difference are named below it.
    """
    head = ["setting", "default", "changed to", *columns, "time"]
    yield f"| {' | '.join(head)} |\n{'|---' * len(head)}|"
    scores = [f"{mean(found, 'default', SCORE, names):.3f}" for names in columns.values()]
    yield f"| all of the default | | | {' | '.join(scores)} | |"
    everything = [name for names in columns.values() for name in names]
    idle = {}
    for label in ordered(found):
        name = label.split()[0]
        cells = [cell(found, label, names) for names in columns.values()]
        if set(cells) <= {"", "0"}:
            idle.setdefault(name, not any(cells))
            continue
        idle[name] = True
        was, time = words(getattr(NUMBERS, name)), slower(found, label, everything)
        yield f"| `{name}` | {was} | {change(label)} | {' | '.join(cells)} | {time} |"
    same = [f"`{name}`" for name, differs in idle.items() if not differs]
    yield f"\nNo difference in any table: {', '.join(same)}."


def cell(found: Measured, label: str, names: tuple[str, ...]) -> str:
    """The mean difference to the default with its standard error; empty where not tried."""
    if not any(name in found[label] for name in names):
        return ""
    difference = paired(found, label, SCORE, names)
    return "0" if abs(difference[0]) < 0.0005 else with_error(difference, 3)


def ordered(found: Measured) -> list[str]:
    """Labels in the order of the settings."""
    places = {field.name: at for at, field in enumerate(fields(RefitSettings))}
    known = [label for label in found if label.split()[0] in places]
    return sorted(known, key=lambda label: places[label.split()[0]])


def tables(found: Measured) -> Iterator[str]:
    long = {f"{name} long" for name in LONG_LABELS}
    kinds = {kind: names for kind, names in KINDS.items() if kind != "many rows"}
    kinds["many rows"] = tuple(name for name in KINDS["many rows"] if name not in long)
    kinds["labels, many rows"] = tuple(sorted(long))
    yield "designs"
    yield from rows_of(found, kinds)
    if any(name in found["default"] for name in REAL):
        yield "\nreal"
        yield from rows_of(found, {name: (name,) for name in REAL})


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("settings", nargs="*")
    options.add_argument("--real", action="store_true")
    options.add_argument("--table", action="store_true")
    asked = options.parse_args()
    found: Measured = json.loads(FILE.read_text()) if FILE.exists() else {}
    names = asked.settings or [field.name for field in fields(RefitSettings)]
    warnings.simplefilter("ignore")
    if not asked.table:
        for label, design, seed, values in (on_real if asked.real else on_designs)(names):
            found.setdefault(label, {}).setdefault(design, {})[seed] = values
            if label == "default":  # a table is done
                FILE.write_text(json.dumps(found))
        FILE.write_text(json.dumps(found))
    print("\n".join(tables(found)))


if __name__ == "__main__":
    main()
