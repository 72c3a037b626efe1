"""The paper's estimators: sparse gradient learning for numbers and for labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Self

from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier
from sklearn.exceptions import ConvergenceWarning

from gradsift._run.progress import follow
from gradsift._run.threads import one_blas_thread, same_bits
from gradsift._run.warn import warn_user
from gradsift.estimators.base import (
    ClassWeight,
    GradientEstimator,
    LabelPredictions,
    NumberPredictions,
    field_attributes,
    pair_sample,
    take_over,
    warn_nothing_selected,
)
from gradsift.estimators.docstrings import completed, documented
from gradsift.estimators.validation import check_n_components, given
from gradsift.pairwise.assemble import Penalties, Settings
from gradsift.pairwise.fit import (
    AlphaRule,
    PairSample,
    PredictWith,
    SparseFit,
    SparseSettings,
    fit_sparse,
    settle_path,
    start,
)
from gradsift.protocols import Array, TableLike
from gradsift.solver import Solver, Status
from gradsift.solver.path import PathResult, check_alphas, fit_path, geometric_grid

# The paper's problem without an estimator: its largest penalty, the whole path.


Task = Literal["regression", "classification"]


def gradient_path(
    X: TableLike,
    y: ArrayLike,
    *,
    task: Task = "regression",
    kernel: object = "affine",
    weights: object = "gaussian",
    standardize: bool = True,
    alphas: ArrayLike | None = None,
    n_alphas: int = 50,
    eps: float = 0.1,
    penalty_factor: Array | None = None,
    alpha_0: float | None = None,
    smoothness: float = 0.0,
    sample_weight: ArrayLike | None = None,
    solver: str = "auto",
    tol: float = 1e-4,
    max_iter: int = 20_000,
    missing: Literal["error", "mean"] = "error",
    verbose: int = 0,
) -> PathResult:
    """Sparse gradients along decreasing penalties, each answer certified over all variables.

    Parameters
    ----------
    X : (n, p) array or data frame
    y : (n,) array
    task : {'regression', 'classification'}, default='regression'
    alphas : array, optional
        Penalties; None = `n_alphas` from ``alpha_max`` down to `eps` times it. With adaptive
        weights, those of the first round, as ``alpha`` is in `SparseGradientRegressor`.
    n_alphas : int, default=50
    eps : float, default=0.1
    kernel, weights, standardize, sample_weight, missing
        As in `SparseGradientRegressor` and `SparseGradientClassifier`.
    penalty_factor, alpha_0, smoothness
        As in `Penalties`.
    solver : {'auto', 'fbs'}, default='auto'
        As `method` in `SolverSettings`.
    tol, max_iter
        As in `SolverSettings`.
    verbose : int, default=0
        Above 0 shows alphas done, variables selected, speed, memory and the time left: as a bar in
        a terminal (with rich installed), else as lines to the logger "gradsift" or to stderr.

    Returns
    -------
    path : PathResult
        With ``alphas``, ``importances`` (n_alphas, p), ``supports``, ``dual_gaps``,
        ``kkt_violations``, ``n_iter``.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 30))
    >>> path = gradient_path(X, X[:, 0] + X[:, 1], n_alphas=5, eps=0.3)
    >>> [len(s) for s in path.supports]
    [0, 2, 2, 2, 2]
    >>> bool(path.dual_gaps.max() <= 1e-4)
    True
    """
    if task not in TASKS:
        raise ValueError(f"task={task!r}: use 'regression' or 'classification'.")
    settings = Settings(
        penalty_factor, alpha_0, smoothness, kernel, weights, standardize, missing=missing
    )
    with one_blas_thread():
        sample = pair_sample(TASKS[task](missing=missing), X, y, sample_weight)[0]
        started = start(sample, settings)
        problem, null = started.assembly.problem, started.null
        chosen = make_solver(solver, tol, max_iter)
        if alphas is None:
            alphas = geometric_grid(null.alpha, n_alphas, eps)
        grid = check_alphas(alphas)
        with follow(verbose, len(grid)) as steps:
            path = fit_path(problem, grid, chosen, null=null, progress=steps)
        return settle_path(started, path, chosen)


def alpha_max(X: TableLike, y: ArrayLike, **settings: Any) -> float:
    """The smallest penalty at which nothing is selected (the paper's lambda_max).

    Adaptive weights begin with distances over all variables, so that it is that of their base rule.

    Parameters
    ----------
    X : (n, p) array or data frame
    y : (n,) array
    **settings
        As in `gradient_path`.

    Returns
    -------
    alpha_max : float

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 30))
    >>> top = alpha_max(X, X[:, 0])
    >>> [len(s) for s in gradient_path(X, X[:, 0], alphas=[top, 0.99 * top]).supports]
    [0, 1]
    """
    return gradient_path(X, y, n_alphas=1, **settings).alpha_max


def make_solver(name: str, tol: float, max_iter: int) -> Solver:
    """Solver settings from an estimator's parameters."""
    if name not in ("auto", "fbs"):
        raise ValueError(
            f"solver={name!r} is unknown. Use 'auto' (working sets, Newton steps) or 'fbs' (the "
            "paper's forward-backward splitting over all columns)."
        )
    if not tol > 0:
        raise ValueError(f"tol={tol} must be positive.")
    if max_iter < 1:
        raise ValueError(f"max_iter={max_iter} must be at least 1.")
    return Solver(tol=tol, max_iter=int(max_iter), plain=name == "fbs")


@dataclass(frozen=True, eq=False)
class SolverSettings:
    """How the paper's problem is solved, to which accuracy, and whether progress is shown.

    Parameters
    ----------
    method : {'auto', 'fbs'}, default='auto'
        Working sets around Newton steps, or forward-backward splitting over all columns, which the
        paper prints.
    tol : float, default=1e-4
        Relative duality gap to reach.
    max_iter : int, default=20000
        Most steps of the inner solver.
    verbose : int, default=0
        Above 0 shows the steps down to alpha, as `gradient_path` does.
    """

    method: str = "auto"
    tol: float = 1e-4
    """Rounding: the answer is certified to this part of the objective."""
    max_iter: int = 20_000
    """Time: a fit that needs more steps ends with a ConvergenceWarning."""
    verbose: int = 0
    """Words: nothing but what is shown."""


LABELS_OR_NUMBERS = """(n,) array
    Numbers, or labels of any type. With ``Penalties(smoothness=...)`` above 0, numeric labels of -1
    mark unlabelled rows, as in scikit-learn's semi-supervised estimators."""


@dataclass(kw_only=True, eq=False, repr=False)
class SparseGradient(GradientEstimator):
    """The parameters of the paper's estimators, written down once, and how they become settings.

    It is a dataclass for its `__init__`, which stores the parameters and does nothing else, as
    scikit-learn requires. Subclasses add parameters in the same way.
    """

    kernel: object = "affine"
    weights: object = "gaussian"
    standardize: bool = True
    n_components: int | Literal["auto"] = "auto"
    penalties: Penalties | None = None
    solver: SolverSettings | None = None
    missing: Literal["error", "mean"] = "error"

    @property
    def _penalties(self) -> Penalties:
        return given(self.penalties, Penalties, "penalties")

    def _settings(self, sample: PairSample) -> SparseSettings:
        penalties, solver = self._penalties, given(self.solver, SolverSettings, "solver")
        if sample.unlabeled is not None and not penalties.smoothness > 0:
            raise ValueError(
                f"unlabelled samples were given but smoothness={penalties.smoothness}: set "
                "penalties=Penalties(smoothness=...) above 0 to use them."
            )
        check_n_components(self.n_components)
        problem = Settings(
            kernel=self.kernel,
            weights=self.weights,
            standardize=self.standardize,
            missing=self.missing,
            **vars(penalties),
        )
        alpha = getattr(self, "alpha", None)
        predict_with: PredictWith = getattr(self, "predict_with", "directions")
        other = "offset" if sample.response.is_labels else "taylor"
        if predict_with not in ("directions", other):
            raise ValueError(f"predict_with={predict_with!r}: use 'directions' or {other!r}.")
        return SparseSettings(
            problem,
            make_solver(solver.method, solver.tol, solver.max_iter),
            self.n_components,
            alpha,
            solver.verbose,
            predict_with,
        )

    @same_bits
    @documented("Fit the gradient field; of labels, that of their log odds.", y=LABELS_OR_NUMBERS)
    def fit(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        X_unlabeled: TableLike | None = None,
    ) -> Self:
        sample, learned = pair_sample(self, X, y, sample_weight, X_unlabeled, self._mark)
        fit = fit_sparse(sample, self._settings(sample))
        warn_of_fit(self, fit)
        return take_over(self, learned | sparse_attributes(fit), sample.every_row)

    @property
    def _mark(self) -> int | None:
        """scikit-learn's mark of rows without a label, where these have a say."""
        return -1 if is_classifier(self) and self._penalties.smoothness > 0 else None


def sparse_attributes(fit: SparseFit) -> dict[str, object]:
    """The attributes of a fitted estimator of the paper."""
    proof = fit.solution.certificate
    return {
        **field_attributes(fit),
        "alpha_": fit.solution.alpha,
        "alpha_max_": fit.alpha_max,
        "dual_gap_": proof.gap,
        "kkt_violation_": proof.violation,
        "objective_": proof.primal,
        "n_iter_": max(1, fit.solution.n_iter),
    }


def warn_of_fit(estimator: SparseGradient, fit: SparseFit) -> None:
    """Warn where the solver did not converge, or where nothing was selected."""
    solution = fit.solution
    if solution.status is not Status.CONVERGED:
        most = given(estimator.solver, SolverSettings, "solver").max_iter
        warn_user(
            f"alpha={solution.alpha:.4g}: {solution.status.value} (max_iter={most}, relative "
            f"duality gap {solution.certificate.gap:.2g}).",
            ConvergenceWarning,
        )
    if len(fit.field.index) == 0 and not is_classifier(estimator):
        warn_nothing_selected("the mean of y", "Use a smaller alpha, below alpha_max_.")


@dataclass(eq=False, repr=False)
class SparseGradientRegressor(NumberPredictions, RegressorMixin, SparseGradient):
    """Sparse gradient learning for regression (Ye & Xie).

    Minimises over gradient fields f = (f^1, ..., f^p), each f^k in the space of `kernel`,

        1/n^2 sum_ij w_ij (y_i - y_j + f(x_i) . (x_j - x_i))^2  +  alpha sum_k omega_k ||f^k||_K

    and selects the variables whose partial derivative is not exactly zero. Every fit comes with a
    certificate over all variables: `dual_gap_` and `kkt_violation_`.

    Parameters
    ----------
    alpha : float, 'theory', TheoryRate or None, default=None
        The paper's lambda. None = 0.1 ``alpha_max_``; at or above ``alpha_max_`` nothing is
        selected. 'theory' is the rate of theorems 1 and 2 with the number of columns as dimension,
        ``TheoryRate(dim, theta)`` that rate with another.
    kernel : str, object or callable, default='affine'
        'affine', 'linear', 'gaussian', 'constant', 'delta', ``Gaussian(scale=...)``, or a function
        of the products of samples, such as ``lambda products: (1 + products.inner) ** 2``, which
        has their inner products as ``inner`` and their squared distances as ``sqdist``.
    weights : str or object, default='gaussian'
        'gaussian', 'uniform', 'nearest', ``Gaussian(scale=...)``,
        ``NearestNeighbors(k=10, form='paper')``, or 'adaptive' / ``Adaptive(base)``: distances over
        the selected variables only, iterated until the selected set stays the same. `alpha` is the
        penalty of the first round, and each further round has the same part of its ``alpha_max_``.
    standardize : bool, default=True
        Centre the columns and scale them to unit variance first. The paper's simulations do not.
    n_components : int or 'auto', default='auto'
        Number of directions; 'auto' chooses it by held-out predictions along the directions.
    penalties : Penalties, optional
        ``Penalties(penalty_factor, smoothness)``: factors of the penalty for single variables
        (0 = never penalised), and a penalty on changes of the field between neighbours.
    solver : SolverSettings, optional
        ``SolverSettings(method, tol, max_iter, verbose)``.
    predict_with : {'directions', 'taylor'}, default='directions'
        'directions': a weighted average of ridge regressions on the coordinates along the sparse
        directions, of local linear regressions on their predictions, and of local linear fits in
        these coordinates; penalties and weights are those of smallest leave-one-out errors.
        'taylor': the average of the Taylor expansions around the training samples that are near in
        the selected variables.
    missing : {'error', 'mean'}, default='error'
        'error' refuses missing values and names their columns; 'mean' puts the column's mean (of
        the training samples) in their place.

    Attributes
    ----------
    feature_importances_ : (p,) array
        ||f^k||_K, in standardised columns; exact zeros for unselected variables.
    ranking_ : (p,) int array
        Rank of every variable, 1 = best.
    components_ : (n_components_, p) array
        Sparse EDR directions in standardised columns, most important first.
    eigenvalues_ : array
        Eigenvalues of the sparse gradient covariance on the selected variables.
    dimension_ : Dimension or None
        With ``n_components='auto'``, the held-out errors with 0, 1, 2, ... directions and their
        standard errors. From fewer than 40 samples their number cannot be estimated, and one
        direction is kept.
    alpha_, alpha_max_ : float
    dual_gap_ : float
        Duality gap relative to the objective of the zero field.
    kkt_violation_ : float
        Largest violation of the optimality conditions by any variable, relative to ``alpha_max_``.
    objective_ : float
    n_iter_ : int
        Steps of the inner solver, all penalties on the way down to alpha together.
    mean_, scale_ : (p,) arrays
        The standardising.
    ranges_ : (2, m) array
        Smallest and largest values of the columns ``field_.index`` at the fit: what is far outside
        them gets an `ExtrapolationWarning`.
    field_ : KernelField
        The fitted gradient field.
    predictor_ : IndexPredictor or TaylorPredictor
        The function behind `predict`.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import SparseGradientRegressor
    >>> X = np.random.default_rng(0).uniform(size=(100, 10))
    >>> y = (2 * X[:, 0] - 1) ** 2 + X[:, 1] + X[:, 2]
    >>> model = SparseGradientRegressor().fit(X, y)
    >>> sorted(np.argsort(model.ranking_)[:3].tolist())
    [0, 1, 2]
    >>> model.gradient(X[:2]).shape
    (2, 10)
    >>> bool(model.dual_gap_ <= 1e-4)
    True

    References
    ----------
    :cite:`ye-2012`
    """

    alpha: AlphaRule = None
    predict_with: PredictWith = field(default="directions", kw_only=True)


@completed(SparseGradientRegressor)
@dataclass(eq=False, repr=False)
class SparseGradientClassifier(LabelPredictions, ClassifierMixin, SparseGradient):
    """Sparse gradient learning for classification (Ye & Xie), any number of classes.

    With labels +-1, minimises over the log odds f^0 and their gradient f

        1/n^2 sum_ij w_ij log(1 + exp(-y_j (f^0(x_i) + f(x_i) . (x_j - x_i))))
            + alpha_0 ||f^0||_K^2  +  alpha sum_k omega_k ||f^k||_K

    More than two classes use the multinomial loss, one field per class, and one group per variable
    across classes: a variable is in or out for all of them together.

    Parameters
    ----------
    alpha : float, 'theory', TheoryRate or None, default=None
        The paper's lambda_2. None = 0.1 ``alpha_max_``.
    penalties : Penalties, optional
        ``Penalties(penalty_factor, alpha_0, smoothness)``; alpha_0 is the paper's lambda_1.
    class_weight : dict, 'balanced' or None, default=None
        As in `GradientSiftClassifier`: it moves the boundary between classes, not the field.
    predict_with : {'offset', 'directions'}, default='offset'
        'offset': the paper's f^0, a function of all columns, selected or not. 'directions':
        labels are predicted from the selected variables as `SparseGradientRegressor` predicts
        numbers, and turned into log odds by a logistic fit to what is predicted for samples left
        out.
    kernel, weights, standardize, n_components, solver, missing
        As in `SparseGradientRegressor`.

    Attributes
    ----------
    classes_ : array
        Class labels.
    class_weight_ : (n_classes,) array
        The weight of each class.
    predictor_ : LabelPredictor or None
        The function behind the scores of classes; None = the offset function of `field_`.
    feature_importances_, ranking_, components_, eigenvalues_, dimension_, alpha_, alpha_max_, \
dual_gap_, kkt_violation_, objective_, n_iter_, mean_, scale_, \
ranges_, field_
        As in `SparseGradientRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import SparseGradientClassifier
    >>> X = np.random.default_rng(0).normal(size=(60, 8))
    >>> y = np.where(X[:, 3] + X[:, 5] > 0, "high", "low")
    >>> model = SparseGradientClassifier().fit(X, y)
    >>> sorted(np.argsort(model.ranking_)[:2].tolist())
    [3, 5]
    >>> model.predict_proba(X).shape
    (60, 2)

    References
    ----------
    :cite:`ye-2012`
    """

    alpha: AlphaRule = None
    class_weight: ClassWeight = field(default=None, kw_only=True)
    predict_with: PredictWith = field(default="offset", kw_only=True)


TASKS = {"regression": SparseGradientRegressor, "classification": SparseGradientClassifier}
