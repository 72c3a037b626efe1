"""gradsift: which variables matter, which directions explain the response, how it changes here."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradsift.answer import Answer, explain
    from gradsift.data.row_groups import aggregate
    from gradsift.estimators import (
        AlphaGrid,
        GradientSelector,
        GradientSiftClassifier,
        GradientSiftRegressor,
        GradientSiftSurvival,
        MinimumAverageVariance,
        OuterProductGradient,
        Penalties,
        PrincipalHessianDirections,
        RidgeGradientClassifier,
        RidgeGradientRegressor,
        SiftOptions,
        SlicedAverageVariance,
        SlicedInverseRegression,
        SolverSettings,
        SparseGradientClassifier,
        SparseGradientClassifierCV,
        SparseGradientRegressor,
        SparseGradientRegressorCV,
        alpha_max,
        findings,
        gradient_path,
        significance,
    )
    from gradsift.numerics.kernels import Gaussian, Landmarks, TheoryRate
    from gradsift.pairwise.weights import Adaptive, NearestNeighbors, Uniform

__version__ = "0.1.0"  # the one place: pyproject.toml reads it from here

__all__ = [
    "GradientSiftRegressor",
    "GradientSiftClassifier",
    "GradientSiftSurvival",
    "SiftOptions",
    "SparseGradientRegressor",
    "SparseGradientRegressorCV",
    "SparseGradientClassifier",
    "SparseGradientClassifierCV",
    "GradientSelector",
    "RidgeGradientRegressor",
    "RidgeGradientClassifier",
    "OuterProductGradient",
    "significance",
    "MinimumAverageVariance",
    "SlicedInverseRegression",
    "SlicedAverageVariance",
    "PrincipalHessianDirections",
    "gradient_path",
    "alpha_max",
    "findings",
    "explain",
    "Answer",
    "aggregate",
    "Adaptive",
    "AlphaGrid",
    "Gaussian",
    "Landmarks",
    "NearestNeighbors",
    "Penalties",
    "SolverSettings",
    "TheoryRate",
    "Uniform",
]

_HOMES = {
    "Answer": "gradsift.answer",
    "explain": "gradsift.answer",
    "aggregate": "gradsift.data.row_groups",
    "Gaussian": "gradsift.numerics.kernels",
    "Landmarks": "gradsift.numerics.kernels",
    "TheoryRate": "gradsift.numerics.kernels",
    "Adaptive": "gradsift.pairwise.weights",
    "NearestNeighbors": "gradsift.pairwise.weights",
    "Uniform": "gradsift.pairwise.weights",
}


_ROOMS = ("pl", "tl")
"""For AnnData, by the names that scverse uses: they need anndata and matplotlib only when used."""


def __getattr__(name: str) -> Any:
    # Names are fetched when first used: scikit-learn takes a second to import, and neither
    # `gradsift --help` nor a worker that only needs one room should wait for it.
    if name in _ROOMS:
        return import_module(f"gradsift.{name}")
    if name not in __all__:
        raise AttributeError(f"module 'gradsift' has no attribute {name!r}")
    value = getattr(import_module(_HOMES.get(name, "gradsift.estimators")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})
