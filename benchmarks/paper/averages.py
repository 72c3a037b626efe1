"""What `predict` of the paper's estimator should be an average of, against a ridge on direction 1.

    PYTHONPATH=benchmarks python -m paper.averages designs --seeds 200 201
    PYTHONPATH=benchmarks python -m paper.averages real --folder FOLDER

Every fit is made once, on five folds and at five penalties; then each rule averages the same
members. A cell is a table at one penalty: those are counted in which the held-out error is above
that of the ridge by more than one standard error, and by more than .02 variances.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import numpy as np
from directions.measure import DESIGNS, draw
from paper.measure import OUTER, PARTS, tables
from sklearn.linear_model import RidgeCV

from gradsift.data import open_source, standardised, take_rows
from gradsift.pairwise import local_linear
from gradsift.pairwise import single_index as index_predictor
from gradsift.pairwise.assemble import PairResponse, Settings, assemble
from gradsift.pairwise.fit import begin
from gradsift.pairwise.single_index import Linked, average, members, ridge_index, stacking_share
from gradsift.refit import refit_regression
from gradsift.solver import Solver
from gradsift.solver.path import fit_to

Table = tuple[str, np.ndarray, np.ndarray]
Found = dict[str, Linked]


@dataclass(frozen=True)
class Fit:
    """Coefficients B found on some rows, and the selected columns of these and of the others."""

    cell: tuple[str, float]
    X: np.ndarray
    y: np.ndarray
    B: np.ndarray
    X_new: np.ndarray
    y_new: np.ndarray


def fits(name: str, X: np.ndarray, y: np.ndarray) -> Iterator[Fit]:
    """One per fold and penalty."""
    source, response = open_source(X), PairResponse.numbers(y)
    for train, test in OUTER.split(X):
        started = begin(assemble(take_rows(source, train), response.take(train), Settings()))
        problem, scaling = started.assembly.problem, started.assembly.scaling
        new = standardised(take_rows(source, test), scaling)
        for part in PARTS:
            alpha = part * started.null.alpha
            rows = fit_to(problem, alpha, Solver(), null=started.null).rows.drop_zeros()
            seen, held_out = (s.columns(rows.index) for s in (problem.source, new))
            yield Fit((name, part), seen, y[train], rows.values, held_out, y[test])


def among(*kinds: str) -> Callable[[Found], Found]:
    """Only the members whose name begins so."""
    return lambda found: {k: v for k, v in found.items() if k.startswith((*kinds, "mean"))}


everything = among("link", "ridge", "plane")


@dataclass(frozen=True)
class Rule:
    """Which members are averaged, with which power, and what lets links go on at their ends."""

    keep: Callable[[Found], Found] = everything
    power: float = index_predictor.STACKING_POWER
    caution: float = index_predictor.CAUTION
    edge: float = local_linear.EDGE  # below 0: links always go on

    def goes_on(self, *residuals: np.ndarray) -> float:
        return 1.0 if self.edge < 0.0 else stacking_share(*residuals)

    def errors(self, fit: Fit) -> np.ndarray:
        share = np.full(len(fit.y), 1.0 / len(fit.y))
        with (
            patch.object(local_linear, "EDGE", max(0.0, self.edge)),
            patch.object(index_predictor, "CAUTION", self.caution),
            patch.object(index_predictor, "STACKING_POWER", self.power),
            patch.object(index_predictor, "stacking_share", self.goes_on),
        ):
            found = self.keep(members(fit.X, fit.y, fit.B, share))
            predict = average(list(found.values()), share).predictor
            return (fit.y_new - predict(fit.X_new)[0]) ** 2


@dataclass(frozen=True)
class EvidenceRefit:
    """The predictor of `GradientSiftRegressor` on the selected columns, and its part in a mean with
    the ridge on the directions.
    """

    part: float = 1.0

    def errors(self, fit: Fit) -> np.ndarray:
        guess = refit_regression(fit.X, fit.y).value(fit.X_new)[:, 0]
        if self.part < 1.0 and fit.B.any():
            U, sizes, _ = np.linalg.svd(fit.B, full_matrices=False)
            share = np.full(len(fit.y), 1.0 / len(fit.y))
            ridge = ridge_index(fit.X, U * (sizes / sizes.max()), fit.y, share)
            straight = (fit.X_new @ ridge.slope + ridge.intercept)[:, 0]
            guess = self.part * guess + (1.0 - self.part) * straight
        return (fit.y_new - guess) ** 2


def best_alone(found: Found) -> Found:
    """The one with the smallest leave-one-out error."""
    name = min(found, key=lambda k: found[k].error)
    return {name: found[name]}


RULES: dict[str, Rule | EvidenceRefit] = {
    "kept": Rule(),
    "links go on beyond the samples": Rule(edge=-1.0),
    "links are level beyond 5 %": Rule(caution=np.inf),
    "they go on by one standard error": Rule(caution=1.0),
    "the best one, chosen": Rule(keep=best_alone),
    "without planes": Rule(keep=among("link", "ridge")),
    "ridges only": Rule(keep=among("ridge")),
    "power .25": Rule(power=0.25),
    "power .05": Rule(power=0.05),
    "the evidence refit": EvidenceRefit(),
    "its mean with a ridge": EvidenceRefit(0.5),
}


def ridge_errors(fit: Fit) -> np.ndarray:
    """Squared errors of a ridge on the first direction."""
    if not fit.B.any():
        return (fit.y_new - fit.y.mean()) ** 2
    first = np.linalg.svd(fit.B, full_matrices=False)[0][:, :1]
    index, new = fit.X @ first, fit.X_new @ first
    ridge = RidgeCV(np.logspace(-3, 3, 13)).fit(index / index.std(), fit.y)
    return (fit.y_new - ridge.predict(new / index.std())) ** 2


def compare(some: Iterator[Table]) -> None:
    """Print a line per rule, over all cells of some tables."""
    errors: dict[str, dict[tuple[str, float], list[np.ndarray]]] = {}
    for i, table in enumerate(some):
        for fit in fits(*table):
            cell = (f"{i} {fit.cell[0]}", fit.cell[1])
            for name in ("ridge", *RULES):
                found = ridge_errors(fit) if name == "ridge" else RULES[name].errors(fit)
                errors.setdefault(name, {}).setdefault(cell, []).append(found)
    print("| average | R² | cells | worse by 1 s.e. | by .02 | worst |\n" + "| --- " * 6 + "|")
    for name in RULES:
        own = [np.concatenate(found) for found in errors[name].values()]
        ridge = [np.concatenate(found) for found in errors["ridge"].values()]
        gains = [theirs - ours for theirs, ours in zip(ridge, own)]
        mean = np.array([gain.mean() for gain in gains])
        spread = np.array([gain.std(ddof=1) / np.sqrt(len(gain)) for gain in gains])
        score = 1.0 - np.mean([error.mean() for error in own])
        print(f"| {name} | {score:.3f} | {len(mean)} | {(mean < -spread).sum()} "
              f"| {(mean < -0.02).sum()} | {mean.min():+.3f} |", flush=True)  # fmt: skip


def designs(seeds: list[int]) -> Iterator[Table]:
    for seed in seeds:
        for design in DESIGNS:
            X, y = draw(design, 100, 50, seed=seed)
            yield f"{design.formula}, seed {seed}", X, (y - y.mean()) / y.std()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("designs", "real"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[200, 201])
    parser.add_argument("--folder", type=Path)
    asked = parser.parse_args()
    if asked.what == "real" and asked.folder is None:
        parser.error("real needs --folder")
    compare(designs(asked.seeds) if asked.what == "designs" else tables(asked.folder))
