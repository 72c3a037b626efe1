"""Rankings with and without inclusion probabilities: average precision of the columns that act.

    python -m trust.ranking                     # all designs, 3 seeds
    python -m trust.ranking --seeds 1 colon     # those whose name contains a word

`ranking_` is the sift's own; with `inference=True`, columns that act with a probability above .05
come first. Run from `benchmarks/` with the package installed, on one thread. Seeds begin at 3,000.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from selection.designs import DESIGNS as SELECTION
from sklearn.metrics import average_precision_score
from tables import markdown
from trust.families import available, sifting
from trust.planted import DESIGNS, Planted

from gradsift.sift import sift
from gradsift.trust.credible import find_families
from gradsift.trust.families import probable_first

FIRST_SEED = 3000


def table_of(name: str, seed: int) -> Planted:
    """Effects planted in columns, or a design on which selections are measured."""
    if name in DESIGNS:
        return DESIGNS[name](seed)
    case = SELECTION[name.removeprefix("selection: ")](seed)
    return Planted(case.X, case.y, case.task == "classification", tuple(case.support.tolist()))


def precisions(table: Planted) -> tuple[float, float]:
    """Average precision of both rankings."""
    source, Y, codes = sifting(table)
    found = sift(source, Y, robust=codes is None)
    families = find_families(source, Y, found.groups, codes=codes)
    true = np.isin(np.arange(source.shape[1]), table.true)
    by_both = probable_first(found.ranking, families.inclusion_probabilities)
    return tuple(float(average_precision_score(true, -r)) for r in (found.ranking, by_both))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="designs whose name contains one of these")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    names = [name for name in DESIGNS if available(name)]
    names += [f"selection: {name}" for name in SELECTION if not name.startswith("noise")]
    names = [n for n in names if not options.words or any(w in n for w in options.words)]
    rows, totals = [], []
    for name in names:
        seeds = range(FIRST_SEED, FIRST_SEED + options.seeds)
        found = np.array([precisions(table_of(name, seed)) for seed in seeds])
        totals.append(found.mean(axis=0))
        own, both = totals[-1]
        rows.append([name, str(len(found)), f"{own:.3f}", f"{both:.3f}", f"{both - own:+.3f}"])
        print(*rows[-1], sep="  ", flush=True)
    own, both = np.mean(totals, axis=0)
    rows.append(["all", "", f"{own:.3f}", f"{both:.3f}", f"{both - own:+.3f}"])
    print("rankings")
    head = ["design", "seeds", "ranking_", "with inclusion probabilities", "difference"]
    print(markdown(head, rows))


if __name__ == "__main__":
    main()
