"""Refit on the selected variables: a kernel predictor g, tuned by its own evidence, and f = grad g.

Gradient learning with the constraint that f is a gradient field, f = grad g, and the offset
f^0 = g, as the bandwidth of the pair weights goes to zero. `refit_regression` and
`refit_classification` take the selected columns, standardised, and return frozen results with
predictions and gradients. `dense_regression` and `dense_classification` weigh them against a ridge
on all columns.
"""

from gradsift.refit.classification import ClassificationRefit, refit_classification
from gradsift.refit.regression import RegressionRefit, refit_regression
from gradsift.refit.ridge_ensemble import Dense, dense_classification, dense_regression

__all__ = [
    "refit_regression",
    "RegressionRefit",
    "refit_classification",
    "ClassificationRefit",
    "Dense",
    "dense_regression",
    "dense_classification",
]
