"""Methods that the paper names, and today's neighbours, on the same tables.

    PYTHONPATH=benchmarks python -m relatives.measure             # all tables
    PYTHONPATH=benchmarks python -m relatives.measure directions  # one: selection, wide, leukemia

Seconds are processor time of one thread. Packages: `relatives/requirements.txt`; those that are
not installed are left out.
"""

from __future__ import annotations

import io
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout

import numpy as np
from directions.measure import DESIGNS as INDICES
from directions.measure import draw
from peers.contestants import Answer
from peers.measure import Fit, judged
from relatives.directions import FINDERS, WIDE
from relatives.selectors import MOST_COLUMNS, SELECTORS
from selection.data_sets import real
from selection.designs import DESIGNS, Array, Case
from sklearn.feature_selection import RFE
from sklearn.svm import SVC

from gradsift import GradientSiftClassifier
from gradsift.numerics.directions import subspace_distance

TABLES = ("turl200", "fried", "xor", "add200", "lincorr", "block")
SEEDS = range(1700, 1702)
SUMS = ([0, 1, 2], [3, 4], [5, 6])
SHOWN = ("tanh(2u)", "sin(2u)", "u + v²/2", "u / (.5 + (v + 1.5)²)", "u v + w")


def line(*cells: str) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


def head(title: str, *cells: str) -> None:
    print(f"\n{title}\n")
    line(*cells)
    line(*("---" for _ in cells))


def fitted(select: Callable[[Array, Array, str], Answer], case: Case) -> Fit:
    """How well a method answers on standardised columns."""
    X = (case.X - case.X.mean(axis=0)) / case.X.std(axis=0)
    start = time.process_time()
    with redirect_stdout(io.StringIO()):
        answer = select(X, case.y, case.task)
    return judged(case, answer, time.process_time() - start)


def selection() -> None:
    """Average precision by design; F1, false columns and seconds of all."""
    head("selection", "method", *TABLES, "F1", "false", "seconds")
    for name, select in SELECTORS.items():
        shown, fits = [], []
        for design in TABLES:
            cases = [DESIGNS[design](seed) for seed in SEEDS]
            if cases[0].X.shape[1] > MOST_COLUMNS.get(name, np.inf):
                shown.append("")
                continue
            found = [fitted(select, case) for case in cases]
            fits += found
            shown.append(f"{np.mean([fit.precision for fit in found]):.2f}")
        f1, false = np.mean([[fit.f1, fit.false] for fit in fits], axis=0)
        own = ["", ""] if np.isnan(f1) else [f"{f1:.2f}", f"{false:.1f}"]
        line(name, *shown, *own, f"{np.median([fit.seconds for fit in fits]):.2f}")


def distances(p: int, names: tuple[str, ...], seeds: range, title: str) -> None:
    """Median distance of the subspaces, 0 to 1."""
    designs = [design for design in INDICES if design.formula in SHOWN]
    head(title, "method", *(design.formula for design in designs), "seconds")
    for name in names:
        shown, spent = [], []
        for design in designs:
            truth = np.zeros((design.n_directions, p))
            for row, columns in zip(truth, SUMS, strict=False):
                row[columns] = 1.0
            found = []
            for seed in seeds:
                X, y = draw(design, 200, p, seed)
                X = (X - X.mean(axis=0)) / X.std(axis=0)
                start = time.process_time()
                B = FINDERS[name](X, y, design.n_directions)
                spent.append(time.process_time() - start)
                right = B.shape[1] == len(truth)
                found.append(subspace_distance(B.T, truth) if right else 1.0)
            shown.append(f"{np.median(found):.2f}")
        line(name, *shown, f"{np.median(spent):.2f}")


def leukemia() -> None:
    """Errors of a linear SVM on the 34 test samples, on the k best genes of 38 training samples."""
    case = real("leukemia")
    train, test = case.splits[0]
    scale = case.X[train].std(axis=0)
    X = (case.X - case.X[train].mean(axis=0)) / np.where(scale > 0, scale, np.inf)
    counts = (1, 2, 4, 8, 16, 32, 64)
    head("leukemia", "method", *map(str, counts))
    machine = SVC(kernel="linear", C=1.0)

    def recursive(k: int) -> np.ndarray:
        """SVM-RFE (Guyon, Weston, Barnhill and Vapnik 2002): half of the genes leave each time."""
        genes = np.arange(X.shape[1])
        while len(genes) > k:
            left = max(k, len(genes) // 2)
            keep = RFE(machine, n_features_to_select=left, step=len(genes) - left)
            genes = genes[keep.fit(X[train][:, genes], case.y[train]).support_]
        return genes

    order = np.argsort(GradientSiftClassifier().fit(X[train], case.y[train]).ranking_)
    for name, best in (("GradientSift", lambda k: order[:k]), ("SVM-RFE", recursive)):
        errors = []
        for k in counts:
            genes = best(k)
            fit = machine.fit(X[train][:, genes], case.y[train])
            errors.append(str(int((fit.predict(X[test][:, genes]) != case.y[test]).sum())))
        line(name, *errors)


PARTS = {
    "selection": selection,
    "directions": lambda: distances(
        20, tuple(FINDERS), range(1700, 1708), "directions, 20 columns"
    ),
    "wide": lambda: distances(1000, WIDE, range(1700, 1703), "directions, 1000 columns"),
    "leukemia": leukemia,
}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
