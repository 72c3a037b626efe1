"""What each setting of the sift is worth: halved, doubled, switched off.

    python -m ablation.measure                  # all settings (about 5 minutes of one core)
    python -m ablation.measure mcp n_starts     # some of them
    python -m ablation.measure --table          # the table again, from what was measured

Run from `benchmarks/` with the package installed, on one thread per process. The real data sets are
taken from the folder that GRADSIFT_DATA names (16 fits more per change); without it their columns
stay empty.
"""

from __future__ import annotations

import json
import sys
import warnings
from dataclasses import fields, replace
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from selection.designs import DESIGNS, HELD_OUT, real
from sklearn.metrics import average_precision_score

from gradsift import GradientSiftClassifier, GradientSiftRegressor
from gradsift.data import ArraySource, measure_scaling
from gradsift.sift import SiftSettings, sift

FILE = Path(__file__).parent / "measured.json"
SEEDS = (20,)
JOBS = 1
REAL = ("leukemia", "colon", "riboflavin", "gasoline")
TELLING = (
    "turl200", "circ40n", "ball40", "inter", "twoidx", "gated", "logit2", "addh200", "aradj",
    "lincorr", "lineq", "cturl", "clus", "snp", "steps", "noise", "noisec", "imbalanced", "mixed",
    "block.95",
)  # fmt: skip
"""Designs chosen by judgement: the others were solved, or hopeless, in the runs seen so far."""
DEFAULT = SiftSettings()
OFF: dict[str, Any] = {
    "clip": np.inf,
    "ridge": 1e-9,
    "n_known": 10**9,
    "path_end": 1.0,
    "mcp": np.inf,
    "searched_df": 0.0,
    "n_starts": 1,
    "n_enter": 1,
    "relaxed": 0.0,
    "robust_rounds": 1,
    "most_tied": 1.0,
    "rounds": 0,
}
"""What switches an ingredient off; the others have no such value."""


def changed(name: str, factor: float) -> Any:
    """A setting times a factor; whole numbers stay whole, shares give to and take from others."""
    value = getattr(DEFAULT, name)
    if name == "part_shares":  # the share of the linear part, at the cost of the local one
        first = value[0] * factor
        return (
            (first, value[1], max(1.0 - first - value[1], 0.01)) if factor < 1 else (0.6, 0.3, 0.1)
        )
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
            if value != getattr(DEFAULT, name):
                found[f"{name} {how}"] = replace(DEFAULT, **{name: value})
    return found


def standardised(X: Any) -> ArraySource:
    scaling = measure_scaling(ArraySource(X), np.full(len(X), 1.0 / len(X)))
    return ArraySource(scaling.apply(X))


def on_designs(settings: SiftSettings) -> dict[str, list[float]]:
    """Design -> [AP, F1, false variables, seconds], means over the seeds."""
    out = {}
    for name, make in {**DESIGNS, **HELD_OUT}.items():
        if name not in TELLING:
            continue
        rows = []
        for seed in SEEDS:
            case = make(seed)
            labels = case.task == "classification"
            start = process_time()
            found = sift(
                standardised(case.X), case.y[:, None], robust=not labels, settings=settings
            )
            rows.append([*quality(found, case.support, case.X.shape[1]), process_time() - start])
        out[name] = np.mean(rows, axis=0).tolist()
    return out


def quality(found: Any, support: Any, p: int) -> list[float]:
    """AP of the ranking, F1 of the selected set (nan where nothing is true), false variables."""
    truth = np.isin(np.arange(p), support)
    hits = int(truth[found.selected].sum())
    false = len(found.selected) - hits
    if not truth.any():
        return [np.nan, np.nan, float(false)]
    ap = float(average_precision_score(truth, -found.ranking))
    return [ap, 2 * hits / (len(found.selected) + int(truth.sum())), float(false)]


def on_real(settings: SiftSettings) -> dict[str, float]:
    """Data set -> score of held-out rows with the selected variables alone."""
    out = {}
    for name in REAL:
        try:
            data = real(name)
        except FileNotFoundError:
            continue
        labels = data.task == "classification"
        kind: Any = GradientSiftClassifier if labels else GradientSiftRegressor
        scores = []
        for train, test in data.splits:
            model = with_settings(kind, settings)(predict_with="selected")
            scores.append(model.fit(data.X[train], data.y[train]).score(data.X[test], data.y[test]))
        out[name] = float(np.mean(scores))
    return out


def with_settings(kind: Any, settings: SiftSettings) -> Any:
    """The estimator class with other settings of its sift."""
    return type(kind.__name__, (kind,), {"sift_settings": settings})


def measure(label: str, settings: SiftSettings) -> tuple[str, dict[str, Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return label, {"designs": on_designs(settings), "real": on_real(settings)}


def summary(found: dict[str, Any]) -> list[float]:
    """Mean AP, F1, false variables, held-out score, seconds."""
    rows = np.array(list(found["designs"].values()))
    held_out = np.mean(list(found["real"].values())) if found["real"] else np.nan
    ap, f1, false, seconds = np.nanmean(rows, axis=0)
    return [ap, f1, false, held_out, seconds]


def worst(found: dict[str, Any], base: dict[str, Any]) -> str:
    """The design that loses most AP."""
    losses = {
        name: base["designs"][name][0] - values[0]
        for name, values in found["designs"].items()
        if np.isfinite(values[0])
    }
    name = max(losses, key=lambda key: losses[key])
    return f"{name} {-losses[name]:+.2f}" if losses[name] > 0.005 else ""


def table(measured: dict[str, Any]) -> str:
    base = measured["default"]
    zero = summary(base)
    lines = [
        "| change | AP | F1 | false variables | held-out score | seconds | most AP lost |",
        "|---|---|---|---|---|---|---|",
        "| none | {:.3f} | {:.3f} | {:.2f} | {:.3f} | {:.2f} | |".format(*zero),
    ]
    for label, found in measured.items():
        if label == "default":
            continue
        ap, f1, false, score, seconds = np.subtract(summary(found), zero)
        lines.append(
            f"| {label} | {ap:+.3f} | {f1:+.3f} | {false:+.2f} | {score:+.3f} | "
            f"{seconds / zero[4]:+.0%} | {worst(found, base)} |"
        )
    return "\n".join(lines)


def main() -> None:
    asked = sys.argv[1:]
    measured = json.loads(FILE.read_text()) if FILE.exists() else {}
    if asked != ["--table"]:
        todo = variants(asked or [field.name for field in fields(SiftSettings)])
        jobs = (delayed(measure)(label, settings) for label, settings in todo.items())
        for label, found in Parallel(n_jobs=JOBS, return_as="generator")(jobs):
            measured[label] = found
            FILE.write_text(json.dumps(measured))
            print(
                label,
                "AP {:.3f} F1 {:.3f} false {:.2f} held-out {:.3f} {:.2f} s".format(*summary(found)),
                flush=True,
            )
    print(table(measured))


if __name__ == "__main__":
    main()
