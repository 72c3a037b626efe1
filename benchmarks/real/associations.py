"""Does the list of associated columns keep its false discovery rate on real columns?

    python -m real.associations                        # all tables, 20 permutations each
    python -m real.associations --tables colon --times 50

Run from `benchmarks/`, on one thread. Rows of a table are dealt anew in two ways. *All*: the
response is permuted, so that nothing is associated and any list is false. *Half*: the rows of a
random half of the columns are permuted together, so that these are null but alike as real columns
are, while the others stay what they are.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass

import numpy as np
from real import tables
from tables import markdown

from gradsift._run.threads import one_blas_thread
from gradsift.data import ArraySource, measure_scaling
from gradsift.inference.marginal_tests import RATE, column_association
from gradsift.sift import SiftFit, make_sift

LARGE = ("digits", "solubility")
"""Tables of so many rows that everything in them is associated: left out unless they are named."""


@dataclass(frozen=True)
class Found:
    """Of one table: columns listed, how often a permuted response has a list, and shares of
    null columns in the lists beside real ones.
    """

    listed: int
    any_false: float
    false_share: list[float]


def listed(A: tables.Array, Y: tables.Array, labels: bool, rate: float) -> set[int]:
    """Columns associated with the response; the search for a support is not needed."""
    problem = make_sift(ArraySource(A), Y, robust=not labels)
    groups, marginal = problem.first_pool()
    found = column_association(SiftFit(problem, groups, (), (), marginal), A.shape[1])
    return set() if found is None else set(found.associated(rate).tolist())


def measure(table: tables.RealTable, times: int, rate: float, seed: int) -> Found:
    n, p = table.X.shape
    rng = np.random.default_rng(seed)
    A = measure_scaling(ArraySource(table.X), np.full(n, 1.0 / n)).apply(table.X)
    Y = tables.contrasts(table.y, table.labels)
    real = listed(A, Y, table.labels, rate)
    false, shares = [], []
    for _ in range(times):
        deal, null = rng.permutation(n), rng.permutation(p)[: p // 2]
        false.append(len(listed(A, Y[deal], table.labels, rate)) > 0)
        mixed = A.copy()
        mixed[:, null] = A[deal][:, null]
        found, nulls = listed(mixed, Y, table.labels, rate), set(null.tolist())
        shares.append(len(found & nulls) / max(len(found), 1))
    return Found(len(real), float(np.mean(false)), shares)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="*")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows, every = [], []
    for name in options.tables or [t for t in tables.names() if t not in LARGE]:
        table = tables.load(name)
        with one_blas_thread(workers=1):
            one = measure(table, options.times, options.rate, options.seed)
        every.append(one)
        size = f"{table.X.shape[0]} x {table.X.shape[1]:,}"
        share = f"{np.mean(one.false_share):.3f}"
        rows.append([name, size, f"{one.listed:,}", f"{one.any_false:.2f}", share])
        print(rows[-1], flush=True)
    any_false = [one.any_false for one in every]
    shares = [np.mean(one.false_share) for one in every]
    rows.append(["mean", "", "", f"{np.mean(any_false):.3f}", f"{np.mean(shares):.3f}"])
    print(f"associated at {options.rate:.0%}, {len(every)} tables, {options.times} deals each")
    header = [
        "table",
        "rows x columns",
        "listed",
        "all permuted: any",
        "half permuted: false share",
    ]
    print(markdown(header, rows))


if __name__ == "__main__":
    main()
