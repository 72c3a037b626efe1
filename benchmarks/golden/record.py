"""Golden answers: what both families say on every design and data set, to compare after a change.

    python -m golden.record write            # record the answers of this version
    python -m golden.record check            # compare: what differs, and by how much
    python -m golden.record check sift       # one family: sift or paper
    python -m golden.record write sift       # the same; the other family's answers stay

Both say what differs from the answers that were recorded before.

Run from `benchmarks/` with the package installed, on one thread. The real data sets are taken from
the folder that GRADSIFT_DATA names; without it they are left out, and that is said.
"""

from __future__ import annotations

import hashlib
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from selection.data_sets import real_cases
from selection.designs import DESIGNS, HELD_OUT

from gradsift import (
    GradientSiftClassifier,
    GradientSiftRegressor,
    SparseGradientClassifier,
    SparseGradientRegressor,
)

FILE = Path(__file__).parent / "answers.json"
SEEDS = (0, 1, 2)
FAMILIES = ("sift", "paper")
LARGE = ("tall",)  # 20,000 rows: the default method on one seed, the paper's not at all
MOST_RANKED = 30
MOST_PREDICTED = 20
CLOSE = 1e-6  # relative: sums in another order differ by less


def problems() -> Iterator[tuple[str, Any, Any, str]]:
    """(name, X, y, task) of every design and data set."""
    for name, make in {**DESIGNS, **HELD_OUT}.items():
        for seed in SEEDS[:1] if name in LARGE else SEEDS:
            case = make(seed)
            yield f"{name}/{seed}", case.X, case.y, case.task
    for name, data in real_cases():
        yield name, data.X, data.y, data.task


def estimators(task: str, name: str) -> dict[str, Any]:
    labels = task == "classification"
    found = {"sift": GradientSiftClassifier() if labels else GradientSiftRegressor()}
    if name.split("/")[0] not in LARGE:
        found["paper"] = SparseGradientClassifier() if labels else SparseGradientRegressor()
    return found


def answer(model: Any, X: Any) -> dict[str, Any]:
    """What is kept of a fitted model: the selected set, the ranking, predictions, directions."""
    labels = hasattr(model, "decision_function")
    predict = model.decision_function if labels else model.predict
    rows = np.linspace(0, len(X) - 1, MOST_PREDICTED).astype(int)
    order = np.argsort(model.ranking_, kind="stable")
    return {
        "selected": model.get_support(indices=True).tolist(),
        "best": order[:MOST_RANKED].tolist(),
        "ranking": hashlib.sha256(order.astype("<i8").tobytes()).hexdigest()[:16],
        "importances": [float(v) for v in model.feature_importances_[model.get_support()]],
        "predictions": np.asarray(predict(X[rows]), dtype=float).ravel().tolist(),
        "n_components": int(model.n_components_),
    }


def record(families: tuple[str, ...] = FAMILIES) -> dict[str, Any]:
    found: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, X, y, task in problems():
            for family, model in estimators(task, name).items():
                if family not in families:
                    continue
                found[f"{family} {name}"] = answer(model.fit(X, y), X)
    return found


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """One line per problem whose answer changed."""
    lines = []
    for name in old:
        if name not in new:
            lines.append(f"{name}: not run")
            continue
        was, now = old[name], new[name]
        said = [key for key in ("selected", "best", "n_components") if was[key] != now[key]]
        for key in ("importances", "predictions"):
            if len(was[key]) != len(now[key]):
                said.append(key)
            elif len(was[key]):
                a, b = np.array(was[key]), np.array(now[key])
                off = float(np.abs(a - b).max() / max(np.abs(a).max(), 1e-300))
                if off > CLOSE:
                    said.append(f"{key} by {off:.1e}")
        if not said and was["ranking"] != now["ranking"]:
            said.append(f"ranking beyond the first {MOST_RANKED}")
        if said:
            lines.append(f"{name}: {', '.join(said)}")
    return lines


def main() -> int:
    task, *families = sys.argv[1:] or [""]
    if task not in ("write", "check") or len(families) > 1 or not set(families) <= set(FAMILIES):
        print(__doc__)
        return 1
    families = tuple(families) or FAMILIES
    found = record(families)
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    asked = {name: answer for name, answer in known.items() if name.split()[0] in families}
    lines = differences(asked, found)
    print("\n".join(lines) or f"all {len(found)} answers are the same")
    if task == "check":
        return bool(lines)
    text = json.dumps(known | found, indent=None, separators=(",", ":"))
    FILE.write_text(text.replace('},"', '},\n"') + "\n")
    print(f"{len(found)} answers in {FILE.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
