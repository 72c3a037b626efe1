"""A step of a scikit-learn pipeline that keeps the columns a gradient estimator selects."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import sklearn
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted, validate_data

from gradsift.data import is_storage
from gradsift.data.arrays import array_like
from gradsift.data.formats.sparse import check_indices
from gradsift.estimators.base import take_over
from gradsift.estimators.validation import check_max_features, check_new_X
from gradsift.protocols import TableLike


class GradientSelector(SelectorMixin, MetaEstimatorMixin, BaseEstimator):
    """Select the columns whose partial derivative is not zero.

    Parameters
    ----------
    estimator : estimator
        Any estimator of this package.
    max_features : int, optional
        Keep the best ranked columns only, at most this many of the selected ones.

    Attributes
    ----------
    estimator_ : estimator
        The fitted clone.
    ranking_ : (p,) int array
        Rank of every variable, 1 = best.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import SVR
    >>> from gradsift import GradientSelector, SparseGradientRegressor
    >>> X = np.random.default_rng(0).normal(size=(80, 20))
    >>> y = X[:, 3] - X[:, 11]
    >>> pipe = make_pipeline(GradientSelector(SparseGradientRegressor(), max_features=2), SVR())
    >>> pipe.fit(X, y)[0].get_support(indices=True).tolist()
    [3, 11]
    """

    def __init__(self, estimator: BaseEstimator, *, max_features: int | None = None) -> None:
        self.estimator = estimator
        self.max_features = max_features

    def fit(self, X: TableLike, y: ArrayLike, **fit_params: object) -> Self:
        """Fit a clone of the estimator.

        Parameters
        ----------
        X : (n, p) array or data frame
        y : (n,) array
        **fit_params : dict
            Passed to the estimator, e.g. ``sample_weight``.

        Returns
        -------
        self
        """
        check_max_features(self.max_features)
        if sklearn.get_config()["enable_metadata_routing"]:
            fit_params = process_routing(self, "fit", **fit_params).estimator.fit
        fitted = clone(self.estimator).fit(X, y, **fit_params)
        shared = ("ranking_", "n_features_in_", "feature_names_in_")
        found = {name: getattr(fitted, name) for name in shared if hasattr(fitted, name)}
        return take_over(self, {"estimator_": fitted, **found})

    def transform(self, X: TableLike) -> Any:
        """Keep the selected columns.

        Parameters
        ----------
        X : (n, p) array, data frame, or anything that opens as a source

        Returns
        -------
        X_new : (n, n_selected) array
            With `set_output`, a frame, in which columns of a frame of that kind keep their types.
            Of data stored elsewhere, only the selected columns are read.
        """
        check_is_fitted(self)
        if sparse.issparse(X):
            check_indices(X)
        elif is_storage(X):
            return check_new_X(self, X).columns(self.get_support(indices=True))
        wanted = getattr(self, "_sklearn_output_config", {}).get("transform")
        wanted = sklearn.get_config()["transform_output"] if wanted is None else wanted
        if wanted == "polars" and hasattr(X, "get_columns"):
            # as scikit-learn does with pandas: no way through an array, which has one type
            validate_data(self, X, skip_check_array=True, reset=False)
            frame: Any = X
            return frame[:, self.get_support(indices=True).tolist()]
        return super().transform(X if sparse.issparse(X) else array_like(X))

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.asarray(self.estimator_.get_support())
        if self.max_features is None:
            return mask
        # columns that are always kept may be ranked behind others that are not selected
        selected = np.flatnonzero(mask)
        best = selected[np.argsort(self.ranking_[selected], kind="stable")[: self.max_features]]
        return np.asarray(np.isin(np.arange(len(mask)), best))

    def get_metadata_routing(self) -> MetadataRouter:
        """Who gets what when metadata routing is on: everything goes to the estimator.

        Returns
        -------
        routing : MetadataRouter
        """
        # pipelines of scikit-learn 1.6 ask what fit_transform wants, and drop the rest unsaid
        mapping = MethodMapping().add(caller="fit", callee="fit")
        mapping.add(caller="fit_transform", callee="fit")
        return MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        inside = get_tags(self.estimator).input_tags
        tags.input_tags.sparse = inside.sparse
        tags.input_tags.allow_nan = inside.allow_nan
        return tags
