"""Answers of every kind, small."""

import warnings

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from gradsift import (
    GradientSiftClassifier,
    GradientSiftRegressor,
    GradientSiftSurvival,
    SparseGradientRegressor,
    explain,
)
from gradsift.exceptions import DependentRowsWarning, NothingSelectedWarning
from gradsift.responses.survival import survival_records

NASTY = [
    "<script>window.hacked = 1</script>",
    '"><img src=x onerror="window.hacked = 2">',
    "</style><script>window.hacked = 3</script>",
    "]]>--><svg onload='window.hacked = 4'>",
    "[bold]o[/bold]x \x1b[31mred \u202eright",
    "nul\x00 line\nbreak",
    "=1+1",
    "日本語 العربية 🧬",
]


def diabetes():
    data = load_diabetes(as_frame=True)
    return data.data, data.target, "progression"


def wine():
    data = load_wine(as_frame=True)
    return data.data, np.array(["Barolo", "Grignolino", "Barbera"])[data.target], "cultivar"


def breast():
    data = load_breast_cancer(as_frame=True)
    return data.data, np.array(["malignant", "benign"])[data.target], "diagnosis"


def trial():
    """Products of two numbers, and of a number with a category."""
    rng = np.random.default_rng(0)
    n = 180
    X = pd.DataFrame(
        {name: rng.normal(size=n) for name in ("bmi", "bp", "dose", "age", "z1", "z2")}
    )
    X["arm"] = rng.choice(["placebo", "drug"], n)
    X["site"] = rng.choice(["north", "south", "west"], n)
    drug = (X["arm"] == "drug").to_numpy()
    y = 50 + 2 * X["age"] + 3 * X["bmi"] * X["bp"] + np.where(drug, 3 * X["dose"], 0.0)
    return X, y + 2 * (X["site"] == "west") + rng.normal(size=n), "response"


def counts():
    """Columns and a response with many zeros."""
    rng = np.random.default_rng(1)
    X = rng.poisson(0.15, size=(300, 8)).astype(float)
    return X, rng.poisson(np.exp(1.2 * X[:, 2] - 1.0)).astype(float), "visits"


def rare():
    """A class of few rows among three."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(240, 6))
    y = np.where(X[:, 0] > 1.6, "rare", np.where(X[:, 1] > 0, "up", "down"))
    return X, y, "kind"


def noise():
    rng = np.random.default_rng(3)
    return rng.normal(size=(50, 10)), rng.normal(size=50), "y"


def nasty():
    """Hostile names of columns, categories, classes and the response."""
    rng = np.random.default_rng(4)
    X = pd.DataFrame({f"{name} {k}": rng.normal(size=150) for k, name in enumerate(NASTY)})
    X[NASTY[0]] = rng.choice(NASTY[1:4], 150)
    score = 2 * X.iloc[:, 0] + 2 * X.iloc[:, 4] + 2.0 * (X[NASTY[0]] == NASTY[1])
    return X, np.array(NASTY)[np.digitize(score, [-1, 1.5])], NASTY[1]


def deaths():
    """Survival times, of which a third are censored."""
    rng = np.random.default_rng(6)
    X = pd.DataFrame({name: rng.normal(size=240) for name in ("age", "bmi", "dose", "crp")})
    X["arm"] = rng.choice(["placebo", "drug"], 240)
    risk = 0.8 * X["age"] + 0.6 * X["crp"] ** 2 - 1.0 * (X["arm"] == "drug")
    death, end = rng.exponential(np.exp(-risk)), rng.exponential(2.0, size=240)
    return X, survival_records(np.minimum(death, end), death < end), "death"


def exposed():
    """Counts over times of different lengths, with a Poisson law."""
    rng = np.random.default_rng(7)
    X, years = rng.normal(size=(250, 6)), rng.uniform(0.5, 5.0, size=250)
    return X, (rng.poisson(years * np.exp(0.7 * X[:, 1] - 0.5)), years), "falls a year"


def pain():
    """Ordered answers."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(300, 5))
    score = 1.2 * X[:, 0] - 0.8 * X[:, 3] + rng.logistic(size=300)
    levels = ["none", "mild", "severe"]
    return X, pd.Categorical.from_codes(np.digitize(score, [-0.5, 1.5]), levels, True), "pain"


TABLES = {
    f.__name__: f
    for f in (diabetes, wine, breast, trial, counts, rare, noise, nasty, deaths, exposed, pain)
}


def make_answer(name, **params):
    """The answer on one of the tables."""
    X, y, target = TABLES[name]()
    given = {}
    if isinstance(y, tuple):
        y, given["exposure"] = y
        params["family"] = "poisson"
    kinds = {"U": GradientSiftClassifier, "O": GradientSiftClassifier, "V": GradientSiftSurvival}
    kind = kinds.get(np.asarray(y).dtype.kind, GradientSiftRegressor)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingSelectedWarning)
        warnings.simplefilter("ignore", DependentRowsWarning)
        model = kind(inference=True, **params).fit(X, y, **given)
    return explain(model, X, y, target=target, **given)


def without_confidence():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 6))
    y = X[:, 0] + 0.3 * rng.normal(size=80)
    return explain(SparseGradientRegressor().fit(X, y), X, y)
