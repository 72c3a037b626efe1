"""Every public estimator honours scikit-learn's contract, with no expected failures."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from gradsift import (
    GradientSelector,
    GradientSiftClassifier,
    GradientSiftRegressor,
    MinimumAverageVariance,
    OuterProductGradient,
    PrincipalHessianDirections,
    RidgeGradientClassifier,
    RidgeGradientClassifierCV,
    RidgeGradientRegressor,
    RidgeGradientRegressorCV,
    SlicedAverageVariance,
    SlicedInverseRegression,
    SparseGradientClassifier,
    SparseGradientClassifierCV,
    SparseGradientRegressor,
    SparseGradientRegressorCV,
)

ESTIMATORS = [
    GradientSiftRegressor(),
    GradientSiftClassifier(),
    SparseGradientRegressor(),
    SparseGradientClassifier(),
    SparseGradientRegressorCV(n_alphas=4, cv=2),
    SparseGradientClassifierCV(n_alphas=4, cv=2),
    RidgeGradientRegressor(),
    RidgeGradientClassifier(),
    RidgeGradientRegressorCV(n_alphas=3, cv=2),
    RidgeGradientClassifierCV(n_alphas=3, cv=2),
    OuterProductGradient(),
    OuterProductGradient(refined=True),
    MinimumAverageVariance(),
    SlicedInverseRegression(),
    SlicedAverageVariance(),
    PrincipalHessianDirections(),
    GradientSelector(SparseGradientRegressor()),
]


# scikit-learn's checks warn about their own data (few samples per class, and the like)
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
