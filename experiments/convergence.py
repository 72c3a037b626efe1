"""Convergence: the estimated gradient against the true one as n grows.

The theorems bound the error by a multiple of n^(-theta / (4 (d + 2 + 2 theta))), d the dimension of
the cube or of the manifold, never that of the space around it. Three ways to set the bandwidth s
and the penalty alpha:

- as printed: s(n) and lambda(n) of the theorems, times constants fixed at the smallest n;
- by theory: the same with the pair weights divided by s^(d+2), as the theory of gradient learning
  has them. As printed, weights are not divided, so the data term shrinks like s^(d+2) and lambda(n)
  overtakes it: then the field goes to zero.
- tuned: the best s and alpha at every n.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from experiments.manifolds import Cube, Torus
from experiments.tools import (
    BLACK,
    BLUE,
    GREEN,
    RED,
    TOL,
    Progress,
    Settings,
    canvas,
    empty_is_fine,
    spread,
    table,
)
from gradsift import Gaussian, SolverSettings, SparseGradientRegressor, TheoryRate, alpha_max
from gradsift.protocols import Array

REPEATS = 3
SIZES = (50, 100, 200, 400)
NOISE = 0.1  # of the standard deviation of f; uniform, so that y is bounded
DESIGNS: dict[str, Cube | Torus] = {
    "cube, p = 2": Cube(2),
    "cube, p = 5": Cube(5),
    "torus, d = 2 in 8 dimensions": Torus(8),
    "torus, d = 2 in 50 dimensions": Torus(50),
}
BANDWIDTHS = (0.1, 0.15, 0.2, 0.3, 0.4, 0.6)  # times the scale of the design
SHARES = (0.1, 0.05, 0.02, 0.01)  # alpha over alpha_max
SCHEDULES = ("as printed", "by theory", "tuned")
N_NEW = 300


@dataclass(frozen=True)
class Convergence:
    """Relative gradient errors, (designs, schedules, sizes), averaged over repeats; their slopes.

    `constants` holds, per design, the factors of s(n) and of alpha(n) by theory, and alpha(n) as
    printed.
    """

    designs: tuple[str, ...]
    sizes: tuple[int, ...]
    errors: Array
    slopes: Array
    constants: Array
    repeats: int


def compute(
    settings: Settings,
    progress: Progress,
    sizes: Sequence[int] = SIZES,
    designs: Sequence[str] = tuple(DESIGNS),
    bandwidths: Sequence[float] = BANDWIDTHS,
) -> Convergence:
    """A grid of bandwidths and penalties for every data set; then the two schedules."""
    repeats = settings.repeats or REPEATS
    shape = (len(designs), len(sizes), repeats)
    cases = [(name, n, seed) for name in designs for n in sizes for seed in range(repeats)]
    grid = list(product(bandwidths, SHARES))
    # the largest problems first, so that no process is left alone with one at the end
    order = sorted(range(len(cases)), key=lambda c: -cases[c][1])
    jobs = [(*cases[c], grid) for c in order]
    done = spread(_on_grid, jobs, settings, progress, "convergence, tuned")
    tuned, alphas = (np.empty((*shape, len(grid))) for _ in range(2))
    for c, (errors, used) in zip(order, done):
        at = np.unravel_index(c, shape)
        tuned[at], alphas[at] = errors, used
    # constants by the smallest n: the pair that is best there over its repeats
    best = tuned[:, 0].mean(axis=1).argmin(axis=1)
    constants = np.array(
        [_constants(DESIGNS[d], sizes[0], grid[b][0], alphas[k, 0, :, b].mean())
         for k, (d, b) in enumerate(zip(designs, best))]
    )  # fmt: skip
    index = {name: k for k, name in enumerate(designs)}
    plans = [(*cases[c], constants[index[cases[c][0]]]) for c in order]
    pairs = spread(_on_schedules, plans, settings, progress, "convergence, theory")
    followed = np.empty((*shape, 2))
    for c, pair in zip(order, pairs):
        followed[np.unravel_index(c, shape)] = pair
    means = np.stack(
        [*np.moveaxis(followed.mean(axis=2), 2, 0), tuned.mean(axis=2).min(axis=2)], axis=1
    )
    logs = np.log(np.array(sizes, dtype=float))
    slopes = np.polyfit(logs, np.log(means).reshape(-1, len(sizes)).T, 1)[0]
    slopes = slopes.reshape(means.shape[:2])
    return Convergence(tuple(designs), tuple(sizes), means, slopes, constants, repeats)


def _data(name: str, n: int, seed: int) -> tuple[Any, Array, Any]:
    """(training truth, noisy response, fresh truth)."""
    design = DESIGNS[name]
    rng = np.random.default_rng([n, seed])
    truth, fresh = design.sample(n, rng), design.sample(N_NEW, rng)
    noise = NOISE * truth.f.std() * np.sqrt(3.0) * rng.uniform(-1.0, 1.0, n)
    return truth, truth.f + noise, fresh


def _error(name: str, X: Array, y: Array, fresh: Any, s: float, alpha: float) -> float:
    model = SparseGradientRegressor(alpha, solver=SolverSettings(tol=TOL), **_settings(name, s))
    with empty_is_fine():
        return float(fresh.error(model.fit(X, y).gradient(fresh.X)))


def _settings(name: str, s: float) -> dict[str, Any]:
    """The kernel stays as n grows; the weights have bandwidth s."""
    kernel = Gaussian(scale=DESIGNS[name].scale)
    return {"kernel": kernel, "weights": Gaussian(scale=s), "standardize": False}


def _on_grid(
    name: str, n: int, seed: int, grid: Sequence[tuple[float, float]]
) -> tuple[Array, Array]:
    """(errors, alphas) for every pair of bandwidth and share of alpha_max."""
    truth, y, fresh = _data(name, n, seed)
    errors, alphas = np.empty(len(grid)), np.empty(len(grid))
    for k, (width, share) in enumerate(grid):
        s = width * DESIGNS[name].scale
        alphas[k] = share * alpha_max(truth.X, y, **_settings(name, s))
        errors[k] = _error(name, truth.X, y, fresh, s, alphas[k])
    return errors, alphas


def _constants(design: Cube | Torus, n: int, width: float, alpha: float) -> Array:
    """Factors that make the schedules meet (s, alpha) at n samples."""
    rate = TheoryRate(design.dim)
    s = width * design.scale
    return np.array(
        [s / rate(n), alpha / (rate.alpha(n) * s ** (design.dim + 2)), alpha / rate.alpha(n)]
    )


def _on_schedules(name: str, n: int, seed: int, constants: Array) -> list[float]:
    """Errors as printed and by theory."""
    truth, y, fresh = _data(name, n, seed)
    design = DESIGNS[name]
    rate = TheoryRate(design.dim)
    s = constants[0] * rate(n)
    by_theory = constants[1] * rate.alpha(n) * s ** (design.dim + 2)
    as_printed = constants[2] * rate.alpha(n)
    return [_error(name, truth.X, y, fresh, s, alpha) for alpha in (as_printed, by_theory)]


def theory_slope(dim: int) -> float:
    """The exponent of n in the theorems' bound, theta = 1."""
    return -1.0 / (4.0 * (dim + 4.0))


def record(result: Convergence) -> dict[str, Any]:
    """Errors and slopes of every design and schedule."""
    return {
        "sizes": list(result.sizes),
        "repeats": result.repeats,
        "designs": {
            name: {
                schedule: {"slope": round(slope, 4), "errors": [round(e, 5) for e in errors]}
                for schedule, slope, errors in zip(SCHEDULES, slopes.tolist(), block.tolist())
            }
            for name, slopes, block in zip(result.designs, result.slopes, result.errors)
        },
    }


def tables(kept: dict[str, Any]) -> dict[str, str]:
    """Slopes with the theorems' exponents, and the errors behind them."""
    slopes = [
        [name, *(f"{found[schedule]['slope']:+.3f}" for schedule in SCHEDULES),
         f"{theory_slope(DESIGNS[name].dim):+.3f}", f"{theory_slope(DESIGNS[name].ambient):+.4f}"]
        for name, found in kept["designs"].items()
    ]  # fmt: skip
    rows = [
        [f"{name}, {schedule}", *(f"{e:.3f}" for e in found[schedule]["errors"])]
        for name, found in kept["designs"].items()
        for schedule in SCHEDULES
    ]
    head = ["", *SCHEDULES, "theorem, d", "theorem, ambient dimension"]
    return {
        "slopes": table(head, slopes),
        "errors": table(["", *(f"n = {n}" for n in kept["sizes"])], rows),
    }


def text(kept: dict[str, Any]) -> str:
    """convergence.md."""
    shown = tables(kept)
    return "\n".join(
        [
            "# Convergence of the gradient\n",
            "Slope of log(error) against log(n), where error is the relative L2 distance of the "
            f"estimated to the true gradient at {N_NEW} fresh samples, mean of {kept['repeats']} "
            "data sets. *As printed* and *by theory* follow s(n) and lambda(n) of the theorems "
            "(theta = 1), with constants fixed once, at the smallest n; *by theory* divides the "
            "pair weights by s^(d+2). *Tuned* takes the best s and alpha at every n. The last two "
            "columns are the exponents that the theorems give for the dimension of the manifold "
            "and for that of the space around it.\n",
            shown["slopes"],
            "## Errors\n",
            shown["errors"],
            "![errors against n](convergence-errors.png)\n",
        ]
    )


def figures(result: Convergence) -> dict[str, Any]:
    return {"convergence-errors": _draw(result, result.designs)}


def _draw(result: Convergence, names: Sequence[str]) -> Any:
    figure, axes = canvas(1, len(names), (3.5 * len(names), 4.2), sharey=True)
    styles = ((GREEN, "s", ":"), (BLUE, "o", "--"), (RED, "D", "-"))
    sizes = np.array(result.sizes, dtype=float)
    for axis, name, block, slopes in zip(axes[0], names, result.errors, result.slopes):
        design = DESIGNS[name]
        for schedule, errors, (colour, marker, line) in zip(SCHEDULES, block, styles):
            axis.plot(sizes, errors, line, marker=marker, color=colour, label=schedule)
        for dim, line, label in (
            (design.ambient, ":", "theorem's rate, dimension of the space"),
            (design.dim, "-.", "theorem's rate, dimension of the data"),
        ):
            bound = block[1, 0] * (sizes / sizes[0]) ** theory_slope(dim)
            axis.plot(sizes, bound, line, color=BLACK, lw=1.2, label=label)
        lines = [f"{schedule}: {slope:+.2f}" for schedule, slope in zip(SCHEDULES, slopes)]
        axis.text(0.04, 0.04, "\n".join(["slope", *lines]), transform=axis.transAxes, fontsize=9)
        axis.set(xscale="log", yscale="log", xlabel="n", title=name)
        axis.set_xticks(sizes, [f"{n:g}" for n in sizes])
        axis.minorticks_off()
        axis.set_ylim(0.04, 1.0)
    axes[0, 0].set_yticks([0.05, 0.1, 0.2, 0.5, 1.0], ["0.05", "0.1", "0.2", "0.5", "1"])
    axes[0, 0].set_ylabel("relative error of the gradient")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, handlelength=3)
    return figure
