"""Tables of the path benchmark: what a certified path costs, in units that any machine has.

    make bench-paths                                       floor, printed, loo

or one at a time, with PYTHONPATH=benchmarks and 2 BLAS threads (OMP_NUM_THREADS=2):

    python -m paths.measure floor [repeats]       GEMM per alpha, both losses
    python -m paths.measure celer                 celer's multi-task lasso at the same sizes (slow)
    python -m paths.measure printed [steps]       Algorithm 1 as printed; at most so many steps
    python -m paths.measure loo                   leave-one-out on leukemia; needs GRADSIFT_DATA

One GEMM is the time of X.T @ M, M (n, m), on the same arrays in the same run: the least that a
certificate over all p columns can cost. A path is timed whole: standardising, distances, kernel
factor, weights, alpha_max, and every alpha to a relative duality gap of 1e-4 over all variables.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from paths.algorithm1 import PairProblem, printed_slope, short_slope, step, step_length
from paths.celer_path import celer_path
from paths.problems import Array, PathProblem, leukemia, surface

from gradsift import SparseGradientRegressorCV, alpha_max, gradient_path
from gradsift.assemble import Assembly, Response, Settings, assemble
from gradsift.data import ArraySource
from gradsift.path import fit_to
from gradsift.solver import Solution, Solver, null_solution

SIZES = ((72, 7_129), (200, 20_000))


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def gemm(X: Array, m: int, repeats: int = 15) -> float:
    M = np.random.default_rng(0).normal(size=(len(X), m))
    return min(seconds(lambda: X.T @ M) for _ in range(repeats))


@dataclass(frozen=True)
class Cost:
    """What a path took, in seconds and in the GEMMs of the same run."""

    gemm: float  # the fastest
    seconds: float  # the fastest
    per_alpha: float  # median of path / GEMM over the repeats
    quiet: float  # fastest path / fastest GEMM: what a busy machine leaves comparable
    products: float  # per alpha
    gap: float


def path_cost(problem: PathProblem, task: str, repeats: int) -> Cost:
    settings = {"task": task, **problem.settings}
    path = gradient_path(problem.X, problem.y, **settings)
    units, times = [], []
    for _ in range(repeats):
        units.append(gemm(problem.X, len(problem.X)))
        times.append(seconds(lambda: gradient_path(problem.X, problem.y, **settings)))
    ratios = [t / len(path.alphas) / g for t, g in zip(times, units, strict=True)]
    return Cost(
        min(units),
        min(times),
        statistics.median(ratios),
        min(times) / len(path.alphas) / min(units),
        float(path.n_iter.mean()),
        float(path.dual_gaps.max()),
    )


def floor_table(repeats: int) -> None:
    print(
        "| problem | loss | GEMM | path | GEMM per alpha: median | fastest | products per alpha |"
    )
    print("|---|---|---|---|---|---|---|")
    for n, p in SIZES:
        problem = surface(n, p)
        costs = {}
        for task, loss in (("regression", "squared"), ("classification", "logistic")):
            costs[loss] = c = path_cost(problem, task, repeats)
            print(
                f"| {problem.name} | {loss} | {1e3 * c.gemm:.2f} ms | {c.seconds:.2f} s "
                f"| {c.per_alpha:.1f} | {c.quiet:.1f} | {c.products:.1f} |",
                flush=True,
            )
            assert c.gap <= 1e-4, "not certified"
        ratio = costs["logistic"].seconds / costs["squared"].seconds
        print(f"| {problem.name} | logistic / squared | | {ratio:.2f} | | | |", flush=True)


def celer_table() -> None:
    print("| problem | celer, GEMM per alpha | gradsift | celer / gradsift |\n|---|---|---|---|")
    for n, p in SIZES:
        problem = surface(n, p)
        L = _assembled(problem).L
        ours = path_cost(problem, "regression", 3)
        theirs = seconds(partial(celer_path, problem.X, problem.y, L)) / 50 / ours.gemm
        print(
            f"| {problem.name} | {theirs:.0f} | {ours.quiet:.1f} | {theirs / ours.quiet:.0f} |",
            flush=True,
        )


def _assembled(problem: PathProblem) -> Assembly:
    settings = Settings(problem.settings["kernel"], problem.settings["weights"])
    return assemble(ArraySource(problem.X), Response.numbers(problem.y), settings)


def printed_table(most_steps: int) -> None:
    """Both from nothing to the same objective, 1e-6 relative to the optimum, at 0.1 alpha_max."""
    problem = surface(*SIZES[0])

    def ours(tol: float) -> tuple[Assembly, Solution]:
        built = _assembled(problem)
        null = null_solution(built.problem)
        return built, fit_to(built.problem, 0.1 * null.alpha, Solver(tol=tol), null=null)

    built, best = ours(1e-10)
    goal, tol = best.certificate.primal * (1.0 + 1e-6), 1e-5
    while ours(tol)[1].certificate.primal > goal:
        tol *= 0.3
    time_ours = min(seconds(lambda: ours(tol)) for _ in range(5))

    W = built.problem.datafit.pairs.weight * len(problem.y) ** 2
    X = built.source.columns(np.arange(problem.X.shape[1]))
    paper = PairProblem.of(X, problem.y, built.L @ built.L.T, W)
    shape = (X.shape[1], len(X))
    slow, fast = printed_slope(paper), short_slope(paper)
    delta = step_length(fast, shape)
    start = step(np.zeros(shape), fast, best.alpha, delta)
    np.testing.assert_allclose(slow(start), fast(start), atol=1e-10)  # the same iterates
    each = min(seconds(lambda: step(start, slow, best.alpha, delta)) for _ in range(5))

    C, n_steps = start, 1
    while paper.objective(C, best.alpha) > goal and n_steps < most_steps:
        for _ in range(25):
            C = step(C, fast, best.alpha, delta)
        n_steps += 25
    off = paper.objective(C, best.alpha) / best.certificate.primal - 1.0
    same = np.flatnonzero(C.any(axis=1)).tolist() == best.rows.index.tolist()
    print("| | seconds | steps | above the optimum | support |\n|---|---|---|---|---|")
    print(f"| gradsift | {time_ours:.3f} | | <= 1e-6 | {len(best.rows.index)} variables |")
    print(
        f"| Algorithm 1 | {n_steps} x {each:.3f} = {n_steps * each:.0f} | {n_steps} | {off:.0e} "
        f"| {'the same' if same else 'another'} |"
    )
    print(f"\n{n_steps * each / time_ours:.0f} times as long")


def loo_table(n_jobs: int = 2) -> None:
    problem = leukemia()
    if problem is None:
        print("no leukemia.npz: set GRADSIFT_DATA to its folder")
        return
    X, y, settings = problem.X, problem.y, problem.settings
    alphas = alpha_max(X, y, **settings) * np.geomspace(1.0, 0.1, 20)
    one = statistics.median(
        seconds(lambda: gradient_path(X, y, alphas=alphas, **settings)) for _ in range(5)
    )
    model = SparseGradientRegressorCV(alphas=alphas, cv="loo", n_jobs=n_jobs, **settings)
    first = seconds(lambda: model.fit(X, y))  # starts the worker processes
    again = statistics.median(seconds(lambda: model.fit(X, y)) for _ in range(3))
    print("| leukemia, 38 folds, 20 alphas | seconds | in paths |\n|---|---|---|")
    print(f"| one path | {one:.2f} | 1 |")
    print(f"| leave-one-out, {n_jobs} jobs | {again:.2f} | {again / one:.1f} |")
    print(f"| the same, workers not yet started | {first:.2f} | {first / one:.1f} |")


def main(what: str = "all", option: str = "") -> None:
    if what in ("floor", "all"):
        floor_table(int(option or 5))
    if what == "celer":
        celer_table()
    if what in ("printed", "all"):
        printed_table(int(option or 20_000))
    if what in ("loo", "all"):
        loo_table()


if __name__ == "__main__":
    main(*sys.argv[1:])
