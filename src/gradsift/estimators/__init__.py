"""scikit-learn estimators: thin shells around the rooms below."""

from gradsift.estimators._cv import SparseGradientClassifierCV, SparseGradientRegressorCV
from gradsift.estimators._description import (
    EnsemblePart,
    MemberPart,
    ModelDescription,
    Optimality,
    PenaltyChoice,
)
from gradsift.estimators._findings import findings
from gradsift.estimators._functions import alpha_grid, alpha_max, gradient_path
from gradsift.estimators._inverse import (
    PrincipalHessianDirections,
    SlicedAverageVariance,
    SlicedInverseRegression,
)
from gradsift.estimators._mave import MinimumAverageVariance
from gradsift.estimators._opg import OuterProductGradient
from gradsift.estimators._ridge import RidgeGradientClassifier, RidgeGradientRegressor
from gradsift.estimators._ridge_cv import RidgeGradientClassifierCV, RidgeGradientRegressorCV
from gradsift.estimators._selector import GradientSelector
from gradsift.estimators._sift import GradientSiftClassifier, GradientSiftRegressor
from gradsift.estimators._sparse import SparseGradientClassifier, SparseGradientRegressor

__all__ = [
    "GradientSiftRegressor",
    "GradientSiftClassifier",
    "SparseGradientRegressor",
    "SparseGradientRegressorCV",
    "SparseGradientClassifier",
    "SparseGradientClassifierCV",
    "GradientSelector",
    "RidgeGradientRegressor",
    "RidgeGradientClassifier",
    "RidgeGradientRegressorCV",
    "RidgeGradientClassifierCV",
    "OuterProductGradient",
    "MinimumAverageVariance",
    "SlicedInverseRegression",
    "SlicedAverageVariance",
    "PrincipalHessianDirections",
    "ModelDescription",
    "Optimality",
    "PenaltyChoice",
    "EnsemblePart",
    "MemberPart",
    "gradient_path",
    "alpha_max",
    "alpha_grid",
    "findings",
]
