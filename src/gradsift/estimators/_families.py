"""Credible families of a fitted sift: the door between estimators and `trust`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from sklearn.utils.validation import check_is_fitted

from gradsift._run.progress import stages
from gradsift._run.threads import one_blas_thread
from gradsift.data import Scaling
from gradsift.data.source import set_beside
from gradsift.estimators._base import blank
from gradsift.estimators._covariate_part import own_result
from gradsift.estimators._covariates import check_same_covariates
from gradsift.estimators._groups import refuse_with_groups
from gradsift.estimators._offset import refuse_with_offset
from gradsift.estimators._sift_parts import (
    SiftOptions,
    open_sifter,
    seed_of,
    standard_covariates,
    with_holes,
)
from gradsift.estimators._sift_sample import SiftSample
from gradsift.exceptions import RoughFamiliesWarning
from gradsift.sift import ChosenGroup, SiftResult, describe
from gradsift.trust.credible import find_families
from gradsift.trust.discoveries import column_significance, own_columns
from gradsift.trust.families import CredibleFamilies
from gradsift.trust.original import families_of_table

MOST_ROUGH = 0.05
"""Roughness of a probability that is shown, above which a warning says so."""


def credible_families(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    random_state: Any = None,
    *,
    covariates: Any = None,
    offset: Any = None,
) -> CredibleFamilies:
    """Which columns could be the ones that act, and how sure it is that one of them does.

    Rows are few and columns alike, so a selected column often stands for others that explain the
    response as well. A family is a set of columns that take each other's place; its probability
    says how sure it is that at least one of them acts. The probabilities are those of a Bayesian
    model with a few smooth effects, each of one column or of a product of two; how often they hold
    was measured (`docs/trust.md`).

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
    covariates, offset : optional
        Those the model was fitted with.

    Returns
    -------
    found : CredibleFamilies
        Its `families`, the most probable first, and `inclusion_probabilities`. It is also a
        sequence of the families.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import GradientSiftRegressor, credible_families
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 30))
    >>> X[:, 8] = X[:, 3] + 0.1 * rng.normal(size=100)      # nearly a copy
    >>> y = X[:, 3] ** 2 + X[:, 5] + rng.normal(size=100)
    >>> model = GradientSiftRegressor().fit(X, y)
    >>> found = credible_families(model, X, y)
    >>> for family in sorted(found, key=lambda family: min(family.columns)):
    ...     print(sorted(family.columns.tolist()), f"{family.probability:.2f}", family.shape)
    [3, 8] 1.00 linear + quadratic
    [5] 1.00 linear
    """
    check_is_fitted(model, "sift_")
    refuse_with_groups(model.n_groups_, "credible_families()")
    door = blank(model)
    sample = model._sample(door, X, y, sample_weight, None, covariates, offset)
    refuse_with_offset(sample.target, "credible_families()")
    check_same_covariates(model.covariates_, covariates)
    options = model._options(door)
    if random_state is not None:
        options = replace(options, seed=seed_of(random_state))
    terms = all_terms(sample, model.sift_, options)
    found = sure_families(sample, terms, model.field_.scaling, options)
    return found if door.encoder_ is None else families_of_table(found, door.encoder_.origins)


def with_inference(model: Any, X: Any, y: Any, **told: Any) -> Any:
    """A finished fit to a table of numbers, with what `inference=True` would have added to it: in
    a step of its own, so that the fit can be written before.
    """
    door = blank(model)
    sample = model._sample(door, X, y, **told)
    sure = copy(model).set_params(inference=True)
    vars(sure).update(
        inference_attributes(sample, model.sift_, model.field_.scaling, model._options(door))
    )
    return sure


def inference_attributes(
    sample: SiftSample, sifted: SiftResult, scaling: Scaling, options: SiftOptions
) -> dict[str, Any]:
    """What `inference=True` adds to a fit: families, and tests of the columns and families."""
    with one_blas_thread(workers=options.n_jobs), stages(options.verbose) as say:
        say("families of columns that could act")
        terms = all_terms(sample, sifted, options)
        found = sure_families(sample, terms, scaling, options)
        say("tests beside the best explanation without each")
        sifter = open_sifter(sample, options)
        tested = column_significance(
            sifter,
            sifter.run(),
            sample.target.codes,
            families=own_columns(found),
        )
    return {
        "families_": list(found.families),
        "inclusion_probabilities_": found.inclusion_probabilities,
        "significance_": tested.among(sample.X.shape[1]),
    }


def all_terms(
    sample: SiftSample, found: SiftResult, options: SiftOptions
) -> tuple[ChosenGroup, ...]:
    """What the sift selects before tests or a limit to the number of variables take some away:
    families do not depend on these.
    """
    if options.false_discovery_rate is None and options.rule.most is None:
        return found.groups
    with one_blas_thread(workers=options.n_jobs):
        sifter = open_sifter(sample, options)
        return own_result(describe(sifter, sifter.run()), sample.X.shape[1]).groups


def sure_families(
    sample: SiftSample, terms: Sequence[ChosenGroup], scaling: Scaling, options: SiftOptions
) -> CredibleFamilies:
    """Families of a checked table, with a warning where their probabilities are rough."""
    target = sample.target
    if target.codes is None:  # of labels, the covariates have a part in the latent response
        target = target.beside(sample.covariates, sample.weight)
    with one_blas_thread(workers=options.n_jobs):
        found = find_families(
            set_beside(with_holes(sample.X, scaling, sample.weight), standard_covariates(sample)),
            target.contrasts,
            terms,
            codes=target.codes,
            always_keep=[*options.rule.keep.tolist(), *sample.extra],
            sample_weight=sample.weight,
            n_columns=sample.X.shape[1],
            seed=options.seed or 0,
            sift_settings=options.sift,
        )
    if found.shown.value > MOST_ROUGH:
        warnings.warn(
            "the probabilities of families and their members are rough: some may be off by "
            f"{found.shown.value:.2f} or so, because several sets of columns explain the response "
            f"about as well and chains of draws seldom go from one to another. Draws that began "
            f"with the selected variables and draws that began with nothing differ by "
            f"{found.shown.disagreement:.2f}; the largest standard error is "
            f"{found.shown.standard_error:.2f}.",
            RoughFamiliesWarning,
            stacklevel=3,
        )
    return found.among(sample.X.shape[1])
