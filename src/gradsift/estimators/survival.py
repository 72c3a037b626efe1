"""GradientSiftSurvival: which variables the hazard depends on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Self, cast

import numpy as np
from numpy.typing import ArrayLike

from gradsift._run.threads import same_bits
from gradsift.data.responses import to_floats
from gradsift.estimators.docstrings import completed, documented
from gradsift.estimators.sift import (
    FIT,
    FITS,
    GradientSift,
    GradientSiftClassifier,
    GradientSiftRegressor,
)
from gradsift.protocols import Array, TableLike
from gradsift.refit.settings import SURVIVAL
from gradsift.responses.survival import (
    BaselineHazard,
    Records,
    Survival,
    concordance,
    survival_of,
    survival_records,
)

TIMES = "(m,) array"
STRATUM = """int, default=0
    Number of the stratum, in the order of its sorted labels, whose baseline is used."""


@completed(GradientSiftRegressor)
@dataclass(eq=False, repr=False)
class GradientSiftSurvival(GradientSift):
    """Find the variables that a survival time depends on, nonlinear and interacting ones included.

    As `GradientSiftRegressor`, for times of which some are censored. The hazard is modelled as
    h(t) exp(f(x)): the *sift* compares supports by Cox's partial likelihood, and the *refit* fits a
    smooth f of the selected variables. `predict` returns the risk f(x): the higher, the earlier
    the event. Two assumptions: censoring is independent of the event given the variables, and f
    does not change with time (proportional hazards).

    Parameters
    ----------
    false_positives, false_discovery_rate, interactions, n_components, always_keep, \
feature_groups, predict_with, missing, inference, options
        As in `GradientSiftRegressor`.

    Attributes
    ----------
    link_, selected_link_ : BaselineHazard
        Breslow's estimates of the cumulative hazard at risk 0, for predictions with and without
        predictors on all columns.
    n_events_ : int
        Events among the rows of the fit. Below about 20, expect that only strong effects are found.
    feature_importances_, variable_importances_, ranking_, interactions_, n_paired_columns_, \
components_, eigenvalues_, sift_, association_, significance_, predictor_, mean_, scale_, ranges_, \
n_groups_, feature_groups_, \
encoder_, covariates_, has_offset_, findings_, confidence_, answer_
        As in `GradientSiftRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import GradientSiftSurvival
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(300, 50))
    >>> death = rng.exponential(np.exp(-X[:, 3] - X[:, 7] ** 2))
    >>> end = rng.exponential(2.0, size=300)
    >>> model = GradientSiftSurvival().fit(X, np.minimum(death, end), event=death < end)
    >>> model.get_support(indices=True).tolist()
    [3, 7]
    >>> model.predict_survival_function(X[:2], [0.1, 1.0]).shape
    (2, 2)

    References
    ----------
    :cite:`cox-1972`
    """

    response_type = Survival
    refit_settings = SURVIVAL

    @documented(
        FITS,
        **FIT,
        y="""(n,) array of times, with `event`; or both together
            Both together are a structured array with a field of truth values and one of times (as
            in scikit-survival), or a table of two columns.""",
        event="""(n,) array of bool or 0/1, optional
            Whether the event was observed; False where the row was censored.""",
        entry="""(n,) array, optional
            Times from which rows were observed (left truncation).""",
        strata="""(n,) array of labels, optional
            Rows of one stratum have a baseline hazard of their own.""",
        offset="(n,) array, optional\n    A known part of the log hazard.",
    )
    def fit(  # type: ignore[override]  # rows have times, not groups
        self,
        X: TableLike,
        y: ArrayLike,
        event: ArrayLike | None = None,
        entry: ArrayLike | None = None,
        strata: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        covariates: TableLike | None = None,
        offset: ArrayLike | None = None,
    ) -> Self:
        records = survival_target(y, event, entry, strata)
        given = {"sample_weight": sample_weight, "covariates": covariates, "offset": offset}
        self.fit_for("all", X, records, **given)
        self.n_events_ = int(records["event"].sum())
        return self

    @same_bits
    @documented(
        "The risk: the log hazard less that of the mean row of the fit.",
        "risk : (n,) array\n    The higher, the earlier the event.",
    )
    def predict(
        self, X: TableLike, covariates: TableLike | None = None, offset: ArrayLike | None = None
    ) -> Array:
        return self._link.predict(self._predicted(X, covariates, offset))

    @documented(
        "The cumulative hazard of each row at some times.",
        "hazard : (n, m) array",
        times=TIMES,
        stratum=STRATUM,
    )
    def predict_cumulative_hazard_function(
        self,
        X: TableLike,
        times: ArrayLike,
        covariates: TableLike | None = None,
        offset: ArrayLike | None = None,
        stratum: int = 0,
    ) -> Array:
        eta = self._predicted(X, covariates, offset)
        baseline = cast(BaselineHazard, self._link)
        return baseline.cumulative_hazard(eta, np.atleast_1d(to_floats(times, "times")), stratum)

    @documented(
        "The probability of no event until some times.",
        "survival : (n, m) array",
        times=TIMES,
        stratum=STRATUM,
    )
    def predict_survival_function(
        self,
        X: TableLike,
        times: ArrayLike,
        covariates: TableLike | None = None,
        offset: ArrayLike | None = None,
        stratum: int = 0,
    ) -> Array:
        hazard = self.predict_cumulative_hazard_function(X, times, covariates, offset, stratum)
        return np.asarray(np.exp(-hazard))

    @documented(
        "The median survival time: the first event time of the fit by which the probability of no "
        "event is at most one half.",
        "median : (n,) array\n    Infinite where that is not reached by the last event of the fit.",
        stratum=STRATUM,
    )
    def predict_median(
        self,
        X: TableLike,
        covariates: TableLike | None = None,
        offset: ArrayLike | None = None,
        stratum: int = 0,
    ) -> Array:
        baseline = cast(BaselineHazard, self._link)
        return baseline.median(self._predicted(X, covariates, offset), stratum)

    @documented(
        "Harrell's concordance of the predicted risk.",
        """score : float
            The share of comparable pairs of rows in which the earlier event has the higher risk.
        """,
        event="(n,) array of bool or 0/1, optional\n    As in `fit`.",
    )
    def score(
        self,
        X: TableLike,
        y: ArrayLike,
        event: ArrayLike | None = None,
        covariates: TableLike | None = None,
        offset: ArrayLike | None = None,
    ) -> float:
        return concordance(survival_target(y, event), self.predict(X, covariates, offset))


def survival_target(
    y: ArrayLike,
    event: ArrayLike | None = None,
    entry: ArrayLike | None = None,
    strata: ArrayLike | None = None,
) -> Records:
    """Records of survival times, from times and events or from both together."""
    if event is not None or y is None:
        return survival_records(y, event, entry, strata)
    records = survival_of(y)
    if entry is None and strata is None:
        return records
    return survival_records(records["time"], records["event"], entry, strata)


SIFTS: dict[str, Callable[..., GradientSift]] = {
    "regression": GradientSiftRegressor,
    "classification": GradientSiftClassifier,
    "counts": partial(GradientSiftRegressor, family="negative-binomial"),
    "ordinal": partial(GradientSiftClassifier, ordered=True),
    "survival": GradientSiftSurvival,
}
"""The estimator of each task."""
