"""Held-out scores where rows belong together, beside the scores on fresh groups.

    python -m rows.fresh                            # every design, 50 seeds
    python -m rows.fresh --seeds 10 labels          # designs whose name contains a word
    python -m rows.fresh --table                    # the tables again, from what was measured

Run from `benchmarks/` with the package installed, on one thread. `held out` is what `held_out`
tells a user of one study, `fresh` the same score of the model of that study on 600 fresh groups,
`folds` the R² about the mean of each fold, which `held_out` does not use. Seeds that were measured
already are not measured again.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gradsift import GradientSiftClassifier, GradientSiftRegressor
from gradsift.data.row_groups import group_codes
from gradsift.estimators.splits import row_splits
from gradsift.evaluate import held_out, score_model

FILE = Path(__file__).parent / "fresh.json"
SEEDS, FRESH, COLUMNS = 50, 600, 40
SHARED = 0.5
"""Part of the variance that rows of a group share, in the noise and in every column."""
SCORES = {False: ("R²",), True: ("accuracy", "balanced accuracy", "ROC AUC", "average precision")}


class Study(NamedTuple):
    """Rows of so many groups."""

    X: Any
    y: Any
    groups: Any
    covariates: Any = None

    @property
    def beside(self) -> dict[str, Any]:
        return {} if self.covariates is None else {"covariates": self.covariates}


def grouped(rng: np.random.Generator, who: Any, columns: int) -> Any:
    """Normal columns of unit variance of which groups share a part."""
    between = rng.normal(size=(who.max() + 1, columns))[who]
    within = rng.normal(size=(len(who), columns))
    return np.sqrt(SHARED) * between + np.sqrt(1.0 - SHARED) * within


def visits(rng: np.random.Generator, count: int, sizes: Any = 6, effect: float = 0.8) -> Study:
    who = np.repeat(np.arange(count), sizes)
    X = grouped(rng, who, COLUMNS)
    return Study(X, effect * X[:, :3].sum(axis=1) + grouped(rng, who, 1)[:, 0], who)


def unequal(rng: np.random.Generator, count: int) -> Study:
    """One to about 40 visits."""
    sizes = rng.lognormal(np.log(4.0), 0.9, count).round().clip(1).astype(int)
    return visits(rng, count, sizes)


def labels(rng: np.random.Generator, count: int) -> Study:
    """A label that may change from visit to visit; four in ten are positive."""
    study = visits(rng, count)
    return study._replace(y=np.where(study.y > 0.4, "b", "a"))


def donors(rng: np.random.Generator, count: int) -> Study:
    """The label is the donor's; ten cells each."""
    who = np.repeat(np.arange(count), 10)
    case = rng.integers(2, size=count)[who]
    X = grouped(rng, who, COLUMNS)
    X[:, :3] += 0.6 * (2.0 * case[:, None] - 1.0)
    return Study(X, np.where(case, "case", "control"), who)


def batches(rng: np.random.Generator, count: int) -> Study:
    """Four visits, and a batch of each subject that moves all columns and the response."""
    who = np.repeat(np.arange(count), 4)
    batch = rng.integers(2, size=count)[who]
    X = rng.normal(size=(count, COLUMNS))[who] + rng.normal(size=(len(who), COLUMNS))
    X += batch[:, None]
    y = X[:, 3] + batch + 0.7 * rng.normal(size=count)[who] + rng.normal(size=len(who))
    return Study(X, y, who, {"batch": np.array(["a", "b"])[batch]})


DESIGNS = {
    "30 subjects x 4 visits, batches": (batches, 30),
    "40 subjects x 6 visits": (visits, 40),
    "40 subjects, 1 to 40 visits": (unequal, 40),
    "40 subjects x 6 visits, nothing true": (lambda rng, m: visits(rng, m, effect=0.0), 40),
    "15 subjects x 6 visits": (visits, 15),
    "40 subjects x 6 visits, labels": (labels, 40),
    "30 donors x 10 cells, label per donor": (donors, 30),
}


def compare(design: Any, count: int, rng: np.random.Generator) -> dict[str, dict[str, float]]:
    """Score -> what is said of held-out rows, and what is true of fresh groups."""
    study, new = design(rng, count), design(rng, FRESH)
    named = study.y.dtype.kind == "U"
    model = (GradientSiftClassifier if named else GradientSiftRegressor)(predict_with="selected")
    found = held_out(
        model, study.X, study.y, groups=study.groups, simple=False, **study.beside
    ).selected
    model.fit(study.X, study.y, groups=study.groups, **study.beside)
    fresh = score_model(model, new.X, new.y, **new.beside)
    out = {k: {"held out": found.mean(k), "fresh": fresh.mean(k)} for k in SCORES[named]}
    if not named:
        codes = group_codes(study.groups, len(study.y))
        own = [
            study.y[test].var() for _, test in row_splits(5, study.y, named, codes, shuffle=True)
        ]
        out["R²"]["folds"] = float(np.mean(1.0 - np.square(found.values["RMSE"]) / own))
    return out


def measure(word: str, seeds: int) -> None:
    """Fill in what is not measured yet."""
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    for seed in range(seeds):
        for number, (name, (design, count)) in enumerate(DESIGNS.items()):
            found = known.setdefault(name, {})
            if word in name and str(seed) not in found:
                found[str(seed)] = compare(design, count, np.random.default_rng([seed, number]))
                FILE.write_text(json.dumps(known, indent=1, ensure_ascii=False))


def cell(values: Any) -> str:
    """Mean (standard error)."""
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{np.mean(values):.2f} ({error:.2f})".replace("-", "−")


def table() -> str:
    """The tables of the page."""
    known = json.loads(FILE.read_text())
    lines = ["held out and fresh", ""]
    lines += ["| design | score | held out | fresh | difference | about the folds' means | seeds |"]
    lines += ["| --- | --- | --- | --- | --- | --- | --- |"]
    for name, found in known.items():
        for score in next(iter(found.values())):
            said, true, folds = (
                np.array([one[score].get(key, np.nan) for one in found.values()])
                for key in ("held out", "fresh", "folds")
            )
            other = "" if np.isnan(folds).all() else cell(folds - true)
            cells = [name, score, cell(said), cell(true), cell(said - true), other, len(said)]
            lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("word", nargs="?", default="")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args()
    if not asked.table:
        warnings.simplefilter("ignore")
        measure(asked.word, asked.seeds)
    print(table())
