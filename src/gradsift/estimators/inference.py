"""Findings of a fitted sift, for a model and its data."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gradsift._run.progress import stages
from gradsift._run.threads import one_blas_thread
from gradsift.data import Scaling, measure_scaling
from gradsift.data.source import set_beside
from gradsift.estimators.base import blank
from gradsift.estimators.covariate_regression import own_result
from gradsift.estimators.covariates import check_same_covariates
from gradsift.estimators.sample import SiftSample, refuse_with_groups, refuse_with_offset
from gradsift.estimators.sift_fit import (
    SiftOptions,
    open_sift,
    seed_of,
    standard_covariates,
    with_holes,
)
from gradsift.inference.decode_columns import findings_of_table
from gradsift.inference.findings import Findings, find
from gradsift.sift import SiftResult


def findings(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    random_state: Any = None,
    *,
    groups: Any = None,
    covariates: Any = None,
    offset: Any = None,
) -> Findings:
    """Which columns could be the ones that act, and how sure it is that one of them does.

    Rows are few and columns alike, so a selected column often stands for others that explain the
    response as well. A finding is a set of columns that take each other's place; its confidence is
    the probability that at least one of them acts. Confidences are those of a Bayesian model with a
    few smooth effects, each of one column or of a product of two; how often they hold was measured
    (`docs/findings.md`): from .95 on as stated, below as a rough order.

    Parameters
    ----------
    model : GradientSiftRegressor or GradientSiftClassifier
        Fitted. What it selected is where half of the chains start.
    X : (n, p) array or data frame
        The table the model was fitted to.
    y : (n,) array
        The response the model was fitted to.
    sample_weight : (n,) array, optional
        The weights the model was fitted with.
    random_state : int, optional
        Seed of the draws; None is the seed of the model. The same seed gives the same bits.
    groups : (n,) array, optional
        The groups of rows the model was fitted with. The response must be constant in each group,
        which then counts as one sample.
    covariates, offset : optional
        Those the model was fitted with.

    Returns
    -------
    found : Findings
        Its `findings`, the most certain first, and the `confidence` of every column. It is also a
        sequence of the findings.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import GradientSiftRegressor, findings
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 30))
    >>> X[:, 8] = X[:, 3] + 0.1 * rng.normal(size=100)      # nearly a copy
    >>> y = X[:, 3] ** 2 + X[:, 5] + rng.normal(size=100)
    >>> model = GradientSiftRegressor().fit(X, y)
    >>> found = findings(model, X, y)
    >>> for finding in sorted(found, key=lambda finding: min(finding.columns)):
    ...     print(sorted(finding.columns.tolist()), finding.confidence > 0.95, finding.shape)
    [3, 8] True linear + quadratic
    [5] True linear
    """
    check_is_fitted(model, "sift_")
    if groups is None:
        refuse_with_groups(model.n_groups_, "findings() without groups=")
    door = blank(model)
    sample = model._sample(door, X, y, sample_weight, groups, covariates, offset)
    check_same_covariates(model.covariates_, covariates)
    options = model._options(door)
    if random_state is not None:
        options = replace(options, seed=seed_of(random_state))
    found = sample_findings(sample, model.sift_, model.field_.scaling, options)
    return found if door.encoder_ is None else findings_of_table(found, door.encoder_.origins)


def with_findings(model: Any, X: Any, y: Any, **params: Any) -> Any:
    """A finished fit to a table of numbers, with what `inference=True` would have added to it: in
    a step of its own, so that the fit can be written before.
    """
    door = blank(model)
    sample = model._sample(door, X, y, **params)
    sure = copy(model).set_params(inference=True)
    options = model._options(door)
    vars(sure).update(finding_attributes(sample, model.sift_, model.field_.scaling, options))
    return sure


def finding_attributes(
    sample: SiftSample, sifted: SiftResult, scaling: Scaling, options: SiftOptions
) -> dict[str, Any]:
    """What `inference=True` adds to a fit."""
    with stages(options.verbose) as say:
        say("findings: columns that could act")
        found = sample_findings(sample, sifted, scaling, options)
    return {"findings_": list(found.findings), "confidence_": found.confidence}


def refuse_findings(sample: SiftSample, what: str) -> None:
    """Findings know no offset of labels, and no response that differs inside of a group."""
    refuse_with_offset(sample.target, what)
    if not sample.one_per_group:
        refuse_with_groups(sample.groups, f"{what} of a response that differs inside of a group")


def sample_findings(
    sample: SiftSample, sifted: SiftResult, scaling: Scaling, options: SiftOptions
) -> Findings:
    """Findings of a checked table."""
    refuse_findings(sample, "findings()")
    rows = sample.independent()
    with one_blas_thread(workers=options.n_jobs):
        terms = sifted.groups
        if options.false_discovery_rate is not None or options.rule.most is not None:
            # what the sift selects before tests or a limit to the number of variables
            unlimited = open_sift(sample, options).run()
            terms = own_result(unlimited.result(), sample.X.shape[1]).groups
        if rows is not sample:
            m = rows.X.shape[0]
            scaling = measure_scaling(rows.X, np.full(m, 1.0 / m), missing=options.missing)
        source = with_holes(rows.X, scaling, rows.weight)
        target = rows.target.beside(rows.covariates, rows.weight)
        found = find(
            set_beside(source, standard_covariates(rows)),
            target.contrasts,
            terms,
            codes=target.codes,
            always_keep=[*options.rule.keep.tolist(), *sample.extra],
            constant=np.flatnonzero(np.isinf(scaling.scale)).tolist(),
            sample_weight=rows.weight,
            seed=options.seed or 0,
            sift_settings=replace(options.sift, clip_lines=sifted.clip_lines),
        )
    return found.among(sample.X.shape[1])
