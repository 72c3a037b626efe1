"""The longer list on the page, in summary.json, in Markdown, in notebooks and in a file."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from gradsift import GradientSiftRegressor, SparseGradientRegressor
from gradsift.pipeline import Settings, select
from gradsift.pipeline._files import write_files
from gradsift.report import Findings, build_report, summarise, to_markdown
from gradsift.report._associated import MEANING
from gradsift.tables import Choices, prepare
from gradsift.tables.frame import make_frame


@pytest.fixture(scope="module")
def findings() -> Findings:
    rng = np.random.default_rng(0)
    cause = rng.normal(size=(100, 1))
    X = np.hstack([cause + rng.normal(size=(100, 15)), rng.normal(size=(100, 85))])
    y = cause[:, 0] + rng.normal(size=100)
    names = [f"<g{k}>" for k in range(100)]
    table = prepare(make_frame([*names, "y"], [*X.T, y]), Choices("y"))
    return select(table, Settings(cv=0, repeats=0))


def test_summary_holds_the_list_and_says_what_it_means(findings: Findings) -> None:
    longer = summarise(findings)["associated"]
    assert longer["count"] == len(longer["variables"]) > findings.n_selected
    assert f"{longer['count']} of 100 variables are associated with y" in longer["words"]
    assert "10\u00a0%" in longer["words"]
    assert "does not say that a variable acts by itself" in longer["meaning"]
    p = [row[1] for row in longer["variables"]]
    assert p == sorted(p)
    chosen = {row[0] for row in longer["variables"] if row[3]}
    assert chosen <= {row.name for row in findings.variables}
    json.dumps(longer)


def test_page_markdown_and_notebook_show_both_lists(findings: Findings) -> None:
    page, words = build_report(findings), summarise(findings)["associated"]["words"]
    assert words in page
    assert MEANING in page
    assert "&lt;g" in page.split('id="associated"')[1].split("</section>")[0]
    assert " ".join(words.split()) in to_markdown(findings)  # spaces that do not break become plain
    assert words in findings._repr_html_()
    count = summarise(findings)["associated"]["count"]
    assert f"{count} associated one by one (FDR 10%)" in findings.model._repr_html_()


def test_file_holds_every_row(findings: Findings, tmp_path) -> None:
    table = prepare(make_frame([*findings.names, "y"], [*findings.X.T, findings.y]), Choices("y"))
    write_files(tmp_path, findings, table.recipe)
    with (tmp_path / "associated.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    longer = summarise(findings)["associated"]
    assert [row["name"] for row in rows] == [row[0] for row in longer["variables"]]
    assert [float(row["q_value"]) for row in rows] == pytest.approx(
        [row[2] for row in longer["variables"]], rel=1e-5
    )
    assert {row["selected"] for row in rows} <= {"True", "False"}


def test_rate_that_was_asked_for_is_that_of_the_list() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 20))
    y = 2 * X[:, 4] + rng.normal(size=80)
    model = GradientSiftRegressor(false_discovery_rate=0.05, predict_with="selected").fit(X, y)
    longer = summarise(Findings(model, X, y))["associated"]
    assert longer["false_discovery_rate"] == 0.05
    assert longer["words"].startswith("Looked at one by one, 1 of 20 variables is associated")


def test_methods_without_tests_have_no_list() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 6))
    y = X[:, 1]
    found = Findings(SparseGradientRegressor().fit(X, y), X, y)
    assert summarise(found)["associated"] is None
    assert 'id="associated"' not in build_report(found)
