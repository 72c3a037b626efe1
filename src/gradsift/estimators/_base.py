"""What every estimator shares: the shell around a fitted gradient field."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import replace
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from scipy import sparse as sp
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    clone,
    is_classifier,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from gradsift._run.extras import require
from gradsift._run.threads import same_bits
from gradsift._typing import Array, IntArray, Source
from gradsift.data import Scaling
from gradsift.data.far import column_ranges
from gradsift.estimators._description import ModelDescription
from gradsift.estimators._notebook import NotebookForm
from gradsift.estimators._validation import check_new_X, ranged_columns
from gradsift.exceptions import NothingSelectedWarning
from gradsift.numerics.directions import Directions
from gradsift.pairwise.dimension import Dimension
from gradsift.solver import Solution, Status

E = TypeVar("E", bound=BaseEstimator)


def blank(estimator: E) -> E:
    """A copy with the parameters only, for the checks of a fit to write on.

    What they learn (`n_features_in_`, `feature_names_in_`) reaches the estimator itself with the
    rest of the fit, by `keep`.
    """
    door = copy(estimator)
    door.__dict__ = {name: value for name, value in vars(estimator).items() if name[-1] != "_"}
    return door


def keep(estimator: E, door: E, **found: Any) -> E:
    """Take over what a fit found, all in one step, in place of what the last one left; and the
    ranges of the columns that it uses, of the table that came in by `door`.

    Until then nothing on the estimator has changed, so that a fit which is interrupted or fails
    leaves it as it was.
    """
    stays = {name: value for name, value in vars(estimator).items() if name[-1] != "_"}
    seen = {name: value for name, value in vars(door).items() if name[-1] == "_"}
    if (source := vars(door).get("_source")) is not None:
        found["ranges_"] = column_ranges(source, ranged_columns(found))
    estimator.__dict__ = {**stays, **seen, **found}
    return estimator


class Summary(Protocol):
    """What every fit of a gradient field comes to."""

    @property
    def field(self) -> Any:
        """`index`, the variables the gradient depends on, and `gradient(X)`, (outputs, n,
        len(index)) in the user's units.
        """
        ...

    @property
    def importances(self) -> Array: ...

    @property
    def ranking(self) -> IntArray: ...

    @property
    def directions(self) -> Directions: ...

    @property
    def scaling(self) -> Scaling: ...


def summary_attributes(fit: Summary) -> dict[str, Any]:
    """The attributes that every fitted estimator has."""
    return {
        "field_": fit.field,
        "feature_importances_": fit.importances,
        "ranking_": fit.ranking,
        "components_": fit.directions.components,
        "eigenvalues_": fit.directions.eigenvalues,
        "n_components_": len(fit.directions.components),
        "mean_": fit.scaling.mean,
        "scale_": fit.scaling.scale,
    }


class Counted(Summary, Protocol):
    """The same where held-out prediction counts the directions."""

    @property
    def dimension(self) -> Dimension | None: ...


def counted_attributes(fit: Counted) -> dict[str, Any]:
    """The attributes of estimators whose directions are counted by held-out prediction."""
    return {**summary_attributes(fit), "dimension_": fit.dimension}


class DirectionEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Directions and the projection on them; subclasses find them."""

    components_: Array
    mean_: Array
    scale_: Array

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    @property
    def _scaling(self) -> Scaling:
        """From the user's columns to those that directions are reported in."""
        return Scaling(self.mean_, self.scale_)

    def get_support(self, indices: bool = False) -> Any:
        """Selected variables; of estimators that select none, those with a part in a direction.

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

    def _used(self) -> Any:
        return self.components_.any(axis=0)

    def _new_samples(self, X: Any) -> Source:
        """Samples that the model is asked about, checked, in the columns of its field."""
        return check_new_X(self, X)

    @same_bits
    def transform(self, X: Any) -> Array:
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
        return self._scaling.apply(source.columns(used), used) @ self.components_[:, used].T

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class GradientEstimator(NotebookForm, DirectionEstimator):
    """Selection, directions and gradients of a fitted field; subclasses fit it."""

    field_: Any
    feature_importances_: Array

    @property
    def _scaling(self) -> Scaling:
        return replace(self.field_.scaling, mean=self.mean_, scale=self.scale_)

    def _used(self) -> Any:
        return np.asarray(self.feature_importances_ > 0.0)

    def describe(self) -> ModelDescription:
        """What the fitted model is: its kind, what it predicts with, what vouches for its answer.

        Returns
        -------
        description : ModelDescription
        """
        check_is_fitted(self)
        return ModelDescription(
            kind=type(self).__name__,
            classes=tuple(str(c) for c in self.classes_) if is_classifier(self) else (),
            n_features=int(self.n_features_in_),
            n_selected=int(self.get_support().sum()),
            **self._particulars(),
        )

    def _particulars(self) -> dict[str, Any]:
        """Fields of the description that only some kinds of models have."""
        return {}

    def _find_support(self, X: Any, y: Any, **fit_params: Any) -> IntArray:
        """Column numbers that `fit` would select, by the least work; leaves no fitted model."""
        return np.asarray(clone(self).fit(X, y, **fit_params).get_support(indices=True))

    def _fit_to_predict(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """`fit`, as far as the predictions need it."""
        return self.fit(X, y, **fit_params)

    @same_bits
    def gradient(self, X: Any, *, sparse: bool = False, as_frame: bool = False) -> Any:
        """The gradient at any sample, in the units of the columns of X.

        Parameters
        ----------
        X : (n, p) array or data frame
        sparse : bool, default=False
            Return a CSC array that stores the selected columns only.
        as_frame : bool, default=False
            Return a pandas data frame of the selected columns, with the index of X.

        Returns
        -------
        gradient : (n, p) array, or (n_classes, n, p) with more than two classes
            Zero columns for variables that were not selected. With `sparse`, a CSC array, or a
            list of one per class. With `as_frame`, a frame with the names of the columns; with more
            than two classes, its columns are pairs (class, name). A category has no derivative:
            its column holds by how much the prediction of the sample differs from what it would be
            at the most frequent category.
        """
        check_is_fitted(self)
        if sparse and as_frame:
            raise ValueError("sparse=True and as_frame=True: ask for one of them.")
        field, index = self._gradient_parts(X)
        if as_frame:
            return gradient_frame(self, field, index, row_names(X))
        p = self.n_features_in_
        if sparse:
            parts = [_scatter_sparse(part, index, p) for part in field]
            return parts[0] if len(parts) == 1 else parts
        out = np.zeros((*field.shape[:2], p))
        out[:, :, index] = field
        return out[0] if len(out) == 1 else out

    def _gradient_parts(self, X: Any) -> tuple[Array, IntArray]:
        """The gradient (outputs, n, m) along some columns of X, and which they are; the others have
        none.
        """
        return self.field_.gradient(self._new_samples(X)), self.field_.index

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = getattr(self, "missing", "error") != "error"
        return tags


def row_names(X: Any) -> Any:
    """The index of a frame, the names of the observations of an AnnData, else None."""
    found = getattr(X, "index", getattr(X, "obs_names", None))
    return None if callable(found) else found


def gradient_frame(model: Any, field: Array, along: IntArray, rows: Any) -> Any:
    """The gradient along the selected columns as a pandas frame; (class, name) for several."""
    pandas = require("pandas", "genomics", "a data frame")
    index = model.get_support(indices=True)
    known = getattr(model, "feature_names_in_", None)
    names = [f"x{k}" if known is None else known[k] for k in index.tolist()]
    place = np.searchsorted(along, index)
    parts = field[:, :, place]
    frames = [pandas.DataFrame(part, columns=names, index=rows) for part in parts]
    if len(frames) == 1:
        return frames[0]
    return pandas.concat(dict(zip(model.classes_, frames)), axis=1)


def _scatter_sparse(part: Array, index: IntArray, n_features: int) -> sp.csc_array:
    n = len(part)
    counts = np.zeros(n_features + 1, dtype=np.int64)
    counts[index + 1] = n
    rows = np.tile(np.arange(n), len(index))
    return sp.csc_array((part.T.ravel(), rows, np.cumsum(counts)), shape=(n, n_features))


def warn_unless_converged(solution: Solution, max_iter: int) -> None:
    if solution.status is not Status.CONVERGED:
        warnings.warn(
            f"alpha={solution.alpha:.4g}: {solution.status.value} (max_iter={max_iter}, relative "
            f"duality gap {solution.certificate.gap:.2g}).",
            ConvergenceWarning,
            stacklevel=3,
        )


def warn_nothing_selected(fallback: str, advice: str) -> None:
    warnings.warn(
        f"no variable was selected, so predictions fall back to {fallback}. {advice}",
        NothingSelectedWarning,
        stacklevel=3,
    )


def check_n_components(n_components: int | str) -> None:
    if n_components != "auto" and (
        isinstance(n_components, (str, bool))
        or not isinstance(n_components, (int, np.integer))
        or n_components < 1
    ):
        raise ValueError(f"n_components={n_components!r}: use 'auto' or a whole number >= 1.")
