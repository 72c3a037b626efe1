"""Do the probabilities of families hold? Effects planted in real and simulated columns, and noise.

    python -m trust.families --seeds 2000 8            # all designs, 8 seeds from 2000 on
    python -m trust.families --seeds 2000 8 --planted  # without the tables of noise
    python -m trust.families --seeds 2000 8 --untested # without q-values, which take longest
    python -m trust.families --seeds 1000 2 colon      # those whose name contains a word
    python -m trust.families --seeds 1000 1 --moves    # how much other random numbers change
    python -m trust.families --show                    # the tables, from what was measured

Run from `benchmarks/` with the package installed, on one thread. The real data sets are taken from
the folder that GRADSIFT_DATA names; without it their designs are left out. Seeds below 2000 served
to develop the method; those from 2000 on did not.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from levels.tables import real_columns
from tables import markdown
from trust.planted import ALL, DATA, NOISE, REAL, Planted

from gradsift.data import ArraySource, measure_scaling
from gradsift.estimators._sift_target import class_contrasts
from gradsift.explain.families import family_test
from gradsift.sift import describe, make_sifter, sift
from gradsift.trust.credible import find_families
from gradsift.trust.discoveries import column_significance, own_columns
from gradsift.trust.tested import Significance

FILE = Path(__file__).parent / "measured.json"
RESPONSES = ("colon", "leukemia", "riboflavin", "gasoline")
"""Data sets whose own responses `--moves` looks at."""
EDGES = (0.02, 0.1, 0.3, 0.6, 0.9, 1.0001)
CLAIMS = (0.5, 0.7, 0.9, 0.95, 1.0001)


def covers(family: Any, table: Planted) -> bool:
    """Whether a family holds a true column; one of a product, a true pair."""
    columns = set(family.columns.tolist())
    if family.partners is None:
        return bool(columns & set(table.true))
    partners = set(family.partners.tolist())
    return any({a, b} & columns and {a, b} & partners for a, b in table.pairs)


def q_value(family: Any, tested: Significance) -> float | None:
    """The q-value of a family; None of a product that was not tested."""
    test = family_test(family, tested, str)
    return None if test is None else float(f"{test.q_value:.3g}")


def sifting(table: Planted) -> tuple[ArraySource, Any, Any]:
    """Standardised columns, what is sifted, and class numbers or None."""
    n = len(table.y)
    X = measure_scaling(ArraySource(table.X), np.full(n, 1.0 / n)).apply(table.X)
    if not table.labels:
        return ArraySource(X), table.y[:, None], None
    codes = table.y.astype(np.intp)
    return ArraySource(X), class_contrasts(codes, int(codes.max()) + 1), codes


def moves(table: Planted, seeds: int = 2) -> tuple[float, float, float, float]:
    """Largest difference of an inclusion probability, and of that of a family with the same most
    probable column, between draws of some seeds; how rough they say they are, and CPU seconds of
    one of them.
    """
    source, Y, codes = sifting(table)
    chosen = sift(source, Y, robust=codes is None).groups
    began = time.process_time()
    found = [find_families(source, Y, chosen, codes=codes, seed=s) for s in range(seeds)]
    seconds = (time.process_time() - began) / seeds
    gap = np.ptp([one.inclusion_probabilities for one in found], axis=0).max()
    each: dict[int, list[float]] = {}
    for one in found:
        for family in one:
            each.setdefault(family.representative, []).append(family.probability)
    rough = max(one.roughness for one in found)
    return float(gap), max(map(np.ptp, each.values()), default=0.0), rough, seconds


def real_table(name: str) -> Planted:
    """A data set with its own response."""
    X, y, labels = real_columns(name)
    return Planted(X, y, labels, ())


def measure(table: Planted, tests: bool = True) -> dict[str, Any]:
    """What the families of one table claim, and what holds; q-values only if `tests`."""
    source, Y, codes = sifting(table)
    sifter = make_sifter(source, Y, robust=codes is None)
    sifted = sifter.run()
    chosen = describe(sifter, sifted)
    began = time.process_time()
    found = find_families(source, Y, chosen.groups, codes=codes)
    seconds = time.process_time() - began
    values: list[list[float | None]] = [[] for _ in found]
    if tests:
        tested = column_significance(sifter, sifted, codes, families=own_columns(found))
        values = [[q_value(f, tested)] for f in found]
    inside = {
        int(c) for f in found for c in [*f.columns, *(() if f.partners is None else f.partners)]
    }
    true = np.isin(np.arange(table.X.shape[1]), table.true)
    claimed = found.inclusion_probabilities
    place = np.digitize(claimed, EDGES) - 1
    bins = [
        [
            int(at.sum()),
            round(float(found.inclusion_probabilities[at].sum()), 3),
            int(true[at].sum()),
        ]
        for at in (place == i for i in range(len(EDGES) - 1))
    ]
    selected = chosen.selected
    return {
        "families": [
            [round(f.probability, 3), len(f.columns), covers(f, table), f.shape, *q]
            for f, q in zip(found, values, strict=True)
        ],
        "true": len(table.true),
        "in_families": len(inside & set(table.true)),
        "bins": bins,
        "selected": [len(selected), len(set(selected.tolist()) & set(table.true))],
        "seconds": round(seconds, 2),
        "sweeps": found.n_sweeps,
        "disagreement": round(found.disagreement, 3),
    }


def available(name: str) -> bool:
    return DATA.exists() or not any(kind in name for kind in REAL)


def run(names: Sequence[str], seeds: range, file: Path, tests: bool = True) -> None:
    """Measure designs seed by seed; a table that was measured before is not measured again."""
    measured = json.loads(file.read_text()) if file.exists() else {}
    for seed in seeds:
        for name in names:
            rows = measured.setdefault(name, {})
            if str(seed) in rows:
                continue
            rows[str(seed)] = row = measure(ALL[name](seed), tests)
            found = f"{row['in_families']}/{row['true']}"
            print(name, seed, row["families"], found, row["seconds"], flush=True)
            file.write_text(as_text(measured))


def as_text(measured: dict[str, Any]) -> str:
    """One table to a line, so that differences can be read."""
    designs = []
    for name, rows in measured.items():
        lines = ",\n".join(f"  {json.dumps(seed)}: {json.dumps(row)}" for seed, row in rows.items())
        designs.append(f" {json.dumps(name)}: {{\n{lines}\n }}")
    return "{\n" + ",\n".join(designs) + "\n}\n"


# ---------------------------------------------------------------------------- what is shown


def rate(values: Sequence[float]) -> str:
    """Mean and standard error."""
    if len(values) == 0:
        return "-"
    error = np.std(values) / np.sqrt(len(values))
    return f"{np.mean(values):.2f} ({error:.2f})"


def families_in(rows: Iterable[dict[str, Any]], low: float, high: float = 1.0001) -> Any:
    """(claimed probability, size, covers) of families that claim from `low` to `high`."""
    found = [f[:3] for row in rows for f in row["families"] if low <= f[0] < high]
    return np.array(found, dtype=float).reshape(-1, 3)


def design_line(name: str, rows: list[dict[str, Any]]) -> str:
    found = families_in(rows, 0.5)
    true = sum(row["true"] for row in rows)
    power = sum(row["in_families"] for row in rows) / true
    count, right = np.sum([row["selected"] for row in rows], axis=0)
    size = f"{np.median(found[:, 1]):.0f}" if len(found) else "-"
    claimed = f"{found[:, 0].mean():.2f}" if len(found) else "-"
    return (
        f"| {name} | {len(rows)} | {claimed} | {rate(found[:, 2])} | {size} | {power:.2f} "
        f"| {right / max(count, 1):.2f} | {right / true:.2f} "
        f"| {np.median([row['seconds'] for row in rows]):.1f} |"
    )


def claim_lines(groups: dict[str, list[dict[str, Any]]]) -> list[str]:
    lines = []
    for title, rows in groups.items():
        for low, high in [*pairwise(CLAIMS), (0.9, 1.0001), (0.5, 1.0001)]:
            found = families_in(rows, low, high)
            if len(found):
                span = f"{low:.2f} to {min(high, 1):.2f}"
                claimed = found[:, 0].mean()
                lines.append(
                    f"| {title} | {span} | {len(found)} | {claimed:.2f} | {rate(found[:, 2])} |"
                )
    return lines


def member_lines(rows: list[dict[str, Any]]) -> list[str]:
    """Families that claim .9 or more, by the number of their members and of columns that act."""
    lines = []
    for members, least, most in (("one", 1, 1), ("2 to 9", 2, 9), ("10 or more", 10, np.inf)):
        for acting in ((1, 2), (3,)):
            found = families_in([row for row in rows if row["true"] in acting], 0.9)
            found = found[(found[:, 1] >= least) & (found[:, 1] <= most)]
            words = " or ".join(map(str, acting))
            claimed = f"{found[:, 0].mean():.2f}" if len(found) else "-"
            lines.append(
                f"| {members} | {words} | {len(found)} | {claimed} | {rate(found[:, 2])} |"
            )
    return lines


def q_lines(groups: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Families with a q-value up to some rates, and how many of them are right."""
    lines = []
    for title, rows in groups.items():
        tested = [[f[4], f[2]] for row in rows for f in row["families"] if len(f) > 4]
        found = np.array([t for t in tested if t[0] is not None], dtype=float).reshape(-1, 2)
        for most in (0.05, 0.1, 0.2):
            right = found[found[:, 0] <= most, 1]
            if len(found):
                lines.append(
                    f"| {title} | {most:.2f} | {len(found)} | {len(right)} | {rate(right)} |"
                )
    return lines


def inclusion_lines(groups: dict[str, list[dict[str, Any]]]) -> list[str]:
    lines = []
    for title, rows in groups.items():
        total = np.sum([row["bins"] for row in rows], axis=0)
        cells = [f"{p / max(n, 1):.2f} -> {t / max(n, 1):.2f} ({n:.0f})" for n, p, t in total]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return lines


def show(measured: dict[str, Any], seeds: range) -> str:
    """The tables: by design, claim, members and q-value; inclusion probabilities, noise."""
    kept = {
        name: [row for seed, row in rows.items() if int(seed) in seeds]
        for name, rows in measured.items()
    }
    planted = {name: rows for name, rows in kept.items() if rows and name not in NOISE}
    everything = [row for rows in planted.values() for row in rows]
    real = [row for name, rows in planted.items() if name.split(",")[0] in REAL for row in rows]
    groups = {"all": everything, "real columns": real}
    spans = [f"{a:.2f} to {min(b, 1):.2f}" for a, b in pairwise(EDGES)]
    silent = [row for name in NOISE for row in kept.get(name, [])]
    lines = ["by design"]
    lines += [
        "| columns | tables | claimed | families right (s.e.) | median size | power "
        "| selected right | power of selected | seconds |",
        "|---" * 9 + "|",
    ]
    lines += [design_line(name, rows) for name, rows in planted.items()]
    lines += [design_line("all", everything), "", "by claim"]
    lines += ["| tables | claim | families | mean claim | right (s.e.) |", "|---" * 5 + "|"]
    lines += [*claim_lines(groups), "", "by members"]
    lines += ["| members | columns that act | families | mean claim | right (s.e.) |"]
    lines += ["|---" * 5 + "|", *member_lines(everything), "", "by q-value"]
    lines += ["| tables | q up to | families | of such q | right (s.e.) |", "|---" * 5 + "|"]
    lines += [*q_lines(groups), "", "inclusion probabilities"]
    lines += [f"| tables | {' | '.join(spans)} |", "|---" * (len(spans) + 1) + "|"]
    lines += [*inclusion_lines(groups), "", "noise"]
    lines += ["| tables | families | that claim .9 or more | selected columns |", "|---" * 4 + "|"]
    counts = [sum(len(families_in([row], low)) for row in silent) for low in (0.5, 0.9)]
    chosen = sum(row["selected"][0] for row in silent)
    each = max(len(silent), 1)
    lines += [
        f"| {len(silent)} | {counts[0] / each:.3f} | {counts[1] / each:.3f} | {chosen / each:.3f} |"
    ]
    return "\n".join(lines)


def show_moves(names: Sequence[str], seeds: range) -> str:
    """Differences between two seeds of the draws in planted tables, three in real ones."""
    spans = [f"{what}: median, most" for what in ("columns", "families", "roughness")]
    head = ["response", "tables", *spans, "seconds"]
    rows = []
    for title, labels in (("planted numbers", False), ("planted labels", True)):
        some = [name for name in names if ("classes" in name) == labels]
        found = [moves(ALL[name](seed)) for name in some for seed in seeds]
        rows += [move_row(title, found)] if found else []
    if DATA.exists():
        rows += [move_row(name, [moves(real_table(name), 3)]) for name in RESPONSES]
    return "moves\n" + markdown(head, rows)


def move_row(title: str, found: Sequence[tuple[float, ...]]) -> list[str]:
    *spans, seconds = np.array(found).T
    cells = [f"{np.median(c):.3f}, {c.max():.3f}" for c in spans]
    return [title, str(len(found)), *cells, f"{seconds.mean():.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--seeds", nargs=2, type=int, default=(2000, 8), metavar=("FIRST", "COUNT"))
    parser.add_argument("--file", type=Path, default=FILE)
    parser.add_argument("--planted", action="store_true")
    parser.add_argument("--untested", action="store_true")
    parser.add_argument("--moves", action="store_true")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    seeds = range(given.seeds[0], sum(given.seeds))
    if not given.show:
        names = [n for n in ALL if all(word in n for word in given.words) and available(n)]
        names = [n for n in names if n not in NOISE] if given.planted else names
        if given.moves:
            print(show_moves(names, seeds))
            return
        run(names, seeds, given.file, not given.untested)
    print(show(json.loads(given.file.read_text()), seeds))


if __name__ == "__main__":
    main()
