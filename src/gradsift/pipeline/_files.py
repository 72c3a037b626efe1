"""Findings as files: those of a finished stage before the next one begins."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Any

import numpy as np

from gradsift._run.progress import Say, silent
from gradsift.explain import best_selected
from gradsift.explain.displays.style import readable
from gradsift.pipeline._folder import MANIFEST, Place
from gradsift.pipeline._model_file import NAME as MODEL
from gradsift.pipeline._model_file import save_model
from gradsift.pipeline._training import Training, record_training
from gradsift.report import Findings, build_report, check_report_packages, summarise
from gradsift.tables import Recipe, Table
from gradsift.tables.variants import BIM


def write_each(
    place: Place, table: Table, stages: Iterable[Findings], say: Say = silent
) -> Findings:
    """Write what every stage found before the next one begins, and at last the report; whatever
    stops the run, the folder holds what was finished.

    Parameters
    ----------
    place : Place
        From `results_place`.
    table : Table
        The model file holds how it was made, and fingerprints of its rows.
    stages : iterable of Findings
        From `select_in_stages`.
    say : callable, optional
        Told what is being done.

    Returns
    -------
    findings : Findings
        Those of the last stage.
    """
    for findings in stages:
        training = record_training(findings.model, table.X, table.y, table.keep.tolist())
        with place.version() as out:
            write_files(out, findings, table.recipe, training)
    try:
        check_report_packages()
    except ImportError:
        return findings
    say("writing the report")
    with place.version() as out:
        copytree(place.folder, out, ignore=ignore_patterns(MANIFEST), dirs_exist_ok=True)
        (out / "report.html").write_text(build_report(findings), encoding="utf-8")
    return findings


def write_files(
    out: Path, findings: Findings, recipe: Recipe, training: Training | None = None
) -> None:
    """The tables (selected, findings, associated, directions, projection), model.gradsift and
    summary.json.
    """
    model, summary = findings.model, summarise(findings)
    tested = findings.described.significance is not None
    header = [*SELECTED, *TESTED] if tested else [*SELECTED]
    rows = map(selected_row, summary["variables"])
    if findings.places is not None:
        header += BIM
    write_rows(out / "selected.csv", header, rows)
    if summary["findings"] is not None:
        write_rows(out / "findings.csv", FINDINGS, finding_lines(summary["findings"]))
    if summary["associated"] is not None:
        write_rows(
            out / "associated.csv", ASSOCIATED, map(plain_row, summary["associated"]["variables"])
        )
    head = [f"direction{i + 1}" for i in range(len(model.components_))]
    write_rows(
        out / "directions.csv",
        ["name", *head],
        (
            [findings.all_names[k], *map(short, model.components_[:, k])]
            for k in best_selected(model).tolist()
        ),
    )
    write_rows(
        out / "projection.csv",
        *projected(
            model,
            findings.X,
            findings.sample_names,
            head,
            findings.y,
            findings.sample_params.for_predict,
        ),
    )
    save_model(out / MODEL, model, recipe, training)
    (out / "summary.json").write_text(
        json.dumps(summary, indent=1, ensure_ascii=False), encoding="utf-8"
    )


SELECTED = [
    "rank", "name", "importance", "finding", "confidence", "came_back", "by_chance", "sign",
    "effect", "about",
    "change", "change_low", "change_high", "per_sd", "per_unit", "acts_with", "stand_ins",
]  # fmt: skip
FINDINGS = [
    "finding", "finding_confidence", "certainty", "shape", "name", "confidence", "correlation",
    "selected", "partners", "rival", "came_back", "by_chance",
]  # fmt: skip
ASSOCIATED = ["name", "p_value", "q_value", "selected"]
TESTED = ["p_value", "q_value", "finding_q_value", "rival"]


def selected_row(row: dict[str, Any]) -> list[Any]:
    """One line of selected.csv from a row of the summary."""
    stand_ins = "; ".join(f"{name} ({r:+.2f})" for name, r in row["stand_ins"])
    return [
        row["rank"],
        row["name"],
        short(row["importance"]),
        "" if row["finding"] is None else row["finding"],
        *(short(row[k]) for k in ("confidence", "came_back", "by_chance")),
        row["sign"],
        row["effect"],
        row["output"] or "",
        *(short(row[k]) for k in ("change", "change_low", "change_high", "per_sd", "per_unit")),
        "; ".join(row["partners"]),
        stand_ins,
        *test_cells(row["test"]),
        *(row["place"] or []),
    ]


def finding_lines(found: Sequence[dict[str, Any]]) -> Iterator[list[Any]]:
    """Lines of findings.csv: one for each member of each finding."""
    for row in found:
        for name, confidence, correlation, selected in row["members"]:
            yield [
                row["number"],
                short(row["confidence"]),
                row["certainty"],
                short(row["q_value"]),
                row["shape"],
                name,
                short(confidence),
                short(correlation),
                "yes" if selected else "no",
                "; ".join(row["partners"]),
                "; ".join(row["rival"] or []),
                short(row["came_back"]),
                short(row["by_chance"]),
            ]


def test_cells(test: dict[str, Any] | None) -> list[Any]:
    """The cells of a test; none where there was none."""
    if test is None:
        return []
    numbers = (short(test[k]) for k in ("p_value", "q_value", "finding_q_value"))
    return [*numbers, "; ".join(test["rival"] or [])]


def projected(
    model: Any,
    X: Any,
    ids: Any,
    head: Sequence[str],
    y: Any = None,
    told: dict[str, Any] | None = None,
) -> tuple[list[str], Iterable[list[Any]]]:
    """Header and rows: the name of each sample, its place on the directions, what is predicted."""
    places, predictions = np.asarray(model.transform(X)), model.predict(X, **(told or {}))
    names = ids if ids is not None else [str(i + 1) for i in range(len(predictions))]
    outcomes = (
        {"predicted": predictions} if y is None else {"observed": y, "predicted": predictions}
    )
    rows = (
        [names[i], *map(short, places[i]), *(plain(values[i]) for values in outcomes.values())]
        for i in range(len(predictions))
    )
    return ["row", *head, *outcomes], rows


def plain_row(row: Sequence[Any]) -> list[Any]:
    """Numbers with six digits, the rest as it is."""
    return [*map(plain, row)]


def short(value: Any) -> str:
    """Six digits; nothing where there is no number."""
    return "" if value is None else f"{float(value):.6g}"


def plain(value: Any) -> Any:
    return short(value) if isinstance(value, (float, np.floating)) else value


def write_rows(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A CSV file whose texts no spreadsheet takes for formulas and no terminal for commands."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([harmless(name) for name in header])
        writer.writerows([harmless(cell) for cell in row] for row in rows)


NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?(inf|nan)", re.IGNORECASE)


def harmless(cell: Any) -> Any:
    """A text without control characters, behind a single quote where a spreadsheet would run it as
    a formula; what is no text, unchanged.

    Examples
    --------
    >>> harmless("=1+1"), harmless("-1.5"), harmless("-"), harmless("gene\\x1b[31m")
    ("'=1+1", '-1.5', '-', 'gene\ufffd[31m')
    """
    if not isinstance(cell, str):
        return cell
    text = readable(cell)
    formula = len(text) > 1 and text[0] in "=+-@" and not NUMBER.fullmatch(text)
    return f"'{text}" if formula else text
