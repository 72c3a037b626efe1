"""Classical sufficient dimension reduction: SIR, SAVE and pHd."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from gradsift._run.overflow import refuse_overflow
from gradsift._run.threads import one_blas_thread, same_bits
from gradsift._typing import Array
from gradsift.estimators._base import DirectionEstimator, blank, check_n_components, keep
from gradsift.estimators._tasks import numbers_sample
from gradsift.numerics.directions import orient
from gradsift.pairwise.dimension import SPAN, choose_dimension
from gradsift.pairwise.fitting import Sample
from gradsift.pairwise.inverse_regression import (
    Inverse,
    leading_eigenvectors,
    mean_hessian,
    orthonormal,
    slice_covariances,
    slice_means,
)
from gradsift.pairwise.mave import whiten


@dataclass(kw_only=True, eq=False, repr=False)
class InverseRegression(DirectionEstimator):
    """The parameters that all have in common, and the fit."""

    n_components: int | Literal["auto"] = "auto"
    standardize: bool = True

    _matrix: ClassVar[Callable[..., Array]]

    @same_bits
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the directions.

        Parameters
        ----------
        X : (n, p) array or data frame
        y : (n,) array of numbers
        sample_weight : (n,) array, optional

        Returns
        -------
        self
        """
        check_n_components(self.n_components)
        n_slices = check_n_slices(getattr(self, "n_slices", 2))
        door = blank(self)
        sample = numbers_sample(door, X, y, sample_weight)
        matrix = type(self)._matrix
        found = find_inverse(sample, matrix, n_slices, self.standardize, self.n_components)
        return keep(self, door, **found)


def check_n_slices(n_slices: Any) -> int:
    if isinstance(n_slices, bool) or not isinstance(n_slices, (int, np.integer)) or n_slices < 2:
        raise ValueError(f"n_slices={n_slices!r}: use a whole number >= 2.")
    return int(n_slices)


@refuse_overflow
def find_inverse(
    sample: Sample,
    matrix: Inverse,
    n_slices: int,
    standardize: bool,
    n_components: int | Literal["auto"],
) -> dict[str, Any]:
    """The fitted attributes."""
    with one_blas_thread():
        scaling, X, y, share = sample.distinct(standardize)
        Z, turn, _ = whiten(X, share)
        values, gamma = leading_eigenvectors(matrix(Z, y, share, n_slices))
        rows = orient(orthonormal(turn @ gamma[:, :SPAN]))
        dimension = None
        if n_components == "auto":
            dimension = choose_dimension(X @ rows.T, y[:, None], share)
        count = n_components if dimension is None else dimension.chosen
    components = rows[: int(count)]
    return {
        "components_": components,
        "n_components_": len(components),
        "eigenvalues_": values,
        "dimension_": dimension,
        "mean_": scaling.mean,
        "scale_": scaling.scale,
    }


@dataclass(kw_only=True, eq=False, repr=False)
class SlicedInverseRegression(InverseRegression):
    """SIR (Li, 1991): directions along which the mean of the columns moves with the response.

    The response is cut into slices; the leading directions of the slice means, in whitened columns,
    are those of the response where columns are elliptically distributed. A link that is symmetric
    about the centre leaves all means where they are, and is not found: see
    `SlicedAverageVariance`. Where columns are more than half the samples, their leading principal
    components, half as many as samples, take their place.

    Parameters
    ----------
    n_slices : int, default=10
        Slices of equal weight along the response; a response with no more distinct values than
        that (class numbers, say) has one slice for each.
    n_components : int or 'auto', default='auto'
        Number of directions; 'auto' keeps as many as held-out prediction along them asks for.
    standardize : bool, default=True
        Report directions in columns of unit variance.

    Attributes
    ----------
    components_ : (n_components_, p) array
        Orthonormal; the first k span what the k leading directions span.
    eigenvalues_ : array
        Of the covariance of the slice means, largest first.
    dimension_ : Dimension or None
        The evidence on the number of directions, with ``n_components='auto'``.
    mean_, scale_ : (p,) arrays
        The standardising.
    ranges_ : (2, m) array
        Smallest and largest values of the columns with a part in a direction.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import SlicedInverseRegression
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> model = SlicedInverseRegression(n_components=1).fit(X, np.exp(X[:, 0] + X[:, 1]))
    >>> np.abs(model.components_).round(1)
    array([[0.7, 0.7, 0. , 0. ]])
    """

    n_slices: int = 10

    _matrix = staticmethod(slice_means)


@dataclass(kw_only=True, eq=False, repr=False)
class SlicedAverageVariance(InverseRegression):
    """SAVE (Cook and Weisberg, 1991): directions along which the spread of the columns changes.

    As `SlicedInverseRegression`, from the covariances within the slices: symmetric links are found
    too, at the price of more samples.

    Parameters
    ----------
    n_slices : int, default=5
        As in `SlicedInverseRegression`; fewer, because each holds a whole covariance.
    n_components, standardize
        As in `SlicedInverseRegression`.

    Attributes
    ----------
    components_, eigenvalues_, dimension_, mean_, scale_, ranges_
        As in `SlicedInverseRegression`.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import SlicedAverageVariance
    >>> X = np.random.default_rng(0).normal(size=(500, 4))
    >>> model = SlicedAverageVariance(n_components=1).fit(X, X[:, 1] ** 2)
    >>> int(np.abs(model.components_).argmax())
    1
    """

    n_slices: int = 5

    _matrix = staticmethod(slice_covariances)


@dataclass(kw_only=True, eq=False, repr=False)
class PrincipalHessianDirections(InverseRegression):
    """pHd (Li, 1992): directions along which the response bends.

    Eigenvectors of the mean Hessian of what a linear fit leaves, which for normal columns is a
    moment of the data (Stein's lemma). Straight directions are not found.

    Parameters
    ----------
    n_components, standardize
        As in `SlicedInverseRegression`.

    Attributes
    ----------
    components_, dimension_, mean_, scale_, ranges_
        As in `SlicedInverseRegression`.
    eigenvalues_ : array
        Of the mean Hessian, largest size first; negative where the response bends down.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import PrincipalHessianDirections
    >>> X = np.random.default_rng(0).normal(size=(500, 4))
    >>> model = PrincipalHessianDirections(n_components=1).fit(X, X[:, 1] ** 2)
    >>> int(np.abs(model.components_).argmax())
    1
    """

    _matrix = staticmethod(mean_hessian)
