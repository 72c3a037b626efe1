"""What each setting of the sift is worth: halved, doubled, switched off.

    python -m ablation.measure                  # all settings (about 3 minutes of one core)
    python -m ablation.measure mcp breadth      # some of them
    python -m ablation.measure --real mcp       # and held-out rows of real data: 16 fits per change
    python -m ablation.measure --table          # the table again, from what was measured

Run from `benchmarks/` with the package installed, on one thread. The real data sets are taken from
the folder that GRADSIFT_DATA names.
"""

from __future__ import annotations

import argparse
import json
import warnings
from dataclasses import fields, replace
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from selection.designs import DESIGNS, HELD_OUT, real
from sklearn.metrics import average_precision_score

from gradsift import GradientSiftClassifier, GradientSiftRegressor
from gradsift.data import ArraySource, measure_scaling
from gradsift.sift import SiftSettings, sift

FILE = Path(__file__).parent / "measured.json"
SEEDS = (20,)
REAL = ("leukemia", "colon", "riboflavin", "gasoline")
TELLING = (
    "turl200", "circ40n", "inter", "addh200", "lincorr", "lineq", "cturl", "noise", "noisec",
    "mixed", "block.95",
)  # fmt: skip
"""Designs chosen by judgement: the others were solved, or hopeless, in the runs seen so far."""
WIDE = ("tiny",)
"""Designs for the settings that only wide tables feel."""
WIDE_SETTINGS = ("most_columns", "least_columns", "free_values", "most_values")
DEFAULT = SiftSettings()
OFF: dict[str, Any] = {
    "ridge": 1e-9,
    "n_known": 10**9,
    "path_end": 1.0,
    "mcp": np.inf,
    "searched_df": 0.0,
    "breadth": 1,
    "relaxed": 0.0,
    "most_tied": 1.0,
    "rounds": 1,
    "most_groups": 10**9,
}
"""What switches an ingredient off; the others have no such value."""


def changed(name: str, factor: float) -> Any:
    """A setting times a factor; whole numbers stay whole, shares give to and take from others."""
    value = getattr(DEFAULT, name)
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
            if value != getattr(DEFAULT, name):
                found[f"{name} {how}"] = replace(DEFAULT, **{name: value})
    return found


def standardised(X: Any) -> ArraySource:
    scaling = measure_scaling(ArraySource(X), np.full(len(X), 1.0 / len(X)))
    return ArraySource(scaling.apply(X))


def on_designs(settings: SiftSettings, names: tuple[str, ...]) -> dict[str, list[float]]:
    """Design -> [AP, F1, false variables, seconds], means over the seeds."""
    out = {}
    for name in names:
        make = (DESIGNS | HELD_OUT)[name]
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


def measure(label: str, settings: SiftSettings, with_real: bool) -> dict[str, Any]:
    """Designs, and real data if asked for; the default is measured on wide designs as well."""
    names = WIDE if label.split()[0] in WIDE_SETTINGS else TELLING
    names += WIDE if label == "default" else ()
    return {
        "designs": on_designs(settings, names),
        "real": on_real(settings) if with_real else {},
    }


def summary(found: dict[str, Any], names: Any) -> list[float]:
    """Mean AP, F1, false variables, held-out score, seconds, on designs of these names."""
    rows = np.array([found["designs"][name] for name in names])
    held_out = np.mean(list(found["real"].values())) if found["real"] else np.nan
    ap, f1, false, seconds = (np.nanmean(column) for column in rows.T)
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


def words(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def table(measured: dict[str, Any]) -> str:
    """What changes with each setting, against the default on the same designs."""
    base = measured["default"]
    lines = ["| setting | default | changed to | AP | F1 | false variables | time | most AP lost |"]
    lines.append("|---" * 8 + "|")
    for title, names in (("eleven designs", TELLING), ("wide design", WIDE)):
        start = "| {} | | | {:.3f} | {:.3f} | {:.2f} | {:.2f} s | |"
        ap, f1, false, _, seconds = summary(base, names)
        lines.append(start.format(f"none, {title}", ap, f1, false, seconds))
    for label, settings in variants([field.name for field in fields(SiftSettings)]).items():
        if label == "default" or label not in measured:
            continue
        found, name = measured[label], label.split()[0]
        designs = found["designs"]
        zero = summary(base, designs)
        ap, f1, false, _, seconds = np.subtract(summary(found, designs), zero)
        value = "off" if label.endswith("off") else words(getattr(settings, name))
        if name == "shares":
            value = f"linear {settings.shares[0]:.2g}"
        default = "linear 0.3" if name == "shares" else words(getattr(DEFAULT, name))
        lines.append(
            f"| `{name}` | {default} | {value} | {ap:+.3f} | {f1:+.3f} | {false:+.2f} | "
            f"{seconds / zero[4]:+.0%} | {worst(found, base)} |"
        )
    return "\n".join(lines)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("settings", nargs="*")
    options.add_argument("--real", action="store_true")
    options.add_argument("--table", action="store_true")
    asked = options.parse_args()
    measured = json.loads(FILE.read_text()) if FILE.exists() else {}
    todo = variants(asked.settings or [field.name for field in fields(SiftSettings)])
    warnings.simplefilter("ignore")
    for label, settings in {} if asked.table else todo.items():
        measured[label] = measure(label, settings, asked.real)
        FILE.write_text(json.dumps(measured))
        print(label, measured[label], flush=True)
    print(table(measured))


if __name__ == "__main__":
    main()
