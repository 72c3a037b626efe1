"""Fitting gradient learning with a ridge penalty (GL): at one penalty, or scored at many."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Literal, NamedTuple

import numpy as np

from gradsift._run.overflow import refuse_overflow
from gradsift._run.threads import one_blas_thread
from gradsift._typing import Array
from gradsift.data import standardised, take_rows
from gradsift.numerics.distances import products
from gradsift.pairwise.assemble import Assembly, Settings, assemble, paper_loss
from gradsift.pairwise.field import kernel_field, taylor_predictor
from gradsift.pairwise.fitting import FittedField, Sample, describe
from gradsift.pairwise.folds import Fold
from gradsift.solver import Rows
from gradsift.solver.forward_backward import step_bound
from gradsift.solver.ridge import expand, solve_ridge


@dataclass(frozen=True)
class RidgeFit(FittedField):
    """The answer of gradient learning with a ridge penalty."""

    alpha: float


class RidgeStarted(NamedTuple):
    """An assembled problem, the products X X' (n, n) of its rows, and its default penalty."""

    assembly: Assembly
    inner: Array
    unit: float

    def solve(self, alpha: float) -> tuple[Rows, Array]:
        """Coefficients (B, v) at a penalty."""
        source, datafit = self.assembly.problem.source, self.assembly.problem.datafit
        A, v = solve_ridge(datafit, self.inner, alpha)
        return Rows(np.arange(source.shape[1]), expand(source, A)).drop_zeros(), v


def start_ridge(sample: Sample, problem: Settings) -> RidgeStarted:
    """Assemble the problem, and find its own scale of penalties."""
    assembly = assemble(sample.X, sample.response, problem, sample.weight)
    inner = products(assembly.problem.source).inner
    return RidgeStarted(assembly, inner, default_ridge(assembly, inner))


def fit_ridge(
    sample: Sample,
    problem: Settings,
    alpha: float | None,
    n_components: int | Literal["auto"],
) -> RidgeFit:
    """Gradient learning (GL) with the penalty alpha sum_k ||f^k||_K^2: every variable stays in."""
    if alpha is not None and not (isinstance(alpha, Real) and 0.0 < float(alpha) < np.inf):
        raise ValueError(f"alpha={alpha!r}: the ridge penalty is a positive number or None.")
    with one_blas_thread():
        started = start_ridge(sample, problem)
        return finish_ridge(started, started.unit if alpha is None else float(alpha), n_components)


def finish_ridge(
    started: RidgeStarted, alpha: float, n_components: int | Literal["auto"]
) -> RidgeFit:
    """The answer at a penalty, and what follows from it."""
    assembly = started.assembly
    rows, v = started.solve(alpha)
    labels = assembly.response.is_labels
    predictor = None if labels else taylor_predictor(assembly, rows, v)
    nothing_out = np.zeros(assembly.problem.n_features)
    found = describe(assembly, rows, v, n_components, nothing_out, predictor)
    return RidgeFit(**vars(found), alpha=alpha)


@refuse_overflow
def ridge_fold_scores(
    sample: Sample, problem: Settings, fold: Fold, alphas: Array, *, relative: bool
) -> Array:
    """Minus the mean loss on the held-out rows at every alpha, of what the estimator predicts.

    With `relative`, alphas are in units of the fold's own default: penalties of different folds are
    alike where they are the same multiple of it.
    """
    weight = None if sample.weight is None else sample.weight[fold.train]
    inside = Sample(
        take_rows(sample.X, fold.train), sample.response.take(fold.train), weight,
        np.arange(len(fold.train)), len(fold.train),
    )  # fmt: skip
    started = start_ridge(inside, problem.take(fold.train))
    assembly, truth = started.assembly, sample.response.take(fold.test)
    held_out = standardised(take_rows(sample.X, fold.test), assembly.scaling)
    count = np.ones(len(fold.test)) if sample.weight is None else sample.weight[fold.test]
    scores = np.empty(len(alphas))
    for i, alpha in enumerate(alphas * (started.unit if relative else 1.0)):
        rows, v = started.solve(float(alpha))
        if truth.is_labels:
            guess = kernel_field(assembly, rows, v).offset_of(held_out).T
        else:
            guess = taylor_predictor(assembly, rows, v)(held_out.columns(rows.index))
        losses = paper_loss(truth).value(guess, truth.values)
        scores[i] = -float(losses @ count / count.sum())
    return scores


def default_ridge(assembly: Assembly, inner: Array) -> float:
    """A thousandth of the largest curvature of the data term: scale-free, mild."""
    datafit = assembly.problem.datafit
    values, vectors = np.linalg.eigh(inner)
    T = vectors * np.sqrt(np.maximum(values, 0.0))
    phi, v = datafit.restrict(T), datafit.start()
    zero = np.zeros((T.shape[1], datafit.n_tasks))
    G, g = phi.gradient(phi.image(zero, v), zero, v)
    return 5e-4 * step_bound(phi, G, np.zeros_like(g)) or 1.0
