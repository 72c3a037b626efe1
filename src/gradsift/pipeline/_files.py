"""A selection as files: that of a finished stage before the next one begins."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, is_classifier

from gradsift._run.printable import printable
from gradsift.answer import FRAME, Answer
from gradsift.answer.build import best_selected
from gradsift.estimators.splits import SampleParams
from gradsift.estimators.survival import GradientSiftSurvival
from gradsift.inference.settings import DEFAULT as FINDINGS
from gradsift.pipeline._folder import Place
from gradsift.pipeline._model_file import NAME as MODEL
from gradsift.pipeline._model_file import record_training, save_model
from gradsift.pipeline._select import Selection, column_names, without_missing
from gradsift.tables import Table
from gradsift.tables.prediction_table import NewTable
from gradsift.tables.variants import BIM

Form = Literal["csv", "tsv"]


def write_each(
    place: Place, table: Table, stages: Iterable[Selection], form: Form = "csv"
) -> Selection:
    """Write what every stage found before the next one begins; whatever stops the run, the folder
    holds what was finished.

    Parameters
    ----------
    place : Place
        From `results_place`.
    table : Table
        The model file holds how it was made, and fingerprints of its rows.
    stages : iterable of Selection
        From `select_in_stages`.
    form : {'csv', 'tsv'}
        Of the tables.

    Returns
    -------
    selection : Selection
        That of the last stage.
    """
    for selection in stages:
        with place.version() as out:
            write_files(out, selection, table, form)
    return selection


def write_files(out: Path, selection: Selection, table: Table, form: Form = "csv") -> None:
    """Tables of findings, selected variables, directions and projections, what was asked for
    besides, summary.json, model.gradsift and report.html.
    """
    model, answer, end = selection.model, selection.answer, f".{form}"
    write_rows(out / f"findings{end}", FRAME, (map(plain, row) for row in answer.records()))
    write_selected(out / f"selected{end}", model, table, answer)
    head = [f"direction{i + 1}" for i in range(len(model.components_))]
    names = column_names(model, table)
    order = best_selected(model).tolist()
    write_rows(
        out / f"directions{end}",
        ["name", *head],
        ([names[k], *map(short, model.components_[:, k])] for k in order),
    )
    X, targets = without_missing(model, table.X), table.recipe.response.targets
    write_rows(out / f"projection{end}", *sample_rows(model, table, X, targets))
    for sheet in answer.sheets:
        path = out / f"{sheet.title.lower()}{end}"
        write_rows(path, sheet.head, (map(plain, row) for row in sheet.rows))
    save_model(out / MODEL, model, table.recipe, record_training(model, table.X, table.y))
    (out / "summary.json").write_text(json.dumps(answer.to_dict(), indent=1), encoding="utf-8")
    (out / "report.html").write_text(answer.to_html(), encoding="utf-8")


def write_selected(path: Path, model: BaseEstimator, table: Table, answer: Answer) -> None:
    """Variables that the model predicts with: rank, name and importance, and where variants lie."""
    names, groups = column_names(model, table), table.feature_groups
    sure = variable_confidences(model, names, groups, answer)
    importances = getattr(model, "variable_importances_", model.feature_importances_)
    rows: dict[str, list[Any]] = {}
    kept = set(table.keep.tolist())
    for k in best_selected(model).tolist():
        name = names[k] if groups is None else groups[k]
        if name not in rows and k not in kept:
            confidence = short(sure.get(name))
            importance = short(importances[k])
            rows[name] = [len(rows) + 1, name, importance, confidence]
    head = ["rank", "name", "importance", "confidence"]
    places = {} if table.places is None else table.places.of(list(rows))
    if table.places is not None:
        head += BIM
    write_rows(path, head, ([*row, *places.get(name, ())] for name, row in rows.items()))


def variable_confidences(
    model: BaseEstimator, names: Sequence[str], groups: Sequence[str] | None, answer: Answer
) -> dict[str, float]:
    """The confidence of each variable: that of the answer, or what those of its columns add up to,
    such as those of the levels of a category; empty without inference.
    """
    sure = getattr(model, "confidence_", None)
    if sure is None:
        return {}
    if groups is None:
        total = {names[k]: float(sure[k]) for k in best_selected(model).tolist()}
    else:
        labels, codes = np.unique(np.asarray(groups), return_inverse=True)
        added = np.minimum(np.bincount(codes, sure), FINDINGS.most_confidence)
        total = dict(zip(map(str, labels), added.tolist()))
    members = [m for f in reversed(answer.findings) for m in f.members]
    return total | {m.name: m.confidence for m in members if m.confidence is not None}


def sample_rows(
    model: BaseEstimator,
    table: Table | NewTable,
    X: Any,
    targets: Sequence[str],
    at: Sequence[float] = (),
) -> tuple[list[str], Iterable[tuple[Any, ...]]]:
    """Header and rows: the name of each sample, what was observed and is predicted, with the
    probability of every class or of survival (see `survival_columns`), and the place on the
    directions.
    """
    params = SampleParams(None, table.covariates, table.offset, table.exposure).for_predict
    predicted, y = model.predict(X, **params), table.y
    names = [str(i + 1) for i in range(len(predicted))] if table.ids is None else table.ids
    columns: dict[str, Any] = {"row": names}
    if y is not None and y.dtype.names is not None:
        columns |= {"time": y["time"], "event": y["event"].astype(int)}
    elif y is not None:
        columns |= named_columns("observed", y, targets)
    columns |= named_columns("predicted", predicted, targets)
    digits: dict[str, Any] = {}
    if is_classifier(model):
        likely = np.asarray(model.predict_proba(X, **params)).T
        digits |= {f"probability of {c}": p for c, p in zip(model.classes_, likely)}
    elif isinstance(model, GradientSiftSurvival):
        digits |= survival_columns(model, X, params, at)
    places = np.asarray(model.transform(X)).T
    digits |= {f"direction{i + 1}": place for i, place in enumerate(places)}
    columns |= {name: map(short, values) for name, values in digits.items()}
    return list(columns), zip(*columns.values())


def survival_columns(
    model: GradientSiftSurvival, X: Any, params: dict[str, Any], at: Sequence[float]
) -> dict[str, Any]:
    """The predicted probability of no event until some times, the quartiles of the event times of
    the fit unless given, and the median survival time, where that is reached. Nothing for several
    strata, because nothing says which of them a new row is in.
    """
    if len(model.link_.times) > 1:
        return {}
    events = model.link_.times[0]
    if not at:
        middle = np.quantile(events, [0.25, 0.5, 0.75], method="closest_observation")
        at = np.unique(middle).tolist()
    chance = model.predict_survival_function(X, at, **params).T
    found = {f"survival at {short(t)}": p for t, p in zip(at, chance, strict=True)}
    median = model.predict_median(X, **params)
    return found | {"median survival time": [m if np.isfinite(m) else None for m in median]}


def named_columns(what: str, values: Any, targets: Sequence[str]) -> dict[str, Any]:
    """A column of values, or one for each of several outcomes, called by it."""
    if values.ndim == 1:
        return {what: values}
    return {f"{what} {name}": column for name, column in zip(targets, values.T)}


def short(value: Any) -> str:
    """Six digits; nothing where there is no number."""
    return "" if value is None else f"{float(value):.6g}"


def plain(value: object) -> Any:
    """Numbers with six digits, truth values as words, the rest as it is."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return short(value) if value is None or isinstance(value, (float, np.floating)) else value


def write_rows(path: Path, header: Sequence[str], rows: Iterable[Iterable[Any]]) -> None:
    """A CSV or TSV file, by its name; no spreadsheet takes its texts for formulas, and no terminal
    for commands.
    """
    tabs = path.suffix == ".tsv"
    dialect, end = ("excel-tab", "\n") if tabs else ("excel", "\r\n")
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, dialect, lineterminator=end)
        writer.writerow([harmless(name) for name in header])
        writer.writerows([harmless(cell) for cell in row] for row in rows)


NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?(inf|nan)", re.IGNORECASE)


def harmless(cell: object) -> Any:
    """A text without control characters, behind a single quote where a spreadsheet would run it as
    a formula; what is no text, unchanged.

    Examples
    --------
    >>> harmless("=1+1"), harmless("-1.5"), harmless("-"), harmless("gene\\x1b[31m")
    ("'=1+1", '-1.5', '-', 'gene\\\\x1b[31m')
    """
    if not isinstance(cell, str):
        return cell
    text = printable(cell)
    core = text.strip()  # line breaks became spaces
    formula = len(core) > 1 and core[0] in "=+-@" and not NUMBER.fullmatch(core)
    return f"'{text}" if formula else text
