"""What a benchmark printed, kept as JSON, and shown on the pages.

    cd benchmarks
    python -m run selection/rivals --record
    python -m tables record growth/memory python -m growth.measure memory
    make docs-write                              rewrite the pages

`record` runs a command, lets its output through, and keeps every Markdown table in it; the runner
records by itself. Pages hold a comment such as [[[cog tables.show("selection/rivals") ]]]; below it
cog writes the table, and `make docs-check` fails where a page and a record differ.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def parse(text: str) -> dict[str, dict[str, Any]]:
    """Title -> head and rows of every Markdown table; the title is the last line of text before it.

    >>> parse("two seeds\\n| design | AP |\\n|---|---|\\n| xor | 1.00 |\\n")
    {'two seeds': {'head': ['design', 'AP'], 'rows': [['xor', '1.00']]}}
    """
    found: dict[str, dict[str, Any]] = {}
    title, current = "", None
    for line in text.splitlines():
        if not line.startswith("|"):
            title, current = line.strip() or title, None
        elif current is None:
            current = found.setdefault(title or f"table {len(found) + 1}", {})
            current.update(head=cells(line), rows=[])
        elif not re.fullmatch(r"[|:\- ]+", line):
            current["rows"].append(cells(line))
    return found


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    first, *rest = ("| " + " | ".join(line) + " |\n" for line in (head, *rows))
    return "".join([first, "|" + "---|" * len(head) + "\n", *rest])


# ---------------------------------------------------------------------------- files


def load(name: str) -> dict[str, Any]:
    return json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))


def save(name: str, command: str, tables: Mapping[str, Any], measured: str) -> None:
    """One row of a table to a line, so that differences can be read."""
    text = json.dumps(
        {"command": command, "measured": measured, "tables": tables}, indent=1, ensure_ascii=False
    )
    flat = re.sub(r"\[\s+([^\[\]]*?)\s+\]", lambda m: "[" + re.sub(r"\s+", " ", m[1]) + "]", text)
    (HERE / f"{name}.json").write_text(flat + "\n", encoding="utf-8")


def record(name: str, command: str) -> None:
    """Run a command and keep the tables it prints."""
    save(name, command, printed(command), date.today().isoformat())


def printed(command: str) -> dict[str, dict[str, Any]]:
    """The tables that a command prints; its output is let through."""
    lines = []
    with subprocess.Popen(shlex.split(command), stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            lines.append(line)
    tables = parse("".join(lines))
    if process.returncode or not tables:
        sys.exit(f"{command!r} printed no table (exit code {process.returncode})")
    return tables


# ---------------------------------------------------------------------------- pages


def one(name: str, title: str | None = None) -> tuple[list[str], list[list[str]]]:
    """(head, rows) of a recorded table; its title is needed where there are several."""
    tables = load(name)["tables"]
    table = tables[title] if title is not None else next(iter(tables.values()))
    return table["head"], table["rows"]


def show(
    name: str,
    title: str | None = None,
    columns: Sequence[str] | None = None,
    rows: Sequence[str | int] | None = None,
) -> None:
    """Write a recorded table into the page: all of it, or some columns and some rows.

    Rows are given by their first cell, or by their number.
    """
    head, found = one(name, title)
    keep = [head.index(c) for c in columns] if columns else range(len(head))
    if rows is not None:
        named = dict(enumerate(found)) | {row[0]: row for row in found}
        found = [named[label] for label in rows]
    put(markdown([head[k] for k in keep], ([row[k] for k in keep] for row in found)))


def means(name: str, columns: Sequence[str], title: str | None = None) -> None:
    """Write the means over the rows of columns whose cells are numbers: all of `a (b) / c` but b.

    The second number, what was found, is averaged over the rows that are not called noise.
    """
    head, rows = one(name, title)
    cells = [[numbers(row[head.index(column)]) for column in columns] for row in rows]
    shown = []
    for k, column in enumerate(columns):
        parts = list(zip(*(row[k] for row in cells if len(row[k]) == len(cells[0][k]))))
        if len(parts) > 1:
            parts[1] = [found for found, row in zip(parts[1], rows) if "noise" not in row[0]]
        averages = [sum(part) / len(part) for part in parts]
        shown.append([column, *(f"{value:.2f}" for value in averages)])
    head = ["", "mean"] if len(cells[0][0]) == 1 else ["", "false", "found"]
    put(markdown(head, shown))


def numbers(cell: str) -> list[float]:
    """The numbers of a cell without what stands in brackets.

    >>> numbers("0.03 (0.01) / 0.98"), numbers("12.5")
    ([0.03, 0.98], [12.5])
    """
    return [float(part) for part in re.sub(r"\(.*?\)", "", cell).split("/")]


def totals(name: str) -> None:
    """Write the sums of every recorded table into the page, in a sentence each."""
    for title, table in load(name)["tables"].items():
        sums = []
        for k, what in enumerate(table["head"][1:], start=1):
            sums.append(f"{what} {sum(float(row[k]) for row in table['rows']):,.0f}")
        put(f"- {title}, {len(table['rows'])} kinds: {', '.join(sums)}\n")
    measured(name)


def pivot(name: str, column: str) -> None:
    """Write one column of all tables of a record: a row for each table."""
    tables = load(name)["tables"]
    labels = [row[0] for row in next(iter(tables.values()))["rows"]]
    rows = []
    for title, found in tables.items():
        at = found["head"].index(column)
        values = {row[0]: row[at] if at < len(row) else "" for row in found["rows"]}
        rows.append([title, *(values.get(label, "") for label in labels)])
    put(markdown(["", *labels], rows))


def measured(name: str) -> None:
    """Write the command and the day of a record into the page."""
    kept = load(name)
    put(f"\n`{kept['command']}`, {kept['measured']}\n")


def put(text: str) -> None:
    import cog

    cog.out(text)


if __name__ == "__main__":
    if sys.argv[1:2] != ["record"] or len(sys.argv) < 4:
        sys.exit(__doc__)
    record(sys.argv[2], shlex.join(sys.argv[3:]))
