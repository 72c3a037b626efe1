"""Real tables: predictions, rankings, halves, associations, and the paper's estimator.

Of a seed s, s // 10 divides the rows and s % 10 is the fold. Every method sees columns that are
standardised by its training rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from designs import real
from methods.predictors import METHODS, standardised
from methods.rankers import RANKERS, Order
from run import Found, Measurement, Table, timed
from scipy.optimize import linear_sum_assignment
from scipy.stats import rankdata
from sklearn.linear_model import LassoCV
from sklearn.metrics import log_loss, r2_score
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedShuffleSplit
from sklearn.svm import SVC, SVR

from gradsift import AlphaGrid, SparseGradientRegressorCV
from gradsift.data import ArraySource, measure_scaling
from gradsift.inference.marginal_tests import RATE, column_association
from gradsift.sift import SiftFit, make_sift

FOLDS = 5
LONG = ("digits", "multicancer_su")
"""Tables that take minutes a fold, with some method: left out unless they are named."""


def split(table: real.RealTable, seed: int) -> tuple[Order, Order]:
    random_state, fold = divmod(seed, 10)
    return table.splits(FOLDS, random_state)[fold]


def scaled(X: np.ndarray, train: Any, test: Any) -> tuple[np.ndarray, np.ndarray]:
    """Both parts standardised by the training rows."""
    mean, sd = X[train].mean(axis=0), X[train].std(axis=0)
    sd = np.where(sd > 1e-12, sd, np.inf)
    return (X[train] - mean) / sd, (X[test] - mean) / sd


def near_best(errors: np.ndarray) -> np.ndarray:
    """Which methods (rows) are the best, or within one standard error of it over folds."""
    mean = errors.mean(axis=1)
    best = errors[np.argmin(mean)]
    error = best.std(ddof=1) / np.sqrt(len(best)) if len(best) > 1 else 0.0
    return np.asarray(mean <= mean.min() + error + 1e-12)


# ---------------------------------------------------------------------------- predictions


def predict(case: str, method: str, seed: int) -> dict[str, float]:
    """Error (share of wrong labels, or 1 - R2), log loss where there are probabilities, seconds."""
    table = real.load(case)
    train, test = split(table, seed)
    model = standardised(METHODS[method](table.labels))

    def guess() -> Any:
        return model.fit(table.X[train], table.y[train]).predict(table.X[test])

    seconds, guessed = timed(guess)
    y = table.y[test]
    if not table.labels:
        unit = np.mean((y - table.y[train].mean()) ** 2)
        return {"seconds": seconds, "error": float(np.mean((y - guessed) ** 2) / unit)}
    out = {"seconds": seconds, "error": float(np.mean(y != guessed))}
    if method != "SVM":
        p = model.predict_proba(table.X[test])
        out["log loss"] = float(log_loss(y, p, labels=model.classes_))
    return out


def prediction_tables(found: Found) -> Iterator[Table]:
    """Errors and log losses with ranks; how often ours is near the best; times of a forest."""
    near = []
    others = [m for m in found.methods if m not in ("gradsift", "selected only")]
    for what, methods in (
        ("error", ["gradsift", *others]),
        ("log loss", ["gradsift", *(m for m in others if m != "SVM")]),
    ):
        rows, ranks, good = [], [], []
        for case in found.cases:
            folds = [f for f in found.by_seed(case) if all(what in f[m] for m in methods)]
            if not folds:
                continue
            values = np.array([[fold[m][what] for fold in folds] for m in methods])
            ranks.append(rankdata(np.round(values.mean(axis=1), 9)))
            good.append(near_best(values)[0])
            rows.append([case, *(f"{v:.3f}" for v in values.mean(axis=1)), f"{ranks[-1][0]:g}"])
        mean = ["mean rank", *(f"{rank:.2f}" for rank in np.mean(ranks, axis=0)), ""]
        yield f"{what}, {len(rows)} tables", ["table", *methods, "our rank"], [*rows, mean]
        near.append([what, f"{np.mean(good):.0%}"])
    ratios = [
        np.mean([fold["gradsift"]["seconds"] / fold["forest"]["seconds"] for fold in folds])
        for folds in map(found.by_seed, found.cases)
    ]
    near.append(["time of a forest, median", f"{np.median(ratios):.2f}"])
    yield "best, or within one standard error", ["", "gradsift"], near


# ---------------------------------------------------------------------------- rankings

KS = (5, 10, 20, 50)
MAIN = ("gradsift", "l1", "forest", "F-test")


def svm_score(A: np.ndarray, y: Any, B: np.ndarray, z: Any, labels: bool) -> float:
    """Accuracy or R2, on held-out rows B, z, of an RBF SVM (C = 1) that learnt A, y."""
    if labels:
        return float(np.mean(SVC().fit(A, y).predict(B) == z))
    guess = SVR().fit(A, (y - y.mean()) / y.std()).predict(B)
    return float(r2_score(z, y.mean() + y.std() * guess))


def rank(case: str, method: str, seed: int) -> dict[str, float]:
    """Score of the best k columns of the training rows, for each k that leaves a choice."""
    table = real.load(case)
    train, test = split(table, seed)
    A, B = scaled(table.X, train, test)
    y, z = table.y[train], table.y[test]
    order = RANKERS[method](A, y, table.labels)
    return {
        str(k): svm_score(A[:, order[:k]], y, B[:, order[:k]], z, table.labels)
        for k in KS
        if k < A.shape[1]
    }


def ranking_tables(found: Found) -> Iterator[Table]:
    """Per table the mean over lengths; then mean, mean rank, share of cells near the best."""
    rows, means, ranks, near = [], [], [], []
    for case in found.cases:
        folds = found.by_seed(case)
        scores = {
            k: np.array([[fold[m][k] for fold in folds] for m in found.methods])
            for k in folds[0]["gradsift"]
        }
        means.append(np.mean([s.mean(axis=1) for s in scores.values()], axis=0))
        ranks += [rankdata(-np.round(s.mean(axis=1), 9)) for s in scores.values()]
        near += [near_best(-s) for s in scores.values()]
        rows.append([case, *(f"{m:.3f}" for m in means[-1])])
    rows.append(["mean", *(f"{m:.3f}" for m in np.mean(means, axis=0))])
    rows.append(["mean rank", *(f"{m:.2f}" for m in np.mean(ranks, axis=0))])
    rows.append(["best or within one s.e.", *(f"{m:.0%}" for m in np.mean(near, axis=0))])
    title = f"ranking, {len(found.cases)} tables, {len(near)} cells"
    yield title, ["table", *found.methods], rows


# ---------------------------------------------------------------------------- halves

ALIKE = 0.8
MOST_ROWS = 1_000
"""Tables with more rows are left out: their halves agree."""


def short_tables() -> list[str]:
    return [name for name in real.names() if len(real.load(name).X) <= MOST_ROWS]


def halves(table: real.RealTable, seed: int) -> tuple[Order, Order]:
    kind = StratifiedShuffleSplit if table.labels else ShuffleSplit
    splits = kind(seed + 1, test_size=0.5, train_size=0.5, random_state=0)
    return list(splits.split(table.X, table.y))[seed]


def jaccard(alike: np.ndarray) -> float:
    """Jaccard index of two sets, from which member of one is the same (a, b) as which of the
    other; each counts once.
    """
    rows, columns = linear_sum_assignment(-alike)
    matched = int(alike[rows, columns].sum())
    return matched / (sum(alike.shape) - matched)


def half_agreement(case: str, method: str, seed: int) -> list[float]:
    """Agreement of columns, and of columns of which correlated ones count as one. Others take as
    many columns as the sift selects; NaN where it selects nothing in both halves.
    """
    table = real.load(case)
    whole, _ = scaled(table.X, np.arange(len(table.X)), np.arange(0))
    sets = []
    for half in halves(table, seed):
        A, y = scaled(table.X, half, np.arange(0))[0], table.y[half]
        Y = real.contrasts(y, table.labels)
        best = make_sift(ArraySource(A), Y, robust=not table.labels).run().selected
        if method != "gradsift":
            best = RANKERS[method](A, y, table.labels)[: len(best)]
        sets.append(best)
    a, b = sets
    if not len(a) and not len(b):
        return [np.nan, np.nan]
    same = a[:, None] == b
    like = same | (np.abs(whole[:, a].T @ whole[:, b]) / len(whole) >= ALIKE)
    return [jaccard(same.astype(float)), jaccard(like.astype(float))]


def half_tables(found: Found) -> Iterator[Table]:
    rows, means = [], []
    for case in found.cases:
        values = np.array([found.array(case, m) for m in found.methods])  # (methods, pairs, 2)
        known = np.isfinite(values[0, :, 0])
        if known.any():
            means.append(values[:, known].mean(axis=1))
            rows.append([case, str(known.sum()), *(f"{a:.2f} / {b:.2f}" for a, b in means[-1])])
    rows.append(["mean", "", *(f"{a:.3f} / {b:.3f}" for a, b in np.mean(means, axis=0))])
    title = f"stability, {len(means)} tables, columns / columns that are alike"
    yield title, ["table", "pairs", *found.methods], rows


# ---------------------------------------------------------------------------- associations

TIMES = 8
ASSOCIATED = (
    "colon", "riboflavin", "gasoline", "pac", "permeability", "breast_sorlie", "pd_speech",
    "prostate_psa", "yarn", "wine", "cox2",
)  # fmt: skip


def listed(A: np.ndarray, Y: np.ndarray, labels: bool) -> set[int]:
    """Columns associated with the response; the search for a support is not needed."""
    problem = make_sift(ArraySource(A), Y, robust=not labels)
    groups, marginal = problem.first_pool()
    found = column_association(SiftFit(problem, groups, (), (), marginal), A.shape[1])
    return set() if found is None else set(found.associated(RATE).tolist())


def associate(case: str, method: str, seed: int) -> list[Any]:
    """Columns listed; how often a permuted response has a list; mean share of null columns in the
    lists where the rows of a random half of the columns are permuted together.
    """
    table = real.load(case)
    n, p = table.X.shape
    rng = np.random.default_rng(seed)
    A = measure_scaling(ArraySource(table.X), np.full(n, 1.0 / n)).apply(table.X)
    Y = real.contrasts(table.y, table.labels)
    false, shares = [], []
    for _ in range(TIMES):
        rows, null = rng.permutation(n), rng.permutation(p)[: p // 2]
        false.append(len(listed(A, Y[rows], table.labels)) > 0)
        mixed = A.copy()
        mixed[:, null] = A[rows][:, null]
        found, nulls = listed(mixed, Y, table.labels), set(null.tolist())
        shares.append(len(found & nulls) / max(len(found), 1))
    whole = len(listed(A, Y, table.labels))
    return [f"{n} x {p:,}", whole, float(np.mean(false)), float(np.mean(shares))]


def association_tables(found: Found) -> Iterator[Table]:
    values = [found.of(case)[0] for case in found.cases]
    rows = [
        [case, size, f"{count:,}", f"{false:.2f}", f"{share:.3f}"]
        for case, (size, count, false, share) in zip(found.cases, values)
    ]
    false, share = np.mean([value[2:] for value in values], axis=0)
    rows.append(["mean", "", "", f"{false:.3f}", f"{share:.3f}"])
    head = ["listed", "all permuted: any", "half permuted: false share"]
    title = f"associated at {RATE:.0%}, {len(rows) - 1} tables, {TIMES} permutations each"
    yield title, ["table", "rows x columns", *head], rows


# ---------------------------------------------------------------------------- the paper's estimator

OUTER = KFold(5, shuffle=True, random_state=0)
INNER = KFold(10, shuffle=True, random_state=0)
CHOSEN = ("gasoline", "colon", "riboflavin", "leukemia")
PREDICTORS: dict[str, Callable[[], Any]] = {
    "SparseGradientRegressorCV": lambda: SparseGradientRegressorCV(
        alphas=AlphaGrid(n_alphas=15, eps=0.03), cv=INNER, n_components=1
    ),
    "LassoCV": lambda: standardised(LassoCV(cv=INNER, max_iter=20_000)),
}


def choose(case: str, method: str, seed: int) -> list[float]:
    """Squared error of every held-out row, in units of the response; labels are -1 and 1."""
    table = real.load(case)
    X = table.X[:, table.X.std(axis=0) > 0]
    y = 2.0 * table.y - 1.0 if table.labels else table.y
    y = (y - y.mean()) / y.std()
    errors = np.empty(len(y))
    for train, test in OUTER.split(X):
        errors[test] = (
            y[test] - PREDICTORS[method]().fit(X[train], y[train]).predict(X[test])
        ) ** 2
    return errors.tolist()


def choice_tables(found: Found) -> Iterator[Table]:
    rows = []
    for case in found.cases:
        ours, theirs = (found.array(case, m)[0] for m in found.methods)
        gain = theirs - ours
        error = gain.std(ddof=1) / np.sqrt(len(gain))
        scores = [f"{1.0 - errors.mean():.2f}" for errors in (ours, theirs)]
        rows.append([case, *scores, f"{gain.mean():+.3f} ± {error:.3f}"])
    yield "held-out R²", ["table", *found.methods, "difference ± s.e."], rows


def other_tables() -> Sequence[str]:
    return [name for name in real.names() if name not in LONG]


predictions = partial(Measurement, predict, prediction_tables, methods=tuple(METHODS))
rankings = partial(Measurement, rank, ranking_tables)

MEASUREMENTS = {
    "real/predictions": predictions(cases=other_tables, seeds=range(2020, 2023)),
    "real/predictions_r": predictions(cases=real.r_names, seeds=range(120, 123)),
    "real/ranking": rankings(cases=real.names, methods=MAIN, seeds=range(110, 115)),
    "real/rivals": rankings(cases=real.names, methods=tuple(RANKERS), seeds=range(230, 232)),
    "real/stability": Measurement(
        half_agreement, half_tables, short_tables, ("gradsift", "F-test"), range(4)
    ),
    "real/associations": Measurement(
        associate, association_tables, lambda: ASSOCIATED, seeds=range(1, 2)
    ),
    "paper/choice": Measurement(choose, choice_tables, lambda: CHOSEN, tuple(PREDICTORS)),
}
