"""Credible sets of SuSiE (Wang, Sarkar, Carbonetto and Stephens 2020; purity .5).

Iterative Bayesian stepwise selection with an estimated residual variance, or with the
Servin-Stephens prior that susieR 2.0 recommends for few samples.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

Sets = list[np.ndarray]
GRID = np.geomspace(1e-3, 1.0, 25)
"""Prior variances of an effect, in units of the variance of the response."""


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
