"""The report as Markdown: for a wiki, a pull request, a chat."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from gradsift.report._findings import Findings
from gradsift.report._summarise import summarise
from gradsift.report.finding_words import in_a_line

SPECIAL = re.compile(r"([\\`*_\[\]|#~])")


def to_markdown(findings: Findings) -> str:
    """What the report says, without its pictures, as Markdown.

    Parameters
    ----------
    findings : Findings

    Returns
    -------
    text : str
        Names are data: marks that Markdown would read are escaped.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import GradientSiftRegressor
    >>> X = np.random.default_rng(0).normal(size=(80, 4))
    >>> y = X[:, 1] ** 2
    >>> print(to_markdown(Findings(GradientSiftRegressor().fit(X, y), X, y)).split(chr(10))[0])
    # x1 explains y, out of 4 variables
    """
    summary = summarise(findings)
    parts = [f"# {escaped(summary['headline'])}", escaped(" ".join(summary["found"]))]
    if summary["findings"]:
        parts += ["## Findings", "\n".join(map(_finding, summary["findings"]))]
    if summary["variables"]:
        parts += ["## Variables", _table(summary["variables"])]
    if summary["associated"] is not None:
        said = f"{summary['associated']['words']} {summary['associated']['meaning']}"
        parts += ["## Associated one by one", escaped(said)]
    for title, key in (("How sure", "sure"), ("Beware", "beware")):
        if summary[key]:
            parts += [f"## {title}", "\n".join(_point(*item) for item in summary[key])]
    if summary["redo"]["command"]:
        parts += ["## Again", f"    {summary['redo']['command']}"]
    return "\n\n".join(parts) + "\n"


def escaped(text: Any) -> str:
    """Text on one line that Markdown shows as it is.

    Examples
    --------
    >>> escaped("a_b|c")
    'a\\\\_b\\\\|c'
    """
    return escape(SPECIAL.sub(r"\\\1", " ".join(str(text).split())), quote=False)


def _finding(row: dict[str, Any]) -> str:
    return f"- {escaped(in_a_line(row))}"


def _point(*words: Any) -> str:
    first, *rest = [escaped(word) for word in words if word]
    return f"- **{first}** {' '.join(rest)}" if rest else f"- {first}"


def _table(rows: list[dict[str, Any]]) -> str:
    lines = ["| rank | variable | importance | effect |", "|---|---|---|---|"]
    for row in rows:
        cells = [row["rank"], row["name"], f"{row['importance']:.3g}", row["effect"]]
        lines.append(f"| {' | '.join(map(escaped, cells))} |")
    return "\n".join(lines)
