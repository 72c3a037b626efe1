"""GradientSift: gradient learning with a potential. The default: no kernel, no alpha, no tuning."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self, cast

from sklearn.base import ClassifierMixin, RegressorMixin

from gradsift._typing import Array
from gradsift.estimators._base import blank
from gradsift.estimators._sift_base import GradientSift
from gradsift.estimators._sift_predictions import AdjustedLabels, AdjustedNumbers
from gradsift.estimators._sift_sample import SiftSample
from gradsift.estimators._sift_target import Labels, Numbers
from gradsift.estimators._tasks import class_weights
from gradsift.estimators._validation import (
    check_labels,
    check_numbers,
    warn_of_rare_classes,
)
from gradsift.numerics.robust import largest_tie
from gradsift.refit.settings import LABELS, NUMBERS


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
