"""Fitting the paper's problem: a checked sample and settings go in, a frozen answer comes out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Literal

import numpy as np

from gradsift._run.progress import follow
from gradsift._run.threads import one_blas_thread
from gradsift._typing import Array, IntArray, Source
from gradsift.data import Scaling, measure_scaling, standardised
from gradsift.numerics.directions import Directions
from gradsift.numerics.distinct import merge_rows
from gradsift.numerics.kernels import TheoryRate
from gradsift.numerics.ranking import rank_variables
from gradsift.pairwise.assemble import Assembly, Response, Settings, assemble
from gradsift.pairwise.dimension import Counted, Dimension, count_directions
from gradsift.pairwise.field import KernelField, TaylorPredictor, kernel_field, taylor_predictor
from gradsift.pairwise.index_predictor import (
    AveragedPredictor,
    LabelPredictor,
    index_predictor,
    label_predictor,
)
from gradsift.pairwise.rounds import Rounds, Started, begin
from gradsift.solver import Rows, Solution, Solver, exact_norms
from gradsift.solver.path import fit_to, steps_to
from gradsift.solver.penalty import row_norms

PredictWith = Literal["directions", "taylor", "offset"]
"""Numbers: 'directions' or 'taylor'. Labels: 'directions' or 'offset', the field's own f0."""
Predictor = AveragedPredictor | TaylorPredictor | LabelPredictor
AlphaRule = float | Literal["theory"] | TheoryRate | None
DEFAULT_FRACTION = 0.1
"""alpha=None means this part of alpha_max."""


@dataclass(frozen=True)
class Sample:
    """Checked training data. Rows of weight zero are gone; `kept` says which rows are left.

    Attributes
    ----------
    X : Source
    response : Response
    weight : (n,) array or None
        None = all rows count the same.
    kept : (n,) int array
        Places of the rows among the `n_rows` that the user passed.
    n_rows : int
    unlabeled : Source or None
        Samples without a response.
    """

    X: Source
    response: Response
    weight: Array | None
    kept: IntArray
    n_rows: int
    unlabeled: Source | None = None

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
    n_components: int | Literal["auto"] = "auto"
    alpha: AlphaRule = None
    verbose: int = 0
    predict_with: PredictWith = "directions"


@dataclass(frozen=True)
class FittedField:
    """A gradient field, and what follows from it.

    Attributes
    ----------
    field : KernelField
        The gradient at any sample.
    predictor : AveragedPredictor, TaylorPredictor, LabelPredictor or None
        Predictions from the selected columns; None = by the offset function of the field.
    importances : (p,) array
        ||f^k||_K.
    ranking : (p,) int array
    directions : Directions
    dimension : Dimension or None
        The evidence on their number, where that was to be found.
    """

    field: KernelField
    predictor: Predictor | None
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


def fit_sparse(sample: Sample, settings: SparseSettings) -> SparseFit:
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


def start(sample: Sample, problem: Settings) -> Started:
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
    (assembly, null), solution = Rounds(settings.solver).settle(started, solution)
    problem, rows = assembly.problem, solution.rows
    omega = problem.penalty.limits(1.0)
    # variables still out are ranked by how close they are to coming in
    runner_up = exact_norms(problem, solution) / np.where(omega > 0.0, omega, 1.0)
    predictor = make_predictor(assembly, rows, solution.v, settings.predict_with)
    found = describe(assembly, rows, solution.v, settings.n_components, runner_up, predictor)
    return SparseFit(**vars(found), solution=solution, alpha_max=null.alpha)


def make_predictor(
    assembly: Assembly, rows: Rows, v: Array, predict_with: PredictWith
) -> Predictor | None:
    """What predicts from the selected columns; None = the offset function of the field."""
    if predict_with == "directions":
        labels = assembly.response.is_labels
        return (label_predictor if labels else index_predictor)(assembly, rows)
    return taylor_predictor(assembly, rows, v) if predict_with == "taylor" else None


def describe(
    assembly: Assembly,
    rows: Rows,
    v: Array,
    n_components: int | Literal["auto"],
    runner_up: Array,
    predictor: Predictor | None,
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
        *directions_of(assembly, rows, n_components),
    )


def directions_of(assembly: Assembly, rows: Rows, n_components: int | Literal["auto"]) -> Counted:
    """Eigenvectors of B B', outputs side by side: summed over class contrasts."""
    return count_directions(
        assembly.source, assembly.response.values, assembly.share,
        rows.index, rows.values, n_components,
    )  # fmt: skip
