"""Gradient error, prediction and directions on a few designs, with slack: fails if the method does.

Limits are about 1.4 times the means measured over many seeds.
"""

from __future__ import annotations

import numpy as np
import pytest
from refit.measure import label_data, label_scores, regression_data, regression_scores

from gradsift.refit import refit_classification, refit_regression

SEEDS = range(900, 903)


@pytest.mark.parametrize(
    ("design", "error", "r2", "distance"),
    [
        ("two4+3", 0.27, 0.94, 0.10),
        ("fri5+3", 0.30, 0.95, 0.06),
        ("add4+3", 0.33, 0.94, 0.10),
        ("sidx5+3", 0.18, 0.97, 0.07),
        ("lin3+3", 0.12, 0.985, 0.09),
    ],
)
def test_regression(design, error, r2, distance):
    scores = []
    for seed in SEEDS:
        data = regression_data(design, 200, seed)
        scores.append(regression_scores(refit_regression(data["X"], data["y"]), data))
    mean = np.mean(scores, axis=0)
    assert mean[0] < error
    assert mean[1] > r2
    assert mean[2] < distance


@pytest.mark.parametrize(
    ("design", "loss", "error"),
    [("circ2+2", 0.05, 0.45), ("sidx4+2", 0.07, 0.6), ("xor2i+2", 0.07, 1.0)],
)
def test_labels(design, loss, error):
    scores = []
    for seed in SEEDS:
        data = label_data(design, 200, seed)
        fit = refit_classification(data["X"], data["labels"], n_classes=2)
        scores.append(label_scores(fit, data))
    mean = np.mean(scores, axis=0)
    assert mean[1] < loss
    assert mean[2] < error
