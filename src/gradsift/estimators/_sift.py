"""GradientSift: gradient learning with a potential. The default: no kernel, no alpha, no tuning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self, TypeVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier
from sklearn.utils.validation import check_is_fitted

from gradsift._run.progress import Say, silent, stages
from gradsift._run.threads import one_blas_thread, same_bits
from gradsift._typing import Array, IntArray, Source
from gradsift.data import (
    ScaledSource,
    Scaling,
    measure_scaling,
    standardised,
    take_rows,
)
from gradsift.estimators._base import (
    GradientEstimator,
    all_or_nothing,
    check_n_components,
    warn_nothing_selected,
)
from gradsift.estimators._sift_parts import (
    Interaction,
    RefitField,
    Sifted,
    class_contrasts,
    refit_rows,
    seed_of,
)
from gradsift.estimators._tasks import LabelPredictions
from gradsift.estimators._validation import (
    check_columns,
    check_fit_X,
    check_labels,
    check_new_X,
    check_numbers,
    check_weights,
    warn_of_counts,
    warn_of_rare_classes,
)
from gradsift.numerics.directions import find_directions
from gradsift.refit import (
    ClassificationRefit,
    Dense,
    RegressionRefit,
    dense_classification,
    dense_regression,
    refit_classification,
    refit_regression,
)
from gradsift.refit.settings import LABELS, NUMBERS, RefitSettings
from gradsift.sift import SiftSettings, sift, sift_support

T = TypeVar("T")

ENERGY = 0.99  # share of the gradient's covariance that 'auto' directions hold


class GradientSift(GradientEstimator):
    """Shared by both tasks: sift, then refit."""

    field_: RefitField
    dense_: Dense | None

    sift_settings: ClassVar[SiftSettings] = SiftSettings()
    refit_settings: ClassVar[RefitSettings]

    def __init__(
        self,
        false_positives: float = 0.3,
        *,
        interactions: bool = True,
        standardize: bool = True,
        n_components: int | Literal["auto"] = "auto",
        always_keep: Any = None,
        predict_with: Literal["auto", "selected"] = "auto",
        tol: float = 1e-3,
        missing: Literal["error", "mean"] = "error",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.false_positives = false_positives
        self.interactions = interactions
        self.standardize = standardize
        self.n_components = n_components
        self.always_keep = always_keep
        self.predict_with = predict_with
        self.tol = tol
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self, X: Source) -> None:
        check_n_components(self.n_components)
        if not 0.0 < self.false_positives < X.shape[1] + 1e-9:
            raise ValueError(
                f"false_positives={self.false_positives}: the expected number of false variables "
                f"lies above 0 and below the number of columns ({X.shape[1]})."
            )
        if not self.tol > 0:
            raise ValueError(f"tol={self.tol} must be positive.")
        if self.predict_with not in ("auto", "selected"):
            raise ValueError(f"predict_with={self.predict_with!r}: use 'auto' or 'selected'.")

    def _sift(
        self, sift: Callable[..., T], X: Source, Y: Array, weight: Array | None, say: Say
    ) -> tuple[Source, Array, Scaling, T]:
        """Which variables matter; always judged on standardised columns.

        Gives these columns, the shares of the rows, the scaling, and what `sift` gives.
        """
        self._check_parameters(X)
        names = getattr(self, "feature_names_in_", None)
        keep = check_columns(self.always_keep, X.shape[1], names, "always_keep")
        n = X.shape[0]
        share = np.full(n, 1.0 / n) if weight is None else weight / weight.sum()
        say(f"standardising {X.shape[1]:,} columns")
        scaling = measure_scaling(X, share, missing=self.missing)
        source = standardised(X, scaling)
        found = sift(
            source,
            Y,
            false_positives=self.false_positives,
            interactions=self.interactions,
            always_keep=keep.tolist(),
            sample_weight=weight,
            robust=not is_classifier(self),  # labels have no outliers
            tol=self.tol,
            say=say,
            settings=self.sift_settings,
        )
        return source, share, scaling, found

    def _finish(
        self, sifted: Sifted, refit: RegressionRefit | ClassificationRefit, rows: IntArray
    ) -> None:
        """Importances, ranking and directions from the refitted gradient at some rows."""
        X, _, share, scaling, found = sifted
        p, index = X.shape[1], found.selected
        self.field_ = RefitField(scaling, index, refit)
        report = self.field_.standard_gradient if self.standardize else self.field_.gradient
        if len(rows) < len(share):
            share = share[rows] / share[rows].sum()
        F = np.sqrt(share)[:, None] * report(take_rows(X, rows))
        stacked = F.transpose(2, 0, 1).reshape(len(index), F.shape[0] * F.shape[1])
        importances = np.zeros(p)
        # a selected variable is in, however flat the refit finds it: never an exact zero
        importances[index] = np.maximum(np.linalg.norm(stacked, axis=1), np.finfo(float).tiny)
        directions = find_directions(index, stacked, p, self.n_components, energy=ENERGY)
        self.sift_, self.refit_ = found, refit
        self.interactions_ = [Interaction(*pair) for pair in found.interactions]
        if not self.standardize:
            scaling = replace(scaling, mean=np.zeros(p), scale=np.ones(p))
        self._store(importances, found.ranking, directions, scaling)

    def _blend(self, sparse: Array, X: Source) -> Array:
        """Predictions from the selected variables, averaged with those of the ridge, if it
        has a part in them.
        """
        if self.dense_ is None:
            return sparse
        # a view: only the columns that the ridge uses are read and standardised
        return self.dense_.blend(sparse, ScaledSource(X, self.field_.scaling))

    def _fallback(self, constant: str) -> str:
        return constant if self.dense_ is None else "a ridge on the columns that stand out (dense_)"


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
    interactions : bool, default=True
        Look for products of two variables too.
    standardize : bool, default=True
        Report importances and directions in standardised columns, where variables can be
        compared; False reports them in your units. Sift and refit always standardise.
    n_components : int or 'auto', default='auto'
        Number of directions; 'auto' keeps 99 % of the trace of the gradient covariance.
    always_keep : list of column numbers or names, optional
        Columns that are always selected.
    predict_with : 'auto' or 'selected', default='auto'
        'selected' predicts from the selected variables alone. 'auto' does so too, unless there are
        more columns than rows and a ridge on all that stand out predicts held-out rows better: then
        predictions are an average of both, and `dense_` says in which shares. Selection, ranking,
        gradients and directions are the same either way.
    tol : float, default=1e-3
        Accuracy of the group-lasso path that proposes which variables to choose from.
    missing : {'error', 'mean'}, default='error'
        'error' refuses missing values and names their columns; 'mean' puts the column's mean (of
        the training samples) in their place.
    random_state : int, optional
        Seed for the rows that tune the refit when there are more than 300. The selected set does
        not depend on it.
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
    refit_ : RegressionRefit
        The predictor on the selected variables; gradients and directions are its.
    dense_ : Dense or None
        The ridge on all columns that stand out and its share of the predictions, where it has one.
    mean_, scale_ : (p,) arrays
    field_ : RefitField

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
    refit_: RegressionRefit

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Sift, then refit.

        Parameters
        ----------
        X : (n, p) array or data frame
        y : (n,) array
        sample_weight : (n,) array, optional
            How much each row counts beside the others; 0 = not at all. Weights are scaled to the
            effective number of samples, so their unit does not matter and equal weights change
            nothing. Only whole numbers from 1 (which must occur) to 1000 count rows instead: 2 =
            the row twice; a `CountedRowsWarning` says so where that makes many more samples.

        Returns
        -------
        self
        """
        X, y = check_fit_X(self, X, y, y_numeric=True)
        kept, weight = check_weights(sample_weight, X)
        warn_of_counts(weight)
        X, y = take_rows(X, kept), check_numbers(y[kept])
        seed = seed_of(self.random_state)
        with one_blas_thread(workers=self.n_jobs), stages(self.verbose) as say:
            sifted = Sifted(X, *self._sift(sift, X, y[:, None], weight, say))
            rows = refit_rows(np.zeros(len(y), dtype=int))
            say(f"refit on {len(sifted.found.selected):,} selected, {len(rows):,} rows")
            Z = sifted.refit_columns(rows)
            refit = refit_regression(
                Z,
                y[rows],
                sample_weight=None if weight is None else weight[rows],
                random_state=seed,
                settings=self.refit_settings,
            )
            self.dense_ = None
            if self.predict_with == "auto":
                say("a ridge on all columns")
                self.dense_ = dense_regression(
                    sifted.standardised, Z, y, refit, weight, self.refit_settings
                )
            self._finish(sifted, refit, rows)
        if len(sifted.found.selected) == 0:
            warn_nothing_selected(self._fallback("the mean of y"), NO_VARIABLE)
        return self

    def _find_support(self, X: Any, y: Any) -> IntArray:
        X, y = check_fit_X(self, X, y, y_numeric=True)
        with one_blas_thread(workers=self.n_jobs):
            return self._sift(sift_support, X, check_numbers(y)[:, None], None, silent)[-1]

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


class GradientSiftClassifier(LabelPredictions, ClassifierMixin, GradientSift):
    """Find the variables that tell classes apart, nonlinear and interacting ones included.

    As `GradientSiftRegressor`; the sift decides once per variable over all classes together, the
    refit is kernel logistic regression, and gradients are those of the log odds.

    Parameters
    ----------
    false_positives, interactions, standardize, n_components, always_keep, predict_with, tol, \
missing, \
random_state, n_jobs, verbose
        As in `GradientSiftRegressor`.

    Attributes
    ----------
    classes_ : array
    refit_ : ClassificationRefit
    feature_importances_, ranking_, interactions_, components_, eigenvalues_, sift_, dense_, \
mean_, scale_, field_
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
    refit_: ClassificationRefit

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Sift, then refit.

        Parameters
        ----------
        X : (n, p) array or data frame
        y : (n,) array of labels, of any type
        sample_weight : (n,) array, optional
            How much each row counts beside the others; 0 = not at all. Weights are scaled to the
            effective number of samples, so their unit does not matter and equal weights change
            nothing. Only whole numbers from 1 (which must occur) to 1000 count rows instead: 2 =
            the row twice; a `CountedRowsWarning` says so where that makes many more samples.

        Returns
        -------
        self
        """
        X, y = check_fit_X(self, X, y)
        kept, weight = check_weights(sample_weight, X)
        warn_of_counts(weight)
        X = take_rows(X, kept)
        self.classes_, codes = check_labels(y[kept])
        warn_of_rare_classes(self.classes_, codes)
        n_classes = len(self.classes_)
        seed = seed_of(self.random_state)
        with one_blas_thread(workers=self.n_jobs), stages(self.verbose) as say:
            Y = class_contrasts(codes, n_classes)
            sifted = Sifted(X, *self._sift(sift, X, Y, weight, say))
            rows = refit_rows(codes)
            say(f"refit on {len(sifted.found.selected):,} selected, {len(rows):,} rows")
            Z = sifted.refit_columns(rows)
            refit = refit_classification(
                Z,
                codes[rows],
                n_classes=n_classes,
                sample_weight=None if weight is None else weight[rows],
                random_state=seed,
                settings=self.refit_settings,
            )
            self.dense_ = None
            if self.predict_with == "auto":
                say("a ridge on all columns")
                self.dense_ = dense_classification(
                    sifted.standardised, Z, codes, refit, weight, self.refit_settings
                )
            self._finish(sifted, refit, rows)
        if len(sifted.found.selected) == 0:
            warn_nothing_selected(self._fallback("the class shares"), NO_VARIABLE)
        return self

    def _find_support(self, X: Any, y: Any) -> IntArray:
        X, y = check_fit_X(self, X, y)
        classes, codes = check_labels(y)
        with one_blas_thread(workers=self.n_jobs):
            Y = class_contrasts(codes, len(classes))
            return self._sift(sift_support, X, Y, None, silent)[-1]

    @same_bits
    def decision_function(self, X: Any) -> Array:
        """Log odds of the second class, or one score per class when there are more than two.

        Parameters
        ----------
        X : (n, p) array or data frame

        Returns
        -------
        scores : (n,) array, or (n, n_classes)
        """
        check_is_fitted(self)
        X = check_new_X(self, X)
        return self._blend(self.refit_.decision_function(self.field_.columns(X)), X)


NO_VARIABLE = (
    "Nothing stands out from noise at this level: ranking_ still orders all variables, a larger "
    "false_positives admits weaker ones."
)
