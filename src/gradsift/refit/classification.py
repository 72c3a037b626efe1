"""Refit of labels on the selected variables.

The kernel is the one of largest evidence for least squares on labels coded +-1 (one column per
class if there are more than two), which is cheap and accurate enough for length scales. Logistic
regression with this kernel gives the log odds g, and f = grad g. Its penalty, and a common factor
of all length scales that corrects for the coding, minimise the leave-one-out log loss.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, softmax

from gradsift.numerics.ard_kernels import ArdKernel
from gradsift.numerics.logistic import fit_binary, fit_multinomial, with_ones
from gradsift.numerics.sampling import evenly_spaced, merge_rows
from gradsift.protocols import Array, IntArray
from gradsift.refit.evidence import (
    Expansion,
    Features,
    Refit,
    RefitRows,
    pivoted_features,
    rank_candidates,
)
from gradsift.refit.settings import LABELS, RefitSettings

LEAST_PRIOR = 1e-9
"""Rounding: probability of a class that never occurs, where scores are log priors."""


def refit_classification(
    X: Array,
    labels: IntArray,
    *,
    n_classes: int,
    sample_weight: Array | None = None,
    offset: Array | None = None,
    settings: RefitSettings = LABELS,
) -> Refit:
    """Fit the log odds on the selected columns.

    Parameters
    ----------
    X : (n, d) selected columns, standardised; d may be 0.
    labels : (n,) integers 0 .. n_classes - 1.
    n_classes : number of classes, at least 2; some may be absent.
    sample_weight : (n,) how many times each row counts; zero is as good as absent.
    offset : (n, 1) known part of the log odds, or (n, n_classes) of the scores, which the fit comes
        on top of.
    settings : numbers of the procedure; change them to study it, not to use it.
    """
    d, X = np.shape(X)[1], np.asarray(X, dtype=float)
    rows_given = X if offset is None else np.column_stack([X, offset])
    T = (np.asarray(labels)[:, None] == np.arange(n_classes)).astype(float)
    merged, T, weights, _ = merge_rows(rows_given, T, sample_weight)
    X, known = merged[:, :d], None if offset is None else merged[:, d:]
    if d == 0 or T.all(axis=0).any():
        return _constant(d, T, weights, known)
    if n_classes == 2:
        T = T[:, 1:]
    start = Start(known, T.shape[1])

    # merged rows are in the order of their classes: evenly spaced ones have all of them
    rows = evenly_spaced(len(X), settings.tuning_rows)
    expected = start.probabilities(rows)
    ranked = rank_candidates(code_labels(X[rows], T[rows], weights[rows], expected), settings)
    landmarks = X[evenly_spaced(len(X), settings.landmarks)]
    tuning = evenly_spaced(len(X), settings.most_rows)
    choice = _tune(
        ranked[0].kernel,
        landmarks,
        X[tuning],
        T[tuning],
        weights[tuning],
        start.margins(tuning),
        settings,
    )

    beta = _fit_all(choice, X, T, weights, start, solved=len(tuning) == len(X))
    function = choice.features.expansion(beta[:-1])
    candidates = tuple(ranked)
    return Refit(function, beta[-1], choice.penalty, candidates, loo_loss=choice.loss)


class Start(NamedTuple):
    """The scores before the fit: zero, or an offset."""

    scores: Array | None
    """(n, 1) log odds, or (n, C) scores."""
    n_outputs: int

    def probabilities(self, rows: IntArray) -> Array | float:
        """Probabilities that the offset alone gives, as indicators are coded; 0 without."""
        if self.scores is None:
            return 0.0
        U = self.scores[rows]
        return np.asarray(expit(U) if self.n_outputs == 1 else softmax(U, axis=1))

    def margins(self, rows: IntArray) -> list[Array | None]:
        """Log odds of each class against the rest that the offset alone gives."""
        if self.scores is None:
            return [None] * self.n_outputs
        if self.n_outputs == 1:
            return [self.scores[rows, 0]]
        P = np.clip(self.probabilities(rows), LEAST_PRIOR, 1.0 - LEAST_PRIOR)
        return list(logit(P).T)


def code_labels(X: Array, T: Array, weights: Array, expected: Array | float = 0.0) -> RefitRows:
    """Labels coded +-1, less what is expected of them, and centred; classes without a row among
    these say nothing and go.
    """
    Y = T - expected
    Y = 2.0 * (Y - weights @ Y / weights.sum())
    return RefitRows(X, Y[:, np.ptp(T, axis=0) > 0.0], weights)


class _Choice(NamedTuple):
    """A stretched kernel's features, a penalty, their leave-one-out loss and solution."""

    loss: float
    penalty: float
    features: Features
    beta: Array


def _tune(
    kernel: ArdKernel,
    landmarks: Array,
    X: Array,
    T: Array,
    weights: Array,
    known: list[Array | None],
    settings: RefitSettings,
) -> _Choice:
    """Stretch and penalty of smallest leave-one-out log loss, over one-against-rest problems.

    Penalties fall from large to small, each solution starting the next.
    """
    best: _Choice | None = None
    for stretch in settings.stretches if len(kernel.theta) else (1.0,):
        features = pivoted_features(kernel.stretched(stretch), landmarks)
        Phi = with_ones(features(X))
        beta = np.zeros((Phi.shape[1], T.shape[1]))
        for penalty in settings.penalties:
            fits = [
                fit_binary(Phi, t, weights, penalty, b, u) for t, b, u in zip(T.T, beta.T, known)
            ]
            beta = np.column_stack([fit.beta for fit in fits])
            loss = float(np.mean([fit.loo_loss for fit in fits]))
            if best is None or loss < best.loss:
                best = _Choice(loss, penalty, features, beta)
    assert best is not None
    return best


def _fit_all(
    choice: _Choice, X: Array, T: Array, weights: Array, start: Start, *, solved: bool
) -> Array:
    """The final coefficients (r + 1, q) on all rows; nothing to do if the choice saw them all."""
    if T.shape[1] == 1 and solved:
        return choice.beta
    Phi = with_ones(choice.features(X))
    if T.shape[1] == 1:
        known = start.margins(np.arange(len(X)))[0]
        return fit_binary(Phi, T[:, 0], weights, choice.penalty, choice.beta[:, 0], known).beta
    # Two classes with scores +-g/2 have ||g||^2 = 2 sum_c ||beta_c||^2: the same penalty on g is
    # twice as large on the scores.
    return fit_multinomial(Phi, T, weights, 2.0 * choice.penalty, choice.beta, start.scores)


def _constant(d: int, T: Array, weights: Array, known: Array | None) -> Refit:
    """Nothing selected, or one class only: the class priors, given an offset, and a zero
    gradient.
    """
    C, ones = T.shape[1], np.ones((len(T), 1))
    if known is None:
        scores = np.log(np.maximum(weights @ T / weights.sum(), LEAST_PRIOR))
        scores = scores[1:] - scores[:1] if C == 2 else scores - scores.mean()
    elif C == 2:
        scores = fit_binary(ones, T[:, 1], weights, 0.0, np.zeros(1), known[:, 0]).beta[0]
    else:
        scores = fit_multinomial(ones, T, weights, 0.0, np.zeros((1, C)), known)[0]
    return Refit(Expansion.zero(d, len(scores)), scores, np.inf)
