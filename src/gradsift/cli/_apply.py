"""`gradsift predict`, `transform` and `report`: a saved model on another table."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from gradsift.pipeline import load_model, new_file, projected, write_rows
from gradsift.report import Findings, build_report
from gradsift.tables import fingerprint, open_new


def predict(model_path: Path, path: Path, out: Path, *, force: bool) -> None:
    """Names of the rows, predictions, and for labels the probability of every class."""
    with new_file(out, force=force, inputs=[model_path, path]) as file:
        model, X, ids, _ = opened(model_path, path)
        predictions = model.predict(X)
        names = ids if ids is not None else [str(i + 1) for i in range(len(predictions))]
        header, columns = ["row", "predicted"], [names, predictions]
        if hasattr(model, "predict_proba"):
            header += [f"probability of {c}" for c in model.classes_]
            columns += list(np.asarray(model.predict_proba(X)).round(6).T)
        write_rows(file, header, zip(*columns))
    print(f"{len(predictions)} predictions in {out}")


def transform(model_path: Path, path: Path, out: Path, *, force: bool) -> None:
    """Places on the directions, and predictions beside them."""
    with new_file(out, force=force, inputs=[model_path, path]) as file:
        model, X, ids, y = opened(model_path, path)
        head = [f"direction{i + 1}" for i in range(len(model.components_))]
        write_rows(file, *projected(model, X, ids, head, y))
    print(f"{X.shape[0]} samples on {len(head)} direction(s) in {out}")


def report(model_path: Path, path: Path, out: Path, *, force: bool) -> None:
    """The report, with effects and scores on this table."""
    with new_file(out, force=force, inputs=[model_path, path]) as file:
        file.write_text(report_page(model_path, path), encoding="utf-8")
    print(f"the report is in {out}")


def report_page(model_path: Path, path: Path) -> str:
    """The page of a saved model on a table."""
    model, recipe = load_model(model_path)
    X, ids, y = open_new(path, recipe)
    if y is None:
        raise ValueError(f"{path.name} has no column {recipe.target!r}, which the report needs.")
    findings = Findings(
        model,
        X,
        y,
        names=recipe.names or None,
        target=recipe.target,
        source=path.name,
        sample_names=None if ids is None else ids.tolist(),
        fingerprint=fingerprint(path),
        created=datetime.now().astimezone().isoformat(timespec="seconds"),
        command=f"gradsift report {model_path.name} {path.name}",
    )
    return build_report(findings)


def opened(model_path: Path, path: Path) -> tuple[Any, Any, Any, Any]:
    model, recipe = load_model(model_path)
    return (model, *open_new(path, recipe))
