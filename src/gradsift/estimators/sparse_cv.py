"""The paper's estimators with alpha chosen by held-out prediction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, TypeVar

import numpy as np
from joblib import Parallel, cpu_count, delayed, effective_n_jobs
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone, is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import get_scorer

from gradsift._run.progress import Steps, follow
from gradsift._run.threads import one_blas_thread, same_bits
from gradsift.data.row_groups import group_codes
from gradsift.estimators.base import (
    IndexScores,
    NumberPredictions,
    blank,
    keep,
    labels_sample,
    numbers_sample,
    sample_class_weights,
    warn_unless_converged,
)
from gradsift.estimators.description import PenaltyChoice
from gradsift.estimators.sparse import (
    SparseGradient,
    sparse_attributes,
    unlabeled_mark,
    warn_of_numbers,
)
from gradsift.estimators.splits import row_splits
from gradsift.estimators.validation import check_max_features
from gradsift.pairwise.assemble import Response
from gradsift.pairwise.fit import (
    Fold,
    HeldOut,
    Judge,
    OwnLoss,
    PredictWith,
    Rounds,
    Sample,
    SparseFit,
    SparseSettings,
    Started,
    choose_alpha,
    directions_of,
    finish,
    fold_scores,
    predict_held_out,
    saved_scores,
    settle_path,
    start,
)
from gradsift.protocols import Array
from gradsift.solver import Solution
from gradsift.solver.checkpoint import digest, open_checkpoint
from gradsift.solver.path import PathResult, Step, check_alphas, fit_path, geometric_grid

# scikit-learn's callbacks (`set_callbacks(ProgressBar())`), where it has them: from 1.9 on.


F = TypeVar("F", bound=Callable[..., Any])

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: F) -> F:
        """The method as it is."""
        return method


class Task:
    """A part of a fit, as callbacks see it; silent where scikit-learn has no callbacks."""

    def __init__(self, estimator: Any, context: Any) -> None:
        self.estimator, self.context = estimator, context

    @contextmanager
    def part(self, name: str, parts: int = 0) -> Iterator[Task]:
        """A task inside this one, with so many parts of its own."""
        if self.context is None:
            yield self
            return
        inside = self.context.subcontext(task_name=name, max_subtasks=parts)
        with _between_hooks(self.estimator, inside) as task:
            yield task

    @contextmanager
    def loop(self, name: str, count: int) -> Iterator[Callable[[], None]]:
        """`count` parts that follow one another; what is yielded is called after each."""
        left, now = count, None

        def step() -> None:
            nonlocal left, now
            if now is not None:
                now.call_on_fit_task_end(estimator=self.estimator)
                now = None
            if self.context is not None and left > 0:
                inside = self.context.subcontext(task_name=name)
                left, now = left - 1, inside.call_on_fit_task_begin(estimator=self.estimator)

        step()
        yield step
        left = 0  # a loop that was over before its time ends the part it began
        step()


@contextmanager
def fit_task(estimator: Any, parts: int) -> Iterator[Task]:
    """The whole fit as a task; the method around it is decorated `with_callbacks`."""
    # the method scikit-learn documents for estimators of other packages
    init = getattr(estimator, "_init_callback_context", None)
    if init is None:
        yield Task(estimator, None)
        return
    with _between_hooks(estimator, init(max_subtasks=parts)) as task:
        yield task


@contextmanager
def _between_hooks(estimator: Any, context: Any) -> Iterator[Task]:
    context.call_on_fit_task_begin(estimator=estimator)
    yield Task(estimator, context)
    context.call_on_fit_task_end(estimator=estimator)


# Scores of held-out rows: by any scorer of scikit-learn, of any estimator on what was selected.


@dataclass(frozen=True)
class ScoringJudge:
    """A score of scikit-learn, of the estimator's own predictions or of another estimator's.

    Attributes
    ----------
    scoring : str, callable or None
        None = the `score` of `estimator`.
    estimator : estimator or None
        Fitted on what was selected in the training rows; None = the fold's own predictions.
    on : {'selected', 'directions'}
        Whether it sees the selected columns or the coordinates of the sparse directions.
    classes : array or None
        Labels of the classes; None = numbers.
    """

    scoring: Any
    estimator: Any
    on: Literal["selected", "directions"]
    classes: Array | None
    n_components: int | Literal["auto"]
    predict_with: PredictWith

    def __call__(self, fold: HeldOut) -> float:
        y = self._answers(fold.truth)
        if self.estimator is None:
            model, X = self._own(fold), np.arange(len(y), dtype=float)[:, None]
        else:
            train, X = self._features(fold)
            model = self._model(train.shape[1]).fit(
                _some(train), self._answers(fold.assembly.response)
            )
            X = _some(X)
        score = float(model.score(X, y) if self.scoring is None else self._scorer(model, X, y))
        if not np.isfinite(score):
            raise ValueError(
                f"scoring={self.scoring!r} gives {score} on a fold of {len(y)} row(s). Use larger "
                "folds, or a score that one row has, e.g. 'neg_mean_squared_error' or 'accuracy'."
            )
        return score

    @property
    def _scorer(self) -> Any:
        return get_scorer(self.scoring) if isinstance(self.scoring, str) else self.scoring

    def _answers(self, response: Response) -> Array:
        return response.values[0] if self.classes is None else self.classes[response.codes()]

    def _own(self, fold: HeldOut) -> Any:
        guess = predict_held_out(fold, self.predict_with)
        return GivenNumbers(guess[0]) if self.classes is None else GivenScores(guess, self.classes)

    def _features(self, fold: HeldOut) -> tuple[Array, Array]:
        rows = fold.solution.rows.drop_zeros()
        train = fold.assembly.source.columns(rows.index)
        test = fold.rows.columns(rows.index)
        if self.on == "selected":
            return train, test
        found = directions_of(fold.assembly, rows, self.n_components).directions
        back = found.components[:, rows.index].T
        return train @ back, test @ back

    def _model(self, n_features: int) -> Any:
        """The estimator; with nothing selected, the mean or the class shares."""
        if n_features:
            return clone(self.estimator)
        return DummyRegressor() if self.classes is None else DummyClassifier(strategy="prior")


def _some(X: Array) -> Array:
    """X, or a column of zeros where X has none."""
    return X if X.shape[1] else np.zeros((len(X), 1))


class GivenNumbers(RegressorMixin, BaseEstimator):
    """Predictions that were made already, for row numbers."""

    def __init__(self, values: Array) -> None:
        self.values = values

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Array) -> Array:
        return self.values[X[:, 0].astype(int)]


class GivenScores(ClassifierMixin, BaseEstimator):
    """Scores (c, n) that were made already, for row numbers."""

    def __init__(self, scores: Array, classes: Array) -> None:
        self.scores = scores
        self.classes = classes

    @property
    def classes_(self) -> Array:
        return self.classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def decision_function(self, X: Array) -> Array:
        scores = self.scores[:, X[:, 0].astype(int)].T
        return scores[:, 0] if len(self.classes) == 2 else scores

    def predict_proba(self, X: Array) -> Array:
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        return np.asarray(softmax(scores, axis=1))

    def predict(self, X: Array) -> Array:
        return np.asarray(self.classes[self.predict_proba(X).argmax(axis=1)])


def make_judge(
    scoring: Any,
    judge: Any,
    judge_on: Literal["selected", "directions"],
    classes: Array | None,
    n_components: int | Literal["auto"],
    predict_with: PredictWith,
) -> Judge:
    """The judge that an estimator's parameters ask for."""
    if judge_on not in ("selected", "directions"):
        raise ValueError(f"judge_on={judge_on!r}: use 'selected' or 'directions'.")
    if scoring is None and judge is None:
        return OwnLoss(predict_with)
    return ScoringJudge(scoring, judge, judge_on, classes, n_components, predict_with)


# Choosing alpha by held-out prediction: folds, their scores, and the path on all samples.


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


@dataclass(kw_only=True, eq=False, repr=False)
class CrossValidated(CallbackSupportMixin, SparseGradient):
    """The parameters that say how alpha is chosen."""

    alphas: Any = None
    n_alphas: int = 50
    eps: float = 0.01
    cv: Any = 5
    selection: Literal["min", "1se"] = "min"
    max_features: int | None = None
    scoring: Any = None
    judge: Any = None
    judge_on: Literal["selected", "directions"] = "selected"
    n_jobs: int | None = None
    checkpoint: Any = None

    def _particulars(self) -> dict[str, Any]:
        measure = "log loss" if is_classifier(self) else "mean squared error"
        if self.scoring is not None or self.judge is not None:
            measure = f"negative score ({self.scoring or 'of the judge'})"
        choice = PenaltyChoice(
            float(self.alpha_), self.alphas_, -self.cv_scores_, self.selection, measure
        )
        return {**super()._particulars(), "penalty_choice": choice}

    def _fit_sample(
        self, sample: Sample, classes: Any = None, groups: Any = None
    ) -> tuple[SparseFit, Choice]:
        how = CVSettings(**{f.name: getattr(self, f.name) for f in fields(CVSettings)})
        return fit_cross_validated(self, sample, self._settings(sample), how, classes, groups)


@dataclass(kw_only=True, eq=False, repr=False)
class SparseGradientRegressorCV(NumberPredictions, RegressorMixin, CrossValidated):
    """Sparse gradient learning for regression, alpha chosen by cross-validation.

    Parameters
    ----------
    alphas : (n_alphas,) array, optional
        Penalties to try. None = `n_alphas` values from ``alpha_max_`` down to `eps` times it; every
        fold then tries the same parts of its own largest penalty.
    n_alphas : int, default=50
    eps : float, default=0.01
    cv : int, splitter, iterable or 'loo', default=5
        Folds; 'loo' leaves one sample out at a time.
    selection : {'min', '1se'}, default='min'
        The alpha with the best held-out score, or the largest one within a standard error of it.
    max_features : int, optional
        Choose only among the alphas that select no more than this many penalised variables.
    scoring : str or callable, optional
        A score of scikit-learn for the held-out rows. None = minus the mean loss (squared error),
        or the `score` of `judge`.
    judge : estimator, optional
        Fitted in every fold on what was selected, and scored in place of the estimator's own
        predictions: e.g. a linear support vector machine, the paper's criterion.
    judge_on : {'selected', 'directions'}, default='selected'
        Whether `judge` sees the selected columns or their projections on the sparse directions;
        with ``n_components='auto'`` these are counted in every fold at every alpha, which takes
        its time.
    n_jobs : int, optional
        Folds fitted at a time, in processes that share the cores; the scores do not depend on it.
    checkpoint : path, optional
        A folder in which every answer and the scores of every fold are kept as soon as they are
        there. The same fit after a kill goes on from it, to the same bits.
    kernel, weights, standardize, n_components, penalty_factor, loss, penalty, curl, smoothness, \
solver, tol, max_iter, predict_with, missing, verbose
        As in `SparseGradientRegressor`.

    Attributes
    ----------
    alphas_ : (n_alphas,) array, decreasing
    cv_scores_ : (n_alphas, n_folds) array
        Held-out scores, by default the negative mean squared error; larger is better.
    alpha_min_, alpha_1se_ : float
        What each rule of `selection` chooses.
    path_ : PathResult
        The path on all samples.
    feature_importances_, ranking_, components_, eigenvalues_, dimension_, alpha_, alpha_max_, \
dual_gap_, kkt_violation_, objective_, n_iter_, covariance_, dual_coef_, mean_, scale_, ranges_, \
field_, predictor_
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

    predict_with: PredictWith = "directions"

    @with_callbacks
    @same_bits
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        X_unlabeled: Any = None,
        groups: Any = None,
    ) -> Self:
        """Choose alpha, then fit the gradient field.

        Parameters
        ----------
        X : (n, p) array or data frame
        y : (n,) array
        sample_weight : (n,) array, optional
            Pair (i, j) counts w_ij times both weights.
        X_unlabeled : (u, p) array or data frame, optional
            Samples without a response; they shape the field through `smoothness`.
        groups : (n,) array of labels, optional
            Rows that belong together, such as the visits of a subject: folds hold out whole
            groups.

        Returns
        -------
        self
        """
        door = blank(self)
        sample = numbers_sample(door, X, y, sample_weight, X_unlabeled)
        fit, choice = self._fit_sample(sample, groups=groups)
        warn_of_numbers(fit, self.max_iter)
        found = sparse_attributes(fit) | choice.attributes()
        return keep(self, door, predictor_=fit.predictor, **found)


@dataclass(kw_only=True, eq=False, repr=False)
class SparseGradientClassifierCV(IndexScores, ClassifierMixin, CrossValidated):
    """Sparse gradient learning for classification, alpha chosen by cross-validation.

    Parameters
    ----------
    alphas, n_alphas, eps, cv, selection, max_features, scoring, judge, judge_on, n_jobs, \
checkpoint
        As in `SparseGradientRegressorCV`; folds are stratified.
    alpha_0, class_weight, predict_with, kernel, weights, standardize, n_components, \
penalty_factor, loss, penalty, curl, smoothness, solver, tol, max_iter, missing, verbose
        As in `SparseGradientClassifier`.

    Attributes
    ----------
    cv_scores_ : (n_alphas, n_folds) array
        Held-out scores, by default the negative log loss; larger is better.
    alphas_, alpha_min_, alpha_1se_, path_
        As in `SparseGradientRegressorCV`.
    classes_, class_weight_, feature_importances_, ranking_, components_, eigenvalues_, \
dimension_, alpha_, alpha_max_, dual_gap_, kkt_violation_, objective_, n_iter_, covariance_, \
dual_coef_, mean_, scale_, ranges_, field_, predictor_
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

    alpha_0: float | None = None
    class_weight: Any = None
    predict_with: PredictWith = "offset"

    @with_callbacks
    @same_bits
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        X_unlabeled: Any = None,
        groups: Any = None,
    ) -> Self:
        """Choose alpha, then fit the log odds and their gradient.

        Parameters
        ----------
        X : (n, p) array or data frame
        y : (n,) array of labels, of any type
            With `smoothness` above 0, numeric labels of -1 mark unlabelled rows, as in
            scikit-learn's semi-supervised estimators.
        sample_weight : (n,) array, optional
        X_unlabeled : (u, p) array or data frame, optional
            More samples without a label.
        groups : (n,) array of labels, optional
            Rows that belong together: folds hold out whole groups.

        Returns
        -------
        self
        """
        door, mark = blank(self), unlabeled_mark(self.smoothness)
        classes, sample = labels_sample(door, X, y, sample_weight, X_unlabeled, mark)
        shifts = sample_class_weights(self.class_weight, classes, sample)
        fit, choice = self._fit_sample(sample, classes, groups)
        warn_unless_converged(fit.solution, self.max_iter)
        found = {"predictor_": fit.predictor, **sparse_attributes(fit)} | choice.attributes()
        return keep(self, door, classes_=classes, class_weight_=shifts, **found)
