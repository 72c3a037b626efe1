"""Refit on the selected variables: a kernel predictor g, tuned by its own evidence, and f = grad g.

Gradient learning with the constraint that f is a gradient field, f = grad g, and the offset
f^0 = g, as the bandwidth of the pair weights goes to zero. `refit_regression` and
`refit_classification` take the selected columns, standardised, and return frozen results with
predictions and gradients. `ensemble_regression` and `ensemble_classification` weigh them
against predictors on all columns.
"""

from gradsift.refit.classification import ClassificationRefit, refit_classification
from gradsift.refit.ensemble import Ensemble, ensemble_classification, ensemble_regression
from gradsift.refit.regression import RegressionRefit, refit_regression

__all__ = [
    "refit_regression",
    "RegressionRefit",
    "refit_classification",
    "ClassificationRefit",
    "Ensemble",
    "ensemble_regression",
    "ensemble_classification",
]
