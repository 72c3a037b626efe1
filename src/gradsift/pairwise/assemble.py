"""From columns and a response to the paper's problem: kernel, factor, weights, loss, penalty.

    minimise over f = (f^1, ..., f^p)   1/n^2 sum_ij w_ij psi(e_ij) + alpha sum_k omega_k ||f^k||_K
    with e_ij = f(x_i) . (x_j - x_i), the change of the response from x_i to x_j

(Ye and Xie, "Learning sparse gradients for variable selection and dimension reduction", Machine
Learning 87, 2012). With a factor L (n, m) of the kernel matrix, K = L L', the field at the samples
is L B' for coefficients B (p, m), and ||f^k||_K = ||B_k||: a group lasso over the rows of B. Labels
have an offset function f^0 too, and c outputs for c > 2 classes: B is (p, c m).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy import sparse

from gradsift._run.overflow import refuse_overflow
from gradsift.data import (
    ArraySource,
    Scaling,
    measure_scaling,
    stack_rows,
    standardised,
    take_rows,
)
from gradsift.numerics.kernels import Factor, Kernel, Landmarks, as_kernel
from gradsift.numerics.losses import Logistic, Loss, Multinomial, Squared
from gradsift.pairwise.datafit import PairDatafit, smoothing_matrix
from gradsift.pairwise.geometry import (
    Pairs,
    check_pairs,
    choose_landmarks,
    keeps_all,
    make_pairs,
    measure_geometry,
)
from gradsift.pairwise.weights import normalise, rows_for, rule_for
from gradsift.protocols import Array, IntArray, Source
from gradsift.solver import Problem
from gradsift.solver.problem import GroupLasso

# The samples of the paper's problem: their response, their weights, those without a response.


@dataclass(frozen=True)
class PairResponse:
    """The response as the data term wants it.

    Attributes
    ----------
    values : (c, n) array
        Regression: y, one row. Two classes: -1 and 1. More: one-hot, one row per class.
    is_labels : bool
    """

    values: Array
    is_labels: bool = False

    @classmethod
    def numbers(cls, y: Array) -> PairResponse:
        return cls(np.asarray(y, dtype=float)[None, :])

    @classmethod
    def labels(cls, codes: IntArray, n_classes: int) -> PairResponse:
        """codes are 0 .. n_classes - 1."""
        one_hot = (np.arange(n_classes)[:, None] == codes).astype(float)
        return cls(2.0 * one_hot[1:] - 1.0 if n_classes == 2 else one_hot, is_labels=True)

    def codes(self) -> IntArray:
        """Class numbers 0 .. C-1 (all zero for numbers), for splitters that stratify."""
        if not self.is_labels:
            return np.zeros(self.values.shape[1], dtype=int)
        if len(self.values) == 1:
            return (self.values[0] > 0).astype(int)
        return self.values.argmax(axis=0)

    def take(self, rows: IntArray) -> PairResponse:
        return PairResponse(self.values[:, rows], self.is_labels)


@dataclass(frozen=True, eq=False)
class Penalties:
    """Penalties other than alpha.

    Parameters
    ----------
    penalty_factor : (p,) array, optional
        omega, what alpha is multiplied by for each variable; 0 = never penalised.
    alpha_0 : float, optional
        The paper's lambda_1, the penalty on the offset function of a classifier. None = 1e-4, in
        units of the kernel's size and the mean pair weight.
    smoothness : float, default=0
        The paper's mu: adds ``smoothness / N^2 sum_ij w_ij ||f(x_i) - f(x_j)||^2`` over all
        samples, labelled or not (semi-supervised).
    """

    penalty_factor: Array | None = None
    alpha_0: float | None = None
    smoothness: float = 0.0


@dataclass(frozen=True, eq=False)
class Settings(Penalties):
    """What a user chose of the paper's problem; the same for estimators, paths and folds.

    Parameters
    ----------
    kernel, weights : str or object
        See `gradsift.numerics.kernels` and `gradsift.pairwise.weights`.
    standardize : bool
    X_unlabeled : Source, optional
        Samples without a response.
    missing : {'error', 'mean'}
        What to do with missing values; see `measure_scaling`.
    """

    kernel: object = "affine"
    weights: object = "gaussian"
    standardize: bool = True
    X_unlabeled: Source | None = None
    missing: Literal["error", "mean"] = "error"


@dataclass(frozen=True)
class Assembly:
    """A problem ready to solve, and what turns its answer into a function of new samples.

    Attributes
    ----------
    problem : Problem
        On the samples with a response.
    reference : Source
        All samples, those without a response last: the kernel's reference points.
    """

    problem: Problem
    reference: Source
    scaling: Scaling
    kernel: Kernel
    factor: Factor
    share: Array
    response: PairResponse
    settings: Settings
    sample_weight: Array | None

    @property
    def source(self) -> Source:
        return self.problem.source

    @property
    def L(self) -> Array:
        """Factor at the samples with a response."""
        return self.factor.L[: len(self.share)]

    def measured_in(self, columns: IntArray) -> Assembly:
        """The same problem with pair weights from distances in these columns only."""
        n = len(self.share)
        rule = rule_for(self.settings.weights, n)
        landmarks = self.factor.landmarks[self.factor.landmarks < n]
        chosen = ArraySource(self.source.columns(columns))
        geometry = measure_geometry(chosen, landmarks, all_pairs=keeps_all(rule, n))
        W = geometry.weights(rule, n, self.sample_weight)
        old = self.problem.datafit
        smoothing = old.smoothing if isinstance(old, PairDatafit) else None
        datafit = pair_datafit(
            normalise(W, self.share), self.L, self.response, self.share,
            self.settings.alpha_0, smoothing,
        )  # fmt: skip
        return replace(self, problem=replace(self.problem, datafit=datafit))


@refuse_overflow
def assemble(
    source: Source, response: PairResponse, settings: Settings, sample_weight: Array | None = None
) -> Assembly:
    """Build the paper's problem on a source of raw columns.

    Memory: where X is in memory and standardised, one copy of it. Up to 5,000 samples, or with
    weights for all pairs, n x n arrays; else n x (landmarks) and n x (neighbours). Of more than
    20,000 samples, weights by name use so many.
    """
    smoothness = settings.smoothness
    if not np.isfinite(smoothness) or smoothness < 0:
        raise ValueError(f"smoothness={smoothness}: a penalty is a finite number >= 0.")
    if (some := rows_for(settings.weights, source.shape[0])) is not None:
        source, response = take_rows(source, some), response.take(some)
        sample_weight = None if sample_weight is None else sample_weight[some]
    n = source.shape[0]
    rule = rule_for(settings.weights, n)
    weight = np.ones(n) if sample_weight is None else sample_weight
    share, order = weight / weight.sum(), np.argsort(response.values[0], kind="stable")
    if settings.X_unlabeled is not None:  # below the others, and last along the response
        source = stack_rows(source, settings.X_unlabeled)
        weight = np.append(weight, np.ones(source.shape[0] - n))
        order = np.append(order, np.arange(n, source.shape[0]))
    all_pairs = keeps_all(rule, len(order))
    count = settings.kernel.count if isinstance(settings.kernel, Landmarks) else None
    landmarks = choose_landmarks(count, order)
    check_pairs(rule, len(order), len(landmarks), len(response.values), all_pairs=all_pairs)

    scaling = measure_scaling(
        source, weight / weight.sum(), standardize=settings.standardize, missing=settings.missing
    )
    if settings.standardize or scaling.fill is not None:
        source = standardised(source, scaling)
    geometry = measure_geometry(source, landmarks, all_pairs=all_pairs)
    kernel = geometry.resolve(as_kernel(settings.kernel), None if sample_weight is None else weight)
    factor = geometry.factor(kernel)
    W = normalise(geometry.weights(rule, n, sample_weight), share)
    smoothing = None
    if smoothness:
        graph = geometry.weights(rule, len(order), None)
        smoothing = smoothing_matrix(factor.L, graph, smoothness)
    datafit = pair_datafit(W, factor.L[:n], response, share, settings.alpha_0, smoothing)
    penalty = GroupLasso(check_penalty_factor(settings.penalty_factor, source.shape[1]))
    problem = Problem(take_rows(source, np.arange(n)), datafit, penalty)
    return Assembly(
        problem, source, scaling, kernel, factor, share, response, settings, sample_weight
    )


def pair_datafit(
    W: Array | sparse.csr_array[Any],
    L: Array,
    response: PairResponse,
    share: Array,
    alpha_0: float | None = None,
    smoothing: Array | None = None,
) -> PairDatafit:
    """The data term of sections 2 (numbers) and 5 (labels) of the paper."""
    pairs = make_pairs(W)
    values = response.values
    loss = paper_loss(response)
    if not response.is_labels:
        values = (
            values - (values @ share)[:, None]
        )  # differences only: a shift must not cost digits
        target = pairs.at_far(values) - pairs.at_near(values)
        return PairDatafit(pairs, L, loss, target, n_outputs=len(values), smoothing=smoothing)
    if alpha_0 is None:
        alpha_0 = default_offset_penalty(pairs, L, share)
    elif not alpha_0 > 0:
        raise ValueError(f"alpha_0={alpha_0} must be positive: the offset needs some penalty.")
    return PairDatafit(
        pairs,
        L,
        loss,
        pairs.at_far(values),
        n_outputs=len(values),
        offset_penalty=float(alpha_0),
        smoothing=smoothing,
    )


def paper_loss(response: PairResponse) -> Loss:
    """Squares for numbers, the logistic loss for two classes, its multinomial form for more."""
    if not response.is_labels:
        return Squared()
    return Logistic() if len(response.values) == 1 else Multinomial()


def default_offset_penalty(pairs: Pairs, L: Array, share: Array) -> float:
    """A ten-thousandth of the mean pair weight, in units of the kernel's own size.

    A function of typical size 1 has ||f0||_K^2 of about 1 / K(x, x), so with this unit the choice
    does not depend on how the kernel is scaled or how many pairs count.
    """
    size = float(share @ np.einsum("ij,ij->i", L, L))
    return 1e-4 * float(pairs.weight.sum()) * size


def check_penalty_factor(penalty_factor: Array | None, n_features: int) -> Array:
    """omega as a (p,) array of finite numbers >= 0, not all zero."""
    if penalty_factor is None:
        return np.ones(n_features)
    omega = np.asarray(penalty_factor, dtype=float)
    if omega.shape != (n_features,):
        raise ValueError(
            f"penalty_factor has shape {omega.shape} but there are {n_features} variables: "
            f"need ({n_features},)."
        )
    bad = np.flatnonzero(~np.isfinite(omega) | (omega < 0))
    if len(bad):
        raise ValueError(
            f"penalty_factor[{bad[0]}] is {omega[bad[0]]}: factors are finite and not negative "
            "(0 = never penalised)."
        )
    return omega
