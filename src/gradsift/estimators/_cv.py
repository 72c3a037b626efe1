"""The paper's estimators with alpha chosen by held-out prediction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from joblib import Parallel, cpu_count, delayed, effective_n_jobs
from sklearn.model_selection import LeaveOneOut, check_cv

from gradsift._run.progress import Steps, follow
from gradsift._typing import Array
from gradsift.estimators._callbacks import CallbackSupportMixin, Task, fit_task, with_callbacks
from gradsift.estimators._description import PenaltyChoice
from gradsift.estimators._sparse import (
    SparseGradient,
    SparseGradientClassifier,
    SparseGradientRegressor,
)
from gradsift.estimators._tasks import Answer, Sample
from gradsift.numerics.ranking import choose_alpha
from gradsift.pairwise.assemble import Assembly
from gradsift.pairwise.folds import Fold, fold_scores, saved_scores
from gradsift.solver import Solution, Solver
from gradsift.solver.checkpoint import digest, open_checkpoint
from gradsift.solver.path import Step, check_alphas, fit_path, geometric_grid


class CrossValidated(CallbackSupportMixin, SparseGradient):
    """How alpha is chosen; everything else is the parent estimator."""

    def __init__(
        self,
        *,
        alphas: Any,
        n_alphas: int,
        eps: float,
        cv: Any,
        selection: Literal["min", "1se"],
        n_jobs: int | None,
        checkpoint: Any,
        **shared: Any,
    ) -> None:
        SparseGradient.__init__(self, **shared)
        self.alphas = alphas
        self.n_alphas = n_alphas
        self.eps = eps
        self.cv = cv
        self.selection = selection
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint

    @with_callbacks
    def _fit(self, sample: Sample) -> Answer:
        return super()._fit(sample)

    def _solve(
        self, assembly: Assembly, sample: Sample, solver: Solver, null: Solution
    ) -> Solution:
        """Scores of every fold, then the path on all samples."""
        if self.selection not in ("min", "1se"):
            raise ValueError(f"selection={self.selection!r}: use 'min' or '1se'.")
        if self.alphas is None:
            self.alphas_ = geometric_grid(null.alpha, self.n_alphas, self.eps)
        else:
            self.alphas_ = check_alphas(self.alphas)
        folds, kept = make_folds(self.cv, sample), None
        if self.checkpoint is not None:
            told = digest(part for fold in folds for part in (fold.train, fold.test))
            kept = open_checkpoint(self.checkpoint, assembly.problem, self.alphas_, solver, told)
        total = (len(folds) + 1) * len(self.alphas_)
        with (
            fit_task(self, len(folds) + 1) as task,
            follow(self.verbose, total, len(self.alphas_)) as steps,
        ):
            jobs = [
                Job(fold, None if kept is None else kept.folder / f"fold-{i:03d}")
                for i, fold in enumerate(folds)
            ]
            scores = self._score_folds(jobs, sample, solver, task, steps)
            self.cv_scores_ = np.column_stack(scores)
            best = {rule: choose_alpha(self.cv_scores_, rule) for rule in ("min", "1se")}
            self.alpha_min_ = float(self.alphas_[best["min"]])
            self.alpha_1se_ = float(self.alphas_[best["1se"]])
            with shown(task, "path", len(self.alphas_), steps) as step:
                self.path_ = fit_path(
                    assembly.problem, self.alphas_, solver, null=null, progress=step,
                    checkpoint=kept,
                )  # fmt: skip
        return self.path_.solutions[best[self.selection]]

    def _particulars(self) -> dict[str, Any]:
        choice = PenaltyChoice(float(self.alpha_), self.alphas_, -self.cv_scores_, self.selection)
        return {**super()._particulars(), "penalty_choice": choice}

    def _score_folds(
        self, jobs: list[Job], sample: Sample, solver: Solver, task: Task, steps: Steps | None
    ) -> list[Array]:
        """Scores of every fold, in order."""
        score = partial(
            fold_scores,
            sample.X,
            sample.response,
            self._settings(sample.unlabeled),
            alphas=self.alphas_,
            solver=solver,
            sample_weight=sample.weight,
        )
        k, done = len(self.alphas_), [saved_scores(job.checkpoint) is not None for job in jobs]
        scores: list[Array] = []
        if (at_once := effective_n_jobs(self.n_jobs)) == 1:
            for i, job in enumerate(jobs):
                with shown(task, "fold", k, steps) as step:
                    scores.append(score(job.fold, checkpoint=job.checkpoint, progress=step))
                if steps is not None:
                    steps.upto((i + 1) * k, fresh=not done[i])
            return scores
        # other processes cannot tell how far they are: a fold counts when it is done
        most = max(1, cpu_count() // at_once)
        results = Parallel(n_jobs=self.n_jobs, return_as="generator")(
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


def make_folds(cv: Any, sample: Sample) -> list[Fold]:
    """Folds as scikit-learn makes them, stratified for labels; 'loo' leaves one out at a time.

    The splitter sees the rows as the user numbered them; rows of weight zero drop out afterwards.
    """
    if isinstance(cv, str) and cv != "loo":
        raise ValueError(f"cv={cv!r}: use a number of folds, a splitter or 'loo'.")
    is_labels = sample.response.is_labels
    codes = np.zeros(sample.n_rows, dtype=int)
    codes[sample.kept] = sample.response.codes()
    splitter = LeaveOneOut() if cv == "loo" else check_cv(cv, codes, classifier=is_labels)
    position = np.full(sample.n_rows, -1)
    position[sample.kept] = np.arange(len(sample.kept))
    folds: list[Fold] = []
    for train, test in splitter.split(np.zeros((sample.n_rows, 1)), codes):
        fold = Fold(*(position[part][position[part] >= 0] for part in (train, test)))
        lost = np.setdiff1d(codes[sample.kept], codes[sample.kept][fold.train])
        if len(lost):
            raise ValueError(
                f"fold {len(folds)} of cv leaves {len(lost)} class(es) out of its training part. "
                "Use fewer folds, a stratified splitter, or more samples of the rare class."
            )
        if len(fold.test):
            folds.append(fold)
    return folds


class SparseGradientRegressorCV(CrossValidated, SparseGradientRegressor):
    """Sparse gradient learning for regression, alpha chosen by cross-validation.

    Parameters
    ----------
    alphas : (n_alphas,) array, optional
        Penalties to try. None = `n_alphas` values from ``alpha_max_`` down to `eps` times it.
    n_alphas : int, default=50
    eps : float, default=0.01
    cv : int, splitter, iterable or 'loo', default=5
        Folds; 'loo' leaves one sample out at a time.
    selection : {'min', '1se'}, default='min'
        The alpha with the best held-out score, or the largest one within a standard error of it.
    n_jobs : int, optional
        Folds fitted at a time, in processes that share the cores; the scores do not depend on it.
    checkpoint : path, optional
        A folder in which every answer and the scores of every fold are kept as soon as they are
        there. The same fit after a kill goes on from it, to the same bits.
    kernel, weights, standardize, n_components, penalty_factor, curl, smoothness, solver, tol, \
max_iter, missing, random_state, verbose
        As in `SparseGradientRegressor`.

    Attributes
    ----------
    alphas_ : (n_alphas,) array, decreasing
    cv_scores_ : (n_alphas, n_folds) array
        Held-out negative mean squared error; larger is better.
    alpha_min_, alpha_1se_ : float
        What each rule of `selection` chooses.
    path_ : PathResult
        The path on all samples.
    feature_importances_, ranking_, components_, eigenvalues_, alpha_, alpha_max_, dual_gap_, \
kkt_violation_, objective_, n_iter_, mean_, scale_, field_
        As in `SparseGradientRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import SparseGradientRegressorCV
    >>> X = np.random.default_rng(0).uniform(size=(60, 6))
    >>> y = X[:, 0] ** 2 + X[:, 1]
    >>> model = SparseGradientRegressorCV(n_alphas=10, cv=3, selection="1se").fit(X, y)
    >>> model.cv_scores_.shape
    (10, 3)
    >>> bool(model.alpha_1se_ >= model.alpha_min_)
    True
    """

    def __init__(
        self,
        *,
        alphas: Any = None,
        n_alphas: int = 50,
        eps: float = 0.01,
        cv: Any = 5,
        selection: Literal["min", "1se"] = "min",
        n_jobs: int | None = None,
        checkpoint: Any = None,
        kernel: Any = "affine",
        weights: Any = "gaussian",
        standardize: bool = True,
        n_components: int | Literal["auto"] = "auto",
        penalty_factor: Any = None,
        curl: float = 0.0,
        smoothness: float = 0.0,
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = 20_000,
        missing: Literal["error", "mean"] = "error",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            alphas=alphas, n_alphas=n_alphas, eps=eps, cv=cv, selection=selection, n_jobs=n_jobs,
            checkpoint=checkpoint, kernel=kernel, weights=weights, standardize=standardize,
            n_components=n_components,
            penalty_factor=penalty_factor, curl=curl, smoothness=smoothness, solver=solver, tol=tol,
            max_iter=max_iter, missing=missing, random_state=random_state, verbose=verbose,
        )  # fmt: skip


class SparseGradientClassifierCV(CrossValidated, SparseGradientClassifier):
    """Sparse gradient learning for classification, alpha chosen by cross-validation.

    Parameters
    ----------
    alphas, n_alphas, eps, cv, selection, n_jobs, checkpoint
        As in `SparseGradientRegressorCV`; folds are stratified.
    alpha_0, kernel, weights, standardize, n_components, penalty_factor, curl, smoothness, solver, \
tol, max_iter, missing, random_state, verbose
        As in `SparseGradientClassifier`.

    Attributes
    ----------
    cv_scores_ : (n_alphas, n_folds) array
        Held-out negative log loss; larger is better.
    alphas_, alpha_min_, alpha_1se_, path_
        As in `SparseGradientRegressorCV`.
    classes_, feature_importances_, ranking_, components_, eigenvalues_, alpha_, alpha_max_, \
dual_gap_, kkt_violation_, objective_, n_iter_, mean_, scale_, field_
        As in `SparseGradientClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import SparseGradientClassifierCV
    >>> X = np.random.default_rng(0).normal(size=(40, 5))
    >>> y = X[:, 2] > 0
    >>> model = SparseGradientClassifierCV(n_alphas=8, cv="loo").fit(X, y)
    >>> model.cv_scores_.shape
    (8, 40)
    >>> int(model.ranking_.argmin())
    2
    """

    def __init__(
        self,
        *,
        alphas: Any = None,
        n_alphas: int = 50,
        eps: float = 0.01,
        cv: Any = 5,
        selection: Literal["min", "1se"] = "min",
        n_jobs: int | None = None,
        checkpoint: Any = None,
        alpha_0: float | None = None,
        kernel: Any = "affine",
        weights: Any = "gaussian",
        standardize: bool = True,
        n_components: int | Literal["auto"] = "auto",
        penalty_factor: Any = None,
        curl: float = 0.0,
        smoothness: float = 0.0,
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = 20_000,
        missing: Literal["error", "mean"] = "error",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            alphas=alphas, n_alphas=n_alphas, eps=eps, cv=cv, selection=selection, n_jobs=n_jobs,
            checkpoint=checkpoint, kernel=kernel, weights=weights, standardize=standardize,
            n_components=n_components,
            penalty_factor=penalty_factor, curl=curl, smoothness=smoothness, solver=solver, tol=tol,
            max_iter=max_iter, missing=missing, random_state=random_state, verbose=verbose,
        )  # fmt: skip
        self.alpha_0 = alpha_0
