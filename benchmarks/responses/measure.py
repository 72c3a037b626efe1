"""Survival times and counts: selection on designs, false variables on noise, held-out concordance.

    python -m responses.measure designs --seeds 500 520   survival designs, beside Coxnet
    python -m responses.measure counts --seeds 500 520    counts, beside log(1 + y) and y as numbers
    python -m responses.measure nulls --seeds 500 540     false variables where nothing is true
    python -m responses.measure outcomes --seeds 500 510  several outcomes, beside separate fits
    python -m responses.measure seconds --seeds 500 510   time of a fit over that of numbers
    python -m responses.measure real --repeats 2          repeated 5-fold concordance on real tables

Run from `benchmarks/` with the package installed, on one thread; `python -m tables record
responses/nulls` before a command keeps what it prints. Coxnet, Cox, boosting and forest are those
of scikit-survival (`pip install scikit-survival lifelines`; GPL, for comparison only). Real tables
lie in `../shared/data/survival` next to the repository, in scikit-survival and in lifelines; of
larger ones, 600 random rows are taken.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from gradsift import GradientSiftClassifier, GradientSiftRegressor, GradientSiftSurvival
from gradsift.responses.survival import concordance, survival_records

SHAPES = ("linear", "curved", "threshold", "product")
SHARED = Path(__file__).parents[3] / "shared" / "data" / "survival"


# ------------------------------------------------------------------- designs


def columns(rng: np.random.Generator, n: int, p: int) -> Any:
    """Normal columns, neighbours correlated by .5."""
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = 0.5 * X[:, j - 1] + np.sqrt(0.75) * X[:, j]
    return X


def effect(rng: np.random.Generator, X: Any, shape: str) -> tuple[Any, Any]:
    """The columns that act, and eta (n,)."""
    some = np.sort(rng.choice(np.arange(2, X.shape[1] - 2, 3), 5, replace=False))
    a, b, c, d, e = np.clip(X[:, some] / X[:, some].std(axis=0), -3, 3).T
    if shape == "linear":
        return some, 0.6 * (a - b + c - d + e)
    some = some[:4]
    if shape == "curved":
        return some, 0.7 * a**2 + np.sin(2 * b) - 0.7 * c**2 + 0.9 * np.cos(2 * d)
    if shape == "threshold":
        return some, 1.4 * (a > 0.3) - 1.4 * (b < -0.3) + 1.4 * (c > 0.8) - 1.2 * (d > 0)
    return some, 0.9 * a * b + 0.7 * c - 0.6 * d


def times(rng: np.random.Generator, eta: Any, censored: float, ties: bool = False) -> Any:
    """Weibull times, censored independently with about this share."""
    n = len(eta)
    death = (rng.exponential(size=n) * np.exp(-(eta - np.mean(eta)))) ** (1 / 1.5)
    end = rng.exponential(size=n)
    ratio = np.sort(death / end)
    end = end * ratio[int((1.0 - censored) * (n - 1))]
    time, event = np.minimum(death, end), death <= end
    if ties:
        time = np.ceil(8.0 * time / np.quantile(time, 0.9))
    return survival_records(time, event)


def tallies(rng: np.random.Generator, eta: Any, kind: str) -> tuple[Any, Any]:
    """Counts of mean 3 and their exposure."""
    n, e = len(eta), np.ones(len(eta))
    if kind == "exposure":
        e = np.exp(rng.normal(size=n))
    mu = np.exp(eta)
    mu = 3.0 * mu / mu.mean() * e
    if kind != "Poisson":
        mu = mu * rng.gamma(2.0, 0.5, n)
    y = rng.poisson(mu)
    return np.where(rng.random(n) < (0.4 if kind == "many zeros" else 0.0), 0, y), e


def average_precision(ranking: Any, true: Any) -> float:
    ranks = np.sort(ranking[true])
    return float(np.mean(np.arange(1, len(ranks) + 1) / ranks))


def judged(model: Any, true: Any) -> tuple[float, float, float]:
    """Average precision, F1, false variables."""
    selected = model.get_support(indices=True)
    hits = np.isin(selected, true).sum()
    return (
        average_precision(model.ranking_, true),
        2.0 * hits / (len(selected) + len(true)),
        float(len(selected) - hits),
    )


def coxnet(X: Any, y: Any) -> Any:
    """Coxnet at the penalty that 5-fold concordance chooses, or the next that does not overflow."""
    from sklearn.model_selection import StratifiedKFold
    from sksurv.linear_model import CoxnetSurvivalAnalysis

    Z = standard(X)
    for least in (0.05, 0.2, 0.5):  # small penalties can overflow
        try:
            whole = CoxnetSurvivalAnalysis(l1_ratio=1.0, n_alphas=30, alpha_min_ratio=least)
            alphas = whole.fit(Z, structured(y)).alphas_
            break
        except ArithmeticError:
            continue
    scores = np.full((5, len(alphas)), 0.5)
    folds = StratifiedKFold(5, shuffle=True, random_state=0).split(Z, y["event"])
    for fold, (train, test) in enumerate(folds):
        path = CoxnetSurvivalAnalysis(l1_ratio=1.0, alphas=alphas)
        try:
            path.fit(Z[train], structured(y[train]))
        except ArithmeticError:
            continue
        risks = [path.predict(Z[test], alpha=a) for a in alphas]
        scores[fold] = [concordance(y[test], risk) for risk in risks]
    best = int(np.argmax(scores.mean(axis=0)))
    for alpha in alphas[best::-1]:
        chosen = CoxnetSurvivalAnalysis(l1_ratio=1.0, alphas=[alpha], fit_baseline_model=True)
        try:
            return chosen.fit(Z, structured(y))
        except ArithmeticError:
            continue
    raise ArithmeticError("Coxnet overflows at every penalty.")


def coxnet_ranking(model: Any) -> Any:
    size = np.abs(model.coef_[:, -1])
    ranking = np.empty(len(size), dtype=int)
    ranking[np.argsort(-size, kind="stable")] = np.arange(1, len(size) + 1)
    return ranking


def standard(X: Any) -> Any:
    sd = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(sd > 0, sd, 1.0)


def structured(y: Any) -> Any:
    return np.array(list(zip(y["event"], y["time"])), dtype=[("event", "?"), ("time", "f8")])


# ------------------------------------------------------------------- measurements


def designs(seeds: range) -> None:
    found: dict[Any, list[Any]] = defaultdict(list)
    for seed in seeds:
        for shape in SHAPES:
            for censored in (0.3, 0.7):
                rng = np.random.default_rng([seed, len(shape), int(10 * censored)])
                X = columns(rng, 200, 500)
                true, eta = effect(rng, X, shape)
                y = times(rng, eta, censored)
                model = GradientSiftSurvival(predict_with="selected").fit(X, y)
                found[shape, censored, "gradsift"].append(judged(model, true))
                rival = coxnet(X, y)
                kept = np.flatnonzero(rival.coef_[:, -1])
                hits = np.isin(kept, true).sum()
                ap = average_precision(coxnet_ranking(rival), true)
                f1 = 2.0 * hits / (len(kept) + len(true))
                found[shape, censored, "Coxnet"].append((ap, f1, float(len(kept) - hits)))
    table(found, ("hazard", "censored", "method"), ("average precision", "F1", "false"))


def counts(seeds: range) -> None:
    found: dict[Any, list[Any]] = defaultdict(list)
    for seed in seeds:
        for shape in ("linear", "curved"):
            for kind in ("Poisson", "overdispersed", "many zeros", "exposure"):
                rng = np.random.default_rng([seed, len(shape), len(kind)])
                X = columns(rng, 250, 200)
                true, eta = effect(rng, X, shape)
                y, e = tallies(rng, eta, kind)
                plain = GradientSiftRegressor(predict_with="selected")
                law = GradientSiftRegressor(predict_with="selected", family="negative-binomial")
                for name, fit in {
                    "counts": lambda law=law, X=X, y=y, e=e: law.fit(X, y, exposure=e),
                    "log(1 + y)": lambda m=plain, X=X, y=y, e=e: m.fit(X, np.log1p(y / e)),
                    "numbers": lambda m=plain, X=X, y=y, e=e: m.fit(X, y / e),
                }.items():
                    start = process_time()
                    model = fit()
                    seconds = process_time() - start
                    found[kind, name].append((*judged(model, true), seconds))
    table(found, ("law", "response"), ("average precision", "F1", "false", "CPU s"))


def outcomes(seeds: range) -> None:
    """Four outcomes that share weak effects, together and one by one (the best rank counts)."""
    found: dict[Any, list[Any]] = defaultdict(list)
    for seed in seeds:
        for shape in ("linear", "curved"):
            rng = np.random.default_rng([seed, len(shape), 4])
            X = columns(rng, 120, 100)
            true, eta = effect(rng, X, shape)
            Y = 0.45 * (eta / eta.std())[:, None] + rng.standard_normal((120, 4))
            model = GradientSiftRegressor(predict_with="selected").fit(X, Y)
            found[shape, "together"].append((average_precision(model.ranking_, true),))
            ranks = [GradientSiftRegressor(predict_with="selected").fit(X, y).ranking_ for y in Y.T]
            best = np.argsort(np.argsort(np.min(ranks, axis=0), kind="stable")) + 1
            found[shape, "one by one"].append((average_precision(best, true),))
    table(found, ("effects", "outcomes"), ("average precision",))


def seconds(seeds: range) -> None:
    """CPU time of a fit over that of a fit to numbers, of the same columns and effects."""
    found: dict[Any, list[Any]] = defaultdict(list)
    for seed in seeds:
        rng = np.random.default_rng([seed, 9])
        X = columns(rng, 250, 200)
        _, eta = effect(rng, X, "curved")
        noisy = eta + rng.standard_normal(250)
        grades = np.digitize(noisy, np.quantile(noisy, [0.25, 0.5, 0.75]))
        time = {}
        for name, model, y in (
            ("numbers", GradientSiftRegressor(), noisy),
            ("survival", GradientSiftSurvival(), times(rng, eta, 0.3)),
            ("counts", GradientSiftRegressor(family="poisson"), tallies(rng, eta, "Poisson")[0]),
            ("ordered classes", GradientSiftClassifier(ordered=True), grades),
        ):
            start = process_time()
            model.fit(X, y)
            time[name] = process_time() - start
            found[(name,)].append((time[name], time[name] / time["numbers"]))
    table(found, ("response",), ("CPU s", "over numbers"))


def null_tables(rng: np.random.Generator) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Tables in which nothing acts, and how to fit them."""
    X, zero = rng.standard_normal((200, 200)), np.zeros(200)
    heavy, genotypes = np.exp(X), rng.binomial(2, 0.3, size=(200, 200)).astype(float)

    def survival(X: Any, y: Any) -> Callable[[], Any]:
        return lambda: GradientSiftSurvival().fit_for("support", X, y)

    def count(X: Any, y: Any) -> Callable[[], Any]:
        return lambda: GradientSiftRegressor(family="poisson").fit_for("support", X, y)

    for events in (8, 20, 50, 100):
        yield f"{events} events", survival(X, times(rng, zero, 1.0 - events / 200))
    yield "100 events, heavy-tailed columns", survival(heavy, times(rng, zero, 0.5))
    yield "60 events, genotypes", survival(genotypes, times(rng, zero, 0.7))
    yield "100 events, eight distinct times", survival(X, times(rng, zero, 0.5, ties=True))
    end = rng.exponential(np.exp(X[:, :3].sum(axis=1)))
    death = rng.exponential(size=200)
    y = survival_records(np.minimum(death, end), death <= end)
    yield "censoring that depends on columns", survival(X, y)
    yield "counts of mean .3", count(X, rng.poisson(0.3, 200))
    yield "counts of mean 5, genotypes", count(genotypes, rng.poisson(5 * rng.gamma(2, 0.5, 200)))
    y = rng.poisson(3 * rng.gamma(0.5, 2.0, 200))
    yield "dispersed counts, heavy-tailed columns", count(heavy, y)


def nulls(seeds: range) -> None:
    found: dict[Any, list[Any]] = defaultdict(list)
    for seed in seeds:
        for name, fit in null_tables(np.random.default_rng([seed, 36])):
            found[(name,)].append((float(fit().get_support().sum()),))
    table(found, ("table",), ("false variables",))


def real_tables() -> Iterator[tuple[str, Any, Any]]:
    """Name, columns and survival times of real tables."""
    import pandas as pd
    from lifelines import datasets as lifelines
    from sksurv import datasets

    for name in ("veterans_lung_cancer", "breast_cancer", "whas500", "gbsg2", "flchain", "aids"):
        X, y = getattr(datasets, f"load_{name}")()
        event, time = (y[field] for field in y.dtype.names)
        keep = np.asarray(time) > 0
        columns = pd.get_dummies(X).astype(float).to_numpy()
        yield name, columns[keep], survival_records(time[keep], event[keep])
    for name, time, event in (
        ("rossi", "week", "arrest"),
        ("lung", "time", "status"),
        ("larynx", "time", "death"),
        ("kidney_transplant", "time", "death"),
        ("lymph_node", "rectime", "censrec"),
    ):
        frame = getattr(lifelines, f"load_{name}")().drop(columns=["id"], errors="ignore")
        y = survival_records(frame[time], frame[event] == frame[event].max())
        columns = frame.drop(columns=[time, event]).select_dtypes("number").astype(float)
        yield name, columns.to_numpy(), y
    for name in ("wpbc", "nki70", "mclcleaned", "dataovarian1", "vdv", "dbcd"):
        data = np.load(SHARED / f"{name}.npz", allow_pickle=False)
        yield name, data["X"].astype(float), survival_records(data["time"], data["event"])


def rivals(p: int) -> dict[str, Callable[[Any, Any], Any]]:
    """Fitted models of scikit-survival, by name."""
    from sksurv.ensemble import ComponentwiseGradientBoostingSurvivalAnalysis, RandomSurvivalForest
    from sksurv.linear_model import CoxPHSurvivalAnalysis

    boosting = ComponentwiseGradientBoostingSurvivalAnalysis(random_state=0)
    forest = RandomSurvivalForest(200, min_samples_leaf=5, max_features="sqrt", random_state=0)
    found: dict[str, Callable[[Any, Any], Any]] = {
        "Coxnet": coxnet,
        "boosting": lambda Z, y: boosting.fit(Z, structured(y)),
        "forest": lambda Z, y: forest.fit(Z, structured(y)),
    }
    if p <= 1000:
        cox = CoxPHSurvivalAnalysis(alpha=10.0)
        found["ridge Cox"] = lambda Z, y: cox.fit(Z, structured(y))
    return found


def brier(y: Any, test: Any, curves: Callable[[Any], Any]) -> float:
    """Integrated Brier score of survival curves, between the tenth and eighth decile of events."""
    from sksurv.metrics import integrated_brier_score

    inner = y["time"][test][y["event"][test]]
    at = np.unique(np.quantile(inner, np.linspace(0.1, 0.8, 15)))
    try:
        return float(integrated_brier_score(structured(y), structured(y[test]), curves(at), at))
    except ValueError:  # too few events in the fold
        return float("nan")


def steps(functions: Any, at: Any) -> Any:
    """(n, m) values of step functions at some times, the ends beyond their domains."""
    return np.stack([f(np.clip(at, f.domain[0], f.domain[1])) for f in functions])


def real(repeats: int, only: list[str]) -> None:
    from sklearn.model_selection import RepeatedStratifiedKFold

    found: dict[Any, list[Any]] = defaultdict(list)
    for name, X, y in real_tables():
        if only and name not in only:
            continue
        if len(X) > 600:
            some = np.random.default_rng(36).choice(len(X), 600, replace=False)
            X, y = X[some], y[some]
        X, y = X[np.argsort(y["time"], kind="stable")], np.sort(y, order="time", kind="stable")
        filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
        folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=repeats, random_state=36)
        for train, test in folds.split(X, y["event"]):
            model = GradientSiftSurvival(missing="mean").fit_for("predictions", X[train], y[train])
            for way in ("auto", "selected"):
                model.set_params(predict_with=way)
                score = concordance(y[test], model.predict(X[test]))
                curves = lambda at, m=model, T=X[test]: m.predict_survival_function(T, at)  # noqa: E731
                found[name, f"gradsift, {way}"].append((score, brier(y, test, curves)))
            Z = standard(filled)
            for rival, fitted in rivals(X.shape[1]).items():
                other = fitted(Z[train], y[train])
                curves = lambda at, m=other, T=Z[test]: steps(m.predict_survival_function(T), at)  # noqa: E731
                score = concordance(y[test], other.predict(Z[test]))
                found[name, rival].append((score, brier(y, test, curves)))
        wide({k: v for k, v in found.items() if k[0] == name}, sys.stderr)
    wide(found, sys.stdout)
    against_best(found)


def against_best(found: dict[Any, list[Any]]) -> None:
    """How much more concordance than the best of the others on the same folds, which is also the
    luckiest of them.
    """
    print("concordance of gradsift, auto, over the best other method, fold by fold")
    print("| table | best other | difference (standard error) |\n|---|---|---|")
    within, means = 0, []
    for name in dict.fromkeys(name for name, _ in found):
        scores = {m: np.array(v)[:, 0] for (t, m), v in found.items() if t == name}
        others = {m: v for m, v in scores.items() if not m.startswith("gradsift")}
        best = max(others, key=lambda m: others[m].mean())
        d = scores["gradsift, auto"] - others[best]
        within += d.mean() >= -0.01
        means.append(d.mean())
        print(f"| {name} | {best} | {d.mean():+.3f} ({d.std() / np.sqrt(len(d)):.3f}) |")
    print(f"| within .01 | {within} of {len(means)} | {np.mean(means):+.3f} on average |")


def wide(found: dict[Any, list[Any]], file: Any) -> None:
    """Concordance and integrated Brier score, one table a row, one method a column."""
    methods = list(dict.fromkeys(method for _, method in found))
    for k, measure in enumerate(("concordance", "integrated Brier score")):
        print(f"{measure}, held out", file=file)
        print("| table | " + " | ".join(methods) + " |\n|" + "---|" * (1 + len(methods)), file=file)
        for name in dict.fromkeys(name for name, _ in found):
            cells = [
                f"{np.nanmean(found[name, method], axis=0)[k]:.3f}"
                if (name, method) in found
                else ""
                for method in methods
            ]
            print(f"| {name} | " + " | ".join(cells) + " |", file=file, flush=True)


def table(found: dict[Any, list[Any]], keys: tuple[str, ...], names: tuple[str, ...]) -> None:
    """Means with standard errors as a Markdown table."""
    n = len(next(iter(found.values())))
    print(f"{n} tables or folds a row, means (standard errors)", flush=True)
    print("| " + " | ".join([*keys, *names]) + " |\n|" + "---|" * (len(keys) + len(names)))
    for key, values in found.items():
        mean, error = np.mean(values, axis=0), np.std(values, axis=0) / np.sqrt(len(values))
        cells = [f"{m:.3f} ({e:.3f})" for m, e in zip(mean, error)]
        print("| " + " | ".join([*map(str, key), *cells]) + " |", flush=True)


COMMANDS = {
    "designs": designs,
    "counts": counts,
    "outcomes": outcomes,
    "nulls": nulls,
    "seconds": seconds,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=[*COMMANDS, "real"])
    parser.add_argument("--seeds", type=int, nargs=2, default=(500, 520))
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--only", nargs="+", default=[], help="names of real tables")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.what == "real":
        real(args.repeats, args.only)
    else:
        COMMANDS[args.what](range(*args.seeds))


if __name__ == "__main__":
    main()
