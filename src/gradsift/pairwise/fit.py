"""Fitting the paper's problem: a checked sample and settings go in, a frozen answer comes out.

`fit_sparse` solves the problem of `assemble` at one penalty, `fold_scores` scores a path of
penalties on held-out rows. Answers hold importances (p,), a ranking (p,), directions (d, p) and the
field as a function of any sample.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Literal, NamedTuple

import numpy as np

from gradsift._run.overflow import refuse_overflow
from gradsift._run.progress import follow
from gradsift._run.threads import one_blas_thread
from gradsift.data import (
    Scaling,
    measure_scaling,
    open_source,
    stack_rows,
    standardised,
    take_rows,
)
from gradsift.numerics.directions import Directions
from gradsift.numerics.kernels import TheoryRate
from gradsift.numerics.sampling import merge_rows
from gradsift.pairwise.assemble import (
    Assembly,
    PairResponse,
    Settings,
    assemble,
    paper_loss,
)
from gradsift.pairwise.dimension import Dimension, count_directions
from gradsift.pairwise.field import GradientField, kernel_field, taylor_predictor
from gradsift.pairwise.single_index import index_predictor
from gradsift.pairwise.weights import Adaptive, as_weights
from gradsift.protocols import Array, IntArray, Source
from gradsift.solver import Rows, Solution, Solver, exact_norms, null_solution
from gradsift.solver.path import PathResult, Step, fit_path, fit_to, steps_to
from gradsift.solver.problem import row_norms

# From sizes to an order of all variables, and from scores along a path to one alpha.


def rank_variables(importances: Array, runner_up: Array) -> IntArray:
    """Rank of every variable, 1 = best: selected ones by importance, the others by `runner_up`.

    Ties, up to rounding, go to the lower column number, so that the ranking is a permutation of
    1 .. p, and the same on every processor.

    Examples
    --------
    >>> rank_variables(np.array([0.0, 2.0, 0.0, 3.0]), np.array([0.5, 1.0, 0.7, 1.0]))
    array([4, 2, 3, 1])
    """
    order = np.lexsort((-_rounded(runner_up), -_rounded(importances), importances <= 0.0))
    ranking = np.empty(len(order), dtype=int)
    ranking[order] = np.arange(1, len(order) + 1)
    return ranking


def _rounded(sizes: Array) -> Array:
    """Sizes to nine digits after the point, in units of the largest."""
    top = sizes.max(initial=0.0)
    return np.round(sizes / top, 9) if 0.0 < top < np.inf else sizes


def choose_alpha(scores: Array, rule: Literal["min", "1se"]) -> int:
    """Index of the alpha with the best mean score, or the largest one within one standard error.

    Parameters
    ----------
    scores : (k, folds) array
        Larger is better; rows in order of decreasing alpha.
    """
    scores = scores / (np.abs(scores).max(initial=0.0) or 1.0)  # squares of huge ones overflow
    mean = scores.mean(axis=1)
    best = int(np.argmax(mean))
    if rule == "min" or scores.shape[1] < 2:
        return best
    error = scores[best].std(ddof=1) / np.sqrt(scores.shape[1])
    return int(np.flatnonzero(mean >= mean[best] - error)[0])


class Started(NamedTuple):
    """An assembled problem and its answer at alpha_max, where nothing is selected."""

    assembly: Assembly
    null: Solution


def begin(assembly: Assembly) -> Started:
    """Find where the path of a problem begins."""
    return Started(assembly, null_solution(assembly.problem))


# Adaptive weights: rounds around the solver, each a certified group lasso of its own. Distances
# are measured in the variables that were selected, until the selection stays.


def settle(started: Started, solution: Solution, solver: Solver) -> tuple[Started, Solution]:
    """The last round, with the problem it solved; the first answer where weights do not adapt.

    A round has the same part of its alpha_max as the first answer had of its own: weights over
    fewer variables are sharper, and lower alpha_max. A selected set that was there before ends the
    rounds.
    """
    rule = as_weights(started.assembly.settings.weights)
    seen = [solution.rows.index]
    for _ in range(rule.max_rounds if isinstance(rule, Adaptive) else 0):
        if len(seen[-1]) == 0:
            break
        part = solution.alpha / started.null.alpha if started.null.alpha > 0.0 else 0.0
        started = begin(started.assembly.measured_in(seen[-1]))
        alpha = part * started.null.alpha
        solution = fit_to(started.assembly.problem, alpha, solver, null=started.null)
        if any(np.array_equal(solution.rows.index, index) for index in seen):
            break
        seen.append(solution.rows.index)
    return started, solution


def settle_path(started: Started, path: PathResult, solver: Solver) -> PathResult:
    """A path with the last round of every answer in place of the first."""
    settled = tuple(settle(started, first, solver)[1] for first in path.solutions)
    return replace(path, solutions=settled)


PredictWith = Literal["directions", "taylor", "offset"]
"""Numbers: 'directions' or 'taylor'. Labels: 'directions' or 'offset', the field's own f0."""
PairPredictor = Callable[[Array], Array]
"""From selected columns of new samples, standardised, to predictions (c, n)."""
AlphaRule = float | Literal["theory"] | TheoryRate | None
DEFAULT_FRACTION = 0.1
"""alpha=None means this part of alpha_max."""


@dataclass(frozen=True)
class PairSample:
    """Checked training data. Rows of weight zero are gone; `kept` says which rows are left.

    Attributes
    ----------
    X : Source
    response : PairResponse
    weight : (n,) array or None
        None = all rows count the same.
    kept : (n,) int array
        Places of the rows among the `n_rows` that the user passed.
    n_rows : int
    unlabeled : Source or None
        Samples without a response.
    classes : array or None
        Labels of the classes; None = numbers.
    """

    X: Source
    response: PairResponse
    weight: Array | None
    kept: IntArray
    n_rows: int
    unlabeled: Source | None = None
    classes: Array | None = None

    @property
    def every_row(self) -> Source:
        """The rows of the fit, those without a response last."""
        return self.X if self.unlabeled is None else stack_rows(self.X, self.unlabeled)

    def distinct(self, standardize: bool) -> tuple[Scaling, Array, Array, Array]:
        """The scaling of the columns, and of rows without copies all columns, the response and the
        part of the weight.
        """
        weight = np.ones(self.X.shape[0]) if self.weight is None else self.weight
        share = weight / weight.sum()
        scaling = measure_scaling(self.X, share, standardize=standardize)
        X = standardised(self.X, scaling).columns(np.arange(self.X.shape[1]))
        X, Y, share, _ = merge_rows(X, self.response.values.T, share)
        return scaling, X, Y[:, 0], share


@dataclass(frozen=True)
class SparseSettings:
    """What a user chose of a sparse fit."""

    problem: Settings
    solver: Solver
    n_components: int | Literal["auto"]
    alpha: AlphaRule
    verbose: int
    predict_with: PredictWith


@dataclass(frozen=True)
class FittedField:
    """A gradient field, and what follows from it.

    Attributes
    ----------
    field : GradientField
        The gradient at any sample.
    predictor : callable or None
        Predictions (c, n) from the columns ``field.index``, standardised; None = by the offset
        function of the field.
    importances : (p,) array
        ||f^k||_K, or the root mean square of the partial derivatives over the samples.
    ranking : (p,) int array
    directions : Directions
    dimension : Dimension or None
        The evidence on their number, where that was to be found.
    """

    field: GradientField
    predictor: PairPredictor | None
    importances: Array
    ranking: IntArray
    directions: Directions
    dimension: Dimension | None

    @property
    def scaling(self) -> Scaling:
        return self.field.scaling


@dataclass(frozen=True)
class SparseFit(FittedField):
    """The answer of the group lasso, with its certificate."""

    solution: Solution
    alpha_max: float


def fit_sparse(sample: PairSample, settings: SparseSettings) -> SparseFit:
    """The sparse gradient field at the alpha asked for."""
    with one_blas_thread():
        started = start(sample, settings.problem)
        alpha = requested_alpha(settings.alpha, started)
        with follow(settings.verbose, len(steps_to(alpha, started.null.alpha))) as steps:
            solution = fit_to(
                started.assembly.problem, alpha, settings.solver,
                null=started.null, progress=steps,
            )  # fmt: skip
        return finish(started, solution, settings)


def start(sample: PairSample, problem: Settings) -> Started:
    """Assemble the problem, and find where its path begins."""
    problem = replace(problem, X_unlabeled=sample.unlabeled)
    return begin(assemble(sample.X, sample.response, problem, sample.weight))


def requested_alpha(alpha: AlphaRule, started: Started) -> float:
    """The user's alpha; with None, a part of alpha_max; with a rate, what the theorems ask for.

    The rate is meant for weights of a fixed mass, w / s^(d + 2). Weights are used as printed, so
    that the penalty is multiplied by s^(d + 2) instead.
    """
    if alpha is None:
        return DEFAULT_FRACTION * started.null.alpha
    n, p = started.assembly.source.shape
    rate = TheoryRate(p) if isinstance(alpha, str) and alpha == "theory" else alpha
    if isinstance(rate, TheoryRate):
        return float(rate.alpha(n) * rate(n) ** (rate.dim + 2))
    if not isinstance(rate, Real) or not 0.0 <= float(rate) < np.inf:
        raise ValueError(
            f"alpha={alpha!r}: the penalty is a finite number >= 0, 'theory', a TheoryRate or None."
        )
    return float(rate)


def finish(started: Started, solution: Solution, settings: SparseSettings) -> SparseFit:
    """Further rounds, where asked for, and what follows from the answer."""
    (assembly, null), solution = settle(started, solution, settings.solver)
    problem, rows = assembly.problem, solution.rows
    omega = problem.penalty.limits(1.0)
    # variables still out are ranked by how close they are to coming in
    runner_up = exact_norms(problem, solution) / np.where(omega > 0.0, omega, 1.0)
    predictor = make_predictor(assembly, rows, solution.v, settings.predict_with)
    found = describe(assembly, rows, solution.v, settings.n_components, runner_up, predictor)
    return SparseFit(**vars(found), solution=solution, alpha_max=null.alpha)


def make_predictor(
    assembly: Assembly, rows: Rows, v: Array, predict_with: PredictWith
) -> PairPredictor | None:
    """What predicts from the selected columns; None = the offset function of the field."""
    if predict_with == "directions":
        return index_predictor(assembly, rows)
    return taylor_predictor(assembly, rows, v) if predict_with == "taylor" else None


def describe(
    assembly: Assembly,
    rows: Rows,
    v: Array,
    n_components: int | Literal["auto"],
    runner_up: Array,
    predictor: PairPredictor | None,
) -> FittedField:
    """Importances, ranking and directions of coefficients B (rows) and v."""
    p = assembly.problem.n_features
    importances = np.zeros(p)
    importances[rows.index] = row_norms(rows.values)
    return FittedField(
        kernel_field(assembly, rows, v),
        predictor,
        importances,
        rank_variables(importances, runner_up),
        # eigenvectors of B B', outputs side by side: summed over class contrasts
        *count_directions(
            assembly.source, assembly.response.values, assembly.share,
            rows.index, rows.values, n_components,
        ),
    )  # fmt: skip


# Held-out scores along a path: one fold at a time, folds as index arrays.


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
    coefficients : Rows
    v : array
        Coefficients of the offset function.
    rows : Source
        The held-out rows, standardised as the training rows are.
    truth : PairResponse
        Their response.
    weight : (n,) array
    """

    assembly: Assembly
    coefficients: Rows
    v: Array
    rows: Source
    truth: PairResponse
    weight: Array


Score = Callable[[HeldOut], float]
"""A score of an answer; larger is better."""


@dataclass(frozen=True)
class HeldOutLoss:
    """Minus the mean loss of what the estimator would predict."""

    predict_with: PredictWith = "directions"

    def __call__(self, fold: HeldOut) -> float:
        losses = paper_loss(fold.truth).value(
            predict_held_out(fold, self.predict_with), fold.truth.values
        )
        return -float(losses @ fold.weight / fold.weight.sum())


def predict_held_out(fold: HeldOut, predict_with: PredictWith) -> Array:
    """(c, n) predictions for the held-out rows."""
    rows, v = fold.coefficients, fold.v
    predict = make_predictor(fold.assembly, rows, v, predict_with)
    if predict is None:
        return kernel_field(fold.assembly, rows, v).offset_of(fold.rows).T
    return predict(fold.rows.columns(rows.index))


@refuse_overflow
def fold_scores(
    X: Source | Array,
    response: PairResponse,
    settings: Settings,
    fold: Fold,
    alphas: Array | Callable[[float], Array],
    solver: Solver,
    sample_weight: Array | None = None,
    score: Score | None = None,
    most_threads: int | None = None,
    progress: Step | None = None,
) -> Array:
    """Score on the held-out rows of the answer at every alpha; larger is better.

    Everything is done inside the fold: standardising, kernel scale, weights, path. Alphas may be a
    function of the fold's own alpha_max: penalties of different folds are alike where they are the
    same part of it, not where they are the same number.
    """
    source, score = open_source(X), score or HeldOutLoss()
    with one_blas_thread(most_threads):
        inside = None if sample_weight is None else sample_weight[fold.train]
        assembly = assemble(
            take_rows(source, fold.train),
            response.take(fold.train),
            settings,
            inside,
        )
        started = begin(assembly)
        grid = alphas(started.null.alpha) if callable(alphas) else alphas
        path = fit_path(assembly.problem, grid, solver, null=started.null, progress=progress)
        held_out = standardised(take_rows(source, fold.test), assembly.scaling)
        weight = np.ones(len(fold.test)) if sample_weight is None else sample_weight[fold.test]
        scores = np.empty(len(grid))
        for i, first in enumerate(path.solutions):
            (last, _), solution = settle(started, first, solver)
            truth = response.take(fold.test)
            rows = solution.rows.drop_zeros()
            scores[i] = score(HeldOut(last, rows, solution.v, held_out, truth, weight))
        return scores
