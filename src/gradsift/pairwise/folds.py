"""Held-out scores along a path: one fold at a time, folds as index arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gradsift._run.overflow import refuse_overflow
from gradsift._run.threads import one_blas_thread
from gradsift._typing import Array, IntArray, Source
from gradsift.data import open_source, standardised, take_rows
from gradsift.pairwise.assemble import Assembly, Response, Settings, assemble, paper_loss
from gradsift.pairwise.field import kernel_field
from gradsift.pairwise.fitting import PredictWith, make_predictor
from gradsift.pairwise.rounds import Rounds, begin
from gradsift.solver import Solution, Solver
from gradsift.solver.checkpoint import digest, load_arrays, open_checkpoint, save_arrays
from gradsift.solver.path import Step, fit_path

SCORES = "scores.npz"


@dataclass(frozen=True)
class Fold:
    """Rows to fit on and rows to score on."""

    train: IntArray
    test: IntArray


class HeldOut(NamedTuple):
    """An answer found in a fold, and the rows to score it on.

    Attributes
    ----------
    assembly : Assembly
        The training rows.
    solution : Solution
    rows : Source
        The held-out rows, standardised as the training rows are.
    truth : Response
        Their response.
    weight : (n,) array
    """

    assembly: Assembly
    solution: Solution
    rows: Source
    truth: Response
    weight: Array


Judge = Callable[[HeldOut], float]
"""A score of an answer; larger is better."""


@dataclass(frozen=True)
class OwnLoss:
    """Minus the mean loss of what the estimator would predict."""

    predict_with: PredictWith = "directions"

    def __call__(self, fold: HeldOut) -> float:
        settings = fold.assembly.settings
        loss = paper_loss(fold.truth) if settings.loss is None else settings.loss
        losses = loss.value(predict_held_out(fold, self.predict_with), fold.truth.values)
        return -float(losses @ fold.weight / fold.weight.sum())


def predict_held_out(fold: HeldOut, predict_with: PredictWith) -> Array:
    """(c, n) predictions for the held-out rows."""
    rows, v = fold.solution.rows.drop_zeros(), fold.solution.v
    predict = make_predictor(fold.assembly, rows, v, predict_with)
    if predict is None:
        return kernel_field(fold.assembly, rows, v).offset_of(fold.rows).T
    return predict(fold.rows.columns(rows.index))


@refuse_overflow
def fold_scores(
    X: Source | Array,
    response: Response,
    settings: Settings,
    fold: Fold,
    alphas: Array | Callable[[float], Array],
    solver: Solver,
    sample_weight: Array | None = None,
    judge: Judge | None = None,
    most_threads: int | None = None,
    checkpoint: Path | None = None,
    progress: Step | None = None,
) -> Array:
    """Score on the held-out rows of the answer at every alpha; larger is better.

    Everything is done inside the fold: standardising, kernel scale, weights, path. Alphas may be a
    function of the fold's own alpha_max: penalties of different folds are alike where they are the
    same part of it, not where they are the same number.

    In a folder `checkpoint` the answers of the path are kept until the scores are there, then the
    scores alone. Whether the folder is of this run is for the caller to know.
    """
    done = saved_scores(checkpoint)
    if done is not None:
        return done
    source, judge = open_source(X), judge or OwnLoss()
    with one_blas_thread(most_threads):
        inside = None if sample_weight is None else sample_weight[fold.train]
        assembly = assemble(
            take_rows(source, fold.train),
            response.take(fold.train),
            settings.take(fold.train),
            inside,
        )
        started, rounds, kept = begin(assembly), Rounds(solver), None
        grid = alphas(started.null.alpha) if callable(alphas) else alphas
        if checkpoint is not None:
            kept = open_checkpoint(
                checkpoint, assembly.problem, grid, solver, digest([fold.train, fold.test])
            )
        path = fit_path(
            assembly.problem, grid, solver, null=started.null, progress=progress, checkpoint=kept
        )
        held_out = standardised(take_rows(source, fold.test), assembly.scaling)
        weight = np.ones(len(fold.test)) if sample_weight is None else sample_weight[fold.test]
        scores = np.empty(len(grid))
        for i, first in enumerate(path.solutions):
            (last, _), solution = rounds.settle(started, first)
            truth = response.take(fold.test)
            scores[i] = judge(HeldOut(last, solution, held_out, truth, weight))
        if kept is not None:
            save_arrays(kept.folder / SCORES, {"scores": scores})
            kept.clear()
        return scores


def saved_scores(checkpoint: Path | None) -> Array | None:
    """The scores of a fold that is done."""
    found = None if checkpoint is None else load_arrays(checkpoint / SCORES)
    return None if found is None else found["scores"]
