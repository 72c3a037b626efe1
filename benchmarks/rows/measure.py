"""False and true variables at `false_positives=0.3` where rows belong together.

    python -m rows.measure                          # every design and method, 50 seeds
    python -m rows.measure --seeds 10 visits        # designs whose name contains a word
    python -m rows.measure --table                  # the tables again, from what was measured

Run from `benchmarks/` with the package installed, on one thread. Methods: `groups` is the sift that
is told the groups, `none` the sift that is not, `means` the sift on `aggregate(X, y, groups)`, and
`mixed` a linear mixed model with a random intercept for every column, at Bonferroni's level. Seeds
that were measured already are not measured again.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rows.designs import DESIGNS, Study
from rows.mixed import mixed_model_p_values

from gradsift import GradientSiftClassifier, GradientSiftRegressor, aggregate

FILE = Path(__file__).parent / "measured.json"
SEEDS = 50
LEVEL, BAR = 0.3, 0.4
EFFECTS = {
    "75 families x 4 sibs, 1,000 SNPs": 0.3,
    "40 subjects x 6 visits": 0.35,
    "40 subjects x 6 visits with trends": 0.5,
    "40 subjects x 6 visits, labels": 0.6,
    "40 subjects x 6 visits, products": 0.5,
    "48 donors x 50 cells, label per donor": 0.4,
    "two populations, 5 components kept": 0.25,
    "autocorrelated rows, blocks of 30": 0.5,
    "independent rows, groups of 4": 0.25,
}
"""Size of the planted effects; designs that are not named are measured without any."""


def sifted(study: Study, groups: Any) -> Any:
    """Columns that the sift selects."""
    kind = GradientSiftClassifier if study.labels else GradientSiftRegressor
    told = {} if groups is None else {"groups": groups}
    model = kind(LEVEL, always_keep=list(study.keep) or None)
    return model.fit_for("support", study.X, study.y, **told).get_support(indices=True)


def on_means(study: Study) -> Any:
    """Columns that the sift selects from one row per group."""
    y = study.y.astype(int).astype(str) if study.labels else study.y
    table = aggregate(study.X, y, study.groups)
    kind = GradientSiftClassifier if study.labels else GradientSiftRegressor
    return kind(LEVEL).fit_for("support", table.X, table.y).get_support(indices=True)


def mixed(study: Study) -> Any:
    """Columns whose mixed model passes Bonferroni's level; labels are taken for numbers."""
    p = mixed_model_p_values(study.X, study.y, study.groups)
    return np.flatnonzero(p < LEVEL / len(p))


METHODS: dict[str, Callable[[Study], Any]] = {
    "groups": lambda study: sifted(study, study.groups),
    "none": lambda study: sifted(study, None),
    "means": on_means,
    "mixed": mixed,
}


def applies(method: str, name: str) -> bool:
    """Whether a method can be used on a design."""
    if "populations" in name:
        return method == "groups"  # there are no groups: the components do the work
    if "donors" in name:
        return method in ("groups", "none")  # the sift takes the means itself
    return not (method == "means" and "labels" in name)


def counts(study: Study, method: str) -> list[int]:
    """False and true variables that a method selects."""
    found = np.setdiff1d(METHODS[method](study), study.keep)
    true = len(np.intersect1d(found, study.true))
    return [len(found) - true, true]


def measure(measured: dict[str, Any], key: tuple[str, str, float], seeds: int, file: Path) -> None:
    """Add what is missing of some seeds."""
    method, name, effect = key
    kept = measured.setdefault(method, {}).setdefault(f"{name} | {effect}", [])
    for seed in range(len(kept), seeds):
        kept.append(counts(DESIGNS[name](seed, effect), method))
        file.write_text(json.dumps(measured))
    if kept:
        print(method, name, effect, cell(kept, effect > 0), flush=True)


def cell(kept: list[list[int]] | None, planted: bool) -> str:
    """False variables with their standard error, and true ones where effects were planted."""
    if not kept:
        return ""
    false, true = np.array(kept, dtype=float).T
    error = false.std(ddof=1) / np.sqrt(len(false)) if len(false) > 1 else np.nan
    text = f"{false.mean():.2f} ({error:.2f})"
    text = text if false.mean() <= BAR + 2 * error else f"**{text}**"
    return f"{true.mean():.2f}; {text}" if planted else text


def tables(measured: dict[str, Any]) -> str:
    """A table of designs without effects, and one of those with."""
    lines = []
    for title, planted in (("nothing true", False), ("planted effects", True)):
        methods = [method for method in METHODS if not planted or method != "none"]
        head = ["design", *(["effect"] * planted), *methods, "seeds"]
        lines += [title, f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
        for name in DESIGNS:
            effect = EFFECTS.get(name, 0.0) if planted else 0.0
            if planted and not effect:
                continue
            if not planted and "products" in name:
                continue  # without effects these are the visits above
            found = [measured.get(method, {}).get(f"{name} | {effect}") for method in methods]
            if any(found):
                seeds = "/".join(str(len(kept)) for kept in found if kept)
                row = [
                    name,
                    *([f"{effect}"] * planted),
                    *(cell(kept, planted) for kept in found),
                    seeds,
                ]
                lines.append(f"| {' | '.join(row)} |")
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("words", nargs="*")
    options.add_argument("--seeds", type=int, default=SEEDS)
    options.add_argument("--methods", nargs="*", default=list(METHODS))
    options.add_argument("--effects", choices=["none", "planted", "both"], default="both")
    options.add_argument("--table", action="store_true")
    options.add_argument("--file", type=Path, default=FILE)
    asked = options.parse_args()
    measured = json.loads(asked.file.read_text()) if asked.file.exists() else {}
    warnings.simplefilter("ignore")
    for method in [] if asked.table else asked.methods:
        for name in DESIGNS:
            if not all(word in name for word in asked.words) or not applies(method, name):
                continue
            effect = EFFECTS.get(name, 0.0)
            sizes = {"none": [0.0], "planted": [effect], "both": [0.0, effect]}[asked.effects]
            for size in dict.fromkeys(sizes):
                if size or asked.effects != "planted":
                    measure(measured, (method, name, size), asked.seeds, asked.file)
    if asked.table:
        print(tables(measured))


if __name__ == "__main__":
    main()
