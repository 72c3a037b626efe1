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

from gradsift._typing import Source
from gradsift.cli._printable import printable
from gradsift.data.missing import known
from gradsift.estimators._validation import far_note, used_columns
from gradsift.exceptions import ExtrapolationWarning
from gradsift.explain import names_of_best
from gradsift.pipeline import load_model, new_file, projected, without_holes, write_rows
from gradsift.report import Findings, build_report, predictor_name
from gradsift.tables import Choices, Recipe, fingerprint, open_new, open_table
from gradsift.tables.prepare import left_out

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
        model, X, ids, _ = opened(model_path, path, reading, way)
        predictions = model.predict(X)
        names = ids if ids is not None else [str(i + 1) for i in range(len(predictions))]
        header, columns = ["row", "predicted"], [names, predictions]
        if model.describe().labels:
            header += [f"probability of {c}" for c in model.classes_]
            columns += list(np.asarray(model.predict_proba(X)).round(6).T)
        write_rows(file, header, zip(*columns))
        who = predictor_name(model.describe().ensemble)
    print(f"{len(predictions)} predictions in {out}, with {who}")


def transform(model_path: Path, path: Path, out: Path, *, force: bool, reading: Given) -> None:
    """Places on the directions, and predictions beside them."""
    with new_file(out, force=force, inputs=[model_path, path]) as file, told():
        model, X, ids, y = opened(model_path, path, reading)
        head = [f"direction{i + 1}" for i in range(len(model.components_))]
        write_rows(file, *projected(model, X, ids, head, y))
    print(f"{X.shape[0]} samples on {len(head)} direction(s) in {out}")


def report(
    model_path: Path,
    path: Path,
    out: Path,
    *,
    force: bool,
    reading: Given,
    target_from: Path | None = None,
) -> None:
    """The report, with effects and scores on this table."""
    inputs = [model_path, path, target_from]
    with new_file(out, force=force, inputs=inputs) as file, told():
        file.write_text(report_page(model_path, path, reading, target_from), encoding="utf-8")
    print(f"the report is in {out}")


def report_page(
    model_path: Path, path: Path, reading: Given, target_from: Path | None = None
) -> str:
    """The page of a saved model on a table."""
    model, recipe, training = load_model(model_path)
    X, ids, y = open_labelled(path, recipe, reading, target_from)
    names: Any = recipe.names or None
    if isinstance(X, Source):
        names = names_of_best(model, X)
    findings = Findings(
        model,
        without_holes(model, X),
        y,
        names=names,
        groups=recipe.origins if recipe.levels else None,
        covariates=() if training is None else training.covariates,
        target=recipe.target,
        source=path.name,
        n_samples=None if training is None else len(training.digests),
        unseen=None if training is None else training.unseen(X, y),
        sample_names=None if ids is None else ids.tolist(),
        fingerprint=fingerprint(path),
        created=datetime.now().astimezone().isoformat(timespec="seconds"),
        command=f"gradsift report {model_path.name} {path.name}",
    )
    return build_report(findings)


def open_labelled(
    path: Path, recipe: Recipe, reading: Given, target_from: Path | None
) -> tuple[Any, Any, Any]:
    """(X, row names or None, target) of the rows of a table that have a target."""
    if not path.exists():
        raise FileNotFoundError(f"no such file: {path}")
    if not recipe.names:  # of a fit that read column by column
        asked = Choices(recipe.target, recipe.task, missing=recipe.missing)
        table = open_table(path, asked, target_from)
        return table.X, table.ids, table.y
    options = recipe.options.given(**reading)
    X, ids, y = open_new(path, recipe, options=options, target_from=target_from)
    if y is None:
        raise ValueError(f"{path.name} has no values of {recipe.target!r}, which the report needs.")
    there = known(y, texts=False)
    if not there.all():
        warnings.warn(f"{left_out(there, recipe.target)}.", stacklevel=2)
        X, y, ids = X[there], y[there], None if ids is None else ids[there]
    return X, ids, y.astype(str) if y.dtype.kind == "O" else y


def opened(
    model_path: Path, path: Path, reading: Given, way: str | None = None
) -> tuple[Any, Any, Any, Any]:
    """The model, and what it needs of a new table; values far beyond those of its fit are said."""
    model, recipe, _ = load_model(model_path)
    if way is not None and "predict_with" in model.get_params(deep=False):
        model.set_params(predict_with=way)  # which columns are needed depends on it
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
