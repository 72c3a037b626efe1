"""GradientSift: gradient learning with a potential. The default: no kernel, no alpha, no tuning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from gradsift._run.threads import same_bits
from gradsift.data import ScaledSource, take_rows
from gradsift.data.mixed import TableEncoder
from gradsift.estimators.base import (
    Goal,
    GradientEstimator,
    LabelPredictions,
    blank,
    check_n_components,
    class_weights,
    keep,
    most_likely,
    probabilities,
    score_predicted,
    summary_attributes,
    warn_nothing_selected,
)
from gradsift.estimators.columns import (
    ColumnRule,
    check_feature_groups,
    check_max_features,
    check_mixed_X,
    check_new_mixed_X,
    encoded_columns,
    encoded_labels,
    find_encoder,
    mixed_gradient,
    table_attributes,
)
from gradsift.estimators.covariates import Covariates, with_covariates
from gradsift.estimators.description import EnsemblePart, MemberPart
from gradsift.estimators.inference import finding_attributes, refuse_findings
from gradsift.estimators.sample import (
    SiftSample,
    WeightKind,
    check_groups,
    check_offset,
    check_weights,
    offset_shift,
    refuse_with_groups,
    refuse_with_offset,
    warn_of_counts,
    warn_of_few_groups,
    warn_of_repeats,
    warn_of_row_order,
)
from gradsift.estimators.sift_fit import (
    Interaction,
    RefitField,
    SiftFit,
    SiftOptions,
    find_support,
    fit_sift,
    open_sifter,
    seed_of,
)
from gradsift.estimators.target import Labels, Numbers
from gradsift.estimators.validation import (
    check_columns,
    check_fit_X,
    check_labels,
    check_missing,
    check_numbers,
    warn_of_rare_classes,
)
from gradsift.numerics.robust import largest_tie
from gradsift.protocols import Array, IntArray, Source
from gradsift.refit import Ensemble
from gradsift.refit.settings import LABELS, NUMBERS, RefitSettings
from gradsift.sift import Sifter, SiftSettings

# What both tasks of GradientSift share: parameters, checks, and the order of the steps.


NO_VARIABLE = (
    "Nothing stands out from noise at this level: ranking_ still orders all variables, a larger "
    "false_positives admits weaker ones."
)


class Sifting(GradientEstimator):
    """What a fitted sift has: its field, and what else may have a part in predictions."""

    field_: RefitField
    ensemble_: Ensemble | None
    refit_: Any
    interactions_: list[Interaction]
    encoder_: TableEncoder | None
    false_positives: float
    false_discovery_rate: float | None
    predict_with: Literal["auto", "selected"]
    covariates_: Covariates | None
    has_offset_: bool
    feature_groups_: tuple[str, ...] | None
    variable_importances_: Array
    n_groups_: int | None

    sift_settings: ClassVar[SiftSettings] = SiftSettings()
    refit_settings: ClassVar[RefitSettings]

    def _blend(self, sparse: Array, X: Source) -> Array:
        """Predictions from the selected variables, averaged with those of predictors on all
        columns, if these have a part in them.
        """
        if self.ensemble_ is None or self.predict_with == "selected":
            return sparse
        # a view: only the columns that are used are read and standardised
        return self.ensemble_.blend(sparse, ScaledSource(X, self.field_.scaling))

    def shift(self, n: int, covariates: Any = None, offset: Any = None) -> Array | float:
        """The part of predictions that does not come from X.

        Parameters
        ----------
        n : int
            Number of rows.
        covariates, offset
            As in `predict`.

        Returns
        -------
        shift : (n, q) array, or 0 where there is none
            For labels, of log odds (q = 1) or of the scores of the classes.
        """
        if self.covariates_ is None and covariates is not None:
            raise ValueError("covariates was given, but the model was fitted without any.")
        own = 0.0 if self.covariates_ is None else self.covariates_.shift(covariates, n)
        return own + offset_shift(offset, n, self.has_offset_, len(getattr(self, "classes_", ())))

    def _particulars(self) -> dict[str, Any]:
        return {
            "covariates": () if self.covariates_ is None else self.covariates_.names,
            "covariates_explain": 0.0 if self.covariates_ is None else self.covariates_.explained,
            "has_offset": self.has_offset_,
            "feature_groups": self.feature_groups_,
            "variable_importances": self._known_importances(),
            "encoder": self.encoder_,
            "interactions": tuple((pair.first, pair.second) for pair in self.interactions_),
            "false_positives": float(self.false_positives),
            "findings": getattr(self, "findings_", None),
            "confidence": getattr(self, "confidence_", None),
            "association": getattr(self, "association_", None),
            "significance": getattr(self, "significance_", None),
            "false_discovery_rate": self.false_discovery_rate,
            "ensemble": self._ensemble_part(),
        }

    def _known_importances(self) -> Array | None:
        """Importances of variables, where the model knows of some that are several columns."""
        same = np.array_equal(self.variable_importances_, self.feature_importances_)
        return None if same else self.variable_importances_

    def _ensemble_part(self) -> EnsemblePart | None:
        if (ensemble := self.ensemble_) is None:
            return None
        members = zip(ensemble.members, ensemble.shares, strict=True)
        parts = tuple(MemberPart(m.kind, share, m.n_columns) for m, share in members)
        return EnsemblePart(parts, self.predict_with == "auto")


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
    feature_groups: Any = None
    max_features: int | None = None
    predict_with: Literal["auto", "selected"] = "auto"
    tol: float = 1e-3
    missing: Literal["error", "mean", "indicator"] = "error"
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
        return SiftOptions(
            false_positives=self.false_positives,
            false_discovery_rate=rate,
            interactions=self.interactions,
            standardize=self.standardize,
            n_components=self.n_components,
            rule=self._rule(door),
            predict_with=self.predict_with,
            tol=self.tol,
            missing=check_missing(self),
            seed=seed_of(self.random_state),
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            sift=self.sift_settings,
            refit=self.refit_settings,
        )

    def _rule(self, door: Any) -> ColumnRule:
        """Which encoded columns go together, and how many may be selected."""
        check_max_features(self.max_features)
        p, names = door.n_features_in_, getattr(door, "feature_names_in_", None)
        kept = check_columns(self.always_keep, p, names, "always_keep")
        door.feature_groups_ = check_feature_groups(self.feature_groups, p, names)
        labels = None
        if door.feature_groups_ is not None:
            labels = np.unique(door.feature_groups_, return_inverse=True)[1]
        return ColumnRule(
            encoded_labels(labels, door.encoder_),
            encoded_columns(kept, door.encoder_),
            self.max_features,
            None if door.encoder_ is None else door.encoder_.origins,
        )

    def _target(self, y: Array, weight: Array | None) -> Numbers | Labels:
        """A checked response of rows that count, and how often they do."""
        raise NotImplementedError

    def _sample(
        self,
        door: Any,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        covariates: Any = None,
        offset: Any = None,
    ) -> SiftSample:
        """Checked rows that count; `door` is told about the columns and the covariates."""
        check_missing(self)
        door.encoder_ = find_encoder(X, self.missing, y)
        if door.encoder_ is None:
            X, y = check_fit_X(door, X, y)
        else:
            X, y = check_mixed_X(door, door.encoder_, X, y)
        kept, weight = check_weights(sample_weight, X, self.weight_kind)
        counts = weight if self.weight_kind == "frequency" else None
        codes = check_groups(groups, X, kept, counts)
        door.has_offset_ = offset is not None
        target = self._target(y[kept], weight)
        if offset is not None:
            target = target.less(check_offset(offset, X, kept, target))
        sample = SiftSample(take_rows(X, kept), target, weight, codes)
        door.covariates_, sample = with_covariates(sample, covariates, X, kept)
        return sample

    def _attributes(
        self, door: Any, sample: SiftSample, constant: str, *, only_predicts: bool = False
    ) -> dict[str, Any]:
        """Sift, then refit; `constant` is what predictions are where nothing is selected."""
        warn_of_counts(sample.weight, self.weight_kind)
        warn_of_few_groups(sample.groups, sample.weight, sample.one_per_group)
        if not only_predicts:
            warn_of_repeats(sample)
        if self.false_discovery_rate:
            refuse_with_groups(sample.groups, "false_discovery_rate")
            refuse_with_offset(sample.target, "false_discovery_rate")
        if self.inference:
            refuse_findings(sample, "inference")
        options = replace(self._options(door), only_predicts=only_predicts)
        fit = fit_sift(sample, options)
        warn_of_row_order(sample, fit.found.residual, fit.field.scaling)
        if len(fit.found.selected) == 0:
            others = "predictors on all columns (ensemble_)"
            constant = constant if sample.covariates is None else "the part of the covariates"
            warn_nothing_selected(constant if fit.ensemble is None else others, NO_VARIABLE)
        sure = {}
        if self.inference and not only_predicts:
            sure = finding_attributes(sample, fit.found, fit.field.scaling, options)
        groups = None if sample.groups is None else int(sample.groups.max()) + 1
        known = {
            "n_groups_": groups,
            "covariates_": with_coefficients(door.covariates_, fit),
            "table_importances": fit.table_importances,
        }
        return sift_attributes(fit) | known | sure

    def _fit_sample(self, door: Any, sample: SiftSample, *, only_predicts: bool = False) -> Self:
        """Fit to a checked sample."""
        raise NotImplementedError

    def _fit_less(self, goal: Goal, X: Any, y: Any, **fit_params: Any) -> Self:
        door = blank(self)
        sample = self._sample(door, X, y, **fit_params)
        if goal == "predictions":
            return self._fit_sample(door, sample, only_predicts=True)
        found = find_support(sample, self._options(door))
        door._source = None  # no predictions, so the ranges of columns are not needed
        support = np.zeros(door.n_features_in_, dtype=bool)
        support[found if door.encoder_ is None else door.encoder_.origins[found]] = True
        return keep(self, door, support_=support)

    def _used(self) -> Any:
        return self.support_ if hasattr(self, "support_") else super()._used()

    def _keep(self, door: Any, *, table_importances: Array, **found: Any) -> Self:
        """Take over a fit; of a table that was encoded, in the columns that it has, with the
        importances (encoded columns,) of those.
        """
        encoder = door.encoder_
        if encoder is None:
            return keep(self, door, encoded_=None, **found)
        inside = blank(self).set_params(
            missing=check_missing(self), always_keep=None, feature_groups=None
        )
        known = {"n_features_in_": len(encoder.names), "encoder_": None, "feature_groups_": None}
        known |= {"has_offset_": door.has_offset_, "encoded_": None}
        keep(inside, inside, **known, **found)
        told = table_attributes(found, table_importances, encoder)
        return keep(self, door, encoded_=inside, **told)

    def _new_samples(self, X: Any) -> Source:
        if self.encoder_ is None:
            return super()._new_samples(X)
        return check_new_mixed_X(self, X)

    def _gradient_parts(self, X: Any) -> tuple[Array, IntArray]:
        if self.encoder_ is None:
            return super()._gradient_parts(X)
        chosen = self.get_support(indices=True)
        return mixed_gradient(self, self._new_samples(X))[:, :, chosen], chosen

    def _sifter(
        self, X: Any, y: Any, columns: Any, **told: Any
    ) -> tuple[Sifter, IntArray | None, list[int], TableEncoder | None, int]:
        """The sift of a table, ready to run, its class numbers, the numbers of some columns, how
        the table was encoded, and how many encoded columns there are beside covariates.
        """
        # a model need not be fitted for this: then nothing is known of its groups
        refuse_with_groups(getattr(self, "n_groups_", None), "significance()")
        door = blank(self)
        sample = self._sample(door, X, y, **told)
        refuse_with_offset(sample.target, "significance()")
        names = getattr(door, "feature_names_in_", None)
        also = check_columns(columns, door.n_features_in_, names, "columns")
        sifter = open_sifter(sample, self._options(door))
        also = encoded_columns(also, door.encoder_)
        return sifter, sample.target.codes, also.tolist(), door.encoder_, sample.X.shape[1]


def with_coefficients(covariates: Covariates | None, fit: SiftFit) -> Covariates | None:
    """Covariates with the part that they have in predictions."""
    if covariates is None:
        return None
    return replace(
        covariates, coefficients=fit.covariate_coefficients, explained=fit.covariates_explain
    )


def sift_attributes(fit: SiftFit) -> dict[str, Any]:
    """The attributes of a fitted GradientSift."""
    tested = {} if fit.significance is None else {"significance_": fit.significance}
    return {
        **summary_attributes(fit),
        **tested,
        "sift_": fit.found,
        "association_": fit.association,
        "refit_": fit.refit,
        "ensemble_": fit.ensemble,
        "variable_importances_": fit.variable_importances,
        "interactions_": [Interaction(*pair) for pair in fit.found.interactions],
        "n_paired_columns_": fit.n_paired,
    }


# Predictions of a fitted sift: from its columns, its covariates and its offset.


class Adjusted(Sifting):
    """What the predictions of both tasks share: their score."""

    predict: Callable[[Any, Any, Any], Array]

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        covariates: Any = None,
        offset: Any = None,
    ) -> float:
        """R² of predicted numbers, or the share of labels that are predicted right.

        Parameters
        ----------
        X : (n, p) array or data frame
        y : (n,) array
        sample_weight : (n,) array, optional
        covariates, offset
            As in `predict`.

        Returns
        -------
        score : float
        """
        return score_predicted(self, self.predict(X, covariates, offset), y, sample_weight)


class AdjustedNumbers(Adjusted):
    """Predictions of numbers."""

    @same_bits
    def predict(self, X: Any, covariates: Any = None, offset: Any = None) -> Array:
        """Predict the response.

        Parameters
        ----------
        X : (n, p) array or data frame
        covariates : array, data frame or dict of columns, optional
            Of these rows, where the model was fitted with covariates; ``"mean"`` predicts for rows
            whose covariates are as in the mean of the fit.
        offset : (n,) array or number, optional
            Of these rows, where the model was fitted with an offset.

        Returns
        -------
        y : (n,) array
        """
        check_is_fitted(self)
        X = self._new_samples(X)
        own = self._blend(self.refit_.predict(self.field_.columns(X)), X)
        return (own[:, None] + self.shift(len(own), covariates, offset))[:, 0]


class AdjustedLabels(Adjusted, LabelPredictions):
    """Predictions of labels."""

    def _scores(self, X: Source) -> Array:
        scores = self._blend(self.refit_.decision_function(self.field_.columns(X)), X)
        return scores[:, None] if scores.ndim == 1 else scores

    @same_bits
    def decision_function(self, X: Any, covariates: Any = None, offset: Any = None) -> Array:
        """Log odds of the second class, or one score per class when there are more than two.

        Parameters
        ----------
        X : (n, p) array or data frame
        covariates, offset
            As in `predict`.

        Returns
        -------
        scores : (n,) array, or (n, n_classes)
        """
        check_is_fitted(self)
        scores = self._scores(self._new_samples(X))
        return self._weighted(scores + self.shift(len(scores), covariates, offset))

    def predict_proba(self, X: Any, covariates: Any = None, offset: Any = None) -> Array:
        """Class probabilities.

        Parameters
        ----------
        X : (n, p) array or data frame
        covariates, offset
            As in `predict`.

        Returns
        -------
        probabilities : (n, n_classes) array
        """
        return probabilities(self.decision_function(X, covariates, offset))

    def predict(self, X: Any, covariates: Any = None, offset: Any = None) -> Array:
        """Most likely class.

        Parameters
        ----------
        X : (n, p) array or data frame
        covariates : array, data frame or dict of columns, optional
            Of these rows, where the model was fitted with covariates; ``"mean"`` predicts for rows
            whose covariates are as in the mean of the fit.
        offset : (n,) array or number, optional
            Of these rows, where the model was fitted with an offset.

        Returns
        -------
        labels : (n,) array
        """
        return most_likely(self.decision_function(X, covariates, offset), self.classes_)


@dataclass(eq=False, repr=False)
class GradientSiftRegressor(AdjustedNumbers, RegressorMixin, GradientSift):
    """Find the variables that matter, nonlinear and interacting ones included; no tuning.

    It works in two steps. The **sift** chooses variables: it models the response as a sum of smooth
    functions of single columns and of products of two, and a column must explain more than chance
    would, by a level that is computed and not tuned. So `false_positives` is the expected number
    of false variables on pure noise. The **refit** then fits a kernel predictor to the selected
    variables; predictions, gradients and directions come from it. Both follow from gradient
    learning by a potential (`docs/gradient_sift.md`).

    Parameters
    ----------
    false_positives : float, default=0.3
        Expected number of falsely selected variables where nothing matters.
    false_discovery_rate : float, optional
        Select by `significance` instead: each variable is tested beside the best explanation that
        does without it, and the list holds about this share of false ones at most. Near-copies of
        each other are then rarely selected, as none of them can be told to be the one; their
        finding can (``significance_.finding_q_values``).
    interactions : bool, default=True
        Look for products of two variables too.
    standardize : bool, default=True
        Report importances and directions in standardised columns, where variables can be
        compared; False reports them in your units. Sift and refit always standardise.
    n_components : int or 'auto', default='auto'
        Number of directions; 'auto' keeps 99 % of the trace of the gradient covariance.
    always_keep : list of column numbers or names, or (p,) bool array, optional
        Columns that are always selected.
    feature_groups : dict or (p,) array of labels, optional
        Columns that are one variable, such as the probes of a gene or a pathway: a dict from names
        of groups to lists of columns (names or numbers), or a label for each column. They are
        selected or left out together, count as one, and pay one price: half of their level is for
        all columns together, by the chi-square of that many degrees of freedom, the rest for the
        single columns. The categories of a column are such a group by themselves.
    max_features : int, optional
        Select no more than this many, the best ranked; columns that are always kept come on top.
    predict_with : 'auto' or 'selected', default='auto'
        'selected' predicts from the selected variables alone. 'auto' does so too, unless a ridge on
        the columns that stand out or a kernel ridge on all columns predicts held-out rows about as
        well or better: then predictions are an average, and `ensemble_` says in which shares; never
        so with `groups`. Selection, ranking, gradients and directions are the same either way. A
        model fitted with 'auto' predicts from the selected variables alone after
        ``set_params(predict_with="selected")``.
    tol : float, default=1e-3
        Accuracy of the group-lasso path that proposes which variables to choose from.
    missing : {'error', 'mean', 'indicator'}, default='error'
        'error' refuses missing values and names their columns; 'mean' puts the column's mean (of
        the training samples) in their place; 'indicator' does so too, and counts as part of the
        column where its values are missing, for tables in which that may matter itself. Of
        categories, none is a category of its own.
    weight_kind : {'frequency', 'importance'}, default='frequency'
        What `sample_weight` means. 'frequency': counts of rows (the `freq_weights` of statsmodels);
        a `CountedRowsWarning` says where they claim much more or less evidence than weights of such
        spread can carry. 'importance': survey weights and the like, of any unit; they are scaled to
        the effective number of samples, so that equal weights change nothing.
    inference : bool, default=False
        Also say how sure it is which columns act: `findings_` and `confidence_`, as from
        `findings`. It takes less than a second in most tables.
    random_state : int, optional
        Seed for the draws of `inference`. Selection and predictions do not depend on it.
    n_jobs : int, optional
        Threads that work on blocks of columns side by side; -1 = one per core. None = as many as
        BLAS may use (OMP_NUM_THREADS). The result is the same to the bit.
    verbose : int, default=0
        Above 0 says which stage begins, and what long ones took (columns per second, memory,
        time): to the logger "gradsift", or to stderr where nobody listens to it.

    Attributes
    ----------
    feature_importances_ : (p,) array
        Root mean square of the partial derivatives; exact zeros for unselected variables. Of a
        category, the standard deviation of the effects of its levels.
    variable_importances_ : (p,) array
        The same for the variable that each column belongs to: where several columns are one
        variable (`feature_groups`), what they change together.
    ranking_ : (p,) int array
        Rank of every variable, 1 = best.
    interactions_ : list of (first, second, strength)
        Products found, strongest first.
    n_paired_columns_ : int
        Columns of which all products of two were tested: all of them, or the most promising ones
        of a table in which that would take more than about a minute on two cores. So many columns,
        squared, times the rows are about 1e12.
    components_ : (n_components_, p) array
        Sparse directions in standardised columns.
    eigenvalues_ : array
    sift_ : SiftResult
    association_ : Association or None
        p- and q-values of every column by itself, which near-copies and companions of what acts
        pass too: ``association_.associated(0.1)`` is a longer list than the selected columns, and
        says less. None with `groups`, and with an offset of labels.
    significance_ : Significance
        p- and q-values of all columns; only with a `false_discovery_rate`.
    refit_ : RegressionRefit
        The predictor on the selected variables; gradients and directions are its.
    ensemble_ : Ensemble or None
        Predictors on all columns and their shares of the predictions, where they have one.
    mean_, scale_ : (p,) arrays
    field_ : RefitField
    ranges_ : (2, m) array
        Smallest and largest values of the columns ``field_.index`` at the fit: what is far outside
        them gets an `ExtrapolationWarning`.
    n_groups_ : int or None
        Groups of rows; None where each row was independent of the others.
    feature_groups_ : tuple of str or None
        The variable behind each column, where `feature_groups` were given.
    encoder_ : TableEncoder or None
        How a table with categories became columns of numbers; None where it was numbers. Then
        `components_`, `mean_`, `scale_`, `sift_` and `field_` are about the encoded columns
        (``encoder_.names``), and everything else about the columns of the table.
    encoded_ : estimator or None
        Of such a table: the same model of the encoded columns, ``encoder_.encode(X)``.
    covariates_ : Covariates or None
        How covariates became columns, their part in predictions (`coefficients`), and the share of
        the variance of the response that they explain alone (`explained`).
    has_offset_ : bool
        Whether an offset was given.
    findings_ : list of Finding
        With ``inference=True``: sets of columns of which one acts, the most certain first.
    confidence_ : (p,) array
        With ``inference=True``: confidence of every column: how sure it is that it acts.

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

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        covariates: Any = None,
        offset: Any = None,
    ) -> Self:
        """Select variables (the sift), then fit a smooth function of them (the refit).

        Parameters
        ----------
        X : (n, p) array or data frame
            Of a data frame, truth values count as 0 and 1, and columns of text or of a categorical
            type as categories.
        y : (n,) array
        sample_weight : (n,) array, optional
            How many times each row counts: 2 is the row twice, 2.001 nearly the same, 0 = not at
            all. With ``weight_kind="importance"``, how much it counts beside the others.
        groups : (n,) array of labels, optional
            Rows that belong together: visits of a subject, cells of a donor, sibs of a family.
            Rows of a group may depend on each other in any way; groups are independent. Where the
            response never changes inside a group, the groups are the rows: their means are sifted.
        covariates : (n, k) array, data frame or dict of columns, optional
            Known influences, such as age, batch or principal components: they are adjusted for, and
            are never findings. Texts and categories become 0/1 columns; missing numbers are filled
            with the mean and marked, missing categories are a category. Effects are straight
            lines, or curves and products of two covariates where the response asks for them.
        offset : (n,) array, optional
            A known part of y, such as a polygenic score: the rest is explained.

        Returns
        -------
        self
        """
        door = blank(self)
        sample = self._sample(door, X, y, sample_weight, groups, covariates, offset)
        return self._fit_sample(door, sample)

    def _fit_sample(self, door: Any, sample: SiftSample, *, only_predicts: bool = False) -> Self:
        found = self._attributes(door, sample, "the mean of y", only_predicts=only_predicts)
        return self._keep(door, **found)

    def _target(self, y: Array, weight: Array | None) -> Numbers:
        values = check_numbers(y)
        robust = largest_tie(values, weight) <= self.refit_settings.most_tied
        return Numbers(values, robust)


@dataclass(eq=False, repr=False)
class GradientSiftClassifier(AdjustedLabels, ClassifierMixin, GradientSift):
    """Find the variables that tell classes apart, nonlinear and interacting ones included.

    As `GradientSiftRegressor`, for labels of two or more classes. A variable is selected or not
    for all classes together, by the *sift*. The *refit* to the selected variables is a kernel
    logistic regression, and gradients are those of its log odds.

    Parameters
    ----------
    false_positives, false_discovery_rate, interactions, standardize, n_components, always_keep, \
feature_groups, max_features, predict_with, tol, missing, weight_kind, inference, random_state, \
n_jobs, verbose
        As in `GradientSiftRegressor`.
    class_weight : dict, 'balanced' or None, default=None
        How much each class counts when samples are assigned to one: a weight of w multiplies the
        odds of the class by w. 'balanced' makes rare classes as likely as frequent ones. Selection,
        ranking, gradients and directions do not depend on it: weights add no evidence.

    Attributes
    ----------
    classes_ : (n_classes,) array
        The labels, sorted.
    class_weight_ : (n_classes,) array
        The weight of each class.
    refit_ : ClassificationRefit
        The predictor on the selected variables; gradients and directions are its.
    feature_importances_, variable_importances_, ranking_, interactions_, n_paired_columns_, \
components_, eigenvalues_, sift_, association_, significance_, ensemble_, mean_, scale_, ranges_, \
field_, \
n_groups_, feature_groups_, \
encoder_, encoded_, covariates_, has_offset_, findings_, confidence_
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

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        covariates: Any = None,
        offset: Any = None,
    ) -> Self:
        """Select variables (the sift), then fit a smooth function of them (the refit).

        Parameters
        ----------
        X : (n, p) array or data frame
            Of a data frame, truth values count as 0 and 1, and columns of text or of a categorical
            type as categories.
        y : (n,) array of labels, of any type
        sample_weight : (n,) array, optional
            How many times each row counts: 2 is the row twice, 2.001 nearly the same, 0 = not at
            all. With ``weight_kind="importance"``, how much it counts beside the others.
        groups : (n,) array of labels, optional
            Rows that belong together: visits of a subject, cells of a donor, sibs of a family.
            Rows of a group may depend on each other in any way; groups are independent. Where the
            response never changes inside a group, the groups are the rows: their means are sifted.
        covariates : (n, k) array, data frame or dict of columns, optional
            Known influences, such as age, batch or principal components: they are adjusted for, and
            are never findings. Texts and categories become 0/1 columns; missing numbers are filled
            with the mean and marked, missing categories are a category. Effects are straight
            lines, or curves and products of two covariates where the response asks for them.
        offset : (n,) array, optional
            A known part of the log odds of the second class; with more than two classes,
            (n, n_classes) scores.

        Returns
        -------
        self
        """
        door = blank(self)
        sample = self._sample(door, X, y, sample_weight, groups, covariates, offset)
        return self._fit_sample(door, sample)

    def _fit_sample(self, door: Any, sample: SiftSample, *, only_predicts: bool = False) -> Self:
        labels = cast(Labels, sample.target)
        classes = labels.classes
        warn_of_rare_classes(classes, labels.codes)
        shifts = class_weights(self.class_weight, classes, classes[labels.codes], sample.weight)
        found = self._attributes(door, sample, "the class shares", only_predicts=only_predicts)
        return self._keep(door, classes_=classes, class_weight_=shifts, **found)

    def _target(self, y: Array, weight: Array | None) -> Labels:
        classes, codes = check_labels(y)
        return Labels(codes, classes)
