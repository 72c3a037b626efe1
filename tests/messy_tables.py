# ruff: noqa: E501
"""Forty tables as they come: exports of spreadsheets, of R, of instruments; typed by hand.

Each is a small text, a file name and what must come of it: the columns of numbers (with the row
names, if any), or a message. A message names the line, the column, the cell and the option that
helps, as far as there are such.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

NAN = float("nan")


@dataclass(frozen=True)
class Messy:
    """A table and what must come of it.

    Attributes
    ----------
    text : str or bytes
    names : tuple of str
        Encoded columns beside the target `y`, where the table is usable.
    first : tuple of float
        Their values in the first row.
    ids : tuple of str, optional
        The names of the first rows.
    says : tuple of str
        Parts of the message where it is not usable, or of the notes where it is.
    options : dict
        Reading options.
    choices : dict
        Other choices.
    """

    text: str | bytes
    names: tuple[str, ...] = ()
    first: tuple[float, ...] = ()
    ids: tuple[str, ...] | None = None
    says: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    choices: dict[str, Any] = field(default_factory=dict)
    file: str = "t.csv"


def table(header: str, row: str, n: int = 30, end: str = "\n") -> str:
    """A header, and n rows in which {k} counts."""
    rows = (
        row.replace("{k}", str(k))
        .replace("{m}", str(k * 37 % 11))
        .replace("{q}", str(k * k * 13 % 29))
        for k in range(1, n + 1)
    )
    return end.join([header, *rows]) + end


def with_line(text: str, number: int, line: str) -> str:
    """The text with another line in the place of one (1 = the header)."""
    lines = text.split("\n")
    lines[number - 1] = line
    return "\n".join(lines)


PLAIN = table("id,a,b,y", "s{k},{m}.5,-{k}e-1,{q}.25")
GOOD: dict[str, Any] = {"names": ("a", "b"), "first": (4.5, -0.1), "ids": ("s1", "s2")}
SEMI = PLAIN.replace(",", ";")
GERMAN = SEMI.replace(".", ",")
ODD = with_line(PLAIN, 5, "s4,<0.1,-4e-1,5.25")
DECIMALS = ("'a'", "(line 2)", "--decimal ','")

SITES = sorted(f"p{k}" for k in range(11))

MESSY: dict[str, Messy] = {
    # --- how it is written, found out
    "a plain one": Messy(PLAIN, **GOOD, says=("'id' (identifier",)),
    "semicolons": Messy(SEMI, **GOOD, says=("separated by semicolons",)),
    "tabs in a .txt": Messy(PLAIN.replace(",", "\t"), **GOOD, file="t.txt"),
    "bars": Messy(PLAIN.replace(",", "|"), **GOOD, says=("by bars",)),
    "spaces, aligned": Messy(PLAIN.replace(",", "    "), **GOOD, file="t.txt", says=("by spaces",)),
    "old Mac line ends": Messy(PLAIN.replace("\n", "\r").encode(), **GOOD),
    "Windows line ends, a mark": Messy(PLAIN.replace("\n", "\r\n").encode("utf-8-sig"), **GOOD),
    "UTF-16": Messy(PLAIN.encode("utf-16"), **GOOD, says=("encoded as utf-16",)),
    "Windows-1252": Messy(
        PLAIN.replace("id,", "größe,").encode("cp1252"), **GOOD, says=("Windows-1252",)
    ),
    "a named encoding": Messy(
        PLAIN.replace("id,", "имя,").encode("cp1251"), **GOOD, options={"encoding": "cp1251"},
        says=("'имя' (identifier",),
    ),
    "commas in names, semicolons between": Messy(
        SEMI.replace("a;b", "dose, mg;b, c"), ("dose, mg", "b, c"), (4.5, -0.1), ("s1", "s2")
    ),
    "everything quoted": Messy('"' + PLAIN.replace(",", '","').replace("\n", '"\n"')[:-1], **GOOD),
    "remarks above": Messy("# made by X\n# 2020, v2\n" + PLAIN, **GOOD, says=("2 lines that begin",)),
    "remarks inside": Messy(
        with_line(PLAIN, 5, "% recalibrated, by hand"), **GOOD, options={"comment": "%"}
    ),
    "the delimiter said in the first line": Messy("sep=;\n" + SEMI, **GOOD),
    "a header of texts that begins with a hash": Messy(
        table("#SampleID\tsite\ty", "s{k}\tp{m}\t{q}.25", 33), tuple(f"site={v}" for v in SITES),
        tuple(float(v == "p4") for v in SITES), ("s1", "s2"), file="t.txt",
    ),
    "a header that begins with a hash": Messy("#" + PLAIN.replace(",", "\t"), **GOOD, file="t.psam"),
    "blank lines": Messy("\n\n" + PLAIN.replace("\ns7", "\n\n  \ns7") + "\n\n", **GOOD),
    # --- the shape
    "row names as R writes them": Messy(
        table('"a" "b" "y"', '"s{k}" {m}.5 -{k}e-1 {q}.25'), **GOOD, file="t.txt"
    ),
    "an index as pandas writes it": Messy(
        table(",a,b,y", "{k},{m}.5,-{k}e-1,{q}.25"), ("a", "b"), (4.5, -0.1), ("1", "2")
    ),
    "delimiters at the end of rows": Messy(PLAIN.replace("\n", ",,\n"), **GOOD),
    "delimiters at the end of all rows but the header": Messy(
        PLAIN.replace("\n", ",\n").replace("y,\n", "y\n"), **GOOD
    ),
    "a column without a name": Messy(
        PLAIN.replace("a,b", "a,"), says=("column 3 of t.csv has no name", "(line 1)", "line 2")
    ),
    "a title above the header": Messy(
        "Experiment 12\n" + PLAIN, **GOOD, says=("'Experiment 12' above the header is no part",)
    ),
    "a line cut short": Messy(with_line(PLAIN, 9, "s8,5"), says=("line 9 has 2 cells", "4 columns")),
    "no header": Messy("1,2,3\n4,5,6\n", says=("the first line of t.csv holds numbers", "header")),
    "an open quote": Messy(with_line(PLAIN, 9, '"s8,1,2,3'), says=("line 9 opens a quote",)),
    "genes in rows": Messy(
        "gene,p1,p2,p3,p4,p5\na,4.5,1,2,3,4\nb,-0.1,2,3,5,4\ny,1.25,4,2,8,7\n",
        ("a", "b"), (4.5, -0.1), ("p1", "p2"), ("variables are in rows",), {"transpose": True},
    ),
    "genes in rows, one odd cell": Messy(
        "gene,p1,p2,p3,p4,p5,p6\na,4.5,1,2,8,3,5\nb,-0.1,n.d.,3,4,5,7\ny,1.25,4,2,7,7,1\n",
        ("a", "b"), (4.5, -0.1), ("p1", "p2"), ("'n.d.' read as missing",), options={"transpose": True},
    ),
    # --- numbers
    "one cell below the limit": Messy(ODD, **GOOD, says=("'a': '<x' read as x",)),
    "the same, read as missing": Messy(ODD, **GOOD, options={"na": ("<0.1",)}, choices={"missing": "mean"}),
    "decimal commas": Messy(GERMAN, **GOOD, says=("decimal commas",)),
    "decimal commas, said so": Messy(GERMAN, **GOOD, options={"decimal": ","}),
    "thousands": Messy(
        table("id,a,b,y", 's{k},"1,{k}00.5",-{k}e-1,{q}.25', 9), ("a", "b"), (1100.5, -0.1), ("s1", "s2"),
        ("',' between thousands",),
    ),
    "thousands and decimal commas, said so": Messy(
        table("id;a;b;y", "s{k};1.{k}00,5;-{k}e-1;{m},25", 9), ("a", "b"), (1100.5, -0.1), ("s1", "s2"),
        ("'.' between thousands",), {"decimal": ","},
    ),
    "percent signs": Messy(
        table("id,a,b,y", "s{k},{m}.5%,-{k}e-1,{q}.25"), **GOOD, says=("'a': unit '%' taken off",)
    ),
    "numbers in apostrophes": Messy(
        table("id,a,b,y", "s{k},'{m}.5',-{k}e-1,{q}.25"), **GOOD
    ),
    "amounts of money": Messy(
        table("id,a,y", "s{k},{m}.5,${q}.25"), ("a",), (4.5,), ("s1", "s2"), ("'y': unit '$' taken off",)
    ),
    "infinity": Messy(
        with_line(PLAIN, 4, "s3,inf,-3e-1,1.25"), ("a", "b"), (4.5, -0.1), ("s1", "s2")
    ),
    "a line of totals": Messy(PLAIN + "Total,9,Sum,9\n", **GOOD, says=("'Sum' read as missing",)),
    "a target with a comma": Messy(
        table("id;a;y", "s{k};{m}.5;{q},25", 300), ("a",), (4.5,), ("s1", "s2"), ("'y': decimal commas",)
    ),
    "errors of a spreadsheet": Messy(with_line(PLAIN, 4, "s3,#DIV/0!,-3e-1,1.25"), **GOOD),
    "codes for missing": Messy(
        with_line(PLAIN, 4, "s3,-999,-3e-1,1.25"), **GOOD, options={"na": ("-999",)},
        says=("missing values: 3.3% of 'a'",),
    ),
    "numbers first, so no row names": Messy(
        table("a,b,y", "{k},4{m},{q}.25"), ("b",), (44.0,), ("1", "2"), says=("'a' (identifier: another whole number in every row)",)
    ),
    "names of rows that are not first": Messy(
        table("a,who,y", "{m}.5,s{k},{q}.25"), ("a",), (4.5,), ("s1", "s2"), ("'who' (identifier: another text in every row)",)
    ),
    "three columns of no use": Messy(
        table("a,who,when,b,y", "{m},s{k},2020-01-{k},<{m},{q}.25", 28),
        ("a", "when: days", "when: weekday", "b"), (4.0, 0.0, 3.0, 4.0), ("s1", "s2"),
        ("'when': dates", "'b': '<x' read as x"),
    ),
    "an empty column, rows to be dropped": Messy(
        PLAIN.replace(",b,", ",b,c,").replace("e-1,", "e-1,,"), **GOOD,
        choices={"missing": "drop"}, says=("'c' (constant: empty)",),
    ),
    "rows twice": Messy(
        with_line(PLAIN, 9, "s8,4.5,-1e-1,4.25"), **GOOD
    ),
    "dates as numbers": Messy(
        "day,a,y\n"
        + "".join(f"2023{1 + k % 12:02d}{1 + k:02d},{k * 7 % 5}.5,{k * 3 % 7}.25\n" for k in range(20)),
        ("day: days", "a"), (0.0, 0.5), None, ("'day': dates",),
    ),
    "a rating": Messy(
        "a,b,y\n" + "".join(f"{k % 5 + k * 3 % 4}.{k % 7},{k * 7 % 11},{1 + k % 5}\n" for k in range(60)),
        ("a", "b"), (0.0, 0.0), None,
        says=("'y' holds the 5 whole numbers 1 to 5",),
    ),
}  # fmt: skip
