"""Held-out scores along a path: one fold at a time, folds as index arrays."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gradsift._run.overflow import refuse_overflow
from gradsift._run.threads import one_blas_thread
from gradsift._typing import Array, IntArray, Source
from gradsift.data import open_source, standardised, take_rows
from gradsift.pairwise.assemble import Response, Settings, assemble, paper_loss
from gradsift.pairwise.field import taylor_predictor
from gradsift.pairwise.rounds import Rounds, Started, begin
from gradsift.solver import Solution, Solver
from gradsift.solver.checkpoint import digest, load_arrays, open_checkpoint, save_arrays
from gradsift.solver.path import Step, fit_path

SCORES = "scores.npz"


@dataclass(frozen=True)
class Fold:
    """Rows to fit on and rows to score on."""

    train: IntArray
    test: IntArray


@refuse_overflow
def fold_scores(
    X: Source | Array,
    response: Response,
    settings: Settings,
    fold: Fold,
    alphas: Array,
    solver: Solver,
    sample_weight: Array | None = None,
    most_threads: int | None = None,
    checkpoint: Path | None = None,
    progress: Step | None = None,
) -> Array:
    """Score on the held-out rows of the answer at every alpha; larger is better.

    Everything is done inside the fold: standardising, kernel scale, weights, path. The prediction
    scored is the Taylor average around the training rows, measured in the selected variables, so
    the score answers the question asked: do these variables and this field explain unseen rows?

    In a folder `checkpoint` the answers of the path are kept until the scores are there, then the
    scores alone. Whether the folder is of this run is for the caller to know.
    """
    done = saved_scores(checkpoint)
    if done is not None:
        return done
    source = open_source(X)
    with one_blas_thread(most_threads):
        inside = None if sample_weight is None else sample_weight[fold.train]
        assembly = assemble(
            take_rows(source, fold.train),
            response.take(fold.train),
            settings.take(fold.train),
            inside,
        )
        kept = None
        if checkpoint is not None:
            kept = open_checkpoint(
                checkpoint, assembly.problem, alphas, solver, digest([fold.train, fold.test])
            )
        started, rounds = begin(assembly), Rounds(solver)
        path = fit_path(
            assembly.problem, alphas, solver, null=started.null, progress=progress, checkpoint=kept
        )
        weight = np.ones(len(fold.test)) if sample_weight is None else sample_weight[fold.test]
        truth = response.take(fold.test)
        held_out = standardised(take_rows(source, fold.test), assembly.scaling)
        scores = np.array(
            [
                _score(*rounds.settle(started, solution), held_out, truth, weight)
                for solution in path.solutions
            ]
        )
        if kept is not None:
            save_arrays(kept.folder / SCORES, {"scores": scores})
            kept.clear()
        return scores


def saved_scores(checkpoint: Path | None) -> Array | None:
    """The scores of a fold that is done."""
    found = None if checkpoint is None else load_arrays(checkpoint / SCORES)
    return None if found is None else found["scores"]


def _score(
    started: Started, solution: Solution, held_out: Source, truth: Response, weight: Array
) -> float:
    assembly, rows = started.assembly, solution.rows.drop_zeros()
    predict = taylor_predictor(assembly, rows, solution.v)
    loss = paper_loss(truth) if assembly.settings.loss is None else assembly.settings.loss
    losses = loss.value(predict(held_out.columns(rows.index)), truth.values)
    return -float(losses @ weight / weight.sum())
