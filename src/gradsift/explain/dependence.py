"""Which variables change each other's effect, as far as the data show it."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.stats import chi2

from gradsift.explain.additive import (
    PER_PAIR,
    TESTED,
    AdditiveFit,
    Pair,
    Target,
    contrasts,
    fit_additive,
    information,
    pair_products,
)
from gradsift.protocols import Array

LEVEL = 0.05  # chance that a table of additive effects shows a pair that acts together


def fit_with_pairs(X: Array, target: Target) -> AdditiveFit:
    """The additive model with every pair of variables that the data show to act together.

    Pairs are taken in one by one: all that are left are tested beside the model so far, and the
    clearest comes in if chance would show one so clear in fewer than 5 % of tables (Bonferroni
    over all pairs). Those that are no longer clear beside the ones that came later go again.

    Parameters
    ----------
    X : (n, a) array
    target : Target

    Returns
    -------
    fit : AdditiveFit
        Its `design.pairs` are the pairs shown.

    Examples
    --------
    >>> from gradsift.explain.additive import target_of
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = X[:, 0] * X[:, 2] + X[:, 1] + 0.5 * rng.normal(size=200)
    >>> fit_with_pairs(X, target_of(y)).design.pairs
    ((0, 2),)
    """
    candidates = list(combinations(range(X.shape[1]), 2))
    pairs: list[Pair] = []
    fit = fit_additive(X, target)
    while len(pairs) < min(X.shape[1], len(candidates)):
        left = [pair for pair in candidates if pair not in pairs]
        p = score_tests(X, fit, left)
        best = int(p.argmin())
        if p[best] * len(candidates) > LEVEL:
            break
        pairs.append(left[best])
        fit = fit_additive(X, target, pairs)
    while pairs:
        p = coefficient_tests(fit)
        worst = int(p.argmax())
        if p[worst] * len(candidates) <= LEVEL:
            break
        del pairs[worst]
        fit = fit_additive(X, target, pairs)
    return fit


def score_tests(X: Array, fit: AdditiveFit, pairs: list[Pair]) -> Array:
    """P-values of pairs that are not in the model: would it fit better with them?

    The slope of the log likelihood along each of their products, less what the model's own
    coefficients would make of it. Its variance is the sum of squares of the samples' contributions,
    so that unequal noise does not pass for an interaction.

    Parameters
    ----------
    X : (n, a) array
    fit : AdditiveFit
    pairs : list of (int, int)

    Returns
    -------
    p : (pairs,) array
    """
    D, R = fit.design.matrix, fit.residuals
    every = pair_products(X, fit.splines, pairs).reshape(len(X), len(pairs), PER_PAIR)
    F = every[:, :, :TESTED].reshape(len(X), -1)
    F = F - F.mean(axis=0)
    n, f = R.shape
    M = fit.covariance @ information(D, F, fit.weights)
    taken = (R[:, :, None] * D[:, None, :]).reshape(n, -1) @ M
    E = R[:, :, None] * F[:, None, :] - taken.reshape(n, f, F.shape[1])
    E = E.reshape(n, f, len(pairs), TESTED).transpose(2, 0, 3, 1)  # pair, sample, term, output
    U = E.sum(axis=1)
    V = np.einsum("qntf,qnsg->qtfsg", E, E, optimize=True)
    return plain_or_any(U, V)


def coefficient_tests(fit: AdditiveFit) -> Array:
    """P-values of the pairs in the model (Wald tests).

    Parameters
    ----------
    fit : AdditiveFit

    Returns
    -------
    p : (pairs,) array
    """
    m, outputs = fit.coefficients.shape
    Q = contrasts(outputs)
    f = Q.shape[1]
    covariance = fit.covariance.reshape(f, m, f, m)
    where = [fit.design.pair_columns(j) for j in range(len(fit.design.pairs))]
    U = np.array([fit.coefficients[w] @ Q for w in where])
    V = np.array([covariance[:, w][:, :, :, w].transpose(1, 0, 3, 2) for w in where])
    return plain_or_any(U, V)


def plain_or_any(U: Array, V: Array) -> Array:
    """P-values of pairs: of the plain product or of all terms, whichever is clearer, twice.

    U is (pairs, terms, outputs), V its covariances (pairs, terms, outputs, terms, outputs).
    """
    size = U.shape[1] * U.shape[2]
    plain = chi_square_tests(U[:, 0], V[:, 0, :, 0])
    every = chi_square_tests(U.reshape(-1, size), V.reshape(-1, size, size))
    return np.minimum(1.0, 2.0 * np.minimum(plain, every))


def chi_square_tests(U: Array, V: Array) -> Array:
    """P-values of U_q' V_q^-1 U_q for U (q, f) and covariances V (q, f, f)."""
    f = U.shape[1]
    size = np.trace(V, axis1=1, axis2=2)
    if not size.any():
        return np.ones(len(U))
    V = V + (1e-10 * size + 1e-30 * size.max())[:, None, None] * np.eye(f)
    statistic = (U * np.linalg.solve(V, U[:, :, None])[:, :, 0]).sum(axis=1)
    return np.asarray(chi2.sf(statistic, f))
