"""A page about the experiments whose tables are written by the command.

In the page, a table stands between `<!-- reproduce: table1.frequencies -->` and `<!-- end -->`:
the experiment, a dot, and the name of one of its tables. `<!-- reproduce: summary -->` is the
comparison of all experiments with the paper.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from experiments import EXPERIMENTS
from experiments.circles import METHODS as CIRCLES
from experiments.circles import SIGMAS, percent
from experiments.table1 import METHODS as TABLE1
from experiments.table1 import restore
from experiments.tools import table, write_text

MARK = re.compile(r"(<!-- reproduce: ([^>]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
OFTEN = 90.0  # percent of data sets from which on a method is said to find the variables


def read_records(folder: Path) -> dict[str, Any]:
    """The numbers of the experiments that were run."""
    files = {name: folder / f"{name}.json" for name in EXPERIMENTS}
    return {n: json.loads(f.read_text(encoding="utf-8")) for n, f in files.items() if f.exists()}


def fill(page: str, records: dict[str, Any]) -> str:
    """The page with the tables of all records; those of other experiments stay as they are."""

    def replace(match: re.Match[str]) -> str:
        opening, name, old, closing = match.groups()
        return opening + table_named(name, records, old) + closing

    return MARK.sub(replace, page)


def table_named(name: str, records: dict[str, Any], old: str) -> str:
    """A table by the name it has in a mark; `old` where its experiment was not run."""
    if name == "summary":
        return summary(records) if len(records) == len(EXPERIMENTS) else old
    experiment, _, part = name.partition(".")
    if experiment not in EXPERIMENTS:
        raise ValueError(f"no experiment {experiment!r} in the mark {name!r}.")
    if experiment not in records:
        return old
    tables = EXPERIMENTS[experiment].module.tables(records[experiment])
    if part not in tables:
        raise ValueError(f"{experiment} has no table {part!r}. It has: {', '.join(tables)}.")
    return tables[part]


def write_page(page: Path, folder: Path) -> Path:
    """Write a page anew from the records in a folder."""
    return write_text(page, fill(page.read_text(encoding="utf-8"), read_records(folder)))


# ---------------------------------------------------------------------------- the comparison


def summary(records: dict[str, Any]) -> str:
    """The paper's claims, what its settings give here, and what better settings give."""
    head = ["", "paper", "here, the paper's settings", "here, other settings"]
    return table(
        head,
        [
            *_table1_rows(records["table1"]),
            *_circles_rows(records["circles"]),
            *_leukemia_rows(records["leukemia"]),
            _convergence_row(records["convergence"]["designs"]),
        ],
    )


def _table1_rows(kept: dict[str, Any]) -> list[list[str]]:
    x1 = restore(kept).percent[:, :, 0]
    small, large = (dict(zip(TABLE1, row)) for row in x1)
    sgl, default = "SGL, the paper's settings", "SGL, standardised (our default)"
    return [
        [
            "table 1: x1 among five variables, SGL",
            "78 %",
            f"{small[sgl]:.0f} % (noise sd 0.05), {large[sgl]:.0f} % (sd sqrt(0.05))",
            f"{small[default]:.0f} % standardised, {small['GradientSift']:.0f} % GradientSift",
        ],
        [
            "table 1: the same, LASSO",
            "16 %",
            f"{small['LASSO']:.0f} %, {large['LASSO']:.0f} %",
            "",
        ],
    ]


def _circles_rows(kept: dict[str, Any]) -> list[list[str]]:
    sgl = [name for name in CIRCLES if name.startswith("SGL")]
    rows = []
    for reading in ("standard deviation", "variance"):
        found = dict(zip(kept["columns"], percent(kept, reading).T))
        to = {name: _up_to(found[name]) for name in CIRCLES}
        rows.append(
            [
                f"circles, sigma a {reading}: {{x1, x2}} found by SGL",
                "every sigma from 0.1 to 3",
                f"to sigma {to[sgl[0]]} (logistic), {to[sgl[1]]} (squared loss)",
                f"to {to[sgl[2]]} (squared loss, affine kernel), "
                f"{to['GradientSift']} (GradientSift)",
            ]
        )
    return rows


def _up_to(share: Any) -> str:
    """The largest sigma up to which at least `OFTEN` percent of the data sets are solved."""
    good = [sigma for k, sigma in enumerate(SIGMAS) if share[: k + 1].min() >= OFTEN]
    return f"{good[-1]:g}" if good else "none"


def _leukemia_rows(kept: dict[str, Any]) -> list[list[str]]:
    n, left_out, m = (kept["samples"][part] for part in ("training", "nested", "test"))

    def errors(name: str) -> str:
        r = kept["methods"][name]
        genes = f"{r['variables']} genes"
        return f"{r['loo']}/{n}, {r['test']}/{m} ({genes}); nested LOO {r['nested']}/{left_out}"

    inside = "SGL, alpha by 10-fold, all inside"
    return [
        [
            "leukemia, one S-EDR: LOO, test",
            "0/38, 0/34",
            errors("SGL (S-EDR)"),
            f"{errors(f'{inside} (S-EDR)')}, alpha by 10-fold",
        ],
        [
            "leukemia, variables: LOO, test",
            "0/38, 0/34 (106 genes)",
            errors("SGL (variables)"),
            f"{errors(f'{inside} (variables)')}, alpha by 10-fold",
        ],
    ]


def _convergence_row(designs: dict[str, Any]) -> list[str]:
    torus = designs["torus, d = 2 in 50 dimensions"]
    return [
        "convergence: exponent for d = 2",
        "at least 1/24",
        f"{-torus['as printed']['slope']:.2f} on a torus in 50 dimensions",
        f"{-torus['by theory']['slope']:.2f} with weights divided by s^(d+2)",
    ]
