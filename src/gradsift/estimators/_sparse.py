"""The paper's estimators: sparse gradient learning for numbers and for labels."""

from __future__ import annotations

from numbers import Real
from typing import Any, Literal, Self

import numpy as np

from gradsift._run.progress import follow
from gradsift._run.threads import one_blas_thread
from gradsift._typing import Source
from gradsift.estimators._base import GradientEstimator, check_n_components, warn_unless_converged
from gradsift.estimators._description import Optimality
from gradsift.estimators._tasks import Answer, FieldClassifier, FieldRegressor, Sample
from gradsift.numerics.directions import find_directions
from gradsift.numerics.ranking import rank_variables
from gradsift.pairwise.assemble import Assembly, Settings, assemble
from gradsift.pairwise.field import kernel_field
from gradsift.pairwise.weights import Adaptive, as_weights
from gradsift.solver import Solution, Solver, exact_norms, null_solution
from gradsift.solver.path import fit_to, steps_to
from gradsift.solver.penalty import row_norms

SOLVERS: dict[str, dict[str, Any]] = {
    "auto": {},
    "fbs": {"working_set": False, "method": "fbs"},
    "fista": {"working_set": False, "method": "fista"},
}


def make_solver(name: str, tol: float, max_iter: int) -> Solver:
    """Solver settings from an estimator's parameters."""
    if name not in SOLVERS:
        raise ValueError(
            f"solver={name!r} is unknown. Use 'auto' (working sets, Newton steps), 'fista' (all "
            "columns, accelerated) or 'fbs' (the paper's plain forward-backward splitting)."
        )
    if not tol > 0:
        raise ValueError(f"tol={tol} must be positive.")
    if max_iter < 1:
        raise ValueError(f"max_iter={max_iter} must be at least 1.")
    return Solver(tol=tol, max_iter=int(max_iter), **SOLVERS[name])


class SparseGradient(GradientEstimator):
    """Shared by both tasks: parameters, fitting, and what follows from an answer."""

    def __init__(
        self,
        *,
        kernel: Any,
        weights: Any,
        standardize: bool,
        n_components: int | Literal["auto"],
        penalty_factor: Any,
        curl: float,
        smoothness: float,
        solver: str,
        tol: float,
        max_iter: int,
        missing: Literal["error", "mean"],
        random_state: Any,
        verbose: int,
    ) -> None:
        self.kernel = kernel
        self.weights = weights
        self.standardize = standardize
        self.n_components = n_components
        self.penalty_factor = penalty_factor
        self.curl = curl
        self.smoothness = smoothness
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.missing = missing
        self.random_state = random_state
        self.verbose = verbose

    def _settings(self, X_unlabeled: Source | None = None) -> Settings:
        if X_unlabeled is not None and not self.smoothness > 0:
            raise ValueError(
                f"unlabelled samples were given but smoothness={self.smoothness}: set it above 0 "
                "to use them."
            )
        return Settings(
            self.kernel,
            self.weights,
            self.standardize,
            self.penalty_factor,
            getattr(self, "alpha_0", None),
            self.curl,
            self.smoothness,
            X_unlabeled,
            self.missing,
        )

    def _fit(self, sample: Sample) -> Answer:
        """Assemble, solve, unpack."""
        check_n_components(self.n_components)
        solver = make_solver(self.solver, self.tol, self.max_iter)
        rule = as_weights(self.weights)
        with one_blas_thread():
            settings = self._settings(sample.unlabeled)
            assembly = assemble(sample.X, sample.response, settings, sample.weight)
            null = null_solution(assembly.problem)
            solution = self._solve(assembly, sample, solver, null)
            seen = [solution.rows.index]
            for _ in range(rule.max_rounds if isinstance(rule, Adaptive) else 0):
                if len(seen[-1]) == 0:
                    break
                assembly, previous = assembly.measured_in(seen[-1]), null
                null = null_solution(assembly.problem)
                alpha = self._alpha_again(solution.alpha / previous.alpha, null)
                solution = self._descend(assembly, alpha, solver, null)
                if any(np.array_equal(solution.rows.index, index) for index in seen):
                    break
                seen.append(solution.rows.index)
            self._unpack(assembly, solution, null)
        warn_unless_converged(solution, self.max_iter)
        return Answer(assembly, solution.rows, solution.v)

    def _solve(
        self, assembly: Assembly, sample: Sample, solver: Solver, null: Solution
    ) -> Solution:
        """The answer at the alpha asked for; the cross-validated forms choose it first."""
        return self._descend(assembly, self._alpha_again(0.1, null), solver, null)

    def _descend(
        self, assembly: Assembly, alpha: float, solver: Solver, null: Solution
    ) -> Solution:
        with follow(self.verbose, len(steps_to(alpha, null.alpha))) as steps:
            return fit_to(assembly.problem, alpha, solver, null=null, progress=steps)

    def _alpha_again(self, fraction: float, null: Solution) -> float:
        """The user's alpha, or else this fraction of alpha_max."""
        alpha = getattr(self, "alpha", None)
        if alpha is None:
            return fraction * null.alpha
        if not isinstance(alpha, Real) or not 0.0 <= float(alpha) < np.inf:
            raise ValueError(f"alpha={alpha!r}: the penalty is a finite number >= 0, or None.")
        return float(alpha)

    def _particulars(self) -> dict[str, Any]:
        proof = Optimality(
            float(self.alpha_),
            float(self.alpha_max_),
            float(self.dual_gap_),
            float(self.kkt_violation_),
            float(self.tol),
        )
        return {"optimality": proof}

    def _unpack(self, assembly: Assembly, solution: Solution, null: Solution) -> None:
        p = assembly.problem.n_features
        rows = solution.rows
        omega = assembly.problem.penalty.limits(1.0)
        importances = np.zeros(p)
        importances[rows.index] = row_norms(rows.values)
        # variables still out are ranked by how close they are to coming in
        runner_up = exact_norms(assembly.problem, solution) / np.where(omega > 0.0, omega, 1.0)
        ranking = rank_variables(importances, runner_up)
        # outputs side by side: B B' summed over class contrasts
        directions = find_directions(rows.index, rows.values, p, self.n_components)
        self.field_ = kernel_field(assembly, rows, solution.v)
        self.alpha_ = solution.alpha
        self.alpha_max_ = null.alpha
        self.dual_gap_ = solution.certificate.gap
        self.kkt_violation_ = solution.certificate.violation
        self.objective_ = solution.certificate.primal
        self.n_iter_ = max(1, solution.n_iter)
        self._store(importances, ranking, directions, assembly.scaling)


class SparseGradientRegressor(FieldRegressor, SparseGradient):
    """Sparse gradient learning for regression (Ye & Xie).

    Minimises over gradient fields f = (f^1, ..., f^p), each f^k in the space of `kernel`,

        1/n^2 sum_ij w_ij (y_i - y_j + f(x_i) . (x_j - x_i))^2  +  alpha sum_k omega_k ||f^k||_K

    and selects the variables whose partial derivative is not exactly zero. Every fit comes with a
    certificate over all variables: `dual_gap_` and `kkt_violation_`.

    Parameters
    ----------
    alpha : float, optional
        The paper's lambda. None = 0.1 ``alpha_max_``; at or above ``alpha_max_`` nothing is
        selected.
    kernel : str, object, array or callable, default='affine'
        'affine', 'linear', 'gaussian', 'constant', 'delta', ``Gaussian(scale=...)``,
        ``Precomputed(K)`` or an (n, n) array, or a function of two sample arrays.
    weights : str or object, default='gaussian'
        'gaussian', 'uniform', 'nearest', ``Gaussian(scale=...)``,
        ``NearestNeighbors(k=10, form='paper')``, or 'adaptive' / ``Adaptive(base)``: distances over
        the selected variables only, iterated until the selected set stays the same.
    standardize : bool, default=True
        Centre the columns and scale them to unit variance first. The paper's simulations do not.
    n_components : int or 'auto', default='auto'
        Number of directions; 'auto' keeps 95 % of the trace of the gradient covariance.
    penalty_factor : (p,) array, optional
        omega; 0 = this variable is never penalised.
    curl : float, default=0
        Adds ``curl / (2 n) sum_i ||J(x_i) - J(x_i)'||^2`` with J the Jacobian of f: a true
        gradient has a symmetric one. Affine, linear, constant and Gaussian kernels.
    smoothness : float, default=0
        The paper's mu: adds ``smoothness / N^2 sum_ij w_ij ||f(x_i) - f(x_j)||^2`` over all
        samples, labelled or not (semi-supervised).
    solver : {'auto', 'fista', 'fbs'}, default='auto'
        Working sets around Newton steps; accelerated forward-backward splitting over all columns;
        or the plain splitting that the paper prints.
    tol : float, default=1e-4
        Relative duality gap to reach.
    max_iter : int, default=20000
        Most steps of the inner solver.
    missing : {'error', 'mean'}, default='error'
        'error' refuses missing values and names their columns; 'mean' puts the column's mean (of
        the training samples) in their place.
    random_state : ignored
        Nothing here is random; the parameter keeps signatures alike.
    verbose : int, default=0
        Above 0 shows the steps down to alpha, as `gradient_path` does.

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
    alpha_, alpha_max_ : float
    dual_gap_ : float
        Duality gap relative to the objective of the zero field.
    kkt_violation_ : float
        Largest violation of the optimality conditions by any variable, relative to ``alpha_max_``.
    objective_ : float
    n_iter_ : int
    mean_, scale_ : (p,) arrays
        The standardising.
    field_ : KernelField
        The fitted gradient field.

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
    """

    def __init__(
        self,
        alpha: float | None = None,
        *,
        kernel: Any = "affine",
        weights: Any = "gaussian",
        standardize: bool = True,
        n_components: int | Literal["auto"] = "auto",
        penalty_factor: Any = None,
        curl: float = 0.0,
        smoothness: float = 0.0,
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = 20_000,
        missing: Literal["error", "mean"] = "error",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            kernel=kernel, weights=weights, standardize=standardize, n_components=n_components,
            penalty_factor=penalty_factor, curl=curl, smoothness=smoothness, solver=solver, tol=tol,
            max_iter=max_iter, missing=missing, random_state=random_state, verbose=verbose,
        )  # fmt: skip
        self.alpha = alpha

    def fit(self, X: Any, y: Any, sample_weight: Any = None, X_unlabeled: Any = None) -> Self:
        """Fit the gradient field.

        Parameters
        ----------
        X : (n, p) array or data frame
        y : (n,) array
        sample_weight : (n,) array, optional
            Pair (i, j) counts w_ij times both weights.
        X_unlabeled : (u, p) array or data frame, optional
            Samples without a response; they shape the field through `smoothness`.

        Returns
        -------
        self
        """
        return self._fit_numbers(X, y, sample_weight, X_unlabeled)


class SparseGradientClassifier(FieldClassifier, SparseGradient):
    """Sparse gradient learning for classification (Ye & Xie), any number of classes.

    With labels +-1, minimises over the log odds f^0 and their gradient f

        1/n^2 sum_ij w_ij log(1 + exp(-y_j (f^0(x_i) + f(x_i) . (x_j - x_i))))
            + alpha_0 ||f^0||_K^2  +  alpha sum_k omega_k ||f^k||_K

    More than two classes use the multinomial loss, one field per class, and one group per variable
    across classes: a variable is in or out for all of them together.

    Parameters
    ----------
    alpha : float, optional
        The paper's lambda_2. None = 0.1 ``alpha_max_``.
    alpha_0 : float, optional
        The paper's lambda_1, the penalty on the offset function. None = 1e-4, in units of the
        kernel's size and the mean pair weight.
    kernel, weights, standardize, n_components, penalty_factor, curl, smoothness, solver, tol, \
max_iter, missing, random_state, verbose
        As in `SparseGradientRegressor`.

    Attributes
    ----------
    classes_ : array
        Class labels.
    feature_importances_, ranking_, components_, eigenvalues_, alpha_, alpha_max_, dual_gap_, \
kkt_violation_, objective_, n_iter_, mean_, scale_, field_
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
    """

    def __init__(
        self,
        alpha: float | None = None,
        *,
        alpha_0: float | None = None,
        kernel: Any = "affine",
        weights: Any = "gaussian",
        standardize: bool = True,
        n_components: int | Literal["auto"] = "auto",
        penalty_factor: Any = None,
        curl: float = 0.0,
        smoothness: float = 0.0,
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = 20_000,
        missing: Literal["error", "mean"] = "error",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            kernel=kernel, weights=weights, standardize=standardize, n_components=n_components,
            penalty_factor=penalty_factor, curl=curl, smoothness=smoothness, solver=solver, tol=tol,
            max_iter=max_iter, missing=missing, random_state=random_state, verbose=verbose,
        )  # fmt: skip
        self.alpha = alpha
        self.alpha_0 = alpha_0

    def fit(self, X: Any, y: Any, sample_weight: Any = None, X_unlabeled: Any = None) -> Self:
        """Fit the log odds and their gradient.

        Parameters
        ----------
        X : (n, p) array or data frame
        y : (n,) array of labels, of any type
            With `smoothness` above 0, numeric labels of -1 mark unlabelled rows, as in
            scikit-learn's semi-supervised estimators.
        sample_weight : (n,) array, optional
        X_unlabeled : (u, p) array or data frame, optional
            More samples without a label.

        Returns
        -------
        self
        """
        mark = -1 if self.smoothness > 0 else None
        return self._fit_labels(X, y, sample_weight, X_unlabeled, mark)
