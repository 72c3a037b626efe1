"""Tables of the path benchmark: what a certified path costs, in units that any machine has.

    make bench-paths                                       floor, printed, loo

or one at a time, with PYTHONPATH=benchmarks and one BLAS thread (OMP_NUM_THREADS=1):

    python -m paths.measure floor [repeats]       GEMM per alpha, both losses
    python -m paths.measure celer [seconds]       celer's multi-task lasso at the same sizes; each
                                                  of eight runs is stopped after so many seconds
    python -m paths.measure printed [steps]       Algorithm 1 as printed; at most so many steps each
    python -m paths.measure loo                   leave-one-out on leukemia; needs GRADSIFT_DATA
    python -m paths.measure small                 small penalties on leukemia, both losses; likewise

One GEMM is the time of X.T @ M, M (n, m), on the same arrays in the same run: the least that a
certificate over all p columns can cost. A path is timed whole: standardising, distances, kernel
factor, weights, alpha_max, and every alpha to a relative duality gap of 1e-4 over all variables.
Floor, loo and small are processor time, which a busy machine leaves nearly as it is.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from paths.algorithm1 import (
    PairProblem,
    descend,
    printed_slope,
    short_slope,
    step,
    step_length,
)
from paths.celer_path import celer_path
from paths.problems import Array, PathProblem, leukemia, surface

from gradsift import SparseGradientRegressorCV, alpha_max, gradient_path
from gradsift.data import ArraySource
from gradsift.pairwise.assemble import Assembly, PairResponse, Settings, assemble
from gradsift.solver import Solution, Solver, null_solution
from gradsift.solver.path import fit_to

SIZES = ((72, 7_129), (200, 20_000))


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def processor_seconds(call: Callable[[], object]) -> float:
    """Of this process: with one BLAS thread, what a quiet machine would take."""
    start = time.process_time()
    call()
    return time.process_time() - start


Clock = Callable[[Callable[[], object]], float]


def gemm(X: Array, m: int, repeats: int = 15, clock: Clock = seconds) -> float:
    M = np.random.default_rng(0).normal(size=(len(X), m))
    return min(clock(lambda: X.T @ M) for _ in range(repeats))


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
        units.append(gemm(problem.X, len(problem.X), clock=processor_seconds))
        times.append(processor_seconds(lambda: gradient_path(problem.X, problem.y, **settings)))
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


def celer_table(limit: float) -> None:
    """Ours on as many alphas as celer finishes within `limit` seconds."""
    print(
        "| problem | responses | celer in | alphas | its variables; ours | celer, s | gradsift, s "
        "| celer, GEMM per alpha | gradsift | celer / gradsift |\n" + "|---" * 10 + "|"
    )
    for n, p in SIZES:
        problem = surface(n, p)
        path = gradient_path(problem.X, problem.y, **problem.settings)
        last = path.solutions[-1].rows
        responses = {
            "X B": problem.X[:, last.index] @ last.values,
            "y L": problem.y[:, None] * _assembled(problem).L,
        }
        for label, Y in responses.items():
            for dtype in (np.float64, np.float32):
                run = celer_path(problem.X.astype(dtype), Y.astype(dtype), limit)
                k = len(run.seconds)
                rest = {**problem.settings, "alphas": path.alphas[:k]}
                unit = gemm(problem.X, n)
                ours = min(
                    seconds(partial(gradient_path, problem.X, problem.y, **rest)) for _ in range(3)
                )
                theirs = sum(run.seconds)
                assert max(run.gaps) <= 1.01e-4, "celer fell short of the gap"
                print(
                    f"| {problem.name} | {label} | {np.dtype(dtype).name} | {k} "
                    f"| {run.n_variables}; {len(path.supports[k - 1])} | {theirs:.1f} | {ours:.2f} "
                    f"| {theirs / k / unit:.0f} | {ours / k / unit:.1f} | {theirs / ours:.0f} |",
                    flush=True,
                )


def _assembled(problem: PathProblem) -> Assembly:
    settings = Settings(kernel=problem.settings["kernel"], weights=problem.settings["weights"])
    return assemble(ArraySource(problem.X), PairResponse.numbers(problem.y), settings)


SHARES = (0.5, 0.3, 0.1)  # of alpha_max


def printed_table(most_steps: int) -> None:
    """Both from nothing to the same objective, 1e-6 relative to the optimum, and its support."""
    print(
        "| alpha / alpha_max | gradsift | variables | steps of Algorithm 1 to 1e-6 | its support "
        "| s per printed step | Algorithm 1 | ratio | the same steps by `descend` |\n"
        + "|---" * 9
        + "|"
    )
    for share in SHARES:
        _printed_row(surface(*SIZES[0]), share, most_steps)


def _printed_row(problem: PathProblem, share: float, most_steps: int) -> None:
    def ours(tol: float) -> tuple[Assembly, Solution]:
        built = _assembled(problem)
        null = null_solution(built.problem)
        return built, fit_to(built.problem, share * null.alpha, Solver(tol=tol), null=null)

    built, best = ours(1e-10)
    optimum, tol = best.certificate.primal, 1e-5
    while ours(tol)[1].certificate.primal > optimum * (1.0 + 1e-6):
        tol *= 0.3
    time_ours = min(seconds(lambda: ours(tol)) for _ in range(5))

    paper = _as_printed(built, problem.y)
    delta, each = _printed_step(paper, best.alpha)
    start, counted = time.perf_counter(), 0.0
    reached, same = None, None  # first steps at which the objective, the support is the answer's
    for now in descend(paper, best.alpha, delta):
        if reached is None and now.objective <= optimum * (1.0 + 1e-6):
            reached, counted = now.n_steps, time.perf_counter() - start
        if not np.array_equal(now.rows, best.rows.index):
            same = None
        elif same is None:
            same = now.n_steps
        if now.n_steps >= most_steps or (reached is not None and same is not None):
            break
    off = now.objective / optimum - 1.0
    if reached is None:
        counted = time.perf_counter() - start
    n_steps = reached or now.n_steps
    support = f"the same from step {same:,}" if same is not None else f"{len(now.rows)} variables"
    print(
        f"| {share} | {time_ours:.3f} s | {len(best.rows.index)} "
        f"| {f'{reached:,}' if reached is not None else f'{off:.0e} above at {n_steps:,}'} "
        f"| {support} | {each:.3f} | {n_steps * each:,.0f} s | {n_steps * each / time_ours:,.0f} "
        f"| {counted:.0f} s |",
        flush=True,
    )


def _as_printed(built: Assembly, y: Array) -> PairProblem:
    W = built.problem.datafit.pairs.weight * len(y) ** 2
    X = built.source.columns(np.arange(built.source.shape[1]))
    return PairProblem.of(X, y, built.L @ built.L.T, W)


def _printed_step(paper: PairProblem, alpha: float) -> tuple[float, float]:
    """Length and seconds of a step as printed; that all three forms take the same steps."""
    shape = (paper.X.shape[1], len(paper.y))
    slow, fast = printed_slope(paper), short_slope(paper)
    delta = step_length(fast, shape)
    C = np.zeros(shape)
    for _ in range(50):
        C = step(C, fast, alpha, delta)
    short = next(now for now in descend(paper, alpha, delta, every=50) if now.n_steps == 50)
    np.testing.assert_array_equal(np.flatnonzero(C.any(axis=1)), short.rows)
    np.testing.assert_allclose(C[short.rows], short.values, atol=1e-12)
    np.testing.assert_allclose(slow(C), fast(C), atol=1e-10)
    return delta, min(seconds(lambda: step(C, slow, alpha, delta)) for _ in range(5))


def loo_table(rounds: int = 3) -> None:
    """In one process: with two jobs, each takes half of the folds."""
    problem = leukemia()
    if problem is None:
        print("no leukemia.npz: set GRADSIFT_DATA to its folder")
        return
    X, y, settings = problem.X, problem.y, problem.settings
    alphas = alpha_max(X, y, **settings) * np.geomspace(1.0, 0.1, 20)
    model = SparseGradientRegressorCV(alphas=alphas, cv="loo", **settings)
    paths, fits = [], []
    for _ in range(rounds):  # in turn: a machine is not equally fast all the time
        some = [
            processor_seconds(lambda: gradient_path(X, y, alphas=alphas, **settings))
            for _ in range(5)
        ]
        paths.append(statistics.median(some))
        fits.append(processor_seconds(lambda: model.fit(X, y)))
    ratios = sorted(fit / path for fit, path in zip(fits, paths, strict=True))
    print("| leukemia, 38 folds, 20 alphas | seconds | in paths: median, least, most |")
    print("| --- | --- | --- |")
    print(f"| one path | {statistics.median(paths):.2f} | 1 |")
    middle, least, most = statistics.median(ratios), ratios[0], ratios[-1]
    took = statistics.median(fits)
    print(f"| leave-one-out | {took:.1f} | {middle:.1f}, {least:.1f}, {most:.1f} |")


def small_table() -> None:
    """Both losses down to .003 alpha_max, where hardly anything is penalised; processor time."""
    problem = leukemia()
    if problem is None:
        print("no leukemia.npz: set GRADSIFT_DATA to its folder")
        return
    print("| kernel | loss | seconds | products | logistic / squared |\n|---|---|---|---|---|")
    for kernel in ("linear", "affine"):
        settings = {**problem.settings, "kernel": kernel, "n_alphas": 50, "eps": 0.003}
        took: list[float] = []
        for task, loss in (("regression", "squared"), ("classification", "logistic")):
            start = time.process_time()
            path = gradient_path(problem.X, problem.y, task=task, **settings)
            took.append(time.process_time() - start)
            assert path.converged.all(), "not certified"
            ratio = f"{took[-1] / took[0]:.1f}" if len(took) == 2 else ""
            print(
                f"| {kernel} | {loss} | {took[-1]:.1f} | {path.n_iter.sum():,} | {ratio} |",
                flush=True,
            )


def main(what: str = "all", option: str = "") -> None:
    if what in ("floor", "all"):
        floor_table(int(option or 5))
    if what == "celer":
        celer_table(float(option or 60))
    if what in ("printed", "all"):
        printed_table(int(option or 1_000_000))
    if what in ("loo", "all"):
        loo_table()
    if what in ("small", "all"):
        small_table()


if __name__ == "__main__":
    main(*sys.argv[1:])
