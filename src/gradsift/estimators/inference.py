"""Findings and tests of columns, for a model and its data: `findings` and `significance`.

Both check their input as `fit` does (`Sample`), sift the table and call `gradsift.inference`; their
results are about the columns of the user's table.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from gradsift._run.progress import stages
from gradsift._run.threads import one_blas_thread
from gradsift.estimators.sample import refuse_with_groups
from gradsift.estimators.sift import GradientSift, check_parameters, make_sample
from gradsift.estimators.sift_fit import SiftOptions, find_from, sift_problem, standard_table
from gradsift.estimators.validation import Columns, check_columns, given
from gradsift.inference.conditional_tests import column_significance
from gradsift.inference.findings import Finding, Findings
from gradsift.inference.results import Significance
from gradsift.inference.settings import PRODUCT
from gradsift.protocols import TableLike


def findings(
    model: GradientSift,
    X: TableLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    seed: int | None = None,
    *,
    groups: ArrayLike | None = None,
    covariates: TableLike | None = None,
    offset: ArrayLike | None = None,
    exposure: ArrayLike | None = None,
) -> Findings:
    """Sets of columns of which one acts on the response, with the probability that one does.

    With few rows and correlated columns, a selected column often represents others that explain the
    response as well. A finding is a set of such columns; its confidence is the probability that at
    least one of them acts. Confidences are those of a Bayesian model with a
    few smooth effects, each of one column or of a product of two; how often they hold was measured
    (`docs/findings.md`): from .95 on as stated, below as a rough order.

    Parameters
    ----------
    model : GradientSiftRegressor, GradientSiftClassifier or GradientSiftSurvival
        Fitted. Half of the chains of the sampler start from the columns that it selected.
    X : (n, p) array or data frame
        The table the model was fitted to.
    y : (n,) array
        The response the model was fitted to; survival times in one of the forms of both together.
    sample_weight : (n,) array, optional
        The weights the model was fitted with.
    seed : int, optional
        Seed of the draws; None is the seed of the model. The same seed gives the same bits.
    groups : (n,) array, optional
        The groups of rows the model was fitted with. The response must be constant in each group,
        which then counts as one sample.
    covariates, offset, exposure : optional
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

    References
    ----------
    :cite:`wang-2020`, :cite:`maller-2012`
    """
    check_is_fitted(model, "sift_")
    if groups is None:
        refuse_with_groups(model.n_groups_, "findings() without groups=")
    sample = make_sample(model, X, y, sample_weight, groups, covariates, offset, exposure)
    if (model.covariates_ is None) != (covariates is None):
        raise ValueError(
            f"the model was fitted {'with' if covariates is None else 'without'} covariates: give "
            "the table, the response and the covariates that it was fitted to."
        )
    params = check_parameters(model, sample)
    sample.refuse("findings()", changing=True)
    with one_blas_thread(workers=params.options.n_jobs):
        # with features as the fit had them
        settings = replace(params.sift, clip_lines=model.sift_.clip_lines)
        table, stored = standard_table(sample, params.missing), model.sift_
        problem = sift_problem(sample, table, replace(params, sift=settings))
        if params.needs_ranking:  # what the sift selects before tests or a limit
            fit = sift_problem(sample, table, params).run()
            problem, stored = fit.problem, sample.columns.result(fit.result())
        seed = params.options.seed if seed is None else seed
        return sample.columns.findings(find_from(problem, stored, sample, seed))


def with_findings(
    model: GradientSift, X: TableLike, y: ArrayLike, **fit_params: Any
) -> GradientSift:
    """A fitted model with the findings that `inference=True` adds, without its answer: who calls
    this makes one with the names of its own table.
    """
    with stages(given(model.options, SiftOptions, "options").verbose) as say:
        say("findings: columns that could act")
        found = findings(model, X, y, **fit_params)
    sure = copy(model).set_params(inference=True)
    vars(sure).update(findings_=list(found.findings), confidence_=found.confidence)
    return sure


def significance(
    model: GradientSift,
    X: TableLike,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    findings: Sequence[Finding] | Findings | None = None,
    strict: bool = False,
    columns: Columns = None,
    covariates: TableLike | None = None,
    offset: ArrayLike | None = None,
) -> Significance:
    """p- and q-values of every column, alone and together with those that could take its place.

    Each candidate is tested given the reduced model: the best model that does without the column. A
    small q-value says that no other columns explain the response as well. It does not say that the
    column is a cause, and a large one does not say that it is useless: of near-copies none is
    needed given the others, and only all of them together have a small q-value
    (`finding_q_values`).

    Parameters
    ----------
    model : GradientSiftRegressor or GradientSiftClassifier
        Its parameters say how to sift; it need not be fitted.
    X : (n, p) array or data frame
    y : (n,) array
    sample_weight : (n,) array, optional
    findings : Findings or sequence of Finding, optional
        What `findings` found. Columns of a finding are tested together with it, and its most
        probable column is tested. Other columns are tested together with those whose correlation
        with them is .8 or more in absolute value.
    strict : bool, default=False
        Test each column given its reduced model alone, and not also given the other selected
        columns: fewer false discoveries than asked for, and less power.
    columns : list of column numbers or names, optional
        Columns to test in addition to those that are selected or nearly so.
    covariates, offset : optional
        As in `fit`: part of every model.

    Returns
    -------
    significance : Significance

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import GradientSiftRegressor, significance
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(150, 100))
    >>> y = X[:, 3] ** 2 + X[:, 7] + rng.normal(size=150)
    >>> found = significance(GradientSiftRegressor(), X, y)
    >>> sorted(found.discoveries(0.1).tolist())
    [3, 7]

    References
    ----------
    :cite:`benjamini-1995`, :cite:`candes-2018`, :cite:`lei-2018`
    """
    # a model need not be fitted for this: then nothing is known of its groups
    refuse_with_groups(getattr(model, "n_groups_", None), "significance()")
    sample = make_sample(model, X, y, sample_weight, None, covariates, offset)
    sample.refuse("significance()", groups=True)
    params, known = check_parameters(model, sample), sample.learned
    names = known.get("feature_names_in_")
    also = check_columns(columns, known["n_features_in_"], names, "columns")
    with one_blas_thread(workers=params.options.n_jobs):
        table = standard_table(sample, params.missing)
        found = column_significance(
            sift_problem(sample, table, params).run(),
            sample.response.codes,
            # products have tests of their own
            findings=[one.columns for one in findings or () if one.shape != PRODUCT],
            strict=strict,
            also=sample.columns.encoded(also).tolist(),
            n_columns=sample.columns.n_encoded,
        )
    return sample.columns.significance(found)
