"""The paper's problem without an estimator: its largest penalty, a grid, the whole path."""

from __future__ import annotations

from typing import Any, Literal

from gradsift._run.progress import follow
from gradsift._run.threads import one_blas_thread
from gradsift._typing import Array
from gradsift.estimators._sparse import (
    SparseGradientClassifier,
    SparseGradientRegressor,
    make_solver,
)
from gradsift.estimators._tasks import labels_sample, numbers_sample
from gradsift.pairwise.assemble import Assembly, Settings, assemble
from gradsift.pairwise.rounds import Rounds, begin, settle_path
from gradsift.solver import null_solution
from gradsift.solver.checkpoint import open_checkpoint
from gradsift.solver.path import PathResult, check_alphas, fit_path, geometric_grid

Task = Literal["regression", "classification"]


def _assemble(X: Any, y: Any, task: Task, sample_weight: Any, settings: Settings) -> Assembly:
    if task == "regression":
        door = SparseGradientRegressor(missing=settings.missing)
        sample = numbers_sample(door, X, y, sample_weight)
    elif task == "classification":
        door = SparseGradientClassifier(missing=settings.missing)
        sample = labels_sample(door, X, y, sample_weight)[1]
    else:
        raise ValueError(f"task={task!r}: use 'regression' or 'classification'.")
    return assemble(sample.X, sample.response, settings, sample.weight)


def gradient_path(
    X: Any,
    y: Any,
    *,
    task: Task = "regression",
    kernel: Any = "affine",
    weights: Any = "gaussian",
    standardize: bool = True,
    alphas: Any = None,
    n_alphas: int = 50,
    eps: float = 0.1,
    penalty_factor: Any = None,
    alpha_0: float | None = None,
    loss: Any = None,
    penalty: Any = None,
    curl: float = 0.0,
    smoothness: float = 0.0,
    sample_weight: Any = None,
    solver: str = "auto",
    tol: float = 1e-4,
    max_iter: int = 20_000,
    missing: Literal["error", "mean"] = "error",
    checkpoint: Any = None,
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
    kernel, weights, standardize, penalty_factor, alpha_0, loss, penalty, curl, smoothness, \
sample_weight, solver, tol, max_iter, missing
        As in `SparseGradientRegressor` and `SparseGradientClassifier`.
    checkpoint : path, optional
        A folder in which every answer is kept as soon as it is there. The same call after a kill
        goes on from it, to the same bits.
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
    settings = Settings(
        kernel, weights, standardize, penalty_factor, alpha_0, curl, smoothness,
        missing=missing, loss=loss, penalty=penalty,
    )  # fmt: skip
    with one_blas_thread():
        started = begin(_assemble(X, y, task, sample_weight, settings))
        problem, null = started.assembly.problem, started.null
        chosen = make_solver(solver, tol, max_iter)
        if alphas is None:
            alphas = geometric_grid(null.alpha, n_alphas, eps)
        grid = check_alphas(alphas)
        kept = None if checkpoint is None else open_checkpoint(checkpoint, problem, grid, chosen)
        with follow(verbose, len(grid)) as steps:
            path = fit_path(problem, grid, chosen, null=null, progress=steps, checkpoint=kept)
        return settle_path(started, path, Rounds(chosen))


def alpha_max(
    X: Any,
    y: Any,
    *,
    task: Task = "regression",
    kernel: Any = "affine",
    weights: Any = "gaussian",
    standardize: bool = True,
    penalty_factor: Any = None,
    alpha_0: float | None = None,
    sample_weight: Any = None,
    missing: Literal["error", "mean"] = "error",
) -> float:
    """The smallest penalty at which nothing is selected (the paper's lambda_max).

    Adaptive weights begin with distances over all variables, so that it is that of their base rule.
    Curl and smoothness vanish with the field and do not change it.

    Parameters
    ----------
    X : (n, p) array or data frame
    y : (n,) array
    task, kernel, weights, standardize, penalty_factor, alpha_0, sample_weight, missing
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
    settings = Settings(kernel, weights, standardize, penalty_factor, alpha_0, missing=missing)
    with one_blas_thread():
        return null_solution(_assemble(X, y, task, sample_weight, settings).problem).alpha


def alpha_grid(X: Any, y: Any, *, n_alphas: int = 50, eps: float = 0.1, **settings: Any) -> Array:
    """`n_alphas` penalties from ``alpha_max`` down to `eps` times it, largest first.

    Parameters
    ----------
    X : (n, p) array or data frame
    y : (n,) array
    n_alphas : int, default=50
    eps : float, default=0.1
    **settings
        As in `alpha_max`.

    Returns
    -------
    alphas : (n_alphas,) array

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 30))
    >>> alphas = alpha_grid(X, X[:, 0], n_alphas=3, eps=0.01)
    >>> (alphas / alphas[0]).round(3).tolist()
    [1.0, 0.1, 0.01]
    """
    return geometric_grid(alpha_max(X, y, **settings), n_alphas, eps)
