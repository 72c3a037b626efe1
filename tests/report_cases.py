"""Findings of every kind, small."""

import warnings

import numpy as np
from sklearn.base import clone

from gradsift import (
    GradientSiftClassifier,
    GradientSiftRegressor,
    RidgeGradientRegressor,
    SparseGradientClassifierCV,
    SparseGradientRegressor,
    SparseGradientRegressorCV,
)
from gradsift.evaluate import held_out, stability
from gradsift.exceptions import NothingSelectedWarning
from gradsift.report import Findings

KINDS = [
    "regressor",
    "findings",
    "two",
    "three",
    "sparse",
    "cv",
    "labels cv",
    "dense",
    "nothing",
    "wide",
]
NASTY = [
    "<script>window.hacked = 1</script>",
    '"><img src=x onerror="window.hacked = 2">',
    "</script><script>window.hacked = 3</script>",
    "]]>--><svg onload='window.hacked = 4'>",
    "$\\frac{$ & \u2028\u2029 {{ 7 * 7 }} {% raw %}",
    "nul\x00 surrogate\ud800 line\nbreak",
    "_under",
    "日本語 العربية 🧬",
]


def make_findings(kind):
    """One finding; 'nasty' has hostile names everywhere."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 30))
    X[:, 9] = X[:, 0] + 0.3 * rng.normal(size=120)
    y = 2 * X[:, 0] + X[:, 1] ** 2 + 2 * X[:, 2] * X[:, 3] + 0.3 * rng.normal(size=120)
    known = {
        "names": [f"gene {k}" for k in range(30)], "target": "yield", "source": "yields.csv",
        "seed": 7, "command": "gradsift select yields.csv --target yield",
        "fingerprint": "sha256:abc123", "seconds": 1.25, "created": "2026-01-02",
    }  # fmt: skip
    if kind in MODELS:
        return Findings(clone(MODELS[kind]).fit(X, y), X, y, **known)
    return MAKERS[kind](rng, X, y, known)


def of_numbers(rng, X, y, known):
    model = GradientSiftRegressor().fit(X, y)
    more = {"stability": stability(model, X, y, 4, 0), "held_out": held_out(model, X, y, 3)}
    return Findings(model, X, y, **known, **more)


def with_findings(rng, X, y, known):
    X[:, 9] = X[:, 0] + 0.05 * rng.normal(size=120)
    y = 2 * X[:, 0] + X[:, 1] ** 2 + rng.normal(size=120)
    model = GradientSiftRegressor(inference=True).fit(X, y)
    return Findings(model, X, y, **known, stability=stability(model, X, y, 4, 0))


def of_two_classes(rng, X, y, known):
    y = np.where(y > 2, "ill", "well")
    model = GradientSiftClassifier().fit(X, y)
    return Findings(model, X, y, **known, held_out=held_out(model, X, y, 3))


def of_three_classes(rng, X, y, known):
    y = np.array(["low", "mid", "high"])[np.digitize(X[:, 0] + X[:, 1] ** 2, [0, 1.5])]
    return Findings(GradientSiftClassifier().fit(X, y), X, y, **known)


def of_labels_by_cv(rng, X, y, known):
    model = SparseGradientClassifierCV(cv=3, selection="1se", alphas=8).fit(X, X[:, 0] > 0)
    return Findings(model, X, X[:, 0] > 0, **known)


def of_nothing(rng, X, y, known):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingSelectedWarning)
        model = GradientSiftRegressor(1e-9).fit(X[:40], rng.normal(size=40))
    return Findings(model, X[:40], rng.normal(size=40), **known)


def of_many_columns(rng, X, y, known):
    X = rng.normal(size=(60, 10_000))
    y = X[:, 3] - 2 * X[:, 4] + 0.2 * rng.normal(size=60)
    model = GradientSiftRegressor(interactions=False).fit(X, y)
    known["names"] = [f"ENSG{k:011d}" for k in range(10_000)]
    return Findings(model, X, y, **known)


def with_nasty_names(rng, X, y, known):
    known = {key: NASTY[0] if isinstance(v, str) else v for key, v in known.items()}
    known["names"] = [f"{NASTY[k % len(NASTY)]} {k}" for k in range(30)]
    labels = np.array(NASTY)[np.digitize(X[:, 0] + X[:, 1] ** 2, [0, 1.5])]
    model = GradientSiftClassifier().fit(X, labels)
    return Findings(
        model, X, labels, **known, warnings=NASTY, sample_names=NASTY * 15,
        versions={NASTY[0]: NASTY[1]},
    )  # fmt: skip


MODELS = {
    "sparse": SparseGradientRegressor(),
    "cv": SparseGradientRegressorCV(cv=3, alphas=12),
    "dense": RidgeGradientRegressor(),
}
MAKERS = {
    "regressor": of_numbers,
    "findings": with_findings,
    "two": of_two_classes,
    "three": of_three_classes,
    "labels cv": of_labels_by_cv,
    "nothing": of_nothing,
    "wide": of_many_columns,
    "nasty": with_nasty_names,
}
