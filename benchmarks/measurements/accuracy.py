"""Rankings, selected sets, gradients and directions, on tables with a known answer.

AP is the average precision of the ranking; exact: the |S| columns that are ranked best are the |S|
true ones; F1 and FP (false variables) are those of the selected set. Seconds are processor time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
from designs import links, surfaces
from designs.selection import DESIGNS, HELD_OUT, Case, additive, many_correlated
from methods.rankers import gradsift_order, lasso_order, quick_forest_order
from methods.selectors import PEERS, Answer, forest, installed, lasso, ours
from run import Found, Measurement, Table, mean_error, timed
from sklearn.metrics import average_precision_score

from gradsift import (
    GradientSiftClassifier,
    GradientSiftRegressor,
    MinimumAverageVariance,
    OuterProductGradient,
    SparseGradientRegressor,
)
from gradsift.data import ArraySource, measure_scaling
from gradsift.numerics.directions import subspace_distance
from gradsift.refit import refit_classification, refit_regression
from gradsift.sift import SiftSettings, sift

EVERY = DESIGNS | HELD_OUT


def estimator(case: Case, **settings: Any) -> Any:
    kind = GradientSiftRegressor if case.task == "regression" else GradientSiftClassifier
    return kind(**settings)


def quality(case: Case, scores: np.ndarray, chosen: np.ndarray | None) -> list[float]:
    """AP, exact, F1, FP; NaN for what a table or a method has not."""
    true = np.isin(np.arange(case.X.shape[1]), case.support)
    ranks = np.unique(scores, return_inverse=True)[1]  # infinities compare, ties stay ties
    f1 = false = ap = exact = np.nan
    if chosen is not None:
        false = float((chosen & ~true).sum())
        if true.any():
            f1 = 2 * float((true & chosen).sum()) / float(true.sum() + chosen.sum())
    if true.any():
        ap = float(average_precision_score(true, ranks))
        exact = float(true[np.argsort(-scores, kind="stable")[: true.sum()]].all())
    return [ap, exact, f1, false]


def scaled(X: np.ndarray) -> np.ndarray:
    return (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12)


def cells(values: Sequence[float], digits: Sequence[int]) -> list[str]:
    return [f"{v:.{d}f}" if np.isfinite(v) else "" for v, d in zip(values, digits, strict=True)]


# ---------------------------------------------------------------------------- designs


def on_design(case: str, method: str, seed: int) -> list[float]:
    table = EVERY[case](seed)
    seconds, model = timed(lambda: estimator(table).fit(table.X, table.y))
    return [*quality(table, -model.ranking_, model.get_support()), seconds]


def design_tables(found: Found) -> Iterator[Table]:
    rows = [[case, *cells(found.array(case).mean(axis=0), (3, 2, 2, 2, 2))] for case in found.cases]
    yield "designs", ["design", "AP", "exact", "F1", "FP", "CPU s"], rows


RANKED = {"gradsift": gradsift_order, "Lasso": lasso_order, "forest": quick_forest_order}


def on_ranked_design(case: str, method: str, seed: int) -> float:
    table = DESIGNS[case](seed)
    order = RANKED[method](scaled(table.X), table.y, table.task == "classification")
    return quality(table, -np.argsort(order).astype(float), None)[0]


def ranking_tables(found: Found) -> Iterator[Table]:
    rows = [
        [case, *(f"{found.array(case, m).mean():.2f}" for m in found.methods)]
        for case in found.cases
    ]
    yield "average precision", ["design", *found.methods], rows


def with_signal() -> list[str]:
    return [name for name in DESIGNS if not name.startswith("noise")]


# ---------------------------------------------------------------------------- other tools

PROBLEMS: dict[str, tuple[str, Callable[[int], Case]]] = {
    "add200": ("five curves, 200 x 200", DESIGNS["add200"]),
    "fried": ("Friedman, 200 x 100", DESIGNS["fried"]),
    "xor": ("product of two, labels, 200 x 50", DESIGNS["xor"]),
    "circ40": ("circles, labels, 40 x 200", DESIGNS["circ40"]),
    "lin1000": ("ten lines, 100 x 1,000", DESIGNS["lin1000"]),
    "snp": ("genotypes, 200 x 300", DESIGNS["snp"]),
    "clus": ("clusters in five, labels, 500 x 300", DESIGNS["clus"]),
    "wide": ("five curves, 200 x 1,000", lambda seed: additive(seed, p=1_000)),
    "genes": (
        "two of five hidden factors, 60 noisy columns each, 60 x 20,000",
        lambda seed: many_correlated(seed, n=60, p=20_000),
    ),
}


def judged(case: Case, select: Callable[..., Answer]) -> list[float]:
    """AP, exact, F1, FP and seconds of a selector on standardised columns."""
    seconds, answer = timed(lambda: select(scaled(case.X), case.y, case.task))
    return [*quality(case, answer.scores, answer.selected), seconds]


def on_problem(case: str, method: str, seed: int) -> list[float]:
    return judged(PROBLEMS[case][1](seed), PEERS[method][1])


def peer_tables(found: Found) -> Iterator[Table]:
    for case in found.cases:
        rows = []
        unit = np.median(found.array(case)[:, 4])
        for method in found.methods:
            if not len(values := found.array(case, method)):
                rows.append([method, "stopped", "", "", "", "", "0"])
                continue
            ap, _, f1, false = values[:, :4].mean(axis=0)
            seconds = float(np.median(values[:, 4]))
            shown = cells((seconds, seconds / unit, ap, f1, false), (2, 1, 2, 2, 1))
            rows.append([method, *shown, str(len(values))])
        head = ["", "seconds", "/ gradsift", "AP", "F1", "false", "seeds"]
        yield f"{case}: {PROBLEMS[case][0]}", head, rows


# ---------------------------------------------------------------------------- speed

SIZES = {"200 x 1,000": (200, 1_000), "60 x 20,000": (60, 20_000), "100 x 100,000": (100, 100_000)}


def without_products(X: np.ndarray, y: np.ndarray, task: str) -> Any:
    return GradientSiftRegressor(interactions=False).fit(X, y)


TIMED = {
    "gradsift": ours,
    "gradsift, interactions=False": without_products,
    "forest, 500 trees": forest,
    "LassoCV": lasso,
}
SLOWER = {"forest, 500 trees": "200 x 1,000", "LassoCV": "100 x 100,000"}
"""Measured on one size."""


def on_size(case: str, method: str, seed: int) -> float:
    n, p = SIZES[case]
    rng = np.random.default_rng([seed, n, p])
    X = rng.normal(size=(n, p))
    y = X[:, 0] - X[:, 1] + np.abs(X[:, 2]) + 0.3 * rng.normal(size=n)
    return timed(lambda: TIMED[method](X, y, "regression"))[0]


def speed_tables(found: Found) -> Iterator[Table]:
    rows = []
    for case in found.cases:
        values = [found.array(case, m) for m in found.methods]
        rows.append([case, *(f"{np.median(v):.2f}" if len(v) else "" for v in values)])
    yield "CPU seconds", ["rows x columns", *found.methods], rows


# ---------------------------------------------------------------------------- missing values

MISSING = 0.3
MOST_CELLS = 200_000
WAYS = ("complete", "cells missing", "rows missing")


def on_missing(case: str, method: str, seed: int) -> float:
    """AP with all cells, without 30 % of them, or without 30 % of the rows instead."""
    table = DESIGNS[case](seed)
    X, y = table.X.astype(float), table.y
    if method == "cells missing":
        X = np.where(np.random.default_rng(1000 + seed).random(X.shape) < MISSING, np.nan, X)
    if method == "rows missing":
        rng = np.random.default_rng(2000 + seed)
        rows = np.sort(rng.permutation(len(X))[: int((1 - MISSING) * len(X))])
        X, y = X[rows], y[rows]
    model = estimator(table, missing="mean", predict_with="selected").fit(X, y)
    return quality(table, -model.ranking_, None)[0]


def small_designs() -> list[str]:
    return [name for name in with_signal() if DESIGNS[name](100).X.size <= MOST_CELLS]


def missing_tables(found: Found) -> Iterator[Table]:
    means = [[found.array(case, way).mean() for way in found.methods] for case in found.cases]
    rows = [[case, *cells(row, [3] * len(row))] for case, row in zip(found.cases, means)]
    average = ["mean", *cells(np.mean(means, axis=0), [3] * len(found.methods))]
    yield "AP of the ranking", ["design", *found.methods], [*rows, average]


# ---------------------------------------------------------------------------- given variables


def relative(A: np.ndarray, B: np.ndarray) -> float:
    return float(np.sqrt(((A - B) ** 2).sum() / (B**2).sum()))


def on_surface(case: str, method: str, seed: int) -> list[Any]:
    """Gradient error, R2 of the noiseless function, distance of directions, seconds, kernel."""
    data = surfaces.regression_data(case, 200, seed)
    seconds, fit = timed(lambda: refit_regression(data["X"], data["y"]))
    F = fit.gradient(data["X"])[0]
    r = data["Q"].shape[1]
    directions = np.linalg.eigh(F.T @ F)[1][:, ::-1][:, :r]
    residual = data["f_fresh"] - fit.value(data["X_fresh"])[:, 0]
    r2 = 1 - (residual**2).mean() / data["f_fresh"].var()
    overlap = np.linalg.norm(data["Q"].T @ directions) ** 2 / r
    distance = float(np.sqrt(max(0.0, 1 - overlap)))
    return [relative(F, data["G"]), float(r2), distance, seconds, fit.kernel.name]


def on_odds(case: str, method: str, seed: int) -> list[Any]:
    """Error and log loss above Bayes, gradient error (sqrt(p (1 - p))), seconds, kernel."""
    data = surfaces.label_data(case, 200, seed)
    seconds, fit = timed(lambda: refit_classification(data["X"], data["labels"], n_classes=2))
    g, odds = fit.value(data["X_fresh"])[:, 0], data["odds"]
    p = 1.0 / (1.0 + np.exp(-odds))

    def loss(s: np.ndarray) -> float:
        return float((p * np.logaddexp(0, -s) + (1 - p) * np.logaddexp(0, s)).mean())

    def error(s: np.ndarray) -> float:
        return float(np.where(s > 0, 1 - p, p).mean())

    w = np.sqrt(p * (1 - p))[:, None]
    slopes = relative(w * fit.gradient(data["X_fresh"])[0], w * data["G"])
    return [error(g) - error(odds), loss(g) - loss(odds), slopes, seconds, fit.kernel.name]


def refit_rows(found: Found) -> tuple[np.ndarray, list[list[str]]]:
    """(designs, 4) means, and the row of each design."""
    means, rows = [], []
    for case in found.cases:
        values = found.of(case)
        means.append(np.mean([v[:4] for v in values], axis=0))
        kernels = [v[4] for v in values]
        chosen = ", ".join(f"{name} {kernels.count(name)}" for name in sorted(set(kernels)))
        rows.append([case, *cells(means[-1], (3, 3, 3, 2)), chosen])
    return np.array(means), rows


def regression_tables(found: Found) -> Iterator[Table]:
    means, rows = refit_rows(found)
    yield "designs", ["design", "err", "R2", "dist", "s", "kernels"], rows
    err, r2, dist, seconds = means.mean(axis=0)
    measured = [
        ["gradient error", "<= .17", f"{err:.3f}"],
        ["R2, fresh rows, noiseless function", ">= .97", f"{r2:.3f}"],
        ["subspace distance, mean of designs", "", f"{dist:.3f}"],
        ["seconds, mean (d = 1 to 13)", "about .5", f"{seconds:.2f}"],
    ]
    if "two4+3" in found.cases:
        hard = means[found.cases.index("two4+3")][2]
        measured.insert(2, ["subspace distance (two4+3)", "<= .10", f"{hard:.3f}"])
    yield "means", ["", "bar", "measured"], measured


def label_tables(found: Found) -> Iterator[Table]:
    means, rows = refit_rows(found)
    yield "designs", ["design", "error", "log loss", "gradient", "s", "kernels"], rows
    rare = np.array(["i+" in case for case in found.cases])
    parts = [("balanced", ~rare), ("10 % positives", rare)]
    rows = [
        [f"{title}, {index.sum()} designs", *cells(means[index].mean(axis=0), (3, 3, 3, 2))]
        for title, index in parts
        if index.any()
    ]
    yield "means", ["", "error", "log loss", "gradient", "s"], rows


# ---------------------------------------------------------------------------- directions

FRESH = {design.formula: design for design in links.FRESH}
COUNTS = ("`SparseGradientRegressor`", "`GradientSiftRegressor`")
WAVES = {"sin(2u)": (np.sin, 2), "cos(2u)": (np.cos, 2), "sin(3u)": (np.sin, 3)}
FINDERS = ("refit on them", "refined OPG", "refined OPG, all", "MAVE, all", "`GradientSift`")


def count_of_directions(case: str, method: str, seed: int) -> float:
    """Whether the number of directions is right: 200 samples, 20 columns."""
    X, y = links.draw(FRESH[case], 200, 20, seed)
    sparse = method == COUNTS[0]
    model = SparseGradientRegressor() if sparse else GradientSiftRegressor(predict_with="selected")
    return float(model.fit(X, y).n_components_ == FRESH[case].n_directions)


def count_tables(found: Found) -> Iterator[Table]:
    rows = []
    for case in found.cases:
        shares = [f"{100 * found.array(case, m).mean():.0f} %" for m in found.methods]
        rows.append([case, str(FRESH[case].n_directions), *shares])
    yield "right numbers of directions", ["response", "directions", *found.methods], rows


def wave(case: str, method: str, seed: int) -> list[float]:
    """Distance of the first direction to the true one, and how many columns of u are selected.

    u is the normalised sum of 3 or 6 of 20 normal columns; 200 samples, noise a fifth of the
    standard deviation of the response. The refit and one OPG see the columns of u and three more.
    """
    formula, width = case.rsplit(" ", 1)
    (f, speed), width = WAVES[formula], int(width)
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 20))
    y = f(speed * X[:, :width].sum(axis=1) / np.sqrt(width))
    y = y / y.std() + 0.2 * rng.normal(size=200)
    truth, few = (np.arange(20) < width)[None].astype(float), slice(0, width + 3)
    if method == "refit on them":
        slopes = refit_regression(X[:, few], y).gradient(X[:, few])[0]
        first = np.linalg.svd(slopes, full_matrices=False)[2][:1]
        return [float(subspace_distance(first, truth[:, few])), np.nan]
    if method == "`GradientSift`":
        model = GradientSiftRegressor(predict_with="selected", n_components=1).fit(X, y)
        chosen = model.get_support()
        distance = subspace_distance(model.components_, truth) if chosen.any() else 1.0
        return [float(distance), float(chosen[:width].sum())]
    columns = few if method == "refined OPG" else slice(None)
    opg = OuterProductGradient(refined=True, n_components=1)
    model = opg if "OPG" in method else MinimumAverageVariance(n_components=1)
    found = model.fit(X[:, columns], y).components_
    return [float(subspace_distance(found, truth[:, columns])), np.nan]


def wave_tables(found: Found) -> Iterator[Table]:
    rows = []
    for case in found.cases:
        formula, width = case.rsplit(" ", 1)
        medians = [np.median(found.array(case, m)[:, 0]) for m in found.methods]
        selected = found.array(case, found.methods[-1])[:, 1].mean()
        rows.append([formula, width, *(f"{m:.2f}" for m in medians), f"{selected:.1f}"])
    yield "waves", ["response", "columns of u", *found.methods, "selected"], rows


# ---------------------------------------------------------------------------- settings

DEFAULT = SiftSettings()
OFF: dict[str, Any] = {
    "ridge": 1e-9, "n_known": 10**9, "path_end": 1.0, "searched_df": 0.0, "breadth": 1,
    "relaxed": 0.0, "most_tied": 1.0, "rounds": 1,
}  # fmt: skip
"""What switches an ingredient off; the others have no such value."""
NOT_FELT = ("limits", "most_correlation", "joint_share", "left_over", "forward_ridge")
"""Settings of wide tables, of rows and columns that belong together, and of the order after the
selected columns, which none of the designs here can feel.
"""
FELT = (
    "turl200", "circ40n", "inter", "addh200", "lincorr", "lineq", "cturl", "noise", "noisec",
    "mixed", "block.95",
)  # fmt: skip


def changed(name: str, factor: float) -> Any:
    """A setting times a factor; whole numbers stay whole, shares give to and take from others."""
    value = getattr(DEFAULT, name)
    if name == "shares":  # that of the linear part, at the cost of the others
        first = value[0] * factor
        return (first, *(share * (1 - first) / sum(value[1:]) for share in value[1:]))
    if name == "path_step":
        return value**factor
    return max(1, round(value * factor)) if isinstance(value, int) else value * factor


def variants() -> dict[str, SiftSettings]:
    """Label -> settings that differ from the default in one field."""
    found = {"default": DEFAULT}
    for name in (f.name for f in fields(SiftSettings) if f.name not in NOT_FELT):
        values = {"half": changed(name, 0.5), "double": changed(name, 2.0)}
        values |= {"off": OFF[name]} if name in OFF else {}
        for how, value in values.items():
            if value != getattr(DEFAULT, name):
                found[f"{name} {how}"] = replace(DEFAULT, **{name: value})
    return found


def with_setting(case: str, method: str, seed: int) -> list[float]:
    table = EVERY[case](seed)
    scaling = measure_scaling(ArraySource(table.X), np.full(len(table.X), 1.0 / len(table.X)))
    source, numbers = ArraySource(scaling.apply(table.X)), table.task == "regression"
    settings = variants()[method]
    seconds, found = timed(
        lambda: sift(source, table.y[:, None], robust=numbers, settings=settings)
    )
    chosen = np.isin(np.arange(table.X.shape[1]), found.selected)
    return [*quality(table, -found.ranking, chosen), seconds]


def setting_tables(found: Found) -> Iterator[Table]:
    """Paired differences to the default, standard errors over seeds."""
    rows = []
    for label in [m for m in found.methods if m != "default"]:
        name, how = label.split()
        apart = []
        for case in found.cases:
            pairs = zip(found.of(case, label), found.of(case, "default"))
            apart.append([np.subtract(new, old, dtype=float) for new, old in pairs])
        change = np.nanmean(np.array(apart), axis=0)  # (seeds, 5)
        value = "off" if how == "off" else str(getattr(variants()[label], name))
        shown = [mean_error(change[:, k], d) for k, d in ((0, 3), (2, 3), (3, 2))]
        rows.append([f"`{name}`", str(getattr(DEFAULT, name)), value, *shown])
    yield "settings", ["setting", "default", "changed to", "AP", "F1", "false variables"], rows


MEASUREMENTS = {
    "selection/designs": Measurement(
        on_design, design_tables, lambda: DESIGNS, seeds=range(700, 720)
    ),
    "selection/rivals": Measurement(
        on_ranked_design, ranking_tables, with_signal, tuple(RANKED), range(700, 705)
    ),
    "selection/speed": Measurement(
        on_size, speed_tables, lambda: SIZES, tuple(TIMED),
        applies=lambda case, method, seed: SLOWER.get(method, case) == case,
    ),
    "peers/peers": Measurement(
        on_problem, peer_tables, lambda: PROBLEMS, installed(PEERS), range(900, 905), limit=120.0
    ),
    "mixed/missing": Measurement(
        on_missing, missing_tables, small_designs, WAYS, range(100, 106)
    ),
    "refit/regression": Measurement(
        on_surface, regression_tables,
        lambda: [f"{name}+{k}" for name in surfaces.DESIGNS for k in (0, 3)],
        seeds=range(100, 110),
    ),
    "refit/labels": Measurement(
        on_odds, label_tables,
        lambda: [f"{n}{i}+{k}" for n in surfaces.LABEL_DESIGNS for i in ("", "i") for k in (0, 2)],
        seeds=range(100, 110),
    ),
    "directions/fresh": Measurement(
        count_of_directions, count_tables, lambda: FRESH, COUNTS, range(1000, 1020)
    ),
    "directions/links": Measurement(
        wave, wave_tables, lambda: [f"{f} {width}" for f in WAVES for width in (3, 6)], FINDERS,
        range(100, 106),
    ),
    "ablation/table": Measurement(
        with_setting, setting_tables, lambda: FELT, tuple(variants()), range(300, 305)
    ),
}  # fmt: skip
