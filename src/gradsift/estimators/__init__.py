"""scikit-learn estimators: they check their input, call `sift`, `refit`, `pairwise` and
`inference`, and keep the results as attributes.
"""

from gradsift.estimators.dense import (
    MinimumAverageVariance,
    OuterProductGradient,
    PrincipalHessianDirections,
    RidgeGradientClassifier,
    RidgeGradientRegressor,
    SlicedAverageVariance,
    SlicedInverseRegression,
)
from gradsift.estimators.inference import findings, significance
from gradsift.estimators.selector import GradientSelector
from gradsift.estimators.sift import GradientSiftClassifier, GradientSiftRegressor
from gradsift.estimators.sift_fit import SiftOptions
from gradsift.estimators.sparse import (
    Penalties,
    SolverSettings,
    SparseGradientClassifier,
    SparseGradientRegressor,
    alpha_max,
    gradient_path,
)
from gradsift.estimators.sparse_cv import (
    AlphaGrid,
    SparseGradientClassifierCV,
    SparseGradientRegressorCV,
)
from gradsift.estimators.survival import GradientSiftSurvival

__all__ = [
    "GradientSiftRegressor",
    "GradientSiftClassifier",
    "GradientSiftSurvival",
    "SparseGradientRegressor",
    "SparseGradientRegressorCV",
    "SparseGradientClassifier",
    "SparseGradientClassifierCV",
    "GradientSelector",
    "RidgeGradientRegressor",
    "RidgeGradientClassifier",
    "OuterProductGradient",
    "MinimumAverageVariance",
    "SlicedInverseRegression",
    "SlicedAverageVariance",
    "PrincipalHessianDirections",
    "gradient_path",
    "alpha_max",
    "SiftOptions",
    "findings",
    "significance",
    "AlphaGrid",
    "Penalties",
    "SolverSettings",
]
