"""How often confidences, error rates and intervals hold, on tables with a known answer."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from designs import confounded, effects, fresh_groups, mixed, nulls, surfaces
from designs.data_sets import DATA
from designs.discoveries import DESIGNS as DISCOVERY
from designs.discoveries import Planted
from designs.grouped import DESIGNS as GROUPED
from designs.grouped import Study
from designs.planted import ALL, REAL, weak_or_sparse
from methods.mixed_model import mixed_model_p_values
from run import Found, Measurement, Table, bold_above, mean_error, timed
from sklearn.linear_model import LassoCV, LogisticRegressionCV
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from gradsift import (
    GradientSiftClassifier,
    GradientSiftRegressor,
    GradientSiftSurvival,
    aggregate,
)
from gradsift.data import ArraySource, measure_scaling, open_source
from gradsift.evaluate import held_out, score_model
from gradsift.inference import Significance
from gradsift.inference.conditional_tests import column_significance
from gradsift.inference.findings import find
from gradsift.responses import class_contrasts
from gradsift.sift import make_sift

LEVEL, BAR = 0.3, 0.4
"""Expected false variables, and the mean above which a promise counts as broken."""


def kind_of(labels: bool) -> Any:
    return GradientSiftClassifier if labels else GradientSiftRegressor


def sifting(X: np.ndarray, y: np.ndarray, labels: bool) -> tuple[ArraySource, Any, Any]:
    """Standardised columns, what is sifted, and class numbers or None."""
    scaling = measure_scaling(ArraySource(X), np.full(len(y), 1.0 / len(y)))
    source = ArraySource(scaling.apply(X))
    if not labels:
        return source, y[:, None], None
    codes = y.astype(np.intp)
    return source, class_contrasts(codes, int(codes.max()) + 1), codes


# ---------------------------------------------------------------------------- findings

CLAIMS = (0.3, 0.5, 0.8, 0.95, 1.0001)
COLUMNS = (0.02, 0.1, 0.3, 0.6, 0.9, 1.0001)
GENERATORS = {"strong": 7, "weak": 300, "sparse": 400}
"""Kinds of tables, and their numbers of seeds."""


def generator_of(case: str) -> str:
    return case.split(":")[0]


def finding_cases() -> list[str]:
    there = [n for n in ALL if DATA.exists() or not any(real in n for real in REAL)]
    return [*(f"strong: {name}" for name in there), "weak", "sparse"]


def on_planted(case: str, method: str, seed: int) -> dict[str, Any]:
    """What the findings of one table claim, and what holds."""
    generator, _, design = case.partition(": ")
    if generator == "strong":
        table = ALL[design](seed)
        classes = len(np.unique(table.y)) if table.labels else 0
        about = {"columns": design.split(",")[0], "kind": STRONG_KINDS[classes]}
    else:
        name, kind, table = weak_or_sparse(generator, seed)
        about = {"columns": name, "kind": kind}
    source, Y, codes = sifting(table.X, table.y, table.labels)
    first, fit = timed(lambda: make_sift(source, Y, robust=codes is None).run())
    chosen = fit.result()
    second, found = timed(lambda: find(fit.problem, chosen.groups, codes=codes))
    true = set(table.true)
    acts = np.isin(np.arange(table.X.shape[1]), table.true)
    place = np.digitize(found.confidence, COLUMNS) - 1
    return about | {
        "findings": [
            [round(f.confidence, 4), len(f.columns), bool(true & set(f.columns.tolist()))]
            for f in found
        ],
        "true": len(true),
        "power": len(true & {int(k) for f in found if f.confidence >= 0.5 for k in f.columns}),
        "selected": [len(chosen.selected), len(true & set(chosen.selected.tolist()))],
        "bins": [
            [int(at.sum()), round(float(found.confidence[at].sum()), 3), int(acts[at].sum())]
            for at in (place == i for i in range(len(COLUMNS) - 1))
        ],
        "rows": len(table.y),
        "seconds": [round(first, 3), round(second, 3)],
    }


STRONG_KINDS = {0: "normal", 2: "halves", 3: "three"}
KINDS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "numbers": lambda r: r["kind"] == "normal",
    "t noise with 3 df": lambda r: r["kind"] == "t3",
    "two halves": lambda r: r["kind"] == "halves",
    "12 % cases": lambda r: r["kind"] == "rare",
    "three classes": lambda r: r["kind"] == "three",
    "five classes": lambda r: r["kind"] == "five",
    "spectra": lambda r: any(w in r["columns"] for w in ("spectra", "gasoline", "phoneme")),
    "genotypes": lambda r: "genotypes" in r["columns"],
    "fewer than 150 rows": lambda r: r["rows"] < 150,
    "500 rows and more": lambda r: r["rows"] >= 500,
}


def claimed(rows: Sequence[dict[str, Any]], low: float, high: float) -> str:
    """Mean claim -> share that is right (standard error; findings)."""
    found = np.array(
        [[f[0], f[2]] for row in rows for f in row["findings"] if low <= f[0] < high], dtype=float
    ).reshape(-1, 2)
    if len(found) == 0:
        return "-"
    claim, right = found.mean(axis=0)
    error = np.sqrt(right * (1 - right) / len(found))
    return f"{claim:.2f} -> {right:.2f} ({error:.2f}; {len(found)})"


def spans(edges: Sequence[float]) -> list[str]:
    return [f"{low:.2f} to {min(high, 1):.2f}" for low, high in pairwise(edges)]


def finding_tables(found: Found) -> Iterator[Table]:
    """Claims; power and time; single columns; noise."""
    kinds: dict[str, list[Any]] = {}
    for case in found.cases:
        kinds.setdefault(generator_of(case), []).extend(found.of(case))
    rows = [row for some in kinds.values() for row in some]
    groups = kinds | {name: [row for row in rows if test(row)] for name, test in KINDS.items()}
    yield (
        "claims",
        ["tables", "number", *spans(CLAIMS)],
        [
            [title, str(len(rows)), *(claimed(rows, *span) for span in pairwise(CLAIMS))]
            for title, rows in groups.items()
        ],
    )
    power, noise, columns = [], [], []
    for name, rows in kinds.items():
        true = max(sum(row["true"] for row in rows), 1)
        found_, selected = (
            sum(part) / true for part in zip(*((r["power"], r["selected"][1]) for r in rows))
        )
        seconds = np.array([row["seconds"] for row in rows])
        times = np.median(seconds[:, 1]), seconds[:, 1].max(), np.median(seconds[:, 0])
        power.append([name, *(f"{value:.2f}" for value in (found_, selected, *times))])
        empty = [row for row in rows if row["true"] == 0]
        counts = [
            np.mean([sum(f[0] >= least for f in row["findings"]) for row in empty])
            for least in (0.3, 0.5, 0.95)
        ]
        noise.append([name, str(len(empty)), *(f"{count:.3f}" for count in counts)])
        total = np.sum([row["bins"] for row in rows], axis=0)
        shown = [f"{p / max(n, 1):.2f} -> {t / max(n, 1):.2f} ({n:.0f})" for n, p, t in total]
        columns.append([name, *shown])
    head = ["in findings of .5 or more", "selected", "seconds, median", "most"]
    yield "power", ["tables", *head, "seconds of the sift"], power
    yield "columns", ["tables", *spans(COLUMNS)], columns
    yield "noise", ["tables", "number", ".3 or more", ".5 or more", ".95 or more"], noise


# ---------------------------------------------------------------------------- discoveries

RATES = (0.05, 0.1, 0.2)
NEAR = 0.8
NULL_COLUMNS = 60


def discovery_table(case: str, seed: int) -> Planted:
    return DISCOVERY[case](np.random.default_rng([seed, len(case)]))


def significance(table: Planted, columns: Sequence[int] = ()) -> tuple[list[int], Significance]:
    """The columns that the sift selects, and the tests of all."""
    source, Y, codes = sifting(table.X, table.y, table.n_classes > 0)
    fit = make_sift(source, Y, robust=codes is None).run()
    return fit.selected.tolist(), column_significance(fit, codes, also=list(columns))


def false_and_found(listed: list[int], table: Planted, least: float = 1.0) -> list[float]:
    """Share of false ones among the listed, and share of the true ones that are listed; a column
    counts as true if it is correlated by `least` with a true one (1: if it is one).
    """
    if not listed:
        return [0.0, 0.0]
    near = np.eye(table.X.shape[1], dtype=bool)[:, table.true]
    if least < 1 and table.true:
        near = near | (np.abs(np.corrcoef(table.X.T)[:, table.true]) >= least)
    hit = near[listed]
    share = float(hit.any(axis=0).mean()) if table.true else 0.0
    return [float(1 - hit.any(axis=1).mean()), share]


def on_discoveries(case: str, method: str, seed: int) -> dict[str, Any]:
    table = discovery_table(case, seed)
    seconds, (selected, found) = timed(lambda: significance(table))
    cells = {"sift": false_and_found(selected, table)}
    for kind, least in (("column", 1.0), ("family", NEAR)):
        for rate in RATES:
            listed = found.discoveries(rate, findings=kind == "family").tolist()
            cells[f"{kind} {rate}"] = false_and_found(listed, table, least)
    return {"cells": cells, "seconds": round(seconds, 2)}


def share_cell(values: Any) -> str:
    """Mean share of false ones with its standard error, and mean share of true ones found."""
    false, power = np.array(values).T
    return f"{mean_error(false)} / {power.mean():.2f}"


def discovery_tables(found: Found) -> Iterator[Table]:
    groups = {case: found.of(case) for case in found.cases if len(found.of(case)) > 1}
    averages = []
    for kind, words in (("column", "columns"), ("family", "with stand-ins")):
        for rate in RATES:
            cells = [np.array([t["cells"][f"{kind} {rate}"] for t in g]) for g in groups.values()]
            false = [values[:, 0] for values in cells]
            power = [v[:, 1].mean() for v, name in zip(cells, groups) if "noise" not in name]
            most = mean_error(max(false, key=np.mean), 3)
            share = f"{np.mean([f.mean() for f in false]):.3f}"
            averages.append([words, f"{rate:g}", share, most, f"{np.mean(power):.2f}"])
    head = ["", "q", "false discoveries", "in the design with most (s.e.)", "found"]
    yield "averages", head, averages
    rows = []
    for case, values in groups.items():
        cells = [share_cell([v["cells"][key] for v in values]) for key in values[0]["cells"]]
        seconds = np.mean([v["seconds"] for v in values])
        rows.append([case, str(len(values)), *cells, f"{seconds:.2f}"])
    kinds = [f"{kind}, q = {rate}" for kind in ("column", "with stand-ins") for rate in RATES]
    yield "discoveries", ["design", "seeds", "selected by the sift", *kinds, "CPU s"], rows


def on_null_columns(case: str, method: str, seed: int) -> list[float]:
    """p-values of columns that do nothing."""
    table = discovery_table(case, seed)
    rest = np.setdiff1d(np.arange(table.X.shape[1]), table.true)
    null = np.random.default_rng(seed).choice(rest, NULL_COLUMNS, replace=False).tolist()
    return significance(table, null)[1].p_values[null].tolist()


def null_column_tables(found: Found) -> Iterator[Table]:
    rows = []
    for case in found.cases:
        p = found.array(case).ravel()
        rows.append([case, str(p.size), *(f"{np.mean(p <= a):.3f}" for a in (0.05, 0.01, 0.001))])
    yield "small p-values", ["columns", "null columns", "p <= .05", "p <= .01", "p <= .001"], rows


def ipss(table: Planted) -> list[int]:
    """As it comes: boosted trees, 100 half samples."""
    from ipss import ipss as integrated_path_stability

    y = (table.y > table.y.min()).astype(int) if table.n_classes else table.y
    q_values = integrated_path_stability(table.X, y)["q_values"]
    return [int(k) for k, q in q_values.items() if q <= 0.1]


LISTS: dict[str, Callable[[Planted], list[int]]] = {
    "gradsift": lambda table: significance(table)[1].discoveries(0.1).tolist(),
    "IPSS": ipss,
}


def on_peer(case: str, method: str, seed: int) -> list[float]:
    table = discovery_table(case, seed)
    seconds, listed = timed(lambda: LISTS[method](table))
    return [*false_and_found(listed, table), seconds]


def peer_tables(found: Found) -> Iterator[Table]:
    rows = []
    for case in found.cases:
        values = {m: found.array(case, m) for m in found.methods}
        cells = [
            c for v in values.values() for c in (share_cell(v[:, :2]), f"{v[:, 2].mean():.2f}")
        ]
        rows.append([case, str(len(found.of(case))), *cells])
    head = [part for m in found.methods for part in (m, f"{m}, CPU s")]
    yield "q = 0.1", ["design", "seeds", *head], rows


# ---------------------------------------------------------------------------- nothing true


def on_null(case: str, method: str, seed: int) -> list[int]:
    """False and true variables that are selected."""
    table = nulls.SETTINGS[case](seed)
    source, Y, codes = sifting(table.X, table.y, table.labels)
    found = make_sift(source, Y, robust=codes is None).run().selected
    true = len(np.intersect1d(found, table.true))
    return [len(found) - true, true]


def null_cases() -> list[str]:
    there = {name for name in nulls.SETTINGS if "permuted" not in name or DATA.exists()}
    return [name for name in nulls.SETTINGS if name in there]


def null_tables(found: Found) -> Iterator[Table]:
    """A row for each setting outside of the grid; then the grid: kinds of columns by responses."""
    grid = {f"{columns} | {response}" for columns in nulls.COLUMNS for response in nulls.GRID}
    rows = []
    for case in (c for c in found.cases if c not in grid):
        false, true = found.array(case).T
        shown = bold_above(false, BAR)
        kept = f"{true.mean():.2f}" if "true" in case or "kept" in case else ""
        holds = "**no**" if "**" in shown else "yes"
        rows.append([case.replace("|", "/"), shown, kept, str(len(false)), holds])
    head = ["columns / response", "false variables (s.e.)", "true one kept", "seeds", "holds"]
    yield "table 1", head, rows
    rows = []
    for columns in nulls.COLUMNS:
        values = [found.of(f"{columns} | {response}") for response in nulls.GRID]
        rows.append([columns, *(bold_above([v[0] for v in some], BAR, 1) for some in values)])
    yield "table 2", ["columns", *nulls.GRID], rows


def on_mixed_null(case: str, method: str, seed: int) -> int:
    return len(sifted_variables(mixed.NULL[case](seed)))


def mixed_null_tables(found: Found) -> Iterator[Table]:
    rows = [[case, mean_error(found.array(case))] for case in found.cases]
    yield "false variables, nominal .3", ["design", "sift (s.e.)"], rows


def sifted_variables(study: mixed.Study) -> set[str]:
    model = kind_of(study.labels)(LEVEL, feature_groups=study.feature_groups, missing="mean")
    chosen = model.fit_for("support", study.table, study.y).get_support(indices=True)
    return {study.variables[k] for k in chosen}


def one_hot_lasso(study: mixed.Study) -> set[str]:
    """Variables of which a cross-validated Lasso uses a level."""
    encoder = OneHotEncoder(sparse_output=False, handle_unknown="ignore")
    text = [c for c in study.table.columns if study.table[c].dtype == object]
    numbers = [c for c in study.table.columns if c not in text]
    Z = encoder.fit_transform(study.table[text])
    origin = [*numbers, *(c for c, levels in zip(text, encoder.categories_) for _ in levels)]
    X = StandardScaler().fit_transform(np.column_stack([study.table[numbers].to_numpy(), Z]))
    if study.labels:
        lasso = LogisticRegressionCV(Cs=10, l1_ratios=(1.0,), solver="liblinear", cv=5)
        used = lasso.fit(X, study.y).coef_.any(axis=0)
    else:
        used = LassoCV(cv=5, random_state=0).fit(X, study.y).coef_ != 0
    variable = dict(zip(study.table.columns, study.variables))
    return {variable[name] for name, use in zip(origin, used) if use}


VARIABLES = {"sift": sifted_variables, "one-hot Lasso": one_hot_lasso}


def on_mixed(case: str, method: str, seed: int) -> list[float]:
    """Share of the planted variables that are found, and false ones."""
    study = mixed.PLANTED[case](seed)
    chosen = VARIABLES[method](study)
    return [len(chosen & study.truth) / len(study.truth), len(chosen - study.truth)]


def mixed_tables(found: Found) -> Iterator[Table]:
    rows = []
    for case in found.cases:
        means = [value for m in found.methods for value in found.array(case, m).mean(axis=0)]
        rows.append([case, *(f"{value:.2f}" for value in means)])
    head = [part for m in found.methods for part in (f"{m}: found", "false")]
    yield "planted", ["design", *head], rows


# ---------------------------------------------------------------------------- groups of rows

EFFECTS = {
    "75 families x 4 sibs, 1,000 SNPs": 0.3,
    "40 subjects x 6 visits": 0.35,
    "40 subjects x 6 visits with trends": 0.5,
    "40 subjects x 6 visits, labels": 0.6,
    "40 subjects x 6 visits, products": 0.5,
    "48 donors x 50 cells, label per donor": 0.4,
    "two populations, 5 components kept": 0.25,
    "autocorrelated rows, blocks of 30": 0.5,
    "independent rows, groups of 4": 0.25,
}
"""Size of the planted effects; the other designs are measured without any."""


def sifted(study: Study, groups: Any) -> Any:
    given = {} if groups is None else {"groups": groups}
    model = kind_of(study.labels)(LEVEL, always_keep=list(study.keep) or None)
    return model.fit_for("support", study.X, study.y, **given).get_support(indices=True)


def on_means(study: Study) -> Any:
    """Columns that the sift selects from one row per group."""
    y = study.y.astype(int).astype(str) if study.labels else study.y
    table = aggregate(study.X, y, study.groups)
    model = kind_of(study.labels)(LEVEL)
    return model.fit_for("support", table.X, table.y).get_support(indices=True)


def by_mixed_model(study: Study) -> Any:
    """Columns that pass Bonferroni's level; labels are taken for numbers."""
    p = mixed_model_p_values(study.X, study.y, study.groups)
    return np.flatnonzero(p < LEVEL / len(p))


GROUP_METHODS: dict[str, Callable[[Study], Any]] = {
    "groups": lambda study: sifted(study, study.groups),
    "none": lambda study: sifted(study, None),
    "means": on_means,
    "mixed": by_mixed_model,
}


def group_cases() -> list[str]:
    """Design | size of the effects."""
    empty = [f"{name} | 0.0" for name in GROUPED if "products" not in name]
    return [*empty, *(f"{name} | {size}" for name, size in EFFECTS.items())]


def group_method_applies(case: str, method: str, seed: int) -> bool:
    if "populations" in case:
        return method == "groups"  # there are no groups: the components do the work
    if "donors" in case:
        return method in ("groups", "none")  # the sift takes the means itself
    return not (method == "means" and "labels" in case) and not (
        method == "none" and not case.endswith("| 0.0")
    )


def on_groups(case: str, method: str, seed: int) -> list[int]:
    """False and true variables that a method selects."""
    name, size = case.split(" | ")
    study = GROUPED[name](seed, float(size))
    found = np.setdiff1d(GROUP_METHODS[method](study), study.keep)
    true = len(np.intersect1d(found, study.true))
    return [len(found) - true, true]


def group_tables(found: Found) -> Iterator[Table]:
    for title, planted in (("nothing true", False), ("planted effects", True)):
        methods = [m for m in found.methods if not planted or m != "none"]
        rows = []
        for case in (c for c in found.cases if c.endswith("| 0.0") != planted):
            name, size = case.split(" | ")
            shown = []
            for method in methods:
                values = found.array(case, method).reshape(-1, 2)
                false = bold_above(values[:, 0], BAR)
                shown.append(f"{values[:, 1].mean():.2f}; {false}" if planted and false else false)
            rows.append([name, *([size] * planted), *shown, str(len(found.of(case)))])
        yield title, ["design", *(["effect"] * planted), *methods, "seeds"], rows


SCORES = {False: ("R²",), True: ("accuracy", "balanced accuracy", "ROC AUC", "average precision")}


def on_fresh_groups(case: str, method: str, seed: int) -> dict[str, list[float]]:
    """Score -> what is said of held-out groups, and what is true of 600 fresh ones."""
    number = list(fresh_groups.DESIGNS).index(case)
    rng = np.random.default_rng([seed, number])
    design, count = fresh_groups.DESIGNS[case]
    study, new = design(rng, count), design(rng, 600)
    named = study.y.dtype.kind == "U"
    model = kind_of(named)(predict_with="selected")
    given = {"groups": study.groups, **study.adjusted}
    found = held_out(model, study.X, study.y, simple=False, **given).selected
    model.fit(study.X, study.y, **given)
    fresh = score_model(model, new.X, new.y, **new.adjusted)
    return {k: [found.mean(k), fresh.mean(k)] for k in SCORES[named]}


FRESH_HEAD = ["design", "score", "held out", "fresh", "difference", "seeds"]


def fresh_tables(found: Found) -> Iterator[Table]:
    rows = []
    for case in found.cases:
        for score in found.of(case)[0]:
            said, true = np.array([value[score] for value in found.of(case)]).T
            shown = [mean_error(values) for values in (said, true, said - true)]
            rows.append([case, score, *shown, str(len(said))])
    yield (
        "held out and fresh",
        FRESH_HEAD,
        rows,
    )


# ---------------------------------------------------------------------------- covariates

MEDIAN = 0.4549364
"""Median of a chi-square with one degree of freedom."""


def on_confounded(case: str, method: str, seed: int) -> list[float]:
    """How many columns are selected, none of which acts; inflation of a linear scan."""
    rng = np.random.default_rng([seed, list(confounded.DESIGNS).index(case)])
    with tempfile.TemporaryDirectory() as folder:
        study = confounded.DESIGNS[case](rng, Path(folder) / "t.bed")
        given = study.known if method == "covariates" else {}
        model = kind_of(study.labels)(LEVEL).fit_for("support", study.X, study.y, **given)
        found = float(model.get_support().sum())
        return [found, inflation(study, method) if "populations" in case else np.nan]


def inflation(study: confounded.Study, method: str) -> float:
    """The median statistic of a line in each column over that of a chi-square."""
    X = open_source(study.X).columns(np.arange(confounded.SNPS))
    y = study.y if not study.labels else (study.y == "case").astype(float)
    known = [study.known["covariates"]] if method == "covariates" else []
    Q = np.linalg.qr(np.column_stack([np.ones(len(y)), *known]))[0]
    r, Z = y - Q @ (Q.T @ y), X - Q @ (Q.T @ X)
    size = np.maximum(np.square(Z).sum(axis=0), 1e-12)
    noise = r @ r / (len(r) - Q.shape[1])
    return float(np.median(np.square(Z.T @ r) / size / noise) / MEDIAN)


def confounded_tables(found: Found) -> Iterator[Table]:
    for title, k, bar in (("confounded", 0, BAR), ("inflation", 1, np.inf)):
        rows = []
        for case in found.cases:
            values = [found.array(case, m).reshape(-1, 2)[:, k] for m in found.methods]
            if np.isfinite(values[0]).all():
                shown = [bold_above(v, bar) for v in values]
                rows.append([case, *shown, "/".join(str(len(v)) for v in values)])
        yield title, ["design", "with covariates", "without", "seeds"], rows


# ---------------------------------------------------------------------------- effects


def answer_of(rng: np.random.Generator, X: np.ndarray, task: str) -> Any:
    """The answer of a fit to a drawn response."""
    mean = effects.outcomes(X, task)
    if task == "survival":
        death, end = rng.exponential(np.exp(-mean[:, 0])), rng.exponential(2.0, size=len(X))
        y, event = np.minimum(death, end), death < end
        return GradientSiftSurvival(inference=True).fit(X, y, event=event).answer_
    if task == "counts":
        model = GradientSiftRegressor(inference=True, family="poisson")
        return model.fit(X, rng.poisson(mean[:, 0])).answer_
    if task == "numbers":
        y = mean[:, 0] + np.sqrt(6.0) * 0.5 * rng.normal(size=len(X))
        return GradientSiftRegressor(inference=True).fit(X, y).answer_
    if task == "labels":
        y = np.where(rng.random(len(X)) < mean[:, 0], "b", "a")
    else:
        draws = rng.random((len(X), 1)) > np.cumsum(mean, axis=1)
        y = np.array(["a", "b", "c"])[draws.sum(axis=1).clip(0, 2)]
    return GradientSiftClassifier(inference=True).fit(X, y).answer_


def on_effects(case: str, method: str, seed: int) -> list[tuple[str, bool, bool]]:
    """(effect, word right, size covered) of the findings about one true column."""
    rng = np.random.default_rng(10_000 + seed)
    X = effects.draw(rng, effects.ROWS[case])
    names = {f"x{k}": (name, k, word) for name, (k, _, word) in effects.EFFECTS.items()}
    classes = {"a": 0, "b": 1, "c": 2} if case == "three classes" else {"": 0, "b": 0}
    out = []
    for f in answer_of(rng, X, case).findings:
        if f.partner or f.alone or f.members[0].name not in names:
            continue
        name, k, word = names[f.members[0].name]
        rise, turn = effects.true_contrasts(X, k, case)
        (c,) = f.effect.comparisons
        o = classes[f.effect.outcome]
        true = (turn if c.shape in ("U-shaped", "inverted U") else rise)[o]
        if case == "three classes":
            bent = "U-shaped" if turn[o] > 0 else "inverted U"
            word = bent if name == "U" else "rises" if rise[o] > 0 else "falls"
        true = np.exp(true) if c.is_ratio else true
        out.append((name, bool(c.shape == word), bool(c.size.low <= true <= c.size.high)))
    return out


def effect_tables(found: Found) -> Iterator[Table]:
    rows = []
    for case in found.cases:
        pairs = [pair for value in found.of(case) for pair in value]
        for name in ("all", *effects.EFFECTS):
            some = [(right, held) for effect, right, held in pairs if name in (effect, "all")]
            right, held = np.mean(some, axis=0)
            error = np.sqrt(held * (1 - held) / len(some))
            rows.append([case, name, str(len(some)), f"{right:.2f}", f"{held:.2f} ({error:.2f})"])
    yield "effects", ["response", "effect", "findings", "word right", "size covered (s.e.)"], rows


# ---------------------------------------------------------------------------- intervals

FRESH, NOISE, Z = 400, 0.5, 1.96
INTERVALS = [
    *((name, n, 50) for name in ("lin3", "add4", "int4", "fri5") for n in (100, 200, 500)),
    *((name, 100, 500) for name in ("lin3", "add4")),
    *(("weak30", n, 50) for n in (100, 200, 500)),
]


def weak30(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Thirty linear effects of equal size, most of which cannot be found in 100 rows."""
    signs = np.where(np.arange(30) % 2, 1.0, -1.0)
    return X @ signs, np.tile(signs, (len(X), 1))


def known_surface(
    name: str, n: int, p: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns, response and gradient of n rows and FRESH more; signal of unit variance."""
    d, _, f = (30, 1, weak30) if name == "weak30" else surfaces.DESIGNS[name]
    rng = np.random.default_rng([seed, n, p])

    def rows(m: int) -> np.ndarray:
        wide = np.sqrt(3)
        return rng.uniform(-wide, wide, (m, p)) if name == "fri5" else rng.normal(size=(m, p))

    sd = f(rows(surfaces.SCALE_ROWS // 10)[:, :d])[0].std()
    X = rows(n + FRESH)
    value, slopes = f(X[:, :d])
    G = np.zeros(X.shape)
    G[:, :d] = slopes / sd
    return X, value / sd + NOISE * rng.normal(size=len(X)), G


def covered(error: np.ndarray, std: np.ndarray) -> list[float]:
    """Share of errors within the interval, and mean variance over mean squared error."""
    if not error.size:
        return [np.nan, np.nan]
    ratio = np.square(std).mean() / np.square(error).mean()
    return [float((np.abs(error) <= Z * std).mean()), float(ratio)]


def on_intervals(case: str, method: str, seed: int) -> list[float]:
    """Coverage and variance ratio of auto, of selected and of gradients."""
    name, n, p = case.split(", ")
    X, y, G = known_surface(name, int(n), int(p), seed)
    m = int(n)
    model = GradientSiftRegressor().fit(X[:m], y[:m])
    out = []
    for mode in ("auto", "selected"):
        guess, std = model.set_params(predict_with=mode).predict(X[m:], return_std=True)
        out += covered(y[m:] - guess, std)
    chosen = model.get_support(indices=True)
    slopes, std = model.gradient(X[m:], return_std=True)
    return [*out, *covered((slopes - G[m:])[:, chosen], std[:, chosen])]


def interval_tables(found: Found) -> Iterator[Table]:
    rows = []
    for case in found.cases:
        A = found.array(case)
        wide = [f"{ratio:.2f}" for ratio in np.sqrt(np.nanmean(A[:, [1, 3]], axis=0))]
        auto, selected, slopes = (mean_error(A[:, k], 3) for k in (0, 2, 4))
        rows.append([*case.split(", "), auto, wide[0], selected, wide[1], slopes])
    head = ["auto", "std / error", "selected", "std / error", "gradient"]
    yield "coverage", ["design", "rows", "columns", *head], rows


MEASUREMENTS = {
    "trust/findings": Measurement(
        on_planted, finding_tables, finding_cases, seeds=range(2000, 2400),
        applies=lambda case, method, seed: seed < 2000 + GENERATORS[generator_of(case)],
    ),
    "trust/discoveries": Measurement(
        on_discoveries, discovery_tables, lambda: DISCOVERY, seeds=range(1000, 1100)
    ),
    "trust/null_columns": Measurement(
        on_null_columns, null_column_tables,
        lambda: [name for name in DISCOVERY if "noise" in name or "columns" in name],
        seeds=range(1000, 1020),
    ),
    "trust/peer": Measurement(
        on_peer, peer_tables, lambda: [name for name in DISCOVERY if "three" not in name],
        tuple(LISTS), range(5000, 5004),
    ),
    "levels/table": Measurement(on_null, null_tables, null_cases, seeds=range(50)),
    "mixed/null": Measurement(
        on_mixed_null, mixed_null_tables, lambda: mixed.NULL, seeds=range(60)
    ),
    "mixed/power": Measurement(
        on_mixed, mixed_tables, lambda: mixed.PLANTED, tuple(VARIABLES), range(30)
    ),
    "rows/table": Measurement(
        on_groups, group_tables, group_cases, tuple(GROUP_METHODS), range(50), group_method_applies
    ),
    "rows/fresh_table": Measurement(
        on_fresh_groups, fresh_tables, lambda: fresh_groups.DESIGNS, seeds=range(50)
    ),
    "covariates/table": Measurement(
        on_confounded, confounded_tables, lambda: confounded.DESIGNS, ("covariates", "none"),
        range(20),
    ),
    "effects": Measurement(on_effects, effect_tables, lambda: effects.ROWS, seeds=range(25)),
    "uncertainty/coverage": Measurement(
        on_intervals, interval_tables, lambda: [f"{n}, {m}, {p}" for n, m, p in INTERVALS],
        seeds=range(5000, 5060),
    ),
}  # fmt: skip
