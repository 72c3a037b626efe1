"""Sift, then refit: a checked table, its target and options in, a frozen answer out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from gradsift._run.progress import Say, silent, stages
from gradsift._run.threads import one_blas_thread
from gradsift.data import Scaling, measure_scaling, open_source, standardised, take_rows
from gradsift.data.predicted import is_whole, with_predicted
from gradsift.data.source import set_beside
from gradsift.estimators.columns import ColumnRule, discovered, several_of_each
from gradsift.estimators.covariate_regression import (
    beside_selected,
    explained_part,
    own_result,
    own_support,
    room_for,
)
from gradsift.estimators.sample import SiftSample, likeness, worth_of_rows
from gradsift.estimators.target import Labels
from gradsift.inference.conditional_tests import column_significance
from gradsift.inference.marginal_tests import Association, column_association
from gradsift.inference.results import Significance
from gradsift.numerics.directions import Directions, find_directions, joint_importance
from gradsift.protocols import Array, IntArray, Source
from gradsift.refit import (
    ClassificationRefit,
    Ensemble,
    RegressionRefit,
)
from gradsift.refit.settings import RefitSettings
from gradsift.sift import (
    Classes,
    Sift,
    SiftResult,
    SiftSettings,
    make_sift,
)

T = TypeVar("T")
ENERGY = 0.99
"""Share of the gradient's covariance that 'auto' directions hold."""
Answer = tuple[SiftResult, Association | None, Significance | None, int]
"""The first four fields of `SiftFit`."""


class Interaction(NamedTuple):
    """A product of two variables that the sift found in the response."""

    first: int
    second: int
    strength: float


@dataclass(frozen=True)
class RefitField:
    """The gradient of a refitted predictor, as a function of raw samples."""

    scaling: Scaling
    index: IntArray
    refit: RegressionRefit | ClassificationRefit

    def columns(self, X: Source | Array) -> Array:
        """Selected columns, standardised, as the refit knows them."""
        return refit_columns(X, self.scaling, self.index)

    def standard_gradient(self, X: Source | Array) -> Array:
        """(outputs, n, selected), per standard deviation of each column."""
        G = self.refit.gradient(self.columns(X))
        return G[None] if G.ndim == 2 else G

    def gradient(self, X: Source | Array) -> Array:
        """The same in the user's units."""
        return self.scaling.derivative(self.standard_gradient(X), self.index)


def refit_columns(X: Source | Array, scaling: Scaling, index: IntArray) -> Array:
    """Selected columns, standardised, without their last digits.

    Those are the standardising's own rounding, and an optimiser must not get to amplify them.
    """
    return np.round(scaling.apply(open_source(X).columns(index), index), 10) + 0.0


@dataclass(frozen=True)
class SiftOptions:
    """What a user chose; see `GradientSiftRegressor`."""

    false_positives: float
    false_discovery_rate: float | None
    interactions: bool
    standardize: bool
    n_components: int | Literal["auto"]
    rule: ColumnRule
    predict_with: Literal["auto", "selected"]
    tol: float
    missing: str
    seed: int | None
    n_jobs: int | None
    verbose: int
    sift: SiftSettings
    refit: RefitSettings
    only_predicts: bool = False
    """Leave out what predictions do not need: the ranking of columns that are not selected, the
    association of each column by itself, and findings.
    """


@dataclass(frozen=True)
class SiftFit:
    """What was found, and the predictor on it.

    Attributes
    ----------
    found : SiftResult
    association : Association or None
        Each column by itself; None where rows belong together, or labels have an offset.
    significance : Significance or None
        Tests of the columns, where a false discovery rate was asked for.
    n_paired : int
        Columns of which all products of two were tested.
    refit : RegressionRefit or ClassificationRefit
    ensemble : Ensemble or None
        The predictors on all columns that have a part in the predictions.
    scaling : Scaling
        From the user's columns to those that importances and directions are reported in.
    importances, variable_importances, table_importances : (p,) arrays
        Of every column, of its variable, and of the column of the table that it comes from.
    covariate_coefficients : (k, q) array
        Of the linear part that covariates have in predictions.
    """

    found: SiftResult
    association: Association | None
    significance: Significance | None
    n_paired: int
    refit: RegressionRefit | ClassificationRefit
    ensemble: Ensemble | None
    field: RefitField
    importances: Array
    variable_importances: Array
    table_importances: Array
    directions: Directions
    scaling: Scaling
    covariate_coefficients: Array
    covariates_explain: float

    @property
    def ranking(self) -> IntArray:
        return self.found.ranking


def fit_sift(sample: SiftSample, options: SiftOptions) -> SiftFit:
    """Sift all columns, then refit on those that were selected."""
    X, target, weight, groups, _ = sample
    with one_blas_thread(workers=options.n_jobs), stages(options.verbose) as say:
        columns, share, scaling, answer = run_sift(
            whole_sift(sample, options), sample, options, say
        )
        found = options.rule.settle(answer[0])
        rows = target.rows()
        say(f"refit on {len(found.selected):,} selected, {len(rows):,} rows")
        Z = refit_columns(take_rows(X, rows), scaling, found.selected)
        sample, coefficients = adjusted(sample, Z, rows, found)
        target = sample.target
        refit = refit_sample(sample, Z, rows, found.correlation, options)
        ensemble = None
        if options.predict_with == "auto" and groups is None and len(rows) == X.shape[0]:
            say("predictors on all columns")
            ensemble = target.ensemble(columns, Z, refit, weight, options)
        field = RefitField(scaling, found.selected, refit)
        importances, directions = summarise(field, X, rows, share, options)
    if not options.standardize:
        p = X.shape[1]
        scaling = replace(scaling, mean=np.zeros(p), scale=np.ones(p))
    sure = answer[1:]
    return SiftFit(
        found, *sure, refit, ensemble, field, *importances, directions, scaling, *coefficients
    )


def adjusted(
    sample: SiftSample, Z: Array, rows: IntArray, found: SiftResult
) -> tuple[SiftSample, tuple[Array, float]]:
    """The sample beside the part of its covariates, the coefficients of that part, and the share of
    the response that covariates explain alone.
    """
    _, target, weight, _, C = sample
    if C is None:
        return sample, (np.zeros((0, 1)), 0.0)
    place = {int(k): j for j, k in enumerate(found.selected)}
    pairs = [(place[a], place[b]) for a, b, _ in found.interactions if {a, b} <= place.keys()]
    some = None if weight is None else weight[rows]
    beside = beside_selected(Z, pairs, room_for(C[rows]), some)
    coefficients = target.covariate_part(C[rows], beside, rows, some)
    share = explained_part(C, target.contrasts, weight)
    return sample._replace(target=target.less(C @ coefficients)), (coefficients, share)


def refit_sample(
    sample: SiftSample, Z: Array, rows: IntArray, correlation: float, options: SiftOptions
) -> RegressionRefit | ClassificationRefit:
    """The predictor on selected columns Z of some rows.

    With groups, rows have smaller weights (`worth_of_rows`). For numbers, the random intercept of
    every group is then predicted from the residuals of the first fit (best linear unbiased
    prediction at the intraclass correlation) and subtracted, and the fit is made again.
    """
    _, target, weight, groups, _ = sample
    if groups is None:
        return target.refit(Z, rows, weight, options)
    some = None if weight is None else weight[rows]
    alike = 1.0 if sample.one_per_group else correlation * likeness(Z, groups[rows], some)
    refit = target.refit(Z, rows, worth_of_rows(weight, groups, alike), options)
    if sample.one_per_group or isinstance(target, Labels) or correlation * Z.shape[1] == 0:
        return refit
    counts = np.ones(len(groups)) if weight is None else weight
    size = np.bincount(groups[rows], counts[rows], int(groups.max()) + 1)
    part = size * correlation / (1.0 + np.maximum(size - 1.0, 0.0) * correlation)
    residual = counts[rows] * (target.y[rows] - refit.predict(Z))
    size = np.maximum(size, 1e-300)
    level = part * np.bincount(groups[rows], residual, len(size)) / size
    again = replace(target, y=target.y - level[groups])
    return again.refit(Z, rows, counts * (1.0 - part / np.maximum(size, 1.0))[groups], options)


def find_support(sample: SiftSample, options: SiftOptions) -> IntArray:
    """The selected columns alone, by the least work: ranked only where too many count."""
    rule = options.rule
    with one_blas_thread(workers=options.n_jobs):
        if rule.most is None and options.false_discovery_rate is None:
            found = open_sift(sample, options).run()
            return rule.choose(own_support(found.selected, sample.X.shape[1]))
        find = whole_sift(sample, options)
        return rule.settle(run_sift(find, sample, options, silent)[-1][0]).selected


def whole_sift(sample: SiftSample, options: SiftOptions) -> Callable[..., Answer]:
    """The sift, each column by itself and, where a false discovery rate was asked for, the tests
    that select by it; without the covariates.
    """
    rate, p = options.false_discovery_rate, sample.X.shape[1]

    def find(source: Source, Y: Array, **how: Any) -> Answer:
        fit = make_sift(source, Y, **how).run()
        result = fit.result(beside_classes(sample), ranked=not options.only_predicts)
        found = own_result(result, p)
        alone = None
        if knows_null(sample) and not options.only_predicts:
            alone = column_association(fit, p)
        if rate is None:
            return found, alone, None, min(fit.problem.n_paired, p)
        fit.problem.say("testing each variable beside the best explanation without it")
        tested = column_significance(fit, sample.target.codes).among(p)
        found = discovered(found, tested, rate, options.rule.keep)
        return found, alone, tested, min(fit.problem.n_paired, p)

    return find


def knows_null(sample: SiftSample) -> bool:
    """Whether rows are alike where no column matters: not if groups of them, or an offset of their
    log odds, make them differ.
    """
    offset = isinstance(sample.target, Labels) and sample.target.offset is not None
    return sample.groups is None and not offset


def beside_classes(sample: SiftSample) -> Classes | None:
    """The classes of rows that are told beside covariates or an offset; None for other rows."""
    rows = sample.independent()
    if rows.target.codes is None:
        return None
    offset = rows.target.beside(rows.covariates, rows.weight).offset
    if offset is None:
        return None
    known = offset if offset.shape[1] == 1 else offset[:, 1:] - offset[:, :1]
    return Classes(rows.target.codes, known)


def beside_groups(sample: SiftSample, options: SiftOptions) -> IntArray | None:
    """Which columns are one variable, those of covariates included, each of which is its own."""
    groups = options.rule.groups
    if groups is None:
        return None
    return np.concatenate([groups, groups.max() + 1 + np.arange(len(sample.extra))])


def open_sift(sample: SiftSample, options: SiftOptions) -> Sift:
    """The sift of a table, ready to run."""
    return run_sift(make_sift, sample, options, silent)[-1]


def run_sift(
    sift: Callable[..., T], sample: SiftSample, options: SiftOptions, say: Say
) -> tuple[Source, Array, Scaling, T]:
    """Standardised columns, the shares of the rows, the scaling, and what `sift` finds there."""
    X, weight, n = sample.X, sample.weight, sample.X.shape[0]
    share = np.full(n, 1.0 / n) if weight is None else weight / weight.sum()
    say(f"standardising {X.shape[1]:,} columns")
    scaling = measure_scaling(X, share, missing=options.missing)
    rows, own = sample.independent(), scaling
    if rows is not sample:
        m = rows.X.shape[0]
        own = measure_scaling(rows.X, np.full(m, 1.0 / m), missing=options.missing)
    source = with_holes(rows.X, own, rows.weight)
    found = sift(
        set_beside(source, standard_covariates(rows)),
        rows.target.beside(rows.covariates, rows.weight).contrasts,
        false_positives=options.false_positives,
        interactions=options.interactions,
        always_keep=[*options.rule.keep.tolist(), *sample.extra],
        feature_groups=beside_groups(sample, options),
        constant=np.flatnonzero(np.isinf(own.scale)).tolist(),
        sample_weight=rows.weight,
        groups=rows.groups,
        robust=rows.target.robust,
        tol=options.tol,
        say=say,
        settings=options.sift,
    )
    if rows is not sample or (scaling.fill is not None and not is_whole(X)):
        source = standardised(X, scaling)  # filled, as new samples will be
    return source, share, scaling, found


def with_holes(X: Source, scaling: Scaling, weight: Array | None = None) -> Source:
    """Standardised columns in which what other columns do not predict stays missing: the sift knows
    what to do.
    """
    known = standardised(X, replace(scaling, fill=None))
    return with_predicted(known, weight) if scaling.fill is not None else known


def standard_covariates(sample: SiftSample) -> Array | None:
    """The columns of covariates between -1 and 1: the sift scales them, and cuts none off."""
    C = sample.covariates
    return None if C is None else C / np.maximum(np.abs(C).max(axis=0), np.finfo(float).tiny)


def summarise(
    field: RefitField, X: Source, rows: IntArray, share: Array, options: SiftOptions
) -> tuple[tuple[Array, Array, Array], Directions]:
    """Importances as in `SiftFit`, and directions, from the refitted gradient at some rows."""
    p, index = X.shape[1], field.index
    some = take_rows(X, rows)
    if len(rows) < len(share):
        share = share[rows] / share[rows].sum()
    root = np.sqrt(share)[:, None]
    F = root * field.standard_gradient(some)
    own = F.transpose(2, 0, 1).reshape(len(index), F.shape[0] * F.shape[1])
    told = own if options.standardize else field.scaling.derivative(own.T, index).T
    # a selected variable is in, however flat the refit finds it: never an exact zero
    importances, least = np.zeros(p), np.finfo(float).tiny
    importances[index] = np.maximum(np.linalg.norm(told, axis=1), least)

    def together(labels: IntArray | None) -> Array:
        out, several = importances.copy(), [] if labels is None else several_of_each(labels[index])
        Z = root * field.columns(some) if several else root
        for places in several:
            out[index[places]] = max(joint_importance(own[places], Z[:, places]), least)
        return out

    directions = find_directions(index, told, p, options.n_components, energy=ENERGY)
    found = importances, together(options.rule.groups), together(options.rule.origins)
    return found, directions


def seed_of(random_state: Any) -> int | None:
    """A plain seed from an int, None, or a RandomState (as scikit-learn passes them)."""
    if random_state is None:
        return None
    if isinstance(random_state, (int, np.integer)) and 0 <= random_state < 2**32:
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    raise ValueError(
        f"random_state={random_state!r}: use a whole number from 0 to 2**32 - 1, a RandomState, or "
        "None."
    )
