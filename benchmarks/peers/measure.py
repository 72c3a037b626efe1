"""Tables of the peer benchmark: what the answer is worth beside what it takes.

    make bench-peers                                     installs the peers, then every problem

or, with PYTHONPATH=benchmarks, and OMP_NUM_THREADS=2 or any other number:

    python -m peers.measure [problems] [contestants] [first-last seed] [seconds]

with problems separated by commas, contestants by semicolons, or "all" for either. A contestant is
run in a process of its own, on the seeds in turn until it has spent these seconds (SPENT unless
given) on the problem; a fit that takes longer than LIMIT seconds is stopped. Seconds are those of
the fit, imports not counted, median over the seeds; AP (average precision of the ranking), F1 and
false variables of the selected set are means over the same seeds.
"""

from __future__ import annotations

import statistics
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib import import_module

import numpy as np
from peers.contestants import CONTESTANTS, Answer, installed
from peers.problems import PROBLEMS
from selection.designs import Case
from sklearn.metrics import average_precision_score
from worker import Worker

LIMIT, SPENT = 120.0, 20.0
SEEDS = "900-905"


@dataclass(frozen=True)
class Fit:
    seconds: float
    precision: float
    f1: float  # nan where no set is chosen, as `false`
    false: float


def judged(case: Case, answer: Answer, seconds: float) -> Fit:
    true = np.isin(np.arange(case.X.shape[1]), case.support)
    precision = float(average_precision_score(true, _ranks(answer.scores)))
    chosen = answer.selected
    if chosen is None:
        return Fit(seconds, precision, np.nan, np.nan)
    f1 = 2 * (true & chosen).sum() / (true.sum() + chosen.sum())
    return Fit(seconds, precision, float(f1), float((chosen & ~true).sum()))


def _ranks(scores: np.ndarray) -> np.ndarray:
    """Ranks in place of scores: infinities compare, and ties stay ties."""
    return np.unique(scores, return_inverse=True)[1]


def fits(contestant: str, problem: str, seeds: range) -> Iterator[Fit | None]:
    """None when the imports are done, then one fit per seed."""
    warnings.simplefilter("ignore")
    (module, run), make = CONTESTANTS[contestant], PROBLEMS[problem][1]
    with redirect_stdout(sys.stderr):  # some peers print
        import_module(module)
        yield None
        for seed in seeds:
            case = make(seed)
            X = (case.X - case.X.mean(axis=0)) / np.maximum(case.X.std(axis=0), 1e-12)
            start = time.perf_counter()
            answer = run(X, case.y, case.task)
            yield judged(case, answer, time.perf_counter() - start)


def measured(contestant: str, problem: str, seeds: range, spent: float) -> list[Fit]:
    """What was finished in time."""
    found: list[Fit] = []
    with Worker(fits, contestant, problem, seeds) as worker:
        worker.next()
        while len(found) < len(seeds) and sum(fit.seconds for fit in found) < spent:
            fit = worker.next(LIMIT)
            if fit is None:
                break
            found.append(fit)
    return found


def table(problem: str, contestants: list[str], seeds: range, spent: float) -> None:
    print(f"\n{problem}: {PROBLEMS[problem][0]}\n")
    print("| | seconds | / gradsift | AP | F1 | false | seeds |\n" + "|---" * 7 + "|")
    unit = None
    for name in contestants:
        try:
            found = measured(name, problem, seeds, spent)
        except EOFError:  # its process ended with an error, which is on stderr
            print(f"| {name} | failed | | | | | |", flush=True)
            continue
        if not found:
            print(f"| {name} | stopped at {LIMIT:.0f} | | | | | 0 |", flush=True)
            continue
        seconds = statistics.median(fit.seconds for fit in found)
        unit = seconds if name == "gradsift" else unit
        ratio = f"{seconds / unit:.1f}" if unit else ""
        precision, f1, false = np.mean([(f.precision, f.f1, f.false) for f in found], axis=0)
        chosen = f"{f1:.2f} | {false:.1f}" if np.isfinite(f1) else " | "
        print(
            f"| {name} | {seconds:.2f} | {ratio} | {precision:.2f} | {chosen} | {len(found)} |",
            flush=True,
        )


def main(
    problems: str = "all", contestants: str = "all", seeds: str = SEEDS, spent: float = SPENT
) -> None:
    first, last = map(int, seeds.split("-"))
    who = installed() if contestants == "all" else contestants.split(";")
    for problem in PROBLEMS if problems == "all" else problems.split(","):
        table(problem, who, range(first, last), float(spent))


if __name__ == "__main__":
    main(*sys.argv[1:])
