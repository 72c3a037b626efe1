"""Refit of a continuous response on the selected variables.

    g = argmin sum_i w_i (y_i - b - g(x_i))^2 + eta ||g||_k^2,        f = grad g,

with kernel k and noise ratio eta of largest penalised evidence: the curl-free member of the pair
loss as its bandwidth goes to zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import fsum

import numpy as np

from gradsift._typing import Array
from gradsift.numerics.ard_kernels import ArdKernel
from gradsift.numerics.distinct import merge_rows
from gradsift.numerics.robust import largest_tie
from gradsift.numerics.sampling import evenly_spaced
from gradsift.refit.candidates import Candidate
from gradsift.refit.expansion import Expansion, pivoted_features
from gradsift.refit.ridge import solve_ridge
from gradsift.refit.robust import Responses, rank_robustly, solve_and_diagnose, solve_robustly
from gradsift.refit.settings import NUMBERS, RefitSettings


@dataclass(frozen=True, eq=False)
class RegressionRefit:
    """A fitted predictor g = intercept + function, and its gradient.

    Attributes
    ----------
    function : the part of g that varies.
    intercept : its constant part.
    noise : estimated noise variance of a row of weight one.
    noise_ratio : eta, the noise variance over the prior variance of g.
    log_evidence : log marginal likelihood of the chosen kernel on the rows that tuned it, their
        response in standard deviations, prior of its hyperparameters included; nan if there was
        nothing to learn.
    candidates : every kernel tried with its score, best first.
    robust_weight : (n,) factor by which the weight of each row was lowered; one but for outliers.
    tail : whether these rows are the tail of a skewed response rather than outliers.
    """

    function: Expansion
    intercept: float
    noise: float
    noise_ratio: float
    log_evidence: float
    candidates: tuple[Candidate, ...]
    robust_weight: Array
    tail: bool = False

    @property
    def kernel(self) -> ArdKernel | None:
        """The chosen kernel; None if g is constant."""
        return self.function.kernel

    def predict(self, X: Array) -> Array:
        """g at the rows of X, (n,)."""
        return self.intercept + self.function.value(np.asarray(X, dtype=float))[:, 0]

    def gradient(self, X: Array) -> Array:
        """grad g at the rows of X, (n, d)."""
        return np.asarray(self.function.gradient(np.asarray(X, dtype=float))[0])


def refit_regression(
    X: Array,
    y: Array,
    *,
    sample_weight: Array | None = None,
    robust: bool = True,
    settings: RefitSettings = NUMBERS,
) -> RegressionRefit:
    """Fit g on the selected columns.

    Parameters
    ----------
    X : (n, d) selected columns, standardised; d may be 0.
    y : (n,) response.
    sample_weight : (n,) how many times each row counts: its noise variance is noise / w_i. A row
        of weight zero is as good as absent.
    robust : whether rows may be outliers; never where one value of y takes too many of them.
    settings : numbers of the procedure; change them to study it, not to use it.
    """
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    counts = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    # exact sums: the same bits in every order of the rows
    mean = fsum(counts * y) / fsum(counts)
    noise = fsum(counts * (y - mean) ** 2) / fsum(counts)
    if X.shape[1] == 0 or np.ptp(y[counts > 0]) <= 1e-12 * np.abs(y[counts > 0]).max():
        # nothing selected, or nothing to explain
        zero = Expansion.zero(X.shape[1])
        return RegressionRefit(zero, mean, noise, np.inf, np.nan, (), np.ones(len(y)))
    robust = robust and largest_tie(y, sample_weight) <= settings.most_tied
    unit = np.sqrt(noise)
    # without the last digits, which are the rounding of another unit
    found = _refit_standard(X, np.round((y - mean) / unit, 10), counts, robust, settings)
    function = replace(found.function, coefficients=unit * found.function.coefficients)
    level = mean + unit * found.intercept
    return replace(found, function=function, intercept=level, noise=noise * found.noise)


def _refit_standard(
    X: Array, y: Array, counts: Array, robust: bool, settings: RefitSettings
) -> RegressionRefit:
    """The fit to a response of mean zero and unit variance."""
    merged = merge_rows(X, y[:, None], counts)
    data = Responses(merged.X, merged.Y[:, 0], merged.weights, robust)
    m = len(data.y)
    # merged rows are in the order of their response: evenly spaced ones have all of its range
    tuning, landmarks = (evenly_spaced(m, k) for k in (settings.tuning_rows, settings.landmarks))

    sample = data.take(tuning)
    ranked, sample_weight = rank_robustly(sample, settings)
    sample_rows, sample_mean = sample.centred(sample_weight)
    best = ranked[0].fit

    features = pivoted_features(best.kernel, data.X[landmarks])
    if len(tuning) == m:
        solution = solve_and_diagnose(features, best.noise_ratio, data, sample_weight, settings)
    else:  # rows outside the sample are judged by what the sample predicts for them
        small = pivoted_features(best.kernel, sample.X)
        ridge = solve_ridge(small, best.noise_ratio, sample_rows)
        residual = data.y - sample_mean - small.expansion(ridge.beta).value(data.X)[:, 0]
        suspected = data.robust_weight(residual, settings)
        solution = solve_robustly(
            features, best.noise_ratio, data, suspected, settings, leverage=m <= settings.landmarks
        )
    all_weights = np.where(merged.member >= 0, solution.robust_weight[merged.member], 1.0)
    return RegressionRefit(
        function=features.expansion(solution.ridge.beta),
        intercept=solution.mean,
        noise=best.noise_ratio * float(solution.ridge.scale[0]),
        noise_ratio=best.noise_ratio,
        log_evidence=-best.loss,
        candidates=tuple(ranked),
        robust_weight=all_weights,
        tail=solution.tail,
    )
