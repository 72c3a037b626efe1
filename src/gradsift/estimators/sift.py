"""GradientSift*: variables are selected by tests of smooth effects, without tuning parameters; then
a kernel predictor is fitted to them.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier
from sklearn.metrics import d2_tweedie_score
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from gradsift._run.threads import same_bits
from gradsift.answer import Answer, EffectSample, make_answer
from gradsift.answer.build import response_name
from gradsift.data import take_rows
from gradsift.data.arrays import refuse_lazy
from gradsift.estimators.base import (
    AS_TABLE,
    CORRECT,
    GRADIENT,
    SCORES,
    SLOPES,
    ClassWeight,
    Goal,
    GradientEstimator,
    blank,
    class_weights,
    most_likely,
    probabilities,
    score_predicted,
    take_over,
    warn_nothing_selected,
    weighted_scores,
)
from gradsift.estimators.columns import (
    check_feature_groups,
    check_mixed_X,
    check_new_mixed_X,
    encoder_of,
    make_columns,
    table_gradient,
    warn_of_columns,
)
from gradsift.estimators.covariate_terms import with_covariates
from gradsift.estimators.docstrings import completed, documented
from gradsift.estimators.sample import (
    Sample,
    as_shift,
    check_exposure,
    check_groups,
    check_offset,
    check_weights,
    warn_of_counts,
    warn_of_few_groups,
    with_known_part,
)
from gradsift.estimators.serial_dependence import warn_of_repeats, warn_of_row_order
from gradsift.estimators.sift_fit import SiftOptions, SiftParameters, fit_sift
from gradsift.estimators.validation import (
    check_columns,
    check_fit_X,
    check_max_features,
    check_n_components,
    column_names,
    given,
    is_whole_number,
    warn_of_rare_classes,
)
from gradsift.protocols import Array, IntArray, Source, TableLike
from gradsift.refit import OutcomePredictors, Predictor
from gradsift.refit.settings import LABELS, NUMBERS, RefitSettings
from gradsift.responses import Counts, Labels, Likelihood, Link, Numbers, Ordinal, Response
from gradsift.responses.ordinal import OrderedLabels
from gradsift.sift import SiftResult, SiftSettings

NO_VARIABLE = (
    "Nothing stands out from noise at this level: ranking_ still orders all variables, a larger "
    "false_positives admits weaker ones."
)

FAMILIES: dict[str, type[Response]] = {
    "gaussian": Numbers,
    "poisson": Counts,
    "negative-binomial": Counts,
}
FITS = "Select variables (the sift), then fit a smooth function of them (the refit)."
FIT = {
    "X": """(n, p) array or data frame
        Of a data frame, truth values count as 0 and 1, and columns of text or of a categorical type
        as categories.""",
    "sample_weight": """(n,) array, optional
        How many times each row counts: 2 is the row twice, 2.001 nearly the same, 0 = not at all.
        With ``SiftOptions(weight_kind="importance")``, how much it counts compared with others.""",
    "groups": """(n,) array of labels, optional
        Rows that belong together: visits of a subject, cells of a donor, sibs of a family. Rows of
        a group may depend on each other in any way; groups are independent. Where the response
        never changes inside a group, the groups are the rows: their means are sifted.""",
    "covariates": """(n, k) array, data frame or dict of columns, optional
        Known influences, such as age, batch or principal components: they are adjusted for, and are
        never findings. Texts and categories become 0/1 columns; missing numbers are filled with the
        mean and marked, missing categories are a category. Effects are straight lines, or curves
        and products of two covariates where the response asks for them.""",
}
"""Arguments of `fit`."""
EXPOSURE = """(n,) array or number, optional
    Of these rows, where counts are predicted; None = 1, which predicts rates."""
RETURN_STD = """bool, default=False
    Whether to return standard deviations of new responses as well: about 95 % lie within 1.96 of
    them from the prediction. Of numbers only."""


@dataclass(eq=False, repr=False)
class GradientSift(GradientEstimator):
    """The base of the estimators of all responses: their parameters, and the steps of a fit."""

    false_positives: float = 0.3
    _: KW_ONLY
    false_discovery_rate: float | None = None
    interactions: bool = True
    n_components: int | Literal["auto"] = "auto"
    always_keep: Any = None
    feature_groups: Any = None
    predict_with: Literal["auto", "selected"] = "auto"
    missing: Literal["auto", "error", "mean", "indicator"] = "auto"
    inference: bool = False
    options: SiftOptions | None = None

    response_type: ClassVar[type[Response]] = Numbers
    sift_settings: ClassVar[SiftSettings] = SiftSettings()
    refit_settings: ClassVar[RefitSettings] = NUMBERS

    @documented(
        FITS,
        **FIT,
        y="(n,) array\n    Numbers, or labels of any type.",
        offset="""(n,) array, or (n, n_classes) with more than two classes, optional
            A known part of y, of the log odds of the second class, or of the scores of all classes,
            such as a polygenic score. The rest is explained.""",
    )
    def fit(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        covariates: TableLike | None = None,
        offset: ArrayLike | None = None,
    ) -> Self:
        given = {"sample_weight": sample_weight, "groups": groups, "covariates": covariates}
        return self._fit_for("all", X, y, **given, offset=offset)

    def _fit_for(self, goal: Goal, X: TableLike, y: ArrayLike, **fit_params: Any) -> Self:
        sample = make_sample(self, X, y, **fit_params)
        params = check_parameters(self, sample)
        if goal == "support":
            return take_over(self, sample.learned | fit_sift(sample, params, goal))
        warn_of_sample(sample, params.options, goal)
        found = sample.learned | fit_sift(sample, params, goal)
        warn_of_fit(sample, found["sift_"], found["predictor_"])
        if goal == "all" and self.inference:
            found["answer_"] = answer_of(take_over(blank(self), found), sample, response_name(y))
        return take_over(self, found, sample.source)

    def _used(self) -> NDArray[np.bool_]:
        return self.support_ if hasattr(self, "support_") else super()._used()

    @property
    def _field(self) -> Predictor | OutcomePredictors:
        return self.predictor_

    def _response_type(self, y: object) -> type[Response]:
        return self.response_type

    @property
    def _link(self) -> Link:
        """How predictions follow from eta, where the response has a likelihood."""
        return self.link_ if self.predict_with == "auto" else self.selected_link_

    def _predicted(
        self, X: TableLike, covariates: TableLike | None, offset: ArrayLike | None
    ) -> Array:
        """(n, q) predictions on the link scale."""
        check_is_fitted(self)
        eta = self.predictor_.eta(self._new_samples(X), self.predict_with)
        return np.asarray(eta + self.known_part(len(eta), covariates, offset))

    def known_part(
        self, n: int, covariates: TableLike | None = None, offset: ArrayLike | None = None
    ) -> Array | float:
        """The part of predictions for n rows that does not come from X.

        Parameters
        ----------
        n : int
        covariates, offset
            As in `predict`.

        Returns
        -------
        part : (n, q) array on the link scale, or 0
        """
        if self.covariates_ is None and covariates is not None:
            raise ValueError("covariates was given, but the model was fitted without any.")
        part = 0.0 if self.covariates_ is None else self.covariates_.part(covariates, n)
        if offset is None and self.has_offset_:
            raise ValueError(
                "the model was fitted with an offset: give offset= of these rows too, or offset=0 "
                "for what the model adds to it."
            )
        if offset is None:
            return part
        if not self.has_offset_:
            raise ValueError("offset was given, but the model was fitted without one.")
        return part + as_shift(check_offset(offset), n, self._offset_columns)

    @property
    def _offset_columns(self) -> int:
        """Columns of an offset: those of the scale of the link."""
        refit = getattr(self.predictor_, "refit", None)
        return len(self.predictor_.outcomes) if refit is None else len(refit.intercept)

    def _new_samples(self, X: TableLike) -> Source:
        return super()._new_samples(X) if self.encoder_ is None else check_new_mixed_X(self, X)

    def _gradient_parts(self, X: TableLike, std: bool = False) -> tuple[Array, IntArray]:
        """The gradient along some columns of X, or its standard deviations."""
        predictor, samples = self.predictor_, self._new_samples(X)
        if self.encoder_ is None:
            parts = predictor.gradient_std(samples) if std else predictor.gradient(samples)
            return parts, predictor.index
        chosen = self.get_support(indices=True)
        whole = table_gradient(predictor, self.encoder_, chosen, samples, std=std)
        return whole[:, :, chosen], chosen


# What a user passed, checked.


def make_sample(
    model: GradientSift,
    X: TableLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    covariates: TableLike | None = None,
    offset: ArrayLike | None = None,
    exposure: ArrayLike | None = None,
) -> Sample:
    """Checked rows that count, their response, weights, groups and covariates."""
    # scikit-learn's checks write on an estimator: a copy, so that a fit that fails changes nothing
    checked = blank(model)
    refuse_lazy(y, "y")
    encoder = encoder_of(model, X, y)
    response_type = model._response_type(y)
    records, columns_of_y = response_type.records(y), column_names(y)
    if records is not None:  # lengths are checked with the numbers of its rows
        y = np.arange(len(records))
    if encoder is None:
        source, values = check_fit_X(checked, X, y)
    else:
        source, values = check_mixed_X(checked, encoder, X, y)
    p, names = checked.n_features_in_, getattr(checked, "feature_names_in_", None)
    feature_groups = model.feature_groups
    if feature_groups is not None:
        feature_groups = check_feature_groups(feature_groups, p, names)
    kind = given(model.options, SiftOptions, "options").weight_kind
    kept, weight = check_weights(sample_weight, source, kind)
    if groups is not None:
        groups = check_groups(groups, source, kept, weight if kind == "frequency" else None)
    if is_classifier(model) and records is None:
        check_classification_targets(values[kept])
    response = response_type.of((values if records is None else records)[kept], weight)
    if offset is not None or exposure is not None:
        family = getattr(model, "family", "gaussian")
        response = with_known_part(response, source, kept, offset, exposure, family)
    learned = {
        "n_features_in_": p,
        "encoder_": encoder,
        "feature_groups_": feature_groups,
        "n_groups_": None if groups is None else int(np.max(groups)) + 1,
        "has_offset_": offset is not None,
    }
    if names is not None:
        learned["feature_names_in_"] = names
    learned |= learned_of_response(model, response, weight, columns_of_y)
    always = check_columns(model.always_keep, p, names, "always_keep")
    sample = Sample(
        source=take_rows(source, kept),
        response=response,
        weight=weight,
        groups=groups,
        covariates=None,
        columns=make_columns(source.shape[1], encoder, always, feature_groups),
        learned=learned,
    )
    if covariates is None:
        return sample
    return with_covariates(sample, covariates, source, kept)


def learned_of_response(
    model: GradientSift, response: Response, weight: Array | None, names: list[str] | None
) -> dict[str, Any]:
    """Attributes that follow from the response: its classes, or the names of its outcomes."""
    if isinstance(response, Numbers) and response.n_outcomes > 1:
        return {"outcome_names_": names}
    if not isinstance(response, Labels | Ordinal):
        return {}
    classes = response.classes
    labels = classes[np.asarray(response.values)]
    return {
        "classes_": classes,
        "class_weight_": class_weights(model.class_weight, classes, labels, weight),
    }


def check_parameters(model: GradientSift, sample: Sample) -> SiftParameters:
    """The parameters of a model, checked for a sample."""
    p, rate = sample.learned["n_features_in_"], model.false_discovery_rate
    options = given(model.options, SiftOptions, "options")
    check_n_components(model.n_components)
    check_max_features(options.max_features)
    if not is_whole_number(options.seed) or not 0 <= options.seed < 2**32:
        raise ValueError(f"seed={options.seed!r}: use a whole number from 0 to 2**32 - 1.")
    if not 0.0 < model.false_positives < p + 1e-9:
        raise ValueError(
            f"false_positives={model.false_positives}: the expected number of false variables "
            f"lies above 0 and below the number of columns ({p})."
        )
    if rate is not None and not 0.0 < rate < 1.0:
        raise ValueError(
            f"false_discovery_rate={rate}: the share of false variables among those selected "
            "lies above 0 and below 1; None selects by false_positives."
        )
    if model.predict_with not in ("auto", "selected"):
        raise ValueError(f"predict_with={model.predict_with!r}: use 'auto' or 'selected'.")
    if rate:
        sample.refuse("false_discovery_rate", groups=True)
    if model.inference:
        sample.refuse("inference", changing=True)
    return SiftParameters(
        false_positives=model.false_positives,
        false_discovery_rate=rate,
        interactions=model.interactions,
        n_components=model.n_components,
        predict_with=model.predict_with,
        missing="error" if model.missing == "error" else "mean",
        inference=model.inference,
        options=options,
        sift=model.sift_settings,
        refit=NUMBERS if isinstance(sample.response, Ordinal) else model.refit_settings,
    )


def warn_of_sample(sample: Sample, options: SiftOptions, goal: Goal) -> None:
    """Warnings about the rows, before the fit."""
    if isinstance(sample.response, Labels):
        warn_of_rare_classes(sample.response.classes, sample.response.codes)
    if sample.weight is not None and options.weight_kind == "frequency":
        warn_of_counts(sample.weight)
    if sample.columns.encoder is not None and goal == "all":
        independent = isinstance(sample.response, Likelihood)
        warn_of_columns(sample.columns.encoder, independent)
    if sample.groups is not None:
        warn_of_few_groups(sample.groups, sample.weight, sample.one_per_group)
    elif goal == "all":
        warn_of_repeats(sample)


def warn_of_fit(
    sample: Sample, found: SiftResult, predictor: Predictor | OutcomePredictors
) -> None:
    """Warnings about the result, after the fit."""
    if sample.groups is None:
        warn_of_row_order(sample, found.residual, predictor.scaling)
    if len(found.selected) == 0:
        fallback = sample.response.fallback
        if sample.covariates is not None:
            fallback = "the part of the covariates"
        if predictor.members:
            fallback = "predictors on all columns (predictor_.members)"
        warn_nothing_selected(fallback, NO_VARIABLE)


def answer_of(model: GradientSift, sample: Sample, target: str) -> Answer:
    """What a fit found, in words and numbers; the response without a known part."""
    rows = EffectSample(sample.response, sample.weight, sample.groups, sample.covariates)
    known = sample.learned
    names, groups = known.get("feature_names_in_"), known["feature_groups_"]
    return make_answer(
        model, sample.source, rows, names=names, feature_groups=groups, target=target
    )


@dataclass(eq=False, repr=False)
class GradientSiftRegressor(RegressorMixin, GradientSift):
    """Find the variables that matter, nonlinear and interacting ones included; no tuning.

    It works in two steps. The **sift** chooses variables: it models the response as a sum of smooth
    functions of single columns and of products of two, and a column must explain more than chance
    would, by a level that is computed and not tuned. So `false_positives` is the expected number
    of false variables on pure noise. The **refit** then fits a kernel predictor to the selected
    variables; predictions, gradients and directions come from it. Both follow from gradient
    learning by a potential (`docs/story.md`).

    Parameters
    ----------
    false_positives : float, default=0.3
        Expected number of selected variables if none acts on the response.
    false_discovery_rate : float, optional
        Select by `significance` instead: each variable is tested given the best model that does
        without it, and on average at most this share of the selected variables is false.
        Near-copies of each other are then rarely selected, as no test can decide between them;
        together they can be significant (``significance_.finding_q_values``).
    interactions : bool, default=True
        Also test products of two variables.
    n_components : int or 'auto', default='auto'
        Number of directions; 'auto' keeps 99 % of the trace of the gradient covariance.
    always_keep : list of column numbers or names, or (p,) bool array, optional
        Columns that are always selected.
    feature_groups : dict or (p,) array of labels, optional
        Columns that are one variable, such as the probes of a gene or a pathway: a dict from names
        of groups to lists of columns (names or numbers), or a label for each column. They are
        selected or left out together and count as one variable: half of its level is for a
        chi-square test of all columns together, the rest for tests of the single columns. The
        categories of a column always are such a group.
    predict_with : 'auto' or 'selected', default='auto'
        'selected' predicts from the selected variables alone. 'auto' does so too, unless a ridge on
        the columns that stand out or a kernel ridge on all columns predicts held-out rows about as
        well or better: then predictions are an average, and `predictor_` holds the shares; never
        so with `groups`. Selection, ranking, gradients and directions are the same either way. A
        model fitted with 'auto' predicts from the selected variables alone after
        ``set_params(predict_with="selected")``.
    missing : {'auto', 'mean', 'indicator', 'error'}, default='auto'
        'mean' fills missing values: by regression on other columns where these explain them, else
        with the column's mean (of the training samples). 'indicator' also counts as part of a
        column where its values are missing; 'auto' does so for columns whose missing values go with
        the response. 'error' refuses missing values and names their columns. A missing category is
        one more category.
    inference : bool, default=False
        Also compute the probability of columns to act: `findings_` and `confidence_`, as from
        `findings`. It takes less than a second in most tables.
    family : {'gaussian', 'poisson', 'negative-binomial'}, default='gaussian'
        The law of y. 'gaussian': numbers, outliers with bounded influence. 'poisson' and
        'negative-binomial': counts, whose logarithm of the mean is explained; gradients are those
        of the logarithm. Selection allows for counts that vary more than Poisson's in both cases,
        because effects that are not in the model yet look like that. The fit then has `link_`,
        with the constant of the log mean and the dispersion.
    options : SiftOptions, optional
        Options that few fits need: a limit to the number of variables, what weights mean, units of
        the report, the seed of findings, messages.

    Attributes
    ----------
    feature_importances_ : (p,) array
        Root mean square of the partial derivatives; exact zeros for unselected variables. Of a
        category, the standard deviation of the effects of its levels.
    variable_importances_ : (p,) array
        The same for the variable that each column belongs to: where several columns are one
        variable (`feature_groups`), the importance of all of them together.
    ranking_ : (p,) int array
        Rank of every variable, 1 = best.
    interactions_ : list of (first, second, strength)
        Products found, strongest first.
    n_paired_columns_ : int
        Columns of which all products of two were tested: all columns, or those with the strongest
        effects in a table where all products would take more than about a minute on two cores
        (above about 1e12 for the rows times the square of the columns).
    components_ : (n_components_, p) array
        Sparse directions in standardised columns.
    eigenvalues_ : array
    sift_ : SiftResult
    association_ : Association or None
        p- and q-values of every column by itself. Columns that are only correlated with a column
        that acts are associated too: ``association_.associated(0.1)`` is a longer list than the
        selected columns, and says less. None with `groups`, and with an offset of labels.
    significance_ : Significance
        p- and q-values of all columns; only with a `false_discovery_rate`.
    predictor_ : Predictor
        The predictor: ``predictor_.refit``, a function of the selected columns ``index``, whose
        gradients and directions are reported, and predictors on all columns (`members`) with their
        `shares` of the predictions and `gains` on held-out rows, where they have any.
    mean_, scale_ : (p,) arrays
    ranges_ : (2, m) array
        Smallest and largest values of the columns ``predictor_.index`` at the fit: what is far
        outside them gets an `ExtrapolationWarning`.
    outcome_importances_ : (q, p) array
        Of several outcomes, the importances for each of them, in standard deviations of it. What is
        selected and ranked is so for all outcomes together: a variable that acts on one of them is
        found by that alone, with the help of what their noise has in common.
    outcome_names_ : list of str or None
        Names of several outcomes, where y was a frame.
    n_groups_ : int or None
        Groups of rows; None where each row was independent of the others.
    feature_groups_ : tuple of str or None
        The variable behind each column, where `feature_groups` were given.
    encoder_ : TableEncoder or None
        How a table with categories became columns of numbers; None where it was numbers. Then
        `components_`, `mean_`, `scale_`, `sift_` and `predictor_` are about the encoded columns
        (``encoder_.names``), and everything else about the columns of the table.
    covariates_ : Covariates or None
        How covariates became columns, their part in predictions (`coefficients`), and the share of
        the variance of the response that they explain alone (`explained`).
    has_offset_ : bool
        Whether an offset was given.
    findings_ : list of Finding
        With ``inference=True``: sets of columns of which one acts, the most certain first.
    confidence_ : (p,) array
        With ``inference=True``: probability of every column to act on the response.
    answer_ : Answer
        With ``inference=True``: findings, what each of them does to the response, and how sure that
        is, as from `gradsift.explain`. Printed, it is the answer in words.

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

    References
    ----------
    :cite:`ye-2012`, :cite:`yuan-2006`, :cite:`wang-2020`
    """

    response_type = Numbers
    refit_settings = NUMBERS

    family: Literal["gaussian", "poisson", "negative-binomial"] = field(
        default="gaussian", kw_only=True
    )

    @documented(
        FITS,
        **FIT,
        y="""(n,) array, or (n, q) array or data frame of several outcomes
            Of a count family, counts.""",
        offset="""(n,) array, optional
            A known part of y, such as a polygenic score, or of the logarithm of the mean of counts.
            The rest is explained.""",
        exposure="""(n,) array, optional
            The time, area or number of units that each count refers to; count families only.""",
    )
    def fit(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        covariates: TableLike | None = None,
        offset: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> Self:
        given = {"sample_weight": sample_weight, "groups": groups, "covariates": covariates}
        return self._fit_for("all", X, y, **given, offset=offset, exposure=exposure)

    @documented(
        SLOPES,
        f"""{GRADIENT}
        std : as `gradient`
            With `return_std`, by the posterior of the refit. Where rows are several hundred and
            effects smooth, 89 to 96 % of the true derivatives of the selected variables lie within
            1.96 of them; with 100 rows or many weak effects, 63 to 96 %
            (record ``uncertainty/coverage``).
        """,
        **AS_TABLE,
        return_std="""bool, default=False
            Whether to return standard deviations as well. They take the selection as right.""",
    )
    def gradient(
        self,
        X: TableLike,
        *,
        sparse: bool = False,
        as_frame: bool = False,
        return_std: bool = False,
    ) -> Any:
        slopes = super().gradient(X, sparse=sparse, as_frame=as_frame)
        if not return_std:
            return slopes
        self._check_std()
        parts = self._gradient_parts(X, std=True)
        return slopes, self._all_columns(*parts, X, sparse, as_frame)

    def _check_std(self) -> None:
        """Refuse standard deviations with groups: those of a new group are not estimated."""
        check_is_fitted(self)
        if self.family != "gaussian":
            raise ValueError(
                "return_std=True: standard deviations are those of numbers, not counts."
            )
        if self.n_groups_ is not None:
            raise ValueError(
                "return_std=True: the model was fitted with groups, and standard deviations of a "
                "new group are not estimated."
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.family == "gaussian"
        return tags

    def _response_type(self, y: object) -> type[Response]:
        if self.family not in FAMILIES:
            raise ValueError(
                f"family={self.family!r}: use one of {', '.join(map(repr, FAMILIES))}."
            )
        return FAMILIES[self.family]

    @same_bits
    @documented(
        "Predict the response.",
        """y : (n,) array, or (n, q) of several outcomes
            Expected values of y.
        std : as y
            With `return_std`: of the noise, and of what the fit does not know about the function of
            the selected variables.
        """,
        exposure=EXPOSURE,
        return_std=RETURN_STD,
    )
    def predict(
        self,
        X: TableLike,
        covariates: TableLike | None = None,
        offset: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
        return_std: bool = False,
    ) -> Any:
        if return_std:
            self._check_std()
        eta = self._predicted(X, covariates, offset)
        if exposure is not None:
            eta = eta + as_shift(check_exposure(exposure, self.family), len(eta), 1, "exposure")
        if self.family != "gaussian":
            return self._link.predict(eta)
        y = eta[:, 0] if eta.shape[1] == 1 else eta
        if not return_std:
            return y
        return y, self.predictor_.std(self._new_samples(X), self.predict_with)

    @documented(
        "R² of the predictions, averaged over several outcomes; of counts, the share of Poisson's "
        "deviance that they explain.",
        "score : float",
        sample_weight="(n,) array, optional",
        exposure=EXPOSURE,
    )
    def score(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        covariates: TableLike | None = None,
        offset: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> float:
        predicted = self.predict(X, covariates, offset, exposure)
        if self.family == "gaussian":
            return score_predicted(self, predicted, y, sample_weight)
        return float(d2_tweedie_score(y, predicted, sample_weight=sample_weight, power=1))


@completed(GradientSiftRegressor)
@dataclass(eq=False, repr=False)
class GradientSiftClassifier(ClassifierMixin, GradientSift):
    """Find the variables that separate classes, nonlinear and interacting ones included.

    As `GradientSiftRegressor`, for labels of two or more classes. A variable is selected or not
    for all classes together, by the *sift*. The *refit* to the selected variables is a kernel
    logistic regression, and gradients are those of its log odds.

    Parameters
    ----------
    false_positives, false_discovery_rate, interactions, n_components, always_keep, \
feature_groups, predict_with, missing, inference, options
        As in `GradientSiftRegressor`.
    class_weight : dict, 'balanced' or None, default=None
        How much each class counts when samples are assigned to one: a weight of w multiplies the
        odds of the class by w. 'balanced' makes rare classes as likely as frequent ones. Selection,
        ranking, gradients and directions do not depend on it: weights add no evidence.
    ordered : bool, optional
        Whether the classes are ordered, as answers from "never" to "always" are: numbers by size,
        ordered pandas or polars categories by their order. A variable then moves a row up or down
        the classes, by one function of it for all of them (cumulative logits), which finds more
        than classes without an order do; gradients are those of the log odds of any higher class.
        None: where y is an ordered category.

    Attributes
    ----------
    classes_ : (n_classes,) array
        The labels, in order.
    link_, selected_link_ : Cuts
        Of ordered classes, where one ends and the next begins, for predictions with and without
        predictors on all columns.
    class_weight_ : (n_classes,) array
        The weight of each class.
    feature_importances_, variable_importances_, ranking_, interactions_, n_paired_columns_, \
components_, eigenvalues_, sift_, association_, significance_, predictor_, mean_, scale_, ranges_, \
n_groups_, feature_groups_, \
encoder_, covariates_, has_offset_, findings_, confidence_, answer_
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

    References
    ----------
    :cite:`ye-2012`, :cite:`yuan-2006`, :cite:`wang-2020`
    """

    response_type = Labels
    refit_settings = LABELS

    class_weight: ClassWeight = field(default=None, kw_only=True)
    ordered: bool | None = field(default=None, kw_only=True)

    def _response_type(self, y: object) -> type[Response]:
        ordered = OrderedLabels.of(y) is not None if self.ordered is None else self.ordered
        return Ordinal if ordered else Labels

    @same_bits
    @documented(SCORES, "scores : (n,) array, or (n, n_classes)")
    def decision_function(
        self, X: TableLike, covariates: TableLike | None = None, offset: ArrayLike | None = None
    ) -> Array:
        scores = self._predicted(X, covariates, offset)
        if hasattr(self, "link_"):  # ordered classes
            chances = np.log(np.maximum(self._link.predict(scores), np.finfo(float).tiny))
            scores = chances if chances.shape[1] > 2 else chances[:, 1:] - chances[:, :1]
        return weighted_scores(scores, self.class_weight_)

    @documented("Class probabilities.", "probabilities : (n, n_classes) array")
    def predict_proba(
        self, X: TableLike, covariates: TableLike | None = None, offset: ArrayLike | None = None
    ) -> Array:
        return probabilities(self.decision_function(X, covariates, offset))

    @documented("Most likely class.", "labels : (n,) array")
    def predict(
        self, X: TableLike, covariates: TableLike | None = None, offset: ArrayLike | None = None
    ) -> Array:
        return most_likely(self.decision_function(X, covariates, offset), self.classes_)

    @documented(CORRECT, "score : float", sample_weight="(n,) array, optional")
    def score(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        covariates: TableLike | None = None,
        offset: ArrayLike | None = None,
    ) -> float:
        return score_predicted(self, self.predict(X, covariates, offset), y, sample_weight)
