"""Choosing alpha by held-out prediction: folds, their scores, and the path on all samples."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from joblib import Parallel, cpu_count, delayed, effective_n_jobs
from numpy.typing import NDArray

from gradsift._run.progress import Steps, follow
from gradsift._run.threads import one_blas_thread
from gradsift._typing import Array
from gradsift.data.row_groups import group_codes
from gradsift.estimators._callbacks import Task, fit_task
from gradsift.estimators._column_rule import check_max_features
from gradsift.estimators._judges import make_judge
from gradsift.numerics.ranking import choose_alpha
from gradsift.pairwise.fitting import Sample, SparseFit, SparseSettings, finish, start
from gradsift.pairwise.folds import Fold, Judge, fold_scores, saved_scores
from gradsift.pairwise.rounds import Rounds, Started, settle_path
from gradsift.solver import Solution
from gradsift.solver.checkpoint import digest, open_checkpoint
from gradsift.solver.path import PathResult, Step, check_alphas, fit_path, geometric_grid
from gradsift.trust.splits import row_splits


@dataclass(frozen=True)
class CVSettings:
    """How alpha is chosen; the fields are parameters of the estimators below."""

    alphas: Any
    n_alphas: int
    eps: float
    cv: Any
    selection: Literal["min", "1se"]
    max_features: int | None
    n_jobs: int | None
    checkpoint: Any
    scoring: Any
    judge: Any
    judge_on: Literal["selected", "directions"]

    def grid(self, alpha_max: float) -> Array:
        """Penalties to try, largest first."""
        if self.alphas is None:
            return geometric_grid(alpha_max, self.n_alphas, self.eps)
        return check_alphas(self.alphas)


@dataclass(frozen=True)
class Choice:
    """Held-out scores along a grid of alphas, and what each rule chooses."""

    alphas: Array
    scores: Array
    path: PathResult
    settled: PathResult

    def best(self, rule: Literal["min", "1se"]) -> int:
        return choose_alpha(self.scores, rule)

    def best_of_few(
        self, rule: Literal["min", "1se"], penalised: NDArray[np.bool_], most: int | None
    ) -> int:
        """The same among those that select no more than `most` penalised variables."""
        if most is None:
            return self.best(rule)
        counts = np.array([penalised[support].sum() for support in self.path.supports])
        few = np.flatnonzero(counts <= most)
        return int(few[choose_alpha(self.scores[few], rule)]) if len(few) else 0

    def attributes(self) -> dict[str, Any]:
        """The attributes that the estimators below have on top."""
        return {
            "alphas_": self.alphas,
            "cv_scores_": self.scores,
            "alpha_min_": float(self.alphas[self.best("min")]),
            "alpha_1se_": float(self.alphas[self.best("1se")]),
            "path_": self.settled,
            "n_iter_": max(1, int(self.settled.n_iter.sum())),
        }


def fit_cross_validated(
    estimator: Any,
    sample: Sample,
    settings: SparseSettings,
    how: CVSettings,
    classes: Array | None = None,
    groups: Any = None,
) -> tuple[SparseFit, Choice]:
    """The sparse gradient field at the alpha that predicts held-out rows best.

    `estimator` only passes on what its callbacks are to be told.
    """
    if how.selection not in ("min", "1se"):
        raise ValueError(f"selection={how.selection!r}: use 'min' or '1se'.")
    check_max_features(how.max_features)
    with one_blas_thread():
        judge = make_judge(
            how.scoring, how.judge, how.judge_on, classes, settings.n_components,
            settings.predict_with,
        )  # fmt: skip
        folds = make_folds(how.cv, sample, groups)
        started = start(sample, settings.problem)
        choice = cross_validate(estimator, started, sample, settings, how, judge, folds)
        penalised = started.assembly.problem.penalty.limits(1.0) > 0
        best = choice.best_of_few(how.selection, penalised, how.max_features)
        solution = choice.path.solutions[best]
        return finish(started, solution, settings), choice


def cross_validate(
    estimator: Any,
    started: Started,
    sample: Sample,
    settings: SparseSettings,
    how: CVSettings,
    judge: Judge,
    folds: list[Fold],
) -> Choice:
    """Scores of every fold, then the path on all samples."""
    (assembly, null), solver = started, settings.solver
    alphas, kept = how.grid(null.alpha), None
    if how.checkpoint is not None:
        words = np.frombuffer(repr(judge).encode(), dtype=np.uint8)
        told = digest([*(part for fold in folds for part in (fold.train, fold.test)), words])
        kept = open_checkpoint(how.checkpoint, assembly.problem, alphas, solver, told)
    jobs = [
        Job(fold, None if kept is None else kept.folder / f"fold-{i:03d}")
        for i, fold in enumerate(folds)
    ]
    score = partial(
        fold_scores, sample.X, sample.response, assembly.settings, alphas=how.grid,
        solver=solver, sample_weight=sample.weight, judge=judge,
    )  # fmt: skip
    k = len(alphas)
    with (
        fit_task(estimator, len(folds) + 1) as task,
        follow(settings.verbose, (len(folds) + 1) * k, k) as steps,
    ):
        scores = np.column_stack(score_folds(score, jobs, k, how.n_jobs, task, steps))
        with shown(task, "path", k, steps) as step:
            path = fit_path(
                assembly.problem, alphas, solver, null=null, progress=step, checkpoint=kept
            )
    return Choice(alphas, scores, path, settle_path(started, path, Rounds(solver)))


def score_folds(
    score: Any, jobs: list[Job], k: int, n_jobs: int | None, task: Task, steps: Steps | None
) -> list[Array]:
    """Scores of every fold along k alphas, folds in order."""
    done = [saved_scores(job.checkpoint) is not None for job in jobs]
    scores: list[Array] = []
    if (at_once := effective_n_jobs(n_jobs)) == 1:
        for i, job in enumerate(jobs):
            with shown(task, "fold", k, steps) as step:
                scores.append(score(job.fold, checkpoint=job.checkpoint, progress=step))
            if steps is not None:
                steps.upto((i + 1) * k, fresh=not done[i])
        return scores
    # other processes cannot tell how far they are: a fold counts when it is done
    most = max(1, cpu_count() // at_once)
    results = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(score)(job.fold, checkpoint=job.checkpoint, most_threads=most) for job in jobs
    )
    with task.loop("fold", len(jobs)) as ended:
        for i, found in enumerate(results):
            scores.append(found)
            ended()
            if steps is not None:
                steps.upto((i + 1) * k, fresh=not done[i])
    return scores


class Job(NamedTuple):
    """A fold, and the folder that keeps what is done of it."""

    fold: Fold
    checkpoint: Path | None


@contextmanager
def shown(task: Task, name: str, count: int, steps: Steps | None) -> Iterator[Step]:
    """A path of `count` alphas, told to callbacks and to the progress display."""
    with task.part(name, count) as part, part.loop("alpha", count) as ended:

        def step(found: Solution, fresh: bool) -> None:
            ended()
            if steps is not None:
                steps(found, fresh)

        yield step


def make_folds(cv: Any, sample: Sample, groups: Any = None) -> list[Fold]:
    """Folds as scikit-learn makes them, stratified for labels; 'loo' leaves one out at a time.

    The splitter sees the rows as the user numbered them; rows of weight zero drop out afterwards.
    The only row of a class is never held out: without it, the class is not known.
    """
    codes = np.zeros(sample.n_rows, dtype=int)
    codes[sample.kept] = sample.response.codes()
    members = None if groups is None else group_codes(groups, sample.n_rows)
    position = np.full(sample.n_rows, -1)
    position[sample.kept] = np.arange(len(sample.kept))
    labels, known = sample.response.is_labels, codes[sample.kept]
    only = np.flatnonzero(np.bincount(known)[known] == 1) if labels else np.zeros(0, dtype=int)
    folds: list[Fold] = []
    for split in row_splits(cv, codes, labels, members):
        train, test = (position[part][position[part] >= 0] for part in split)
        if len(only):
            train, test = np.union1d(train, only), np.setdiff1d(test, only)
        fold = Fold(train, test)
        lost = np.setdiff1d(known, known[fold.train])
        if len(lost):
            raise ValueError(
                f"fold {len(folds)} of cv leaves {len(lost)} class(es) out of its training part. "
                "Use fewer folds, a stratified splitter, or more samples of the rare class."
            )
        if len(fold.test):
            folds.append(fold)
    if not folds:
        raise ValueError("no row can be held out to choose alpha by: give alpha instead.")
    return folds
