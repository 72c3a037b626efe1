"""What each setting of the sift is worth: halved, doubled, switched off.

    python -m ablation.measure                  # all settings (about 15 minutes of one core)
    python -m ablation.measure ridge breadth     # some of them
    python -m ablation.measure --real           # held-out rows of real data in place of designs
    python -m ablation.measure --real --data riboflavin gasoline
    python -m ablation.measure --all shares     # all designs that take a second or less
    python -m ablation.measure --table          # the tables again, from what was measured

Run from `benchmarks/` with the package installed, on one thread. Every table of data is sifted with
all settings in turn, so that times of one table are comparable. The real data sets are taken from
the folder that GRADSIFT_DATA names; they try one change of each setting, the last of those above.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from selection.data_sets import REAL, real_cases
from selection.designs import DESIGNS, HELD_OUT
from sklearn.metrics import average_precision_score

from gradsift import GradientSiftClassifier, GradientSiftRegressor
from gradsift.data import ArraySource, measure_scaling
from gradsift.sift import Limits, SiftSettings, sift

FILE = Path(__file__).parent / "measured.json"
SEEDS = range(300, 305)
ALL_FILE = Path(__file__).parent / "measured_all.json"
ALL_SEEDS = range(100, 106)
TELLING = (
    "turl200", "circ40n", "inter", "addh200", "lincorr", "lineq", "cturl", "noise", "noisec",
    "mixed", "block.95",
)  # fmt: skip
"""Designs chosen by judgement: the others were solved, or hopeless, in the runs seen so far."""
WIDE = ("tiny",)
"""Designs for the settings that only wide tables feel."""
SLOW = ("tall", "tiny", "add500", "addh500")
ALL = tuple(name for name in DESIGNS | HELD_OUT if name not in SLOW)
WIDE_SETTINGS = tuple(field.name for field in fields(Limits))
GROUPED_SETTINGS = ("most_correlation", "joint_share")
"""Settings of rows, and of columns, that belong together, which no table here has."""
RANKING_SETTINGS = ("left_over", "forward_ridge")
"""Settings of the order after the selected columns (`ablation.ranking` measures them)."""
DEFAULT = SiftSettings()
OFF: dict[str, Any] = {
    "ridge": 1e-9,
    "n_known": 10**9,
    "path_end": 1.0,
    "searched_df": 0.0,
    "breadth": 1,
    "relaxed": 0.0,
    "rounds": 1,
}
"""What switches an ingredient off; the others have no such value."""
AP, F1, FALSE, SECONDS = range(4)

Measured = dict[str, dict[str, dict[str, list[float]]]]
"""Label of a change -> design -> seed -> AP, F1, false variables, seconds; of real data: fold ->
score.
"""


def setting_names() -> list[str]:
    """The settings that the tables measured here can feel."""
    names = [field.name for field in fields(SiftSettings) if field.name != "limits"]
    others = (*GROUPED_SETTINGS, *RANKING_SETTINGS)
    return [name for name in names if name not in others] + list(WIDE_SETTINGS)


def value_of(name: str, settings: SiftSettings = DEFAULT) -> Any:
    """A setting, or a limit."""
    return getattr(settings.limits if name in WIDE_SETTINGS else settings, name)


def with_value(name: str, value: Any) -> SiftSettings:
    """The default with another setting, or limit."""
    if name in WIDE_SETTINGS:
        return replace(DEFAULT, limits=replace(DEFAULT.limits, **{name: value}))
    return replace(DEFAULT, **{name: value})


def changed(name: str, factor: float) -> Any:
    """A setting times a factor; whole numbers stay whole, shares give to and take from others."""
    value = value_of(name)
    if name == "shares":  # that of the linear part, at the cost of the others
        first = value[0] * factor
        return (first, *(share * (1 - first) / sum(value[1:]) for share in value[1:]))
    if name == "path_step":
        return value**factor
    return max(1, round(value * factor)) if isinstance(value, int) else value * factor


def variants(names: list[str]) -> dict[str, SiftSettings]:
    """Label -> settings that differ from the default in one field."""
    found = {"default": DEFAULT}
    for name in names:
        values = {"half": changed(name, 0.5), "double": changed(name, 2.0)}
        if name in OFF:
            values["off"] = OFF[name]
        for how, value in values.items():
            if value != value_of(name):
                found[f"{name} {how}"] = with_value(name, value)
    return found


def last_variants(names: list[str]) -> dict[str, SiftSettings]:
    """The same, one change of each field: off, or else double."""
    last = {label.split()[0]: label for label in variants(names)}
    return {label: variants(names)[label] for label in last.values()}


def standardised(X: Any) -> ArraySource:
    scaling = measure_scaling(ArraySource(X), np.full(len(X), 1.0 / len(X)))
    return ArraySource(scaling.apply(X))


def felt(label: str, design: str) -> bool:
    """Whether a change is tried on a design: wide ones are for the settings of wide tables."""
    return label == "default" or (label.split()[0] in WIDE_SETTINGS) == (design in WIDE)


def on_designs(
    todo: dict[str, SiftSettings], seeds: range, names: tuple[str, ...]
) -> Iterator[tuple[str, str, str, list[float]]]:
    """(label, design, seed, [AP, F1, false variables, seconds])."""
    for seed in seeds:
        for name in names:
            case = (DESIGNS | HELD_OUT)[name](seed)
            source, labels = standardised(case.X), case.task == "classification"
            for label, settings in todo.items():
                if felt(label, name):
                    start = process_time()
                    found = sift(source, case.y[:, None], robust=not labels, settings=settings)
                    seconds = process_time() - start
                    values = quality(found, case.support, case.X.shape[1])
                    yield label, name, str(seed), [*values, seconds]


def quality(found: Any, support: Any, p: int) -> list[float]:
    """AP of the ranking, F1 of the selected set (nan where nothing is true), false variables."""
    truth = np.isin(np.arange(p), support)
    hits = int(truth[found.selected].sum())
    false = len(found.selected) - hits
    if not truth.any():
        return [np.nan, np.nan, float(false)]
    ap = float(average_precision_score(truth, -found.ranking))
    return [ap, 2 * hits / (len(found.selected) + int(truth.sum())), float(false)]


def on_real(
    todo: dict[str, SiftSettings], names: Sequence[str]
) -> Iterator[tuple[str, str, str, list[float]]]:
    """(label, data set, fold, [score of held-out rows with the selected variables alone])."""
    for name, data in real_cases(names):
        labels = data.task == "classification"
        kind: Any = GradientSiftClassifier if labels else GradientSiftRegressor
        for fold, (train, test) in enumerate(data.splits):
            for label, settings in todo.items():
                model = with_settings(kind, settings)(predict_with="selected")
                model.fit(data.X[train], data.y[train])
                yield label, name, str(fold), [model.score(data.X[test], data.y[test])]


def with_settings(kind: Any, settings: SiftSettings) -> Any:
    """The estimator class with other settings of its sift."""
    return type(kind.__name__, (kind,), {"sift_settings": settings})


def paired(found: Measured, label: str, column: int, names: tuple[str, ...]) -> tuple[float, float]:
    """Mean difference to the default over tables that both have seen, and its standard error over
    seeds (or folds).
    """
    seeds: dict[str, list[float]] = {}
    for name in names:
        for seed, values in found[label].get(name, {}).items():
            before = found["default"].get(name, {}).get(seed)
            if before is not None and np.isfinite(values[column]):
                seeds.setdefault(seed, []).append(values[column] - before[column])
    means = [float(np.mean(each)) for each in seeds.values()]
    error = np.std(means, ddof=1) / np.sqrt(len(means)) if len(means) > 1 else np.nan
    return float(np.mean(means)), float(error)


def mean(found: Measured, label: str, column: int, names: tuple[str, ...]) -> float:
    """Mean over the tables of some designs."""
    rows = [v[column] for name in names for v in found[label].get(name, {}).values()]
    return float(np.nanmean(rows))


def slower(found: Measured, label: str, names: tuple[str, ...]) -> float:
    """Seconds over those of the default, less one."""
    before = mean(found, "default", SECONDS, names)
    return mean(found, label, SECONDS, names) / before - 1


def worst(found: Measured, label: str, names: tuple[str, ...]) -> str:
    """The design that loses most AP."""
    losses = {
        name: paired(found, label, AP, (name,))[0]
        for name in names
        if np.isfinite(mean(found, "default", AP, (name,)))
    }
    name = min(losses, key=lambda key: losses[key])
    return f"{name} {losses[name]:+.2f}" if losses[name] < -0.005 else ""


def words(name: str, settings: SiftSettings) -> str:
    if name == "shares":
        return f"linear {settings.shares[0]:.2g}"
    value = value_of(name, settings)
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def with_error(difference: tuple[float, float], digits: int) -> str:
    value, error = difference
    if not value and not error > 0:
        return "0"
    return f"{value:+.{digits}f}" + (f" ({error:.{digits}f})" if np.isfinite(error) else "")


def design_table(found: Measured) -> Iterator[str]:
    """What changes with each setting on designs, against the default on the same tables."""
    head = "setting", "default", "changed to", "AP", "F1", "false variables", "time", "most AP lost"
    yield f"| {' | '.join(head)} |\n{'|---' * len(head)}|"
    for title, names in (("all of the default", TELLING), ("the same, wide", WIDE)):
        ap, f1, false, seconds = (mean(found, "default", c, names) for c in range(4))
        yield f"| {title} | | | {ap:.3f} | {f1:.3f} | {false:.2f} | {seconds:.2f} s | |"
    for label, settings in variants(setting_names()).items():
        name = label.split()[0]
        names = WIDE if name in WIDE_SETTINGS else TELLING
        if label == "default" or names[0] not in found.get(label, {}):
            continue
        ap, f1 = (with_error(paired(found, label, c, names), 3) for c in (AP, F1))
        false = with_error(paired(found, label, FALSE, names), 2)
        value = "off" if label.endswith("off") else words(name, settings)
        yield (
            f"| `{name}` | {words(name, DEFAULT)} | {value} | {ap} | {f1} | {false} | "
            f"{slower(found, label, names):+.0%} | {worst(found, label, names)} |"
        )


def real_table(found: Measured) -> Iterator[str]:
    """Score of held-out rows of real tables with one change of each setting."""
    names = [name for name in REAL if name in found["default"]]
    yield f"| setting | changed to | {' | '.join(names)} |\n{'|---' * (2 + len(names))}|"
    scores = [mean(found, "default", 0, (name,)) for name in names]
    yield f"| none | | {' | '.join(f'{score:.3f}' for score in scores)} |"
    for label, settings in last_variants(setting_names()).items():
        if label == "default" or names[-1] not in found.get(label, {}):
            continue
        name = label.split()[0]
        value = "off" if label.endswith("off") else words(name, settings)
        cells = [with_error(paired(found, label, 0, (data,)), 3) for data in names]
        yield f"| `{name}` | {value} | {' | '.join(cells)} |"


def all_table(found: Measured) -> Iterator[str]:
    """What changes on all designs that are quick."""
    head = "setting", "changed to", "AP", "F1", "false variables", "most AP lost"
    yield f"| {' | '.join(head)} |\n{'|---' * len(head)}|"
    ap, f1, false = (mean(found, "default", c, ALL) for c in (AP, F1, FALSE))
    yield f"| none | | {ap:.3f} | {f1:.3f} | {false:.2f} | |"
    for label in list(found)[1:]:
        name = label.split()[0]
        value = "off" if label.endswith("off") else words(name, variants([name])[label])
        ap_, f1_ = (with_error(paired(found, label, c, ALL), 3) for c in (AP, F1))
        false_ = with_error(paired(found, label, FALSE, ALL), 2)
        yield f"| `{name}` | {value} | {ap_} | {f1_} | {false_} | {worst(found, label, ALL)} |"


def jobs(
    asked: argparse.Namespace, names: list[str]
) -> Iterator[tuple[str, str, str, list[float]]]:
    """What is to be measured, one table and one setting after the other."""
    todo = variants(names)
    if asked.all:
        return on_designs(todo, ALL_SEEDS, ALL)
    if asked.real:
        return on_real(last_variants(names), asked.data)
    return on_designs(todo, SEEDS, TELLING + WIDE)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("settings", nargs="*")
    options.add_argument("--real", action="store_true")
    options.add_argument("--data", nargs="+", choices=REAL, default=REAL)
    options.add_argument("--all", action="store_true")
    options.add_argument("--table", action="store_true")
    asked = options.parse_args()
    file = ALL_FILE if asked.all else FILE
    found: Measured = json.loads(file.read_text()) if file.exists() else {}
    names = asked.settings or setting_names()
    warnings.simplefilter("ignore")
    if not asked.table:
        for label, design, seed, values in jobs(asked, names):
            found.setdefault(label, {}).setdefault(design, {})[seed] = values
            if label == "default":  # a table is done
                file.write_text(json.dumps(found))
        file.write_text(json.dumps(found))
    if asked.all:
        print("all designs\n" + "\n".join(all_table(found)))
        return
    print("designs\n" + "\n".join(design_table(found)))
    if any(name in found["default"] for name in REAL):
        print("\nreal\n" + "\n".join(real_table(found)))


if __name__ == "__main__":
    main()
