"""Methods that the paper names, and today's neighbours; certified paths.

Seconds are processor time of one thread. Packages: `methods/requirements.txt`; those that are not
installed are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from designs import links, locus
from designs.data_sets import DATA, real
from designs.selection import DESIGNS
from measurements.accuracy import judged
from methods.directions import FINDERS, WIDE
from methods.selectors import MOST_COLUMNS, RELATIVES, installed
from methods.susie import susie
from run import Found, Measurement, Table, timed
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.feature_selection import RFE
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from gradsift import (
    GradientSelector,
    GradientSiftClassifier,
    GradientSiftRegressor,
    SparseGradientRegressorCV,
    alpha_max,
    gradient_path,
)
from gradsift.numerics.directions import subspace_distance

TABLES = ("turl200", "fried", "xor", "add200", "lincorr", "block")


def select(case: str, method: str, seed: int) -> list[float]:
    return judged(DESIGNS[case](seed), RELATIVES[method][1])


def narrow_enough(case: str, method: str, seed: int) -> bool:
    return DESIGNS[case](seed).X.shape[1] <= MOST_COLUMNS.get(method, np.inf)


def selection_tables(found: Found) -> Iterator[Table]:
    """Average precision by design; F1, false columns and seconds of all."""
    rows = []
    for method in found.methods:
        values = {case: found.array(case, method) for case in found.cases}
        shown = [f"{v[:, 0].mean():.2f}" if len(v) else "" for v in values.values()]
        fits = np.vstack([v for v in values.values() if len(v)])
        f1, false = fits[:, 2:4].mean(axis=0)
        own = ["", ""] if np.isnan(f1) else [f"{f1:.2f}", f"{false:.1f}"]
        rows.append([method, *shown, *own, f"{np.median(fits[:, 4]):.2f}"])
    yield "selection", ["method", *found.cases, "F1", "false", "seconds"], rows


# ---------------------------------------------------------------------------- directions

SUMS = ([0, 1, 2], [3, 4], [5, 6])
SHOWN = ("tanh(2u)", "sin(2u)", "u / (.5 + (v + 1.5)²)", "u + v²/2", "u v + w")
LINKS = {design.formula: design for design in links.DESIGNS if design.formula in SHOWN}
WIDTHS = (20, 1000)


def direction_cases() -> list[str]:
    return [f"{formula}, {p}" for p in WIDTHS for formula in LINKS]


def direct(case: str, method: str, seed: int) -> list[float]:
    """Distance of the subspaces, 0 to 1; seconds."""
    formula, p = case.rsplit(", ", 1)
    design = LINKS[formula]
    truth = np.zeros((design.n_directions, int(p)))
    for row, columns in zip(truth, SUMS, strict=False):
        row[columns] = 1.0
    X, y = links.draw(design, 200, int(p), seed)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    seconds, B = timed(lambda: FINDERS[method](X, y, design.n_directions))
    distance = subspace_distance(B.T, truth) if B.shape[1] == len(truth) else 1.0
    return [float(distance), seconds]


def direction_applies(case: str, method: str, seed: int) -> bool:
    """Eight seeds of narrow tables; three of wide ones, where a method can be run on these."""
    return case.endswith(", 20") or (method in WIDE and seed < 1703)


def direction_tables(found: Found) -> Iterator[Table]:
    for p in WIDTHS:
        cases = [case for case in found.cases if case.endswith(f", {p}")]
        rows = []
        for method in found.methods:
            values = [found.array(case, method) for case in cases]
            if all(len(v) for v in values) and values:
                medians = [f"{np.median(v[:, 0]):.2f}" for v in values]
                rows.append([method, *medians, f"{np.median(np.vstack(values)[:, 1]):.2f}"])
        head = ["method", *(case.rsplit(", ", 1)[0] for case in cases), "seconds"]
        yield f"directions, {p} columns", head, rows


# ---------------------------------------------------------------------------- leukemia, boosting

GENES = (1, 2, 4, 8, 16, 32, 64)


def genes(case: str, method: str, seed: int) -> list[int]:
    """Errors of a linear SVM on the 34 test samples, on the k best genes of 38 training samples."""
    table = real("leukemia")
    train, test = table.splits[0]
    scale = table.X[train].std(axis=0)
    X = (table.X - table.X[train].mean(axis=0)) / np.where(scale > 0, scale, np.inf)
    machine = SVC(kernel="linear", C=1.0)

    def recursive(k: int) -> np.ndarray:
        """SVM-RFE (Guyon, Weston, Barnhill and Vapnik 2002): half of the genes leave each time."""
        kept = np.arange(X.shape[1])
        while len(kept) > k:
            left = max(k, len(kept) // 2)
            keep = RFE(machine, n_features_to_select=left, step=len(kept) - left)
            kept = kept[keep.fit(X[train][:, kept], table.y[train]).support_]
        return kept

    ours = method == "GradientSift"
    order = (
        np.argsort(GradientSiftClassifier().fit(X[train], table.y[train]).ranking_)
        if ours
        else None
    )
    errors = []
    for k in GENES:
        best = order[:k] if order is not None else recursive(k)
        fit = machine.fit(X[train][:, best], table.y[train])
        errors.append(int((fit.predict(X[test][:, best]) != table.y[test]).sum()))
    return errors


def gene_tables(found: Found) -> Iterator[Table]:
    rows = [[m, *map(str, found.of("leukemia", m)[0])] for m in found.methods]
    yield "leukemia", ["method", *map(str, GENES)], rows


BOOSTED = ("boosting", "sift, then boosting", "GradientSift")


def boost(case: str, method: str, seed: int) -> list[Any]:
    """R2 or accuracy of five folds."""
    table = DESIGNS[case](seed)
    if table.task == "regression":
        boosting, sift = HistGradientBoostingRegressor(random_state=0), GradientSiftRegressor()
        folds = KFold(5, shuffle=True, random_state=0)
    else:
        boosting, sift = HistGradientBoostingClassifier(random_state=0), GradientSiftClassifier()
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
    models = boosting, make_pipeline(GradientSelector(sift), boosting), sift
    model = dict(zip(BOOSTED, models, strict=True))[method]
    size = f"{table.X.shape[0]} x {table.X.shape[1]}"
    return [size, float(cross_val_score(model, table.X, table.y, cv=folds).mean())]


def boosting_tables(found: Found) -> Iterator[Table]:
    rows = []
    for case in found.cases:
        values = [found.of(case, m)[0] for m in found.methods]
        rows.append([case, values[0][0], *(f"{score:.2f}" for _, score in values)])
    yield "before boosting", ["table", "rows x columns", *found.methods], rows


# ---------------------------------------------------------------------------- fine mapping

Sets = list[np.ndarray]


def findings(X: np.ndarray, y: np.ndarray) -> Sets:
    model = GradientSiftRegressor(inference=True, predict_with="selected").fit(X, y)
    return [f.columns for f in model.findings_ if f.confidence >= 0.95]


MAPPERS: dict[str, Callable[[np.ndarray, np.ndarray], Sets]] = {
    "findings": findings,
    "SuSiE": lambda X, y: susie(X, y, few=False),
    "SuSiE, small samples": lambda X, y: susie(X, y, few=True),
}


def mapped(case: str, method: str, seed: int) -> list[Any]:
    """Sizes of sets; sets that hold a variant that acts; such variants in a set; all; seconds."""
    kind, n = case.removesuffix(" samples").rsplit(", ", 1)
    X, y, true = locus.planted(seed, int(n), kind)
    seconds, found = timed(lambda: MAPPERS[method](X, y))
    good = sum(bool(np.isin(true, s).any()) for s in found)
    hits = sum(any(t in s for s in found) for t in true)
    return [[len(s) for s in found], good, hits, len(true), seconds]


def mapping_tables(found: Found) -> Iterator[Table]:
    for case in found.cases:
        rows = []
        for method in found.methods:
            values = found.of(case, method)
            sizes = [size for value in values for size in value[0]]
            good, hits, acting, seconds = np.sum([value[1:] for value in values], axis=0)
            coverage = [f"{good / len(sizes):.2f}"] if sizes else [""]
            size = f"{np.median(sizes):.0f}" if sizes else ""
            power, spent = f"{hits / acting:.2f}", f"{seconds / len(values):.2f}"
            rows.append([method, *coverage, power, size, str(len(sizes)), spent])
        yield case, ["method", "coverage", "power", "size", "sets", "seconds"], rows


def mapping_cases() -> list[str]:
    kinds = ("additive", "dominant", "heavy tails")
    return [f"{kind}, {n} samples" for kind in kinds for n in (60, 300)]


# ---------------------------------------------------------------------------- certified paths

PATHS = {"n=72, p=7,129": (72, 7_129), "n=200, p=20,000": (200, 20_000)}
LOSSES = {"squared": "regression", "logistic": "classification"}


def surface(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """The sign of a surface in four variables with an interaction."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    height = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * X[:, 3] ** 2 - 0.5 + 0.3 * rng.normal(size=n)
    return X, np.sign(height)


def certify(case: str, method: str, seed: int) -> list[float]:
    """Seconds of a product X.T @ M, M (n, n), the least that a certificate over all columns can
    cost, and of a path of 50 alphas; alphas; products per alpha; largest gap.
    """
    X, y = surface(*PATHS[case])
    settings = {"kernel": "gaussian", "weights": "gaussian", "n_alphas": 50, "eps": 0.1}
    M = np.random.default_rng(0).normal(size=(len(X), len(X)))
    unit = min(timed(lambda: X.T @ M)[0] for _ in range(15))
    spent, path = timed(lambda: gradient_path(X, y, task=LOSSES[method], **settings))
    return [unit, spent, len(path.alphas), float(path.n_iter.mean()), float(path.dual_gaps.max())]


def certificate_tables(found: Found) -> Iterator[Table]:
    rows = []
    for case in found.cases:
        for method in found.methods:
            values = found.array(case, method)
            unit, spent = values[:, :2].min(axis=0)
            ratio = np.median(values[:, 1] / values[:, 2] / values[:, 0])
            assert values[:, 4].max() <= 1e-4, "not certified"
            shown = f"{1e3 * unit:.2f} ms", f"{spent:.2f} s", f"{ratio:.1f}"
            rows.append([case, method, *shown, f"{values[0, 3]:.1f}"])
    head = ["GEMM", "path", "GEMM per alpha: median", "products per alpha"]
    yield "floor", ["problem", "loss", *head], rows


def leave_one_out(case: str, method: str, seed: int) -> list[float]:
    """Seconds of a path of 20 alphas on leukemia (genes of unit length, linear kernel), and of
    leave-one-out over its 38 samples.
    """
    with np.load(DATA / "leukemia.npz") as archive:
        X, y = archive["X_train"].astype(float), archive["y_train"].astype(float)
    X = X - X.mean(axis=0)
    length = np.linalg.norm(X, axis=0)
    X = X / np.where(length > 0.0, length, 1.0)
    settings: dict[str, Any] = {"kernel": "linear", "weights": "gaussian", "standardize": False}
    alphas = alpha_max(X, y, **settings) * np.geomspace(1.0, 0.1, 20)
    path = min(timed(lambda: gradient_path(X, y, alphas=alphas, **settings))[0] for _ in range(5))
    model = SparseGradientRegressorCV(alphas=alphas, cv="loo", **settings)
    return [path, timed(lambda: model.fit(X, y))[0]]


def leave_one_out_tables(found: Found) -> Iterator[Table]:
    path, fit = np.median(found.array("leukemia"), axis=0)
    rows = [["one path", f"{path:.2f}", "1"], ["leave-one-out", f"{fit:.1f}", f"{fit / path:.1f}"]]
    yield "leave-one-out", ["leukemia, 38 folds, 20 alphas", "seconds", "in paths"], rows


MEASUREMENTS = {
    "relatives/selection": Measurement(
        select, selection_tables, lambda: TABLES, installed(RELATIVES), range(1700, 1702),
        narrow_enough,
    ),
    "relatives/directions": Measurement(
        direct, direction_tables, direction_cases, tuple(FINDERS), range(1700, 1708),
        direction_applies,
    ),
    "relatives/leukemia": Measurement(
        genes, gene_tables, lambda: ["leukemia"], ("GradientSift", "SVM-RFE")
    ),
    "relatives/before_boosting": Measurement(
        boost, boosting_tables, lambda: ("fried", "xor", "add200"), BOOSTED, range(1700, 1701)
    ),
    "relatives/fine_mapping": Measurement(
        mapped, mapping_tables, mapping_cases, tuple(MAPPERS), range(3000, 3025)
    ),
    "paths/floor": Measurement(
        certify, certificate_tables, lambda: PATHS, tuple(LOSSES), range(5)
    ),
    "paths/loo": Measurement(
        leave_one_out, leave_one_out_tables, lambda: ["leukemia"], seeds=range(3)
    ),
}  # fmt: skip
