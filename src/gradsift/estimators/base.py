"""The base of all estimators: scikit-learn's interface around a fitted gradient field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from functools import reduce
from html import escape
from typing import Any, ClassVar, Literal, Self, TypeAlias, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse as sp
from scipy.special import expit, softmax
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    is_classifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import Tags
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from gradsift._run.extras import require
from gradsift._run.printable import printable
from gradsift._run.threads import same_bits
from gradsift._run.warn import warn_user
from gradsift.data import Scaling, stack_rows, take_rows
from gradsift.data.arrays import array_like
from gradsift.data.extrapolation import column_ranges
from gradsift.data.responses import check_all_known, to_floats
from gradsift.estimators.docstrings import documented
from gradsift.estimators.sample import check_weights, read_weights
from gradsift.estimators.validation import (
    check_fit_X,
    check_labels,
    check_new_X,
    ranged_columns,
)
from gradsift.exceptions import NothingSelectedWarning
from gradsift.numerics.directions import Directions
from gradsift.pairwise.assemble import PairResponse
from gradsift.pairwise.field import GradientField, KernelField
from gradsift.pairwise.fit import FittedField, PairPredictor, PairSample
from gradsift.protocols import Array, IntArray, Source, TableLike
from gradsift.responses.numbers import check_numbers

E = TypeVar("E", bound=BaseEstimator)
Goal = Literal["all", "predictions", "support"]
"""What a fitted model is for; see `GradientEstimator.fit_for`."""
GOALS = get_args(Goal)
ClassWeight: TypeAlias = Mapping[object, float] | str | None
"""Weights of classes by label, 'balanced', or None: all the same."""
MOST_NAMED = 10
"""Words: selected variables that are named in a notebook."""


def blank(estimator: E) -> E:
    """A copy with the parameters only, on which scikit-learn's checks may set attributes.

    These attributes (`n_features_in_`, `feature_names_in_`) are set on the estimator itself with
    the results of the fit, by `take_over`.
    """
    draft = copy(estimator)
    draft.__dict__ = {name: value for name, value in vars(estimator).items() if name[-1] != "_"}
    return draft


def take_over(estimator: E, found: dict[str, Any], rows: Source | None = None) -> E:
    """Set all fitted attributes of an estimator in one step, in place of those of an earlier fit;
    with the rows of the fit, also the ranges of the columns that it uses.

    Before this step the estimator is unchanged, so that a fit that fails or is interrupted leaves
    it as it was.
    """
    stays = {name: value for name, value in vars(estimator).items() if name[-1] != "_"}
    ranges = {} if rows is None else {"ranges_": column_ranges(rows, ranged_columns(found))}
    estimator.__dict__ = {**stays, **found, **ranges}
    return estimator


def direction_attributes(directions: Directions, scaling: Scaling) -> dict[str, Any]:
    """The attributes of an estimator with directions, from directions in scaled columns."""
    return {
        "components_": directions.components,
        "eigenvalues_": directions.eigenvalues,
        "n_components_": len(directions.components),
        "mean_": scaling.mean,
        "scale_": scaling.scale,
    }


def field_attributes(fit: FittedField) -> dict[str, Any]:
    """The attributes of an estimator with the fit of a gradient field."""
    return {
        "field_": fit.field,
        "predictor_": fit.predictor,
        "feature_importances_": fit.importances,
        "ranking_": fit.ranking,
        "dimension_": fit.dimension,
        **direction_attributes(fit.directions, fit.scaling),
    }


SLOPES = "The gradient at any sample, in the units of the columns of X."
AS_TABLE = {
    "sparse": """bool, default=False
        Return a CSC array that stores the selected columns only.""",
    "as_frame": """bool, default=False
        Return a pandas data frame of the selected columns, with the index of X.""",
}
GRADIENT = """gradient : (n, p) array, or (q, n, p) of more than two classes or of several outcomes
            Zero columns for variables that were not selected. With `sparse`, a CSC array, or a list
            of one for each class or outcome. With `as_frame`, a frame with the names of the
            columns; of several classes or outcomes, its columns are pairs (class, name). A category
            has no derivative: its column holds by how much the prediction of the sample differs
            from what it would be at the most frequent category."""


def knows_gradient(estimator: BaseEstimator) -> bool:
    return bool(estimator.has_gradient)


class GradientEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Directions, selection and gradients of a fitted model; subclasses fit it.

    Estimators of directions alone set `has_gradient` to False: they have no field, no importances
    and no ranking.
    """

    components_: Array
    mean_: Array
    scale_: Array
    field_: Any
    feature_importances_: Array

    has_gradient: ClassVar[bool] = True

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    @property
    def _field(self) -> GradientField:
        """`scaling`, `index`, the columns the gradient depends on, and `gradient(X)`, (outputs, n,
        len(index)) in the user's units.
        """
        return self.field_

    def _used(self) -> NDArray[np.bool_]:
        """(n_features,) bool array: the selected columns, or those in a direction."""
        if not self.has_gradient:
            return np.asarray(self.components_.any(axis=0))
        return np.asarray(self.feature_importances_ > 0.0)

    def _new_samples(self, X: TableLike) -> Source:
        """New samples, checked, in the columns of the field."""
        return check_new_X(self, X)

    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """Selected variables; of estimators that select none, those with a weight in a direction.

        Parameters
        ----------
        indices : bool, default=False
            Column numbers instead of a mask.

        Returns
        -------
        support : (n_features,) bool array, or int array of column numbers
        """
        check_is_fitted(self)
        mask = self._used()
        return np.flatnonzero(mask) if indices else mask

    @same_bits
    def transform(self, X: TableLike) -> Array:
        """Project samples on the directions: ``((X - mean_) / scale_) @ components_.T``.

        Parameters
        ----------
        X : (n, p) array or data frame

        Returns
        -------
        X_new : (n, n_components_) array
        """
        check_is_fitted(self)
        source = self._new_samples(X)
        used = np.flatnonzero(self.components_.any(axis=0))
        scaling = self._field.scaling if self.has_gradient else Scaling(self.mean_, self.scale_)
        return scaling.apply(source.columns(used), used) @ self.components_[:, used].T

    def fit_for(self, goal: Goal, X: TableLike, y: ArrayLike, **fit_params: object) -> Self:
        """`fit`, limited to what a goal needs, if the estimator supports this.

        Parameters
        ----------
        goal : {'all', 'predictions', 'support'}
            What the fitted model is for: everything, as after `fit`; predictions on new rows,
            without the ranking of columns that are not selected, tests of each column and findings;
            or `get_support` alone.
        X, y, **fit_params
            As in `fit`.

        Returns
        -------
        self
            Attributes that the goal does not need may be missing.
        """
        if goal not in GOALS:
            raise ValueError(f"goal={goal!r}: use one of {', '.join(map(repr, GOALS))}.")
        return self._fit_for(goal, X, y, **fit_params)

    def _fit_for(self, goal: Goal, X: TableLike, y: ArrayLike, **fit_params: object) -> Self:
        return self.fit(X, y, **fit_params)

    @available_if(knows_gradient)
    @same_bits
    @documented(SLOPES, GRADIENT, **AS_TABLE)
    def gradient(self, X: TableLike, *, sparse: bool = False, as_frame: bool = False) -> Any:
        check_is_fitted(self)
        if sparse and as_frame:
            raise ValueError("sparse=True and as_frame=True: ask for one of them.")
        return self._all_columns(*self._gradient_parts(X), X, sparse, as_frame)

    def _all_columns(
        self, field: Array, index: IntArray, X: Any, sparse: bool, as_frame: bool
    ) -> Any:
        """Values (outputs, n, m) along some columns of X, as `gradient` returns them."""
        if as_frame:
            return gradient_frame(self, field, index, row_names(X))
        p = self.n_features_in_
        if sparse:
            parts = [_scatter_sparse(part, index, p) for part in field]
            return parts[0] if len(parts) == 1 else parts
        out = np.zeros((*field.shape[:2], p))
        out[:, :, index] = field
        return out[0] if len(out) == 1 else out

    def _gradient_parts(self, X: TableLike) -> tuple[Array, IntArray]:
        """The gradient (outputs, n, m) along some columns of X, and which they are; the others have
        none.
        """
        return self._field.gradient(self._new_samples(X)), self._field.index

    @property
    def _repr_html_(self) -> Callable[[], str]:
        # scikit-learn's is a property that raises AttributeError when diagrams are switched off
        diagram = super()._repr_html_
        return lambda: short_form(self) + diagram()

    def _repr_mimebundle_(self, **kwargs: object) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = short_form(self) + bundle["text/html"]
        return bundle

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = getattr(self, "missing", "error") != "error"
        return tags


def short_form(model: GradientEstimator) -> str:
    """A fitted estimator in a notebook: its answer, or the selected variables where it has none; ''
    before `fit`, and without a ranking. Column names are data: they are escaped.
    """
    try:
        check_is_fitted(model, "ranking_")
    except NotFittedError:
        return ""
    if (answer := getattr(model, "answer_", None)) is not None:
        return str(answer._repr_html_())
    support = model.get_support(indices=True)
    order = support[np.argsort(model.ranking_[support], kind="stable")]
    names = getattr(model, "feature_names_in_", None)
    shown = [f"x{k}" if names is None else str(names[k]) for k in order[:MOST_NAMED]]
    shown += [f"{len(order) - MOST_NAMED:,} more"] if len(order) > MOST_NAMED else []
    which = f": {escape(', '.join(map(printable, shown)))}" if shown else ""
    return f"<p><b>{len(support):,} of {model.n_features_in_:,} variables selected</b>{which}</p>"


def row_names(X: TableLike) -> object:
    """The index of a frame, the names of the observations of an AnnData, else None."""
    found = getattr(X, "index", getattr(X, "obs_names", None))
    return None if callable(found) else found


def gradient_frame(model: BaseEstimator, field: Array, along: IntArray, rows: object) -> Any:
    """The gradient along the selected columns as a pandas frame; (class, name) for several classes,
    (outcome, name) for several outcomes.
    """
    pandas = require("pandas", "genomics", "a data frame")
    index = model.get_support(indices=True)
    known = getattr(model, "feature_names_in_", None)
    names = [f"x{k}" if known is None else known[k] for k in index.tolist()]
    place = np.searchsorted(along, index)
    parts = field[:, :, place]
    frames = [pandas.DataFrame(part, columns=names, index=rows) for part in parts]
    if len(frames) == 1:
        return frames[0]
    outputs = model.classes_ if is_classifier(model) else model.outcome_names_
    outputs = range(len(frames)) if outputs is None else outputs
    return pandas.concat(dict(zip(outputs, frames, strict=True)), axis=1)


def _scatter_sparse(part: Array, index: IntArray, n_features: int) -> sp.csc_array:
    n = len(part)
    counts = np.zeros(n_features + 1, dtype=np.int64)
    counts[index + 1] = n
    rows = np.tile(np.arange(n), len(index))
    return sp.csc_array((part.T.ravel(), rows, np.cumsum(counts)), shape=(n, n_features))


def warn_nothing_selected(fallback: str, advice: str) -> None:
    warn_user(
        f"no variable was selected, so predictions fall back to {fallback}. {advice}",
        NothingSelectedWarning,
    )


# The input of estimators that fit a gradient field, and predictions from it.


def pair_sample(
    estimator: GradientEstimator,
    X: TableLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    X_unlabeled: TableLike | None = None,
    unlabeled_mark: int | None = None,
) -> tuple[PairSample, dict[str, Any]]:
    """Checked training data, of labels where the estimator is a classifier, and the attributes that
    follow from them.

    Rows whose numeric label is `unlabeled_mark` join those of `X_unlabeled`.
    """
    draft: Any = blank(estimator)
    table, values = check_fit_X(draft, X, y)
    n, (kept, weight) = table.shape[0], check_weights(sample_weight, table)
    extra = [] if X_unlabeled is None else [check_new_X(draft, X_unlabeled)]
    if unlabeled_mark is not None and values.dtype.kind in "iuf":
        labelled = values[kept] != unlabeled_mark
        extra.append(take_rows(table, kept[~labelled]))
        weight = None if weight is None else weight[labelled]
        kept = kept[labelled]
    classes = None
    if is_classifier(estimator):
        classes, codes = check_labels(values[kept])
        response = PairResponse.labels(codes, len(classes))
    else:
        response = PairResponse.numbers(check_numbers(values[kept]))
    extra = [part for part in extra if part.shape[0]]
    unlabeled = reduce(stack_rows, extra) if extra else None
    sample = PairSample(take_rows(table, kept), response, weight, kept, n, unlabeled, classes)
    learned = {name: value for name, value in vars(draft).items() if name[-1] == "_"}
    if classes is not None:
        weights = class_weights(draft.class_weight, classes, classes[codes], weight)
        learned |= {"classes_": classes, "class_weight_": weights}
    return sample, learned


def score_predicted(
    model: BaseEstimator, predicted: Array, y: ArrayLike, sample_weight: ArrayLike | None
) -> float:
    """scikit-learn's score, of responses that are all known."""
    y = check_all_known(y) if np.ndim(predicted) == 1 else array_like(y, "y")
    measure, y = (accuracy_score, y) if is_classifier(model) else (r2_score, to_floats(y, "y"))
    weight = None if sample_weight is None else read_weights(sample_weight, predicted)
    return float(measure(y, predicted, sample_weight=weight))


SCORES = "Log odds of the second class, or one score per class when there are more than two."
CORRECT = "Share of labels that are predicted right."


class NumberPredictions:
    """Mixin: `predict` from the columns that `field_` depends on, by `predictor_`."""

    field_: KernelField
    predictor_: PairPredictor

    @same_bits
    @documented("Predict the response.", returns="y : (n,) array")
    def predict(self, X: TableLike) -> Array:
        check_is_fitted(self)
        index = self.field_.index
        columns = check_new_X(self, X).columns(index)
        return self.predictor_(self.field_.scaling.apply(columns, index))[0]

    @documented("R² of the predictions.", "score : float", sample_weight="(n,) array, optional")
    def score(self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        return score_predicted(self, self.predict(X), y, sample_weight)


def class_weights(
    class_weight: ClassWeight, classes: Array, y: Array, weight: Array | None
) -> Array:
    """One positive number per class from None, 'balanced' or a dict, as in scikit-learn.

    'balanced' is inversely proportional to the number of samples of the class.
    """
    weight = np.ones(len(y)) if weight is None else weight
    if isinstance(class_weight, str) and class_weight == "balanced":
        counts = np.array([weight[y == label].sum() for label in classes])
        return np.asarray(counts.sum() / (len(classes) * counts))
    if class_weight is not None and not isinstance(class_weight, dict):
        raise ValueError(
            f"class_weight={class_weight!r}: use None, 'balanced' or a dict from labels to weights."
        )
    found = compute_class_weight(class_weight, classes=classes, y=y)
    if not (np.isfinite(found).all() and (found > 0.0).all()):
        raise ValueError(f"class_weight={class_weight!r}: weights are finite and positive.")
    return np.asarray(found)


class LabelPredictions:
    """Mixin: scores, probabilities and labels, by `predictor_` from the columns that `field_`
    depends on; without one, by the offset function of `field_`.

    A class that counts w times as much has odds w times as large: its score is log w higher. That
    moves the boundary between classes and nothing else.
    """

    classes_: Array
    class_weight_: Array
    field_: KernelField
    predictor_: PairPredictor | None

    _new_samples: Callable[[TableLike], Source]

    def _scores(self, X: Source) -> Array:
        """(n, 1) log odds of the second class, or (n, n_classes) scores, before class weights."""
        if self.predictor_ is None:
            return self.field_.offset(X)
        index = self.field_.index
        return self.predictor_(self.field_.scaling.apply(X.columns(index), index)).T

    @same_bits
    @documented(SCORES, "scores : (n,) array, or (n, n_classes)")
    def decision_function(self, X: TableLike) -> Array:
        check_is_fitted(self)
        return weighted_scores(self._scores(self._new_samples(X)), self.class_weight_)

    @documented("Class probabilities.", returns="probabilities : (n, n_classes) array")
    def predict_proba(self, X: TableLike) -> Array:
        return probabilities(self.decision_function(X))

    @documented("Most likely class.", returns="labels : (n,) array")
    def predict(self, X: TableLike) -> Array:
        return most_likely(self.decision_function(X), self.classes_)

    @documented(CORRECT, "score : float", sample_weight="(n,) array, optional")
    def score(self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        return score_predicted(self, self.predict(X), y, sample_weight)


def weighted_scores(scores: Array, class_weight: Array) -> Array:
    """Scores (n, q) of a fit with the weights of the classes, as users get them: a class that
    counts w times as much has a score that is log w higher.
    """
    shift = np.log(class_weight)
    scores = scores + (shift if scores.shape[1] > 1 else shift[1:] - shift[:1])
    return scores[:, 0] if len(class_weight) == 2 else scores


def probabilities(scores: Array) -> Array:
    """(n, n_classes) from log odds (n,) or scores (n, n_classes)."""
    if scores.ndim == 1:
        return np.column_stack([expit(-scores), expit(scores)])
    return np.asarray(softmax(scores, axis=1))


def most_likely(scores: Array, classes: Array) -> Array:
    """The label of each row, from log odds (n,) or scores (n, n_classes)."""
    best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
    return np.asarray(classes[best])
