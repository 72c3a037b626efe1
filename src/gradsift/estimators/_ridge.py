"""GL, gradient learning with a ridge penalty: dense fields, the paper's comparison."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from gradsift._run.threads import one_blas_thread
from gradsift._typing import Array
from gradsift.estimators._base import GradientEstimator, check_n_components
from gradsift.estimators._tasks import Answer, FieldClassifier, FieldRegressor, Sample
from gradsift.numerics.directions import find_directions
from gradsift.numerics.distances import products
from gradsift.numerics.ranking import rank_variables
from gradsift.pairwise.assemble import Assembly, Settings, assemble
from gradsift.pairwise.field import kernel_field
from gradsift.solver import Rows
from gradsift.solver.forward_backward import step_bound
from gradsift.solver.penalty import row_norms
from gradsift.solver.ridge import expand, solve_ridge


class RidgeGradient(GradientEstimator):
    """Shared by both tasks."""

    def __init__(
        self,
        alpha: float | None = None,
        *,
        kernel: Any = "affine",
        weights: Any = "gaussian",
        standardize: bool = True,
        n_components: int | Literal["auto"] = "auto",
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.weights = weights
        self.standardize = standardize
        self.n_components = n_components

    def _fit(self, sample: Sample) -> Answer:
        check_n_components(self.n_components)
        if self.alpha is not None and not (np.isfinite(self.alpha) and self.alpha > 0):
            raise ValueError(f"alpha={self.alpha}: the ridge penalty is a positive number or None.")
        settings = Settings(self.kernel, self.weights, self.standardize)
        with one_blas_thread():
            assembly = assemble(sample.X, sample.response, settings, sample.weight)
            problem, p = assembly.problem, assembly.problem.n_features
            inner = products(problem.source).inner
            self.alpha_ = self.alpha if self.alpha is not None else default_ridge(assembly, inner)
            A, v = solve_ridge(problem.datafit, inner, self.alpha_)
            rows = Rows(np.arange(p), expand(problem.source, A)).drop_zeros()
            importances = np.zeros(p)
            importances[rows.index] = row_norms(rows.values)
            directions = find_directions(rows.index, rows.values, p, self.n_components)
            self.field_ = kernel_field(assembly, rows, v)
        ranking = rank_variables(importances, importances)
        self._store(importances, ranking, directions, assembly.scaling)
        return Answer(assembly, rows, v)


def default_ridge(assembly: Assembly, inner: Array) -> float:
    """A thousandth of the largest curvature of the data term: scale-free, mild."""
    datafit = assembly.problem.datafit
    values, vectors = np.linalg.eigh(inner)
    T = vectors * np.sqrt(np.maximum(values, 0.0))
    phi, v = datafit.restrict(T), datafit.start()
    zero = np.zeros((T.shape[1], datafit.n_tasks))
    G, g = phi.gradient(phi.image(zero, v), zero, v)
    return 5e-4 * step_bound(phi, G, np.zeros_like(g)) or 1.0


class RidgeGradientRegressor(FieldRegressor, RidgeGradient):
    """Gradient learning (GL; Mukherjee & Zhou) for regression: every variable stays in.

    Minimises 1/n^2 sum_ij w_ij (y_i - y_j + f(x_i) . (x_j - x_i))^2 + alpha sum_k ||f^k||_K^2, a
    linear system of the size of the samples, whatever the number of columns. Its directions are the
    paper's ESFs.

    Parameters
    ----------
    alpha : float, optional
        Ridge penalty. None = a thousandth of the data term's largest curvature (halved: the
        penalty's own curvature is 2 alpha).
    kernel, weights, standardize, n_components
        As in `SparseGradientRegressor`.

    Attributes
    ----------
    feature_importances_, ranking_, components_, eigenvalues_, alpha_, mean_, scale_, field_
        As in `SparseGradientRegressor`; no exact zeros but for constant columns.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import RidgeGradientRegressor
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> model = RidgeGradientRegressor().fit(X, X[:, 0] - 2 * X[:, 1])
    >>> model.ranking_[:2].tolist()
    [2, 1]
    """


class RidgeGradientClassifier(FieldClassifier, RidgeGradient):
    """Gradient learning (GL) for classification: logistic loss, ridge penalty, dense fields.

    Parameters
    ----------
    alpha : float, optional
        Ridge penalty. None = a thousandth of the data term's largest curvature (halved).
    kernel, weights, standardize, n_components
        As in `SparseGradientClassifier`.

    Attributes
    ----------
    classes_, feature_importances_, ranking_, components_, eigenvalues_, alpha_, mean_, scale_, \
field_
        As in `SparseGradientClassifier`; no exact zeros but for constant columns.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import RidgeGradientClassifier
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> model = RidgeGradientClassifier().fit(X, X[:, 2] > 0)
    >>> int(model.ranking_.argmin())
    2
    """
