"""Refit on the selected columns: a kernel function g, tuned by its own evidence, and f = grad g.

This is gradient learning under two constraints, that the field is a gradient, f = grad g, and that
the offset is f^0 = g, in the limit of a small bandwidth of the pair weights. `refit_regression` and
`refit_classification` take the selected columns, standardised, and return a `Refit`. A `Predictor`
holds it with the scaling of the table; `average` adds predictors on all columns where these predict
held-out rows better, by the log score of the response (`NumberScore`, `ClassScore`,
`LikelihoodScore`).
"""

from gradsift.refit.classification import refit_classification
from gradsift.refit.evidence import Refit
from gradsift.refit.log_scores import ClassScore, LikelihoodScore, LogScore, NumberScore
from gradsift.refit.predictor import OutcomePredictors, Predictor, average, selected_columns
from gradsift.refit.regression import refit_regression

__all__ = [
    "refit_regression",
    "refit_classification",
    "Refit",
    "OutcomePredictors",
    "Predictor",
    "average",
    "selected_columns",
    "LogScore",
    "NumberScore",
    "ClassScore",
    "LikelihoodScore",
]
