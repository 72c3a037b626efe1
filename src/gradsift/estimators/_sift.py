"""GradientSift: gradient learning with a potential. The default: no kernel, no alpha, no tuning."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Literal, Self

from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from gradsift._run.threads import same_bits
from gradsift._typing import Array, IntArray, Source
from gradsift.data import ScaledSource, take_rows
from gradsift.estimators._base import (
    GradientEstimator,
    blank,
    check_n_components,
    keep,
    summary_attributes,
    warn_nothing_selected,
)
from gradsift.estimators._column_rule import check_column_rule
from gradsift.estimators._description import RidgePart
from gradsift.estimators._families import family_attributes
from gradsift.estimators._sample_weight import WeightKind, check_weights, warn_of_counts
from gradsift.estimators._sift_parts import (
    Interaction,
    Labels,
    Numbers,
    RefitField,
    SiftFit,
    SiftOptions,
    find_support,
    fit_sift,
    open_sifter,
    seed_of,
)
from gradsift.estimators._tasks import LabelPredictions, class_weights
from gradsift.estimators._validation import (
    check_columns,
    check_fit_X,
    check_labels,
    check_new_X,
    check_numbers,
    warn_of_rare_classes,
)
from gradsift.refit import Dense
from gradsift.refit.settings import LABELS, NUMBERS, RefitSettings
from gradsift.sift import Sifter, SiftSettings


class Sifting(GradientEstimator):
    """What a fitted sift has: its field, and the ridge that may have a part in predictions."""

    field_: RefitField
    dense_: Dense | None
    refit_: Any
    interactions_: list[Interaction]
    false_positives: float
    predict_with: Literal["auto", "selected"]

    sift_settings: ClassVar[SiftSettings] = SiftSettings()
    refit_settings: ClassVar[RefitSettings]

    def _blend(self, sparse: Array, X: Source) -> Array:
        """Predictions from the selected variables, averaged with those of the ridge, if it
        has a part in them.
        """
        if self.dense_ is None or self.predict_with == "selected":
            return sparse
        # a view: only the columns that the ridge uses are read and standardised
        return self.dense_.blend(sparse, ScaledSource(X, self.field_.scaling))

    def _particulars(self) -> dict[str, Any]:
        ridge, used = self.dense_, self.predict_with == "auto"
        return {
            "interactions": tuple((pair.first, pair.second) for pair in self.interactions_),
            "false_positives": float(self.false_positives),
            "ridge": None if ridge is None else RidgePart(ridge.share, len(ridge.index), used),
        }


@dataclass(eq=False, repr=False)
class GradientSift(Sifting):
    """Parameters of both tasks, and how they become options."""

    false_positives: float = 0.3
    _: KW_ONLY
    false_discovery_rate: float | None = None
    interactions: bool = True
    standardize: bool = True
    n_components: int | Literal["auto"] = "auto"
    always_keep: Any = None
    column_groups: Any = None
    max_features: int | None = None
    predict_with: Literal["auto", "selected"] = "auto"
    tol: float = 1e-3
    missing: Literal["error", "mean"] = "error"
    weight_kind: WeightKind = "frequency"
    inference: bool = False
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    def _options(self, door: Any) -> SiftOptions:
        """The parameters, checked against the columns that `door` was told about."""
        p = door.n_features_in_
        check_n_components(self.n_components)
        if not 0.0 < self.false_positives < p + 1e-9:
            raise ValueError(
                f"false_positives={self.false_positives}: the expected number of false variables "
                f"lies above 0 and below the number of columns ({p})."
            )
        rate = self.false_discovery_rate
        if rate is not None and not 0.0 < rate < 1.0:
            raise ValueError(
                f"false_discovery_rate={rate}: the share of false variables among those selected "
                "lies above 0 and below 1; None selects by false_positives."
            )
        if not self.tol > 0:
            raise ValueError(f"tol={self.tol} must be positive.")
        if self.predict_with not in ("auto", "selected"):
            raise ValueError(f"predict_with={self.predict_with!r}: use 'auto' or 'selected'.")
        names = getattr(door, "feature_names_in_", None)
        kept = check_columns(self.always_keep, p, names, "always_keep")
        return SiftOptions(
            false_positives=self.false_positives,
            false_discovery_rate=rate,
            interactions=self.interactions,
            standardize=self.standardize,
            n_components=self.n_components,
            rule=check_column_rule(self.column_groups, kept, self.max_features, p),
            predict_with=self.predict_with,
            tol=self.tol,
            missing=self.missing,
            seed=seed_of(self.random_state),
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            sift=self.sift_settings,
            refit=self.refit_settings,
        )


def named_columns(door: Any, columns: Any) -> list[int]:
    """Column numbers from numbers or names."""
    names = getattr(door, "feature_names_in_", None)
    found: list[int] = check_columns(columns, door.n_features_in_, names, "columns").tolist()
    return found


def sift_attributes(fit: SiftFit) -> dict[str, Any]:
    """The attributes of a fitted GradientSift."""
    tested = {} if fit.significance is None else {"significance_": fit.significance}
    return {
        **summary_attributes(fit),
        **tested,
        "sift_": fit.found,
        "refit_": fit.refit,
        "dense_": fit.dense,
        "interactions_": [Interaction(*pair) for pair in fit.found.interactions],
    }


def warn_of_nothing(fit: SiftFit, constant: str) -> None:
    """Say what predictions rest on where nothing was selected."""
    if len(fit.found.selected) == 0:
        ridge = "a ridge on the columns that stand out (dense_)"
        warn_nothing_selected(constant if fit.dense is None else ridge, NO_VARIABLE)


@dataclass(eq=False, repr=False)
class GradientSiftRegressor(RegressorMixin, GradientSift):
    """Find the variables that matter, nonlinear and interacting ones included; no tuning.

    Two steps. The **sift** selects variables by a sparse additive model with pairwise products,
    written in its gradient: the pair loss of gradient learning with the exact line integral in
    place of the Taylor term. Its levels are analytic, so `false_positives` is the expected number
    of false variables on pure noise. The **refit** puts a kernel predictor g, tuned by its own
    marginal likelihood, on the selected variables; gradients, directions and predictions are its.

    Parameters
    ----------
    false_positives : float, default=0.3
        Expected number of falsely selected variables where nothing matters.
    false_discovery_rate : float, optional
        Select by `significance` instead: each variable is tested beside the best explanation that
        does without it, and the list holds about this share of false ones at most. Near-copies of
        each other are then rarely selected, as none of them can be told to be the one; their
        family can (``significance_.family_q_values``).
    interactions : bool, default=True
        Look for products of two variables too.
    standardize : bool, default=True
        Report importances and directions in standardised columns, where variables can be
        compared; False reports them in your units. Sift and refit always standardise.
    n_components : int or 'auto', default='auto'
        Number of directions; 'auto' keeps 99 % of the trace of the gradient covariance.
    always_keep : list of column numbers or names, optional
        Columns that are always selected.
    column_groups : (p,) array of labels, optional
        Columns with the same label, such as the 0/1 columns of one categorical variable, are
        selected or left out together, and count as one.
    max_features : int, optional
        Select no more than this many, the best ranked; columns that are always kept come on top.
    predict_with : 'auto' or 'selected', default='auto'
        'selected' predicts from the selected variables alone. 'auto' does so too, unless there are
        more columns than rows and a ridge on all that stand out predicts held-out rows better: then
        predictions are an average of both, and `dense_` says in which shares. Selection, ranking,
        gradients and directions are the same either way. A model fitted with 'auto' predicts from
        the selected variables alone after ``set_params(predict_with="selected")``.
    tol : float, default=1e-3
        Accuracy of the group-lasso path that proposes which variables to choose from.
    missing : {'error', 'mean'}, default='error'
        'error' refuses missing values and names their columns; 'mean' puts the column's mean (of
        the training samples) in their place.
    weight_kind : {'frequency', 'importance'}, default='frequency'
        What `sample_weight` means. 'frequency': counts of rows (the `freq_weights` of statsmodels);
        a `CountedRowsWarning` says where they claim much more or less evidence than weights of such
        spread can carry. 'importance': survey weights and the like, of any unit; they are scaled to
        the effective number of samples, so that equal weights change nothing.
    inference : bool, default=False
        Also say how sure it is which columns act: `families_` and `inclusion_probabilities_`, as
        from `credible_families`. It takes a few seconds.
    random_state : int, optional
        Seed for the rows that tune the refit when there are more than 300, and for the draws of
        `inference`. The selected set does not depend on it.
    n_jobs : int, optional
        Threads that work on blocks of columns side by side; -1 = one per core. None = as many as
        BLAS may use (OMP_NUM_THREADS). The result is the same to the bit.
    verbose : int, default=0
        Above 0 says which stage begins, and what long ones took (columns per second, memory,
        time): to the logger "gradsift", or to stderr where nobody listens to it.

    Attributes
    ----------
    feature_importances_ : (p,) array
        Root mean square of the partial derivatives; exact zeros for unselected variables.
    ranking_ : (p,) int array
        Rank of every variable, 1 = best.
    interactions_ : list of (first, second, strength)
        Products found, strongest first.
    components_ : (n_components_, p) array
        Sparse directions in standardised columns.
    eigenvalues_ : array
    sift_ : SiftResult
    significance_ : Significance
        p- and q-values of all columns; only with a `false_discovery_rate`.
    refit_ : RegressionRefit
        The predictor on the selected variables; gradients and directions are its.
    dense_ : Dense or None
        The ridge on all columns that stand out and its share of the predictions, where it has one.
    mean_, scale_ : (p,) arrays
    field_ : RefitField
    families_ : list of Family
        With ``inference=True``: sets of columns of which one acts, the most probable first.
    inclusion_probabilities_ : (p,) array
        With ``inference=True``: probability of every column to act on the response.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import GradientSiftRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 50))
    >>> y = X[:, 3] * X[:, 7] + np.sin(2 * X[:, 11])
    >>> model = GradientSiftRegressor().fit(X, y)
    >>> model.get_support(indices=True).tolist()
    [3, 7, 11]
    >>> [(i.first, i.second) for i in model.interactions_]
    [(3, 7)]
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    refit_settings = NUMBERS

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Sift, then refit.

        Parameters
        ----------
        X : (n, p) array or data frame
        y : (n,) array
        sample_weight : (n,) array, optional
            How many times each row counts: 2 is the row twice, 2.001 nearly the same, 0 = not at
            all. With ``weight_kind="importance"``, how much it counts beside the others.

        Returns
        -------
        self
        """
        door = blank(self)
        X, y = check_fit_X(door, X, y, y_numeric=True)
        kept, weight = check_weights(sample_weight, X, self.weight_kind)
        warn_of_counts(weight, self.weight_kind)
        target = Numbers(check_numbers(y[kept]))
        X, options = take_rows(X, kept), self._options(door)
        fit = fit_sift(X, target, weight, options)
        warn_of_nothing(fit, "the mean of y")
        found = sift_attributes(fit)
        if self.inference:
            found |= family_attributes(X, target, weight, fit, options)
        return keep(self, door, **found)

    def _sifter(
        self, X: Any, y: Any, sample_weight: Any, columns: Any
    ) -> tuple[Sifter, None, list[int]]:
        door = blank(self)
        X, y = check_fit_X(door, X, y, y_numeric=True)
        kept, weight = check_weights(sample_weight, X, self.weight_kind)
        target = Numbers(check_numbers(y[kept]))
        sifter = open_sifter(take_rows(X, kept), target, weight, self._options(door))
        return sifter, None, named_columns(door, columns)

    def _find_support(self, X: Any, y: Any) -> IntArray:
        door = blank(self)
        X, y = check_fit_X(door, X, y, y_numeric=True)
        return find_support(X, Numbers(check_numbers(y)), self._options(door))

    @same_bits
    def predict(self, X: Any) -> Array:
        """Predict the response.

        Parameters
        ----------
        X : (n, p) array or data frame

        Returns
        -------
        y : (n,) array
        """
        check_is_fitted(self)
        X = check_new_X(self, X)
        return self._blend(self.refit_.predict(self.field_.columns(X)), X)


@dataclass(eq=False, repr=False)
class GradientSiftClassifier(LabelPredictions, ClassifierMixin, GradientSift):
    """Find the variables that tell classes apart, nonlinear and interacting ones included.

    As `GradientSiftRegressor`; the sift decides once per variable over all classes together, the
    refit is kernel logistic regression, and gradients are those of the log odds.

    Parameters
    ----------
    false_positives, false_discovery_rate, interactions, standardize, n_components, always_keep, \
column_groups, max_features, predict_with, tol, missing, weight_kind, inference, random_state, \
n_jobs, verbose
        As in `GradientSiftRegressor`.
    class_weight : dict, 'balanced' or None, default=None
        How much each class counts when samples are assigned to one: a weight of w multiplies the
        odds of the class by w. 'balanced' makes rare classes as likely as frequent ones. Selection,
        ranking, gradients and directions do not depend on it: weights add no evidence.

    Attributes
    ----------
    classes_ : array
    class_weight_ : (n_classes,) array
        The weight of each class.
    refit_ : ClassificationRefit
    feature_importances_, ranking_, interactions_, components_, eigenvalues_, sift_, dense_, \
mean_, scale_, field_, families_, inclusion_probabilities_
        As in `GradientSiftRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import GradientSiftClassifier
    >>> X = np.random.default_rng(0).normal(size=(200, 50))
    >>> y = np.where(X[:, 3] ** 2 + X[:, 7] ** 2 < 1.4, "in", "out")
    >>> model = GradientSiftClassifier().fit(X, y)
    >>> model.get_support(indices=True).tolist()
    [3, 7]
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    refit_settings = LABELS

    class_weight: Any = field(default=None, kw_only=True)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Sift, then refit.

        Parameters
        ----------
        X : (n, p) array or data frame
        y : (n,) array of labels, of any type
        sample_weight : (n,) array, optional
            How many times each row counts: 2 is the row twice, 2.001 nearly the same, 0 = not at
            all. With ``weight_kind="importance"``, how much it counts beside the others.

        Returns
        -------
        self
        """
        door = blank(self)
        X, y = check_fit_X(door, X, y)
        kept, weight = check_weights(sample_weight, X, self.weight_kind)
        warn_of_counts(weight, self.weight_kind)
        classes, codes = check_labels(y[kept])
        warn_of_rare_classes(classes, codes)
        shifts = class_weights(self.class_weight, classes, y[kept], weight)
        target = Labels(codes, len(classes))
        X, options = take_rows(X, kept), self._options(door)
        fit = fit_sift(X, target, weight, options)
        warn_of_nothing(fit, "the class shares")
        found = sift_attributes(fit)
        if self.inference:
            found |= family_attributes(X, target, weight, fit, options)
        return keep(self, door, classes_=classes, class_weight_=shifts, **found)

    def _sifter(
        self, X: Any, y: Any, sample_weight: Any, columns: Any
    ) -> tuple[Sifter, IntArray, list[int]]:
        door = blank(self)
        X, y = check_fit_X(door, X, y)
        kept, weight = check_weights(sample_weight, X, self.weight_kind)
        classes, codes = check_labels(y[kept])
        target = Labels(codes, len(classes))
        sifter = open_sifter(take_rows(X, kept), target, weight, self._options(door))
        return sifter, codes, named_columns(door, columns)

    def _find_support(self, X: Any, y: Any) -> IntArray:
        door = blank(self)
        X, y = check_fit_X(door, X, y)
        classes, codes = check_labels(y)
        return find_support(X, Labels(codes, len(classes)), self._options(door))

    def _scores(self, X: Source) -> Array:
        scores = self._blend(self.refit_.decision_function(self.field_.columns(X)), X)
        return scores[:, None] if scores.ndim == 1 else scores


NO_VARIABLE = (
    "Nothing stands out from noise at this level: ranking_ still orders all variables, a larger "
    "false_positives admits weaker ones."
)
