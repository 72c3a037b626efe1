"""Findings in a notebook: the headline, the sentences, the findings and the first variables."""

from __future__ import annotations

from html import escape
from typing import Any

from gradsift.report._findings import Findings
from gradsift.report._summarise import summarise
from gradsift.report.finding_words import in_a_line

MOST = 10
CELL = "text-align:left;padding:2px 12px 2px 0;border:0"


def short_form(findings: Findings) -> str:
    """The short of it as HTML that takes its colours from the page around it.

    Names are data: they are escaped.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import GradientSiftRegressor
    >>> X = np.random.default_rng(0).normal(size=(80, 4))
    >>> y = X[:, 1] ** 2
    >>> "x1 explains y" in short_form(Findings(GradientSiftRegressor().fit(X, y), X, y))
    True
    """
    summary = summarise(findings)
    found = "".join(map(_finding, (summary["findings"] or [])[:MOST]))
    listed = f'<ul style="margin:6px 0;padding-left:18px">{found}</ul>' if found else ""
    rows = "".join(map(_row, summary["variables"][:MOST]))
    hidden = findings.n_selected - MOST
    more = f"<div>and {hidden:,} more</div>" if hidden > 0 else ""
    table = f'<table style="border-collapse:collapse;margin:6px 0">{rows}</table>' if rows else ""
    longer = summary["associated"]
    said = "" if longer is None else f"<div>{escape(longer['words'])}</div>"
    return (
        '<div style="font-family:system-ui,sans-serif;font-size:13px;line-height:1.5">'
        f"<b>{escape(summary['headline'])}</b><div>{escape(' '.join(summary['found']))}</div>"
        f"{listed}{table}{more}{said}</div>"
    )


def _finding(row: dict[str, Any]) -> str:
    return f"<li>{escape(in_a_line(row))}</li>"


def _row(row: dict[str, Any]) -> str:
    cells = [str(row["rank"]), row["name"], f"{row['importance']:.3g}", row["effect"]]
    return f"<tr>{''.join(f'<td style={CELL!r}>{escape(cell)}</td>' for cell in cells)}</tr>"
