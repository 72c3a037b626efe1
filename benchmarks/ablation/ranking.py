"""What the settings of the ranking are worth: each halved, doubled and, where that means something,
switched off.

    python -m ablation.ranking                       # all tables, 5 folds; designs, 3 seeds
    python -m ablation.ranking --most 2 --tables colon cox2 --seeds 400 402

Run from `benchmarks/`, on one thread. Every table is sifted once and ranked anew with each setting.
Real tables: an RBF SVM on the best 5, 10, 20 and 50 columns. Designs: average precision.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from ablation.measure import DEFAULT, RANKING_SETTINGS, changed, words
from real import tables
from real.ranking import measure
from selection.designs import DESIGNS, HELD_OUT
from selection.measure import scaled
from sklearn.metrics import average_precision_score
from tables import markdown

from gradsift._run.threads import one_blas_thread
from gradsift.data import ArraySource
from gradsift.sift import SiftFit, SiftSettings, make_sift
from gradsift.sift.ranking import ranks

OFF = {"left_over": 0.0}
"""Columns that are not selected keep the order of their own evidence."""
LEFT_OUT = ("digits",)
TELLING = ("genes", "lincorr", "lin1000", "lineq", "clus", "ball40", "circ40n", "block.95", "snp")
"""Designs in which true columns may be left unselected."""


def variants() -> dict[str, SiftSettings]:
    """Label -> settings that differ from the default in one field."""
    found = {"default": DEFAULT}
    for name in RANKING_SETTINGS:
        for how, factor in (("half", 0.5), ("double", 2.0)):
            found[f"{name} {how}"] = replace(DEFAULT, **{name: changed(name, factor)})
        if name in OFF:
            found[f"{name} off"] = replace(DEFAULT, **{name: OFF[name]})
    return found


def rankings(A: tables.Array, Y: tables.Array, labels: bool) -> Iterator[tuple[str, tables.Array]]:
    """(label, columns best first) from one sift."""
    fit = make_sift(ArraySource(A), Y, robust=not labels).run()
    for label, settings in variants().items():
        yield label, np.argsort(ranks(with_settings(fit, settings).scores()))


def with_settings(fit: SiftFit, settings: SiftSettings) -> SiftFit:
    """The same fit, ranked with other settings."""
    response = replace(fit.problem.response, settings=settings)
    problem = replace(fit.problem, settings=settings, response=response)
    return replace(fit, problem=problem, groups=replace(fit.groups, settings=settings))


def on_tables(names: list[str], most: int, seed: int) -> Iterator[tuple[str, str, float]]:
    """(label, table, mean score over lengths) of every fold."""
    for name in names:
        table = tables.load(name)
        for train, test in table.splits(5, seed)[:most]:
            A, _ = scaled(table.X, train, test)
            Y = tables.contrasts(table.y[train], table.labels)
            for label, order in rankings(A, Y, table.labels):
                found = measure(order, table, train, test)
                yield label, name, float(np.mean(list(found.values())))


def on_designs(seeds: range) -> Iterator[tuple[str, str, float]]:
    """(label, design, average precision) of every seed."""
    for name in TELLING:
        for seed in seeds:
            case = (DESIGNS | HELD_OUT)[name](seed)
            A, _ = scaled(case.X, np.arange(len(case.X)), np.arange(0))
            true = np.isin(np.arange(A.shape[1]), case.support)
            for label, order in rankings(A, case.y[:, None], case.task != "regression"):
                place = np.argsort(order)
                yield label, name, float(average_precision_score(true, -place))


def by_name(rows: Iterator[tuple[str, str, float]]) -> dict[str, dict[str, float]]:
    """Label -> table or design -> mean."""
    found: dict[str, dict[str, list[float]]] = {}
    for label, name, value in rows:
        found.setdefault(label, {}).setdefault(name, []).append(value)
    return {
        label: {name: float(np.mean(values)) for name, values in each.items()}
        for label, each in found.items()
    }


def difference(found: dict[str, dict[str, float]], label: str) -> tuple[float, float, str]:
    """Mean difference to the default, its standard error over tables, and where most is lost."""
    names = list(found["default"])
    each = np.array([found[label][name] - found["default"][name] for name in names])
    error = each.std(ddof=1) / np.sqrt(len(each)) if len(each) > 1 else np.nan
    worst = int(each.argmin())
    lost = f"{names[worst]} {each[worst]:+.2f}" if each[worst] < -0.005 else ""
    return float(each.mean()), float(error), lost


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="*")
    parser.add_argument("--most", type=int, default=5, help="folds of each table at most")
    parser.add_argument("--fold-seed", type=int, default=11)
    parser.add_argument("--seeds", type=int, nargs=2, default=(400, 403))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    names = options.tables or [t for t in tables.names() if t not in LEFT_OUT]
    with one_blas_thread(workers=1):
        real = by_name(on_tables(names, options.most, options.fold_seed))
        designs = by_name(on_designs(range(*options.seeds)))
    level = [np.mean(list(each["default"].values())) for each in (real, designs)]
    rows = [["all of the default", "", "", f"{level[0]:.4f}", "", f"{level[1]:.4f}", ""]]
    for label, settings in list(variants().items())[1:]:
        name = label.split()[0]
        value = "off" if label.endswith("off") else words(name, settings)
        score, lost = difference(real, label), difference(designs, label)
        cells = [f"{d:+.4f} ({e:.4f})" for d, e, _ in (score, lost)]
        rows.append(
            [f"`{name}`", words(name, DEFAULT), value, cells[0], score[2], cells[1], lost[2]]
        )
    print(f"ranking: {len(real['default'])} real tables, {len(designs['default'])} designs")
    head = [
        "setting",
        "default",
        "changed to",
        "SVM on the best",
        "most lost",
        "AP",
        "most AP lost",
    ]
    print(markdown(head, rows))


if __name__ == "__main__":
    main()
