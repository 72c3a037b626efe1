"""Sift, then refit: a checked sample and parameters in, the fitted attributes of a model out.

sample      what the user passed, checked                        (`sample`)
table       standardised columns, covariates after them          (`standard_table`)
problem     the sift of that table, ready to run                 (`sift_problem`)
found       the selected columns, and the ranking of all         (`sift`)
inference   findings and tests, from the sift itself             (`inference`)
predictor   the function of the selected columns                 (`refit`)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from gradsift._run.progress import Say, silent, stages
from gradsift._run.threads import one_blas_thread
from gradsift.data import Scaling, measure_scaling, standardised, take_rows
from gradsift.data.imputation import is_whole, with_predicted
from gradsift.data.source import append_columns
from gradsift.estimators.base import Goal, direction_attributes
from gradsift.estimators.columns import several_of_each, with_selected
from gradsift.estimators.covariate_terms import without_covariates
from gradsift.estimators.sample import (
    Sample,
    WeightKind,
    column_correlation,
    effective_weights,
)
from gradsift.inference.conditional_tests import column_significance
from gradsift.inference.findings import Findings, find
from gradsift.inference.marginal_tests import column_association
from gradsift.inference.results import Significance
from gradsift.numerics.directions import find_directions, joint_importance
from gradsift.numerics.sampling import drawn_rows
from gradsift.protocols import Array, IntArray, Source
from gradsift.refit import (
    ClassScore,
    LikelihoodScore,
    NumberScore,
    OutcomePredictors,
    Predictor,
    Refit,
    average,
    refit_classification,
    refit_regression,
    selected_columns,
)
from gradsift.refit.settings import RefitSettings
from gradsift.responses import Labels, Likelihood, Link, Numbers, Response
from gradsift.sift import Classes, Sift, SiftFit, SiftResult, SiftSettings, make_sift

WORKING_ROUNDS = 2
"""Times that a working response is made and fitted: later ones change little."""
REFIT_ROWS = 200_000
"""Time: rows the refit learns from at most: its 1,000 landmarks gain nothing by more."""


@dataclass(frozen=True)
class SiftOptions:
    """Options of `GradientSift*` that few fits need.

    Parameters
    ----------
    max_features : int, optional
        Select no more than this many variables, the best ranked; columns that are always kept come
        on top.
    weight_kind : {'frequency', 'importance'}, default='frequency'
        What `sample_weight` means. 'frequency': counts of rows (the `freq_weights` of statsmodels);
        a `CountedRowsWarning` says where they claim much more or less evidence than weights of such
        spread can carry. 'importance': survey weights and the like, of any unit; they are scaled to
        the effective number of samples, so that equal weights change nothing.
    seed : int, default=0
        Of the draws of findings. Selection and predictions do not depend on it.
    n_jobs : int, optional
        Threads that work on blocks of columns side by side; -1 = one per core. None = as many as
        BLAS may use (OMP_NUM_THREADS). The result is the same to the bit.
    verbose : int, default=0
        Above 0 says which stage begins, and what long ones took (columns per second, memory,
        time): to the logger "gradsift", or to stderr where nobody listens to it.

    Examples
    --------
    >>> from gradsift import GradientSiftRegressor, SiftOptions
    >>> model = GradientSiftRegressor(options=SiftOptions(weight_kind="importance"))
    """

    max_features: int | None = None
    weight_kind: WeightKind = "frequency"
    seed: int = 0
    n_jobs: int | None = None
    verbose: int = 0


@dataclass(frozen=True)
class SiftParameters:
    """The parameters of a fit, checked; see `GradientSiftRegressor`."""

    false_positives: float
    false_discovery_rate: float | None
    interactions: bool
    n_components: int | Literal["auto"]
    predict_with: Literal["auto", "selected"]
    missing: str
    inference: bool
    options: SiftOptions
    sift: SiftSettings
    refit: RefitSettings

    @property
    def needs_ranking(self) -> bool:
        """Whether the selected columns depend on more than the level of the sift."""
        return self.options.max_features is not None or self.false_discovery_rate is not None


def fit_sift(sample: Sample, params: SiftParameters, goal: Goal = "all") -> dict[str, Any]:
    """The fitted attributes of a model: sift all columns, infer from the sift, then refit on the
    selected columns; of the goal "support", the selected columns alone.
    """
    columns = sample.columns
    with one_blas_thread(workers=params.options.n_jobs), stages(params.options.verbose) as say:
        table = standard_table(sample, params.missing, say)
        fit = sift_problem(sample, table, params, say).run()
        if goal == "support" and not params.needs_ranking:
            selected = np.union1d(fit.selected, fit.bent)
            chosen = columns.choose(selected[selected < columns.n_encoded])
            return {"support_": columns.mask(chosen)}
        found, inferred = select(sample, fit, params, goal)
        if goal == "support":
            return {"support_": columns.mask(found.selected)}
        eta = fit.eta if isinstance(sample.response, Likelihood) else None
        n_paired = min(fit.problem.n_paired, columns.n_encoded)
        del fit  # its features are released before the refit needs memory
        return {
            "sift_": found,
            "ranking_": columns.ranking(found.ranking),
            "interactions_": columns.interactions(found.interactions),
            "n_paired_columns_": n_paired,
            **inferred,
            **refit_selected(sample, table, found, params, eta, say),
        }


def select(
    sample: Sample, fit: SiftFit, params: SiftParameters, goal: Goal
) -> tuple[SiftResult, dict[str, Any]]:
    """The columns that a sift selects, by its level or by tests, and the attributes with tests and
    findings, which need its features.
    """
    columns, rate, say = sample.columns, params.false_discovery_rate, fit.problem.say
    known = known_classes(sample) if isinstance(sample.response, Labels) else None
    found = columns.result(fit.result(known, ranked=goal != "predictions"))
    inferred: dict[str, Any] = {"association_": None}
    if goal == "all" and sample.groups is None and sample.response.exchangeable:
        association = column_association(fit, columns.n_encoded)
        inferred["association_"] = association and columns.association(association)
    if goal == "all" and params.inference:
        say("findings: columns that could act")
        findings = columns.findings(find_from(fit.problem, found, sample, params.options.seed))
        inferred |= {"findings_": list(findings), "confidence_": findings.confidence}
    if rate is not None:
        say("testing each variable given the best model without it")
        significance = column_significance(fit, sample.response.codes, n_columns=columns.n_encoded)
        found = selected_by_tests(found, significance, rate, columns.always)
        inferred["significance_"] = columns.significance(significance)
    return columns.limited(found, params.options.max_features), inferred


def find_from(problem: Sift, found: SiftResult, sample: Sample, seed: int) -> Findings:
    """Findings of a sift, from the terms that it selected before tests or limits."""
    response = sample.independent().response
    noise = 1.0 if isinstance(response, Likelihood) else None  # in units of the working response
    return find(
        problem,
        found.groups,
        codes=response.codes,
        noise=noise,
        n_columns=sample.columns.n_encoded,
        seed=seed,
    )


def known_classes(sample: Sample) -> Classes | None:
    """The classes of labelled rows whose log odds have a known part; None for other rows."""
    rows = sample.independent()
    assert isinstance(rows.response, Labels)
    labels = rows.response.adjusted_for(rows.covariates, rows.weight)
    if labels.offset is None:
        return None
    offset = labels.offset
    known = offset if offset.shape[1] == 1 else offset[:, 1:] - offset[:, :1]
    return Classes(labels.codes, known)


def selected_by_tests(
    found: SiftResult, tested: Significance, rate: float, always: IntArray
) -> SiftResult:
    """A result with the discoveries at a false discovery rate in the place of what was selected;
    they are ranked first, most certain first.
    """
    first = tested.discoveries(rate)
    ranking = np.lexsort((found.ranking, ~np.isin(np.arange(len(found.ranking)), first)))
    order = np.concatenate([first, ranking[len(first) :]])
    sure = {(t.first, t.second) for t in tested.products if t.q_value <= rate}
    ranks = np.empty_like(found.ranking)
    ranks[order] = np.arange(1, len(order) + 1)
    scores = found.scores / 2.0
    scores[first] = 2.0 - np.arange(len(first)) / max(len(first), 1)
    return replace(
        with_selected(found, np.union1d(first, always).astype(np.intp)),
        ranking=ranks,
        scores=scores,
        interactions=tuple(pair for pair in found.interactions if pair[:2] in sure),
    )


# The table of the sift: standardised columns, then those of covariates.


@dataclass(frozen=True, eq=False)
class StandardTable:
    """Standardised columns.

    Attributes
    ----------
    sifted : Source
        Columns of the rows that the sift compares (rows, or means of groups), those of covariates
        after them. A missing value is filled where other columns predict it; otherwise it is NaN.
    filled : Source
        Columns of the rows of the sample, missing values filled as in new samples.
    scaling : Scaling
        Of the rows of the sample.
    share : (n,) array
        Shares of the rows of the sample.
    constant : list of int
        Columns of `sifted` that never change.
    """

    sifted: Source
    filled: Source
    scaling: Scaling
    share: Array
    constant: list[int]


def standard_table(sample: Sample, missing: str, say: Say = silent) -> StandardTable:
    """Measure means and scales in one pass over a sample, and standardise."""
    X, weight, n = sample.source, sample.weight, sample.source.shape[0]
    share = np.full(n, 1.0 / n) if weight is None else weight / weight.sum()
    say(f"standardising {X.shape[1]:,} columns")
    scaling = measure_scaling(X, share, missing=missing)
    rows, row_scaling = sample.independent(), scaling
    if rows is not sample:
        m = rows.source.shape[0]
        row_scaling = measure_scaling(rows.source, np.full(m, 1.0 / m), missing=missing)
    source = standardised(rows.source, replace(row_scaling, fill=None))
    if row_scaling.fill is not None:
        source = with_predicted(source, rows.weight)
    filled = source
    if rows is not sample or (scaling.fill is not None and not is_whole(X)):
        filled = standardised(X, scaling)
    constant, C = np.flatnonzero(np.isinf(row_scaling.scale)).tolist(), rows.covariates
    if C is not None:  # between -1 and 1: the sift scales them, and clips none
        source = append_columns(source, C / np.maximum(np.abs(C).max(axis=0), np.finfo(float).tiny))
    return StandardTable(source, filled, scaling, share, constant)


def sift_problem(
    sample: Sample, table: StandardTable, params: SiftParameters, say: Say = silent
) -> Sift:
    """The sift of a table, ready to run."""
    rows = sample.independent()
    response = rows.response.adjusted_for(rows.covariates, rows.weight)
    return make_sift(
        table.sifted,
        response.start(),
        false_positives=params.false_positives,
        interactions=params.interactions,
        always_keep=sample.columns.always_in_sift,
        feature_groups=sample.columns.variable_in_sift,
        constant=table.constant,
        sample_weight=rows.weight,
        groups=rows.groups,
        robust=response.robust,
        likelihood=response if isinstance(response, Likelihood) else None,
        say=say,
        settings=params.sift,
    )


# The predictor on the selected columns.


def refit_selected(
    sample: Sample,
    table: StandardTable,
    found: SiftResult,
    params: SiftParameters,
    eta: Array | None,
    say: Say,
) -> dict[str, Any]:
    """The attributes with the predictor on the selected columns, and with what follows from it."""
    rows = refit_rows(sample.response)
    say(f"refit on {len(found.selected):,} selected, {len(rows):,} rows")
    Z = selected_columns(take_rows(sample.source, rows), table.scaling, found.selected)
    if sample.covariates is not None:
        sample = without_covariates(sample, Z, rows, found)
    each = [
        fit_predictor(one, table, found, Z, rows, params, eta, say) for one in of_outcomes(sample)
    ]
    predictor = each[0] if len(each) == 1 else OutcomePredictors(tuple(each))
    links = {}
    if isinstance(sample.response, Likelihood):
        links = links_of(sample.response.take(rows), sample, predictor, rows)
    return {
        "predictor_": predictor,
        **links,
        "covariates_": sample.covariate_map,
        **summarise(predictor, sample, rows, table.share, params),
    }


def of_outcomes(sample: Sample) -> list[Sample]:
    """The same sample with each of several outcomes."""
    response = sample.response
    if not isinstance(response, Numbers) or response.n_outcomes == 1:
        return [sample]
    return [replace(sample, response=response.outcome(j)) for j in range(response.n_outcomes)]


def fit_predictor(
    sample: Sample,
    table: StandardTable,
    found: SiftResult,
    Z: Array,
    rows: IntArray,
    params: SiftParameters,
    eta: Array | None,
    say: Say,
) -> Predictor:
    """The predictor on selected columns Z of some rows, averaged with predictors on all columns."""
    refit = refit_sample(sample, Z, rows, found.correlation, params.refit, eta)
    predictor = Predictor(table.scaling, found.selected, refit)
    every = len(rows) == len(table.share)
    if params.predict_with != "auto" or sample.groups is not None or not every:
        return predictor
    say("predictors on all columns")
    if isinstance(sample.response, Likelihood):
        return average_of_likelihood(sample, sample.response, table, predictor, Z, params.refit)
    score = log_score(sample, refit, params.refit)
    return average(predictor, table.filled, Z, score, params.refit)


def refit_rows(response: Response) -> IntArray:
    """Rows that the refit is fitted to: all, or very many drawn with a fixed seed, and one of every
    class at least.
    """
    n, codes = len(response.values), response.codes
    if n <= REFIT_ROWS:
        return np.arange(n)
    first = np.zeros(1, dtype=np.intp) if codes is None else np.unique(codes, return_index=True)[1]
    return np.union1d(drawn_rows(n, REFIT_ROWS), first)


def refit_sample(
    sample: Sample,
    Z: Array,
    rows: IntArray,
    correlation: float,
    settings: RefitSettings,
    eta: Array | None = None,
) -> Refit:
    """The predictor on selected columns Z of some rows.

    With groups, rows have smaller weights (`effective_weights`). For numbers, the random intercept
    of every group is then predicted from the residuals of the first fit (best linear unbiased
    prediction at the intraclass correlation) and subtracted, and the fit is made again. `eta` is
    the fit of the sift, (n, 1), where a working response follows from it.
    """
    response, weight, groups = sample.response, sample.weight, sample.groups
    some = None if weight is None else weight[rows]
    if isinstance(response, Likelihood) and eta is not None:
        known, eta = response.take(rows), eta[rows]
        for _ in range(WORKING_ROUNDS):  # at the fit of the sift, then at the fit to that
            y = known.working(eta, np.ones(len(rows)) if some is None else some)[:, 0]
            refit = refit_regression(Z, y, sample_weight=some, robust=False, settings=settings)
            eta = refit.value(Z)
        return refit
    if groups is None:
        return refit_response(response, Z, rows, weight, settings)
    one_per_group = sample.one_per_group
    alike = correlation * column_correlation(Z, groups[rows], some) if not one_per_group else 1.0
    effective = effective_weights(weight, groups, alike)
    refit = refit_response(response, Z, rows, effective, settings)
    if one_per_group or not isinstance(response, Numbers) or correlation * Z.shape[1] == 0:
        return refit
    counts = np.ones(len(groups)) if weight is None else weight
    size = np.bincount(groups[rows], counts[rows], int(groups.max()) + 1)
    part = size * correlation / (1.0 + np.maximum(size - 1.0, 0.0) * correlation)
    residual = counts[rows] * (response.y[rows] - refit.value(Z)[:, 0])
    size = np.maximum(size, 1e-300)
    level = part * np.bincount(groups[rows], residual, len(size)) / size
    again = response.given(level[groups][:, None])
    effective = counts * (1.0 - part / np.maximum(size, 1.0))[groups]
    return refit_response(again, Z, rows, effective, settings)


def refit_response(
    response: Response, Z: Array, rows: IntArray, weight: Array | None, settings: RefitSettings
) -> Refit:
    """The predictor of a response on selected columns Z of some rows."""
    some, weight = response.take(rows), None if weight is None else weight[rows]
    if isinstance(some, Labels):
        return refit_classification(
            Z,
            some.codes,
            n_classes=some.n_classes,
            sample_weight=weight,
            offset=some.offset,
            settings=settings,
        )
    y = some.start()[:, 0]
    return refit_regression(Z, y, sample_weight=weight, robust=some.robust, settings=settings)


def links_of(
    response: Likelihood,
    sample: Sample,
    predictor: Predictor | OutcomePredictors,
    rows: IntArray,
) -> dict[str, Link]:
    """The attributes that say how predictions of the response of some rows follow from a predictor
    fitted to these, with and without members.
    """
    weight = np.ones(len(rows)) if sample.weight is None else sample.weight[rows]
    X = take_rows(sample.source, rows)
    return {
        "link_": response.link(predictor.eta(X, "auto"), weight),
        "selected_link_": response.link(predictor.eta(X, "selected"), weight),
    }


def log_score(
    sample: Sample, refit: Refit, settings: RefitSettings
) -> NumberScore | ClassScore | None:
    """How predictors on all columns learn numbers or labels; None where none are tried."""
    response, weight = sample.response, sample.weight
    if isinstance(response, Labels):
        if response.offset is not None:  # predictors on all columns know no offset
            return None
        return ClassScore.of(response.codes, response.n_classes, weight, settings)
    return NumberScore.of(response.start()[:, 0], weight, refit, settings)


def average_of_likelihood(
    sample: Sample,
    response: Likelihood,
    table: StandardTable,
    predictor: Predictor,
    Z: Array,
    settings: RefitSettings,
) -> Predictor:
    """The predictor averaged with predictors on all columns: these are fitted to the working
    response where nothing is known, then to that at the average. At the predictor on selected
    columns it would lack what all columns know.
    """
    eta: Array = np.zeros((len(Z), 1))
    averaged = predictor
    for _ in range(WORKING_ROUNDS):
        score = LikelihoodScore.of(response, eta, sample.weight, predictor.refit, settings)
        averaged = average(predictor, table.filled, Z, score, settings)
        eta = averaged.eta(sample.source)
    return averaged


def summarise(
    predictor: Predictor | OutcomePredictors,
    sample: Sample,
    rows: IntArray,
    share: Array,
    params: SiftParameters,
) -> dict[str, Any]:
    """The attributes with importances and directions, from the gradient of the predictor at some
    rows. Several outcomes count in standard deviations of each.
    """
    p, index = sample.source.shape[1], predictor.index
    some = take_rows(sample.source, rows)
    if len(rows) < len(share):
        share = share[rows] / share[rows].sum()
    root = np.sqrt(share)[:, None]
    F = root * predictor.standard_gradient(some)
    several = isinstance(predictor, OutcomePredictors)
    if several:
        Y = sample.response.start()[rows]
        F = F / np.sqrt(share @ (Y - share @ Y) ** 2)[:, None, None]
    standard = F.transpose(2, 0, 1).reshape(len(index), F.shape[0] * F.shape[1])
    # a selected variable is in, however flat the refit finds it: never an exact zero
    importances, least = np.zeros(p), np.finfo(float).tiny
    importances[index] = np.maximum(np.linalg.norm(standard, axis=1), least)

    def joint(single: Array, slopes: Array, labels: IntArray | None) -> Array:
        out, together = single.copy(), [] if labels is None else several_of_each(labels[index])
        Z = root * predictor.columns(some) if together else root
        for places in together:
            out[index[places]] = max(joint_importance(slopes[places], Z[:, places]), least)
        return out

    columns = sample.columns
    origins = None if columns.encoder is None else columns.origins
    single = joint(importances, standard, origins)
    whole = joint(importances, standard, columns.variable)
    directions = find_directions(index, standard, p, params.n_components)
    found = {
        "feature_importances_": columns.importances(single),
        "variable_importances_": columns.importances(whole),
        **direction_attributes(directions, predictor.scaling),
    }
    if several:
        outcomes = np.zeros((len(F), p))
        each = standard.reshape(len(index), *F.shape[:2])
        outcomes[:, index] = np.linalg.norm(each, axis=2).T
        of_each = [joint(v, G.T, origins) for v, G in zip(outcomes, F, strict=True)]
        found["outcome_importances_"] = np.stack([columns.importances(v) for v in of_each])
    return found
