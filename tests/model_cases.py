"""Fitted models of every kind, and what was done to their tables: for tests of model files."""

from functools import cache

import numpy as np

from gradsift import (
    GradientSiftClassifier,
    GradientSiftRegressor,
    GradientSiftSurvival,
)
from gradsift.tables import Recipe, ResponseColumns
from gradsift.tables.columns import Column, TableEncoder

RECIPE = Recipe(
    ResponseColumns("y"),
    "regression",
    TableEncoder(("a", "b", "sex"), {"sex": Column("sex", "category", levels=("f", "m"))}),
    id="who",
    transform="log",
)


def sample(seed=0, n=60, p=30):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] ** 2 + X[:, 1] * X[:, 2] + 2 * X[:, 3] + 0.1 * rng.normal(size=n)


def dense_sample():
    """Few hidden factors in many columns: the ridge on all columns gets a share."""
    rng = np.random.default_rng(1)
    hidden = rng.normal(size=(50, 3))
    X = hidden @ rng.normal(size=(3, 120)) + 0.5 * rng.normal(size=(50, 120))
    return X, hidden.sum(axis=1) + 0.3 * rng.normal(size=50)


def labels(y):
    return np.array(["a", "b", "c"])[np.digitize(y, [0, 1])]


FITS = {
    "sift": lambda X, y: GradientSiftRegressor().fit(X, y),
    "sift with a ridge": lambda X, y: GradientSiftRegressor().fit(*dense_sample()),
    "sift with findings": lambda X, y: GradientSiftRegressor(inference=True).fit(X, y),
    "sift of labels": lambda X, y: GradientSiftClassifier().fit(X, labels(y)),
    "sift of truth values": lambda X, y: GradientSiftClassifier().fit(X, y > 0),
    "sift of survival times": lambda X, y: GradientSiftSurvival().fit(
        X, np.exp(y / 4), event=np.arange(len(y)) % 4 > 0
    ),
    "sift of counts": lambda X, y: GradientSiftRegressor(family="poisson").fit(
        X, np.round(np.exp(np.abs(y) / 2))
    ),
}


@cache
def model_of(name):
    return FITS[name](*sample())
