"""What a call may end in: a refusal in clear words, or an answer that holds together."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import gradsift.exceptions
from gradsift import SolverSettings
from gradsift.solver.path import PathResult

OWN_WARNINGS = [
    kind
    for kind in vars(gradsift.exceptions).values()
    if isinstance(kind, type) and issubclass(kind, Warning)
]
WORDS = ("gradsift", "sklearn")
"""Whose words a user may read. A message from deeper down says nothing about the user's data."""


class Unclear(AssertionError):
    """The call failed in a way that tells the user nothing."""


@contextmanager
def only_expected_warnings() -> Iterator[list[warnings.WarningMessage]]:
    """Our own warnings are kept for the caller; any other is an error."""
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("error")
        for kind in (*OWN_WARNINGS, ConvergenceWarning):
            warnings.simplefilter("always", kind)
        # scikit-learn's hint about labels that are nearly as many as the rows
        warnings.filterwarnings("ignore", "The number of unique classes is greater than 50%")
        warnings.filterwarnings("ignore", "The least populated class in y")
        yield met


def check_refusal(error: BaseException) -> None:
    """A ValueError or TypeError of ours with a sentence in it, not one from a library below."""
    if not isinstance(error, (ValueError, TypeError)) or isinstance(error, np.linalg.LinAlgError):
        raise Unclear(f"{type(error).__name__}: {error}") from error
    if len(str(error).split()) < 3:
        raise Unclear(f"a message without words: {error!r}") from error
    last = Path(traceback.extract_tb(error.__traceback__)[-1].filename)
    if not any(word in last.parts for word in WORDS):
        raise Unclear(f"a message from {last.name}: {error}") from error


def check_shapes(model: Any, p: int) -> None:
    """Attributes of the right shape, finite, with exact zeros outside the support."""
    importances, ranking = model.feature_importances_, model.ranking_
    assert importances.shape == (p,)
    assert np.isfinite(importances).all()
    assert (importances >= 0).all()
    np.testing.assert_array_equal(np.sort(ranking), np.arange(1, p + 1))
    support = model.get_support()
    np.testing.assert_array_equal(support, importances > 0)
    assert sorted(ranking[support]) == list(range(1, support.sum() + 1))
    assert model.components_.shape == (model.n_components_, p)
    assert np.isfinite(model.components_).all()
    assert not model.components_[:, ~support].any()
    assert np.isfinite(model.eigenvalues_).all()
    assert np.isfinite(model.mean_).all()
    assert (model.scale_ > 0).all()  # infinite for a constant column


def check_outputs(model: Any, X: Any, n: int, p: int) -> None:
    """Predictions, projections and gradients at the training rows: finite, and zero where out."""
    support = model.get_support()
    predicted = model.predict(X)
    assert predicted.shape == (n,)
    outputs: tuple[int, ...] = ()
    if hasattr(model, "classes_"):
        assert np.isin(predicted, model.classes_).all()
        chances = model.predict_proba(X)
        assert chances.shape == (n, len(model.classes_))
        assert (chances >= 0).all()
        np.testing.assert_allclose(chances.sum(axis=1), 1.0, rtol=1e-9)
        outputs = () if len(model.classes_) == 2 else (len(model.classes_),)
    else:
        assert np.isfinite(predicted).all()
    projected = model.transform(X)
    assert projected.shape == (n, model.n_components_)
    assert np.isfinite(projected).all()
    gradient = model.gradient(X)
    assert gradient.shape == (*outputs, n, p)
    assert np.isfinite(gradient).all()
    assert not gradient[..., ~support].any()


def check_certificate(model: Any, met: list[warnings.WarningMessage]) -> None:
    """A gap within tol, unless the user was told that it is not."""
    if not hasattr(model, "dual_gap_"):
        return
    assert np.isfinite(model.dual_gap_)
    assert np.isfinite(model.kkt_violation_)
    assert np.isfinite(model.objective_)
    assert 0 <= model.alpha_ < np.inf
    assert 0 <= model.alpha_max_ < np.inf
    told = any(issubclass(w.category, ConvergenceWarning) for w in met)
    assert told or model.dual_gap_ <= (model.solver or SolverSettings()).tol


def check_path(path: PathResult, p: int, tol: float) -> None:
    """Decreasing penalties, an answer for each, certified where it says so."""
    k = len(path.alphas)
    assert (np.diff(path.alphas) <= 0).all()
    assert path.importances.shape == (k, p)
    assert np.isfinite(path.importances).all()
    assert len(path.supports) == k
    for support, importances in zip(path.supports, path.importances):
        np.testing.assert_array_equal(np.flatnonzero(importances), support)
    assert np.isfinite(path.dual_gaps).all()
    assert np.isfinite(path.kkt_violations).all()
    assert (path.dual_gaps[path.converged] <= tol).all()
