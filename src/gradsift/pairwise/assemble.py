"""From columns and a response to the paper's problem: kernel, factor, weights, loss, penalty."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Literal

import numpy as np
from scipy import sparse

from gradsift._run.overflow import refuse_overflow
from gradsift._typing import Array, IntArray, Source
from gradsift.data import (
    ArraySource,
    Scaling,
    take_rows,
)
from gradsift.numerics.factors import Factor
from gradsift.numerics.kernels import AnyKernel, Landmarks, Precomputed, as_kernel
from gradsift.numerics.losses import Logistic, Loss, Multinomial, Squared
from gradsift.pairwise.contracts import ConcavePenalty, check_loss, check_penalty
from gradsift.pairwise.datafit import PairDatafit
from gradsift.pairwise.geometry import (
    Geometry,
    anchored_pairs,
    check_pairs,
    choose_landmarks,
    keeps_all,
    measure_geometry,
    uses_anchored_pairs,
)
from gradsift.pairwise.pairs import DensePairs, SparsePairs, make_pairs
from gradsift.pairwise.quadratic_terms import FieldTerm, SumTerm, curl_term, laplacian_term
from gradsift.pairwise.samples import Response, reference_samples
from gradsift.pairwise.weights import (
    AnyWeights,
    NearestNeighbors,
    normalise,
    pair_weights,
    rule_for,
)
from gradsift.solver import Problem
from gradsift.solver.penalty import GroupLasso


@dataclass(frozen=True)
class Settings:
    """What a user chose of the paper's problem; the same for estimators, paths and folds.

    Parameters
    ----------
    kernel, weights : str or object
        See `gradsift.numerics.kernels` and `gradsift.pairwise.weights`.
    standardize : bool
    penalty_factor : (p,) array or None
        omega; None = all ones.
    alpha_0 : float or None
        Penalty on the offset function of a classifier; None = `default_offset_penalty`.
    curl : float
        Weight of the curl penalty; see `gradsift.pairwise.quadratic_terms`.
    smoothness : float
        The paper's mu: weight of smoothness along labelled and unlabelled samples.
    X_unlabeled : Source, optional
        Samples without a response.
    missing : {'error', 'mean'}
        What to do with missing values; see `measure_scaling`.
    loss : Loss or None
        Loss of a pair; None = the paper's (`paper_loss`).
    penalty : ConcavePenalty or None
        None = the paper's group lasso; see `gradsift.pairwise.rounds`.
    """

    kernel: Any = "affine"
    weights: Any = "gaussian"
    standardize: bool = True
    penalty_factor: Array | None = None
    alpha_0: float | None = None
    curl: float = 0.0
    smoothness: float = 0.0
    X_unlabeled: Source | None = None
    missing: Literal["error", "mean"] = "error"
    loss: Loss | None = None
    penalty: ConcavePenalty | None = None

    def take(self, rows: IntArray) -> Settings:
        """The settings for some of the samples: only a kernel matrix knows which they are."""
        kernel: object = as_kernel(self.kernel)
        if not isinstance(kernel, Precomputed):
            return self
        kernel = kernel.take(rows)
        if isinstance(self.kernel, Landmarks):
            kernel = replace(self.kernel, kernel=kernel)
        return replace(self, kernel=kernel)


@dataclass(frozen=True)
class Assembly:
    """A problem ready to solve, and what turns its answer into a function of new samples.

    Attributes
    ----------
    problem : Problem
        On the samples with a response.
    reference : Source
        All samples, those without a response last: the kernel's reference points.
    paired : float
        Share of the samples that are in a pair; the others were left out.
    """

    problem: Problem
    reference: Source
    scaling: Scaling
    kernel: AnyKernel
    factor: Factor
    share: Array
    response: Response
    settings: Settings
    sample_weight: Array | None
    paired: float = 1.0

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
        term = old.field_term if isinstance(old, PairDatafit) else None
        datafit = pair_datafit(
            self.paired * normalise(W, self.share), self.L, self.response, self.share,
            self.settings.alpha_0, term, self.settings.loss,
        )  # fmt: skip
        return replace(self, problem=replace(self.problem, datafit=datafit))


@refuse_overflow
def assemble(
    source: Source, response: Response, settings: Settings, sample_weight: Array | None = None
) -> Assembly:
    """Build the paper's problem on a source of raw columns.

    Memory: where X is in memory and standardised, one copy of it. Up to 5,000 samples, or with
    weights for all pairs, n x n arrays; else n x (landmarks) and n x (neighbours), where n counts
    the samples that are in a pair.
    """
    if settings.loss is not None:
        check_loss(settings.loss, response.values)
    check_penalty(settings.penalty)
    check_strengths(settings)
    rule = rule_for(settings.weights, source.shape[0])
    # the extensions are sums over all pairs of reference points
    extended = bool(settings.curl or settings.smoothness)
    weight = np.ones(source.shape[0]) if sample_weight is None else sample_weight
    samples = reference_samples(source, response, weight, settings.X_unlabeled)
    all_pairs = keeps_all(rule, len(samples.order)) or extended
    count = settings.kernel.count if isinstance(settings.kernel, Landmarks) else None
    apart = (
        uses_anchored_pairs(rule, samples.n)
        and not (extended or settings.X_unlabeled is not None)
        and not isinstance(as_kernel(settings.kernel), Precomputed)
    )
    if not apart:
        order = samples.order
        landmarks = np.arange(len(order)) if extended else choose_landmarks(count, order)
        check_pairs(rule, len(order), len(landmarks), len(response.values), all_pairs=all_pairs)
    scaling, samples = samples.standardised(settings.standardize, settings.missing)
    W: Any = None
    if apart:
        assert isinstance(rule, NearestNeighbors)
        near = anchored_pairs(samples.source, rule, count, samples.order, sample_weight)
        W, landmarks = normalise(near.weights, samples.share[near.rows]), near.landmarks
        samples = samples.in_a_pair(near.rows)
        sample_weight = None if sample_weight is None else samples.weight
        check_pairs(rule, samples.n, len(landmarks), len(response.values), all_pairs=False)
    n, share, response = samples.n, samples.share, samples.response
    labelled = take_rows(samples.source, np.arange(n))

    geometry = measure_geometry(samples.source, landmarks, all_pairs=all_pairs)
    kernel = geometry.resolve(
        as_kernel(settings.kernel), None if sample_weight is None else samples.weight
    )
    factor, K = geometry.factor(kernel)
    if W is None:
        W = normalise(geometry.weights(rule, n, sample_weight), share)
    term = field_term(settings, rule, kernel, geometry, K, factor) if extended else None
    datafit = pair_datafit(W, factor.L[:n], response, share, settings.alpha_0, term, settings.loss)
    penalty = GroupLasso(check_penalty_factor(settings.penalty_factor, source.shape[1]))
    return Assembly(
        Problem(labelled, datafit, penalty), samples.source, scaling, kernel, factor, share,
        response, settings, sample_weight, samples.paired,
    )  # fmt: skip


def check_strengths(settings: Settings) -> None:
    """Refuse extensions that make no sense, before any work."""
    for name, value in (("curl", settings.curl), ("smoothness", settings.smoothness)):
        if not np.isfinite(value) or value < 0:
            raise ValueError(f"{name}={value}: a penalty is a finite number >= 0.")
    if settings.curl and settings.X_unlabeled is not None:
        raise ValueError("curl cannot be combined with unlabelled samples.")


def field_term(
    settings: Settings,
    rule: AnyWeights,
    kernel: AnyKernel,
    geometry: Geometry,
    K: Array,
    factor: Factor,
) -> FieldTerm | None:
    """The extensions asked for, if any; they need the products of all samples."""
    between = geometry.among
    terms: list[FieldTerm] = []
    assert between is not None
    if settings.smoothness:
        graph = pair_weights(rule, between.sqdist, geometry.source.shape[1])
        terms.append(laplacian_term(factor.L, graph, settings.smoothness))
    if settings.curl:
        terms.append(curl_term(kernel, between.inner, K, factor.T, settings.curl))
    return reduce(SumTerm, terms) if terms else None


def pair_datafit(
    W: Array | sparse.csr_array[Any],
    L: Array,
    response: Response,
    share: Array,
    alpha_0: float | None = None,
    term: FieldTerm | None = None,
    loss: Loss | None = None,
) -> PairDatafit:
    """The data term of sections 2 (numbers) and 5 (labels) of the paper, or with another loss."""
    pairs: DensePairs | SparsePairs = make_pairs(W)
    values = response.values
    loss = paper_loss(response) if loss is None else loss
    if not response.is_labels:
        values = (
            values - (values @ share)[:, None]
        )  # differences only: a shift must not cost digits
        target = pairs.at_far(values) - pairs.at_near(values)
        return PairDatafit(pairs, L, loss, target, n_outputs=len(values), field_term=term)
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
        field_term=term,
    )


def paper_loss(response: Response) -> Loss:
    """Squares for numbers, the logistic loss for two classes, its multinomial form for more."""
    if not response.is_labels:
        return Squared()
    return Logistic() if len(response.values) == 1 else Multinomial()


def default_offset_penalty(pairs: DensePairs | SparsePairs, L: Array, share: Array) -> float:
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
