"""Gradient error, prediction and directions on a few designs, with slack: fails if the method does.

Limits are about 1.4 times the means measured over many seeds.
"""

from __future__ import annotations

import numpy as np
import pytest
from measurements.accuracy import on_odds, on_surface

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
    mean = np.mean([on_surface(design, "", seed)[:3] for seed in SEEDS], axis=0)
    assert mean[0] < error
    assert mean[1] > r2
    assert mean[2] < distance


@pytest.mark.parametrize(
    ("design", "loss", "error"),
    [("circ2+2", 0.05, 0.45), ("sidx4+2", 0.07, 0.6), ("xor2i+2", 0.07, 1.0)],
)
def test_labels(design, loss, error):
    mean = np.mean([on_odds(design, "", seed)[:3] for seed in SEEDS], axis=0)
    assert mean[1] < loss
    assert mean[2] < error
