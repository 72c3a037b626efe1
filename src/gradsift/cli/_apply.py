"""`gradsift predict`, `transform` and `report`: a saved model on another table."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from gradsift.cli._printable import printable
from gradsift.data.missing import known
from gradsift.estimators._validation import far_note, used_columns
from gradsift.exceptions import ExtrapolationWarning
from gradsift.pipeline import load_model, new_file, projected, write_rows
from gradsift.report import Findings, build_report, predictor_name
from gradsift.tables import fingerprint, open_new

Given = dict[str, Any]
"""How the new table is written, where that is said: option -> value."""


def predict(
    model_path: Path,
    path: Path,
    out: Path,
    *,
    force: bool,
    reading: Given,
    way: str | None = None,
) -> None:
    """Names of the rows, predictions, and for labels the probability of every class."""
    with new_file(out, force=force, inputs=[model_path, path]) as file, told():
        model, X, ids, _ = opened(model_path, path, reading)
        if way is not None and "predict_with" in model.get_params(deep=False):
            model.set_params(predict_with=way)
        predictions = model.predict(X)
        names = ids if ids is not None else [str(i + 1) for i in range(len(predictions))]
        header, columns = ["row", "predicted"], [names, predictions]
        if model.describe().labels:
            header += [f"probability of {c}" for c in model.classes_]
            columns += list(np.asarray(model.predict_proba(X)).round(6).T)
        write_rows(file, header, zip(*columns))
        who = predictor_name(model.describe().ridge)
    print(f"{len(predictions)} predictions in {out}, with {who}")


def transform(model_path: Path, path: Path, out: Path, *, force: bool, reading: Given) -> None:
    """Places on the directions, and predictions beside them."""
    with new_file(out, force=force, inputs=[model_path, path]) as file, told():
        model, X, ids, y = opened(model_path, path, reading)
        head = [f"direction{i + 1}" for i in range(len(model.components_))]
        write_rows(file, *projected(model, X, ids, head, y))
    print(f"{X.shape[0]} samples on {len(head)} direction(s) in {out}")


def report(model_path: Path, path: Path, out: Path, *, force: bool, reading: Given) -> None:
    """The report, with effects and scores on this table."""
    with new_file(out, force=force, inputs=[model_path, path]) as file, told():
        file.write_text(report_page(model_path, path, reading), encoding="utf-8")
    print(f"the report is in {out}")


def report_page(model_path: Path, path: Path, reading: Given) -> str:
    """The page of a saved model on a table."""
    model, recipe = load_model(model_path)
    X, ids, y = open_new(path, recipe, options=recipe.options.given(**reading))
    if y is None:
        raise ValueError(f"{path.name} has no values of {recipe.target!r}, which the report needs.")
    there = known(y, texts=False)
    if not there.all():
        warnings.warn(
            f"{(~there).sum()} rows without {recipe.target!r} were left out.", stacklevel=2
        )
        X, y, ids = X[there], y[there], None if ids is None else ids[there]
    if y.dtype.kind == "O":
        y = y.astype(str)
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


def opened(model_path: Path, path: Path, reading: Given) -> tuple[Any, Any, Any, Any]:
    """The model, and what it needs of a new table; values far beyond those of its fit are said."""
    model, recipe = load_model(model_path)
    X, ids, y = open_new(
        path,
        recipe,
        used=used_columns(model),
        fill=np.nan_to_num(model.mean_),
        options=recipe.options.given(**reading),
    )
    if isinstance(X, np.ndarray):
        note = far_note(model, X, recipe.names)
        if note is not None:
            warnings.warn(note, UserWarning, stacklevel=2)
        # the model, which does not know these names, need not say it again
        warnings.simplefilter("ignore", ExtrapolationWarning)
    return model, X, ids, y


@contextmanager
def told() -> Iterator[None]:
    """Warnings become lines on stderr, each once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    said = [str(w.message) for w in caught if issubclass(w.category, UserWarning)]
    for message in dict.fromkeys(said):
        print(f"beware: {printable(message)}", file=sys.stderr)
