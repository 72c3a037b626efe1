"""The page from its parts. No computing here."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

from gradsift._run.atomic import atomic_write
from gradsift._run.extras import require
from gradsift.explain.displays.style import readable
from gradsift.report._figures import draw_all, drawing
from gradsift.report._findings import Findings
from gradsift.report._score_words import number as score_number
from gradsift.report._score_words import score_table
from gradsift.report._summarise import summarise
from gradsift.report.finding_words import confidence_words, q_words
from gradsift.report.text import capital, percent

DIGITS = 3
MOST_MEMBERS, MOST_LISTED = 8, 40
"""Members of a finding that are drawn, and those that are named."""
MOST_CLASSES = 12
"""Classes up to which a confusion matrix is shown."""


def build_report(findings: Findings) -> str:
    """The report as one HTML page: no network, no other file.

    Parameters
    ----------
    findings : Findings

    Returns
    -------
    html : str

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import GradientSiftRegressor
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> y = 2 * X[:, 4]
    >>> html = build_report(Findings(GradientSiftRegressor().fit(X, y), X, y))
    >>> html[:15]
    '<!doctype html>'
    """
    check_report_packages()
    environment = _environment()
    with drawing():
        summary = summarise(findings)
        pictures = draw_all(findings)
    script = _asset("report.js")
    return str(
        environment.get_template("report.html.j2").render(
            **summary,
            pictures=pictures,
            ways=score_table(findings),
            metrics=list(findings.held_out.selected.values) if findings.held_out else [],
            confusion=confusion_rows(findings),
            most_members=MOST_MEMBERS,
            most_listed=MOST_LISTED,
            largest=max((row["importance"] for row in summary["variables"]), default=1.0) or 1.0,
            ranks_differ=differ(summary["variables"]),
            css=_asset("report.css"),
            js=script,
            # only the page's own script may run, whatever a column is called
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
            others_json=script_safe(summary["others"]),
        )
    )


def check_report_packages() -> None:
    """Refuse before any work where a report cannot be made."""
    for package in ("jinja2", "matplotlib"):
        require(package, "report", "a report")


def confusion_rows(findings: Findings) -> list[tuple[str, list[int]]]:
    """(class, held-out rows of it by the class that the selected variables name)."""
    held = findings.held_out
    if held is None or held.selected.confusion is None or len(held.classes) > MOST_CLASSES:
        return []
    return list(zip(map(readable, held.classes), held.selected.confusion.tolist()))


def write_report(path: str | os.PathLike[str], findings: Findings) -> Path:
    """Write the report, whole or not at all.

    Parameters
    ----------
    path : str or path
        The HTML file; an existing one is replaced.
    findings : Findings

    Returns
    -------
    path : Path
    """
    target = Path(path)
    html = build_report(findings)
    target.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(target) as part:
        part.write_text(html, encoding="utf-8")
    return target


def script_safe(value: Any) -> str:
    """JSON that cannot end the script element it stands in.

    Examples
    --------
    >>> print(script_safe("</script>&"))
    "\\u003c/script\\u003e\\u0026"
    """
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    for mark in "<>&":  # U+2028 and U+2029 are escaped with everything else beyond ASCII
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


def differ(rows: list[dict[str, Any]]) -> bool:
    """Whether a variable ranked lower has the larger importance."""
    sizes = [row["importance"] for row in rows]
    return sizes != sorted(sizes, reverse=True)


def number(value: float | None) -> str:
    """A number for people: three digits, a true minus sign."""
    if value is None:
        return "–"
    return f"{value:.{DIGITS}g}".replace("-", "−")


def breakable(name: str) -> Any:
    """A name as markup that may go on in a new line after a separator, and not inside a word.

    Examples
    --------
    >>> print(breakable("a_long/name & more"))
    a_<wbr>long/<wbr>name &amp; more
    """
    markupsafe = require("markupsafe", "report", "a report")
    parts = re.split(r"(?<=[/_.:-])(?=[^/_.:-])", name)
    return markupsafe.Markup("<wbr>").join(parts)


def shortened(name: str, most: int = 24) -> str:
    """A name that leaves room for others.

    Examples
    --------
    >>> shortened("a response with a very long name")
    'a response with a very …'
    """
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _environment() -> Any:
    jinja2 = require("jinja2", "report", "a report")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("gradsift.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = number
    environment.filters["confidence"] = confidence_words
    environment.filters["percent"] = percent
    environment.filters["q"] = q_words
    environment.filters["capital"] = capital
    environment.filters["score"] = lambda value: "–" if value is None else score_number(value)
    environment.filters["readable"] = readable
    environment.filters["shortened"] = shortened
    environment.filters["breakable"] = breakable
    return environment


def _asset(name: str) -> str:
    return (files("gradsift.report") / "templates" / name).read_text(encoding="utf-8")
