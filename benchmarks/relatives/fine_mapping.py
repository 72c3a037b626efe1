"""Fine mapping with truth: effects planted among genotypes in linkage disequilibrium.

    PYTHONPATH=benchmarks python -m relatives.fine_mapping

A locus of 300 variants: haplotypes are mosaics of 30 founders (Li and Stephens 2003), whose alleles
follow a tree and the neutral spectrum; a third of the variants has another one with r2 above .8.
One to three variants act. Sets: the 95 % credible sets of SuSiE (Wang, Sarkar, Carbonetto and
Stephens 2020; purity .5) by iterative Bayesian stepwise selection, with an estimated residual
variance, and with the Servin-Stephens prior that susieR 2.0 recommends for few samples; and
findings with a confidence of .95 (`GradientSiftRegressor(inference=True)`).

Coverage: sets that hold a variant that acts. Power: variants that act in some set. Size: median
number of variants in a set.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np
from relatives.measure import head, line
from scipy.special import logsumexp

from gradsift import GradientSiftRegressor

Sets = list[np.ndarray]
GRID = np.geomspace(1e-3, 1.0, 25)
"""Prior variances of an effect, in units of the variance of the response."""


def locus(rng: np.random.Generator, n: int, p: int = 300, founders: int = 30) -> np.ndarray:
    """Numbers of minor alleles, (n, p)."""
    pool = np.zeros((founders, p), dtype=int)
    order = rng.permutation(founders)
    for k in range(p):
        if k % 40 == 0:  # another tree
            order = rng.permutation(founders)
        sizes = np.arange(2, founders // 2)
        size = int(rng.choice(sizes, p=(1 / sizes) / (1 / sizes).sum()))
        first = rng.integers(founders // 4) * 4 % (founders - size)
        pool[order[first : first + size], k] = 1
    out = np.zeros((2 * n, p), dtype=int)
    jumps = rng.uniform(size=(2 * n, p)) < 0.01
    source = rng.integers(founders, size=2 * n)
    for k in range(p):
        source = np.where(jumps[:, k], rng.integers(founders, size=2 * n), source)
        out[:, k] = pool[source, k]
    X = (out[:n] + out[n:]).astype(float)
    return X[:, (X.std(axis=0) > 0) & (X.mean(axis=0) > 0.04)]


def planted(seed: int, n: int, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Genotypes, response, and the variants that act; together they explain a quarter of it."""
    rng = np.random.default_rng(seed)
    X = locus(rng, n)
    true = rng.choice(X.shape[1], rng.integers(1, 4), replace=False)
    G = X[:, true]
    effect = (G > 0).astype(float) if kind == "dominant" else G
    Z = (effect - effect.mean(axis=0)) / np.maximum(effect.std(axis=0), 1e-9)
    g = Z @ rng.choice([-1.0, 1.0], len(true))
    noise = rng.standard_t(4, size=n) if kind == "heavy tails" else rng.normal(size=n)
    return X, g / g.std() + np.sqrt(3.0) * noise / noise.std(), true


def susie(X: np.ndarray, y: np.ndarray, few: bool, effects: int = 10) -> Sets:
    """Credible sets; `few` integrates the residual variance of each effect out."""
    n, p = X.shape
    Z, r = (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()
    alpha, mean, square = (np.zeros((effects, p)) for _ in range(3))
    fit, sigma, kept = np.zeros(n), 1.0, np.zeros(effects)
    for _ in range(100):
        before = alpha.copy()
        for k in range(effects):
            fit -= Z @ (alpha[k] * mean[k])
            rest = r - fit
            b = Z.T @ rest / n
            if few:
                shrink = GRID[:, None] * n / (GRID[:, None] * n + 1.0)
                share = np.minimum(n * b**2 / (rest @ rest), 1.0 - 1e-12)
                lbf = -0.5 * np.log1p(GRID[:, None] * n) - 0.5 * n * np.log1p(-shrink * share)
            else:
                s = sigma / n
                shrink = GRID[:, None] / (GRID[:, None] + s)
                lbf = 0.5 * np.log(s / (s + GRID[:, None])) + 0.5 * shrink * b**2 / s
            evidence = logsumexp(lbf, axis=1) - np.log(p)
            best = int(np.argmax(evidence))
            kept[k] = evidence[best] > 0.0
            v = shrink[best, 0] * kept[k]
            alpha[k] = np.exp(lbf[best] - logsumexp(lbf[best])) if kept[k] else 1.0 / p
            mean[k] = v * b
            square[k] = mean[k] ** 2 + v * sigma / n
            fit += Z @ (alpha[k] * mean[k])
        explained = np.sum(alpha * square, axis=1).sum()
        single = sum(np.sum((Z @ (alpha[k] * mean[k])) ** 2) for k in range(effects))
        sigma = (np.sum((r - fit) ** 2) + n * explained - single) / n
        if np.abs(alpha - before).max() < 1e-3:
            break
    found: Sets = []
    for k in np.flatnonzero(kept):
        order = np.argsort(-alpha[k])
        members = order[: int(np.searchsorted(np.cumsum(alpha[k][order]), 0.95)) + 1]
        if len(members) < 2 or np.abs(np.corrcoef(Z[:, members[:100]].T)).min() >= 0.5:
            found.append(members)
    return list({tuple(sorted(s)): s for s in found}.values())


def findings(X: np.ndarray, y: np.ndarray) -> Sets:
    model = GradientSiftRegressor(inference=True, predict_with="selected").fit(X, y)
    return [f.columns for f in model.findings_ if f.confidence >= 0.95]


METHODS: dict[str, Callable[[np.ndarray, np.ndarray], Sets]] = {
    "findings": findings,
    "SuSiE": lambda X, y: susie(X, y, few=False),
    "SuSiE, small samples": lambda X, y: susie(X, y, few=True),
}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for kind in ("additive", "dominant", "heavy tails"):
        for n in (60, 300):
            seeds = range(3000, 3025)
            head(f"{kind}, {n} samples", "method", "coverage", "power", "size", "sets", "seconds")
            for name, method in METHODS.items():
                sets, hits, acting, spent = [], 0, 0, 0.0
                good = 0
                for seed in seeds:
                    X, y, true = planted(seed, n, kind)
                    began = time.process_time()
                    found = method(X, y)
                    spent += time.process_time() - began
                    sets += [len(s) for s in found]
                    good += sum(bool(np.isin(true, s).any()) for s in found)
                    hits += sum(any(t in s for s in found) for t in true)
                    acting += len(true)
                coverage = f"{good / len(sets):.2f}" if sets else ""
                size = f"{np.median(sets):.0f}" if sets else ""
                cells = coverage, f"{hits / acting:.2f}", size, str(len(sets))
                line(name, *cells, f"{spent / len(seeds):.2f}")
