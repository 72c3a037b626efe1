"""Refit of a continuous response on the selected variables.

    g = argmin sum_i w_i (y_i - b - g(x_i))^2 + eta ||g||_k^2,        f = grad g,

with kernel k and noise ratio eta of largest penalised evidence (`evidence`): the curl-free member
of the pair loss as its bandwidth goes to zero. X (n, d) are the selected columns, standardised, and
y (n,) is the response.

Outliers in y lose weight, if that improves the prediction of the other rows. Let t be the absolute
leave-one-out residual of a row in robust standard deviations. If some row has t > 4.5, there may be
outliers. The fit is then repeated with weight (c / t)^2 for every row with t > c = 3, as a
heavy-tailed likelihood would weigh them, and is kept if the median leave-one-out error falls by a
tenth. Where the function itself is steep, residuals are large too, but this test fails, so that
data without outliers keep weights of exactly one. A response almost free of noise has errors of
approximation, not outliers: noise is never taken to be below 5 % of the spread of y. Where more
than a quarter of the rows have one value, such as zero counts, no row loses weight: otherwise all
other rows would, and the prediction would be that value.

Where more than an eighth of the rows lose weight and the residuals are skewed, one quartile
more than twice as far from their median as the other, these rows are the tail of a skewed
response. They keep their low weight in the fit of g, which would follow each of them, but count
fully in other predictors, because the mean depends on them. Outliers on one side hardly move the
quartiles.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import fsum

import numpy as np

from gradsift.numerics.sampling import evenly_spaced, merge_rows
from gradsift.numerics.statistics import (
    has_robust_scale,
    median,
    middle_quantiles,
    scale_about_zero,
    winsorise,
)
from gradsift.protocols import Array, IntArray
from gradsift.refit.evidence import (
    Candidate,
    EvidenceFit,
    Expansion,
    Features,
    Posterior,
    Refit,
    RefitRows,
    Ridge,
    fit_ard,
    pivoted_features,
    posterior_of,
    rank_candidates,
    residuals_and_leverages,
    ridge_sums,
    solve_ridge,
    untuned_ard,
)
from gradsift.refit.settings import NUMBERS, RefitSettings


@dataclass(frozen=True, eq=False)
class Responses:
    """Rows with one response that is not yet centred: X (n, d), y (n,), user weights w (n,)."""

    X: Array
    y: Array
    weights: Array
    robust: bool = True
    """Whether rows may lose weight."""

    def robust_weight(self, residuals: Array, settings: RefitSettings) -> Array:
        """min(1, (c sd / |r|)^2), or ones where no residual is large; sd has a floor."""
        spread = float(scale_about_zero(self.y - median(self.y, self.weights), self.weights))
        floor = settings.noise_floor * spread
        sd = max(float(scale_about_zero(residuals, self.weights)), floor)
        size = np.abs(residuals)
        if not self.robust or sd <= 0.0 or size.max() <= settings.outlier_z * sd:
            return np.ones_like(residuals)
        edge = settings.clip * sd
        return (edge / np.maximum(size, edge)) ** 2

    def take(self, index: IntArray) -> Responses:
        return replace(self, X=self.X[index], y=self.y[index], weights=self.weights[index])

    def centred(self, robust_weight: Array) -> tuple[RefitRows, float]:
        """Rows with weights w * robust weight and the weighted mean taken out, and that mean."""
        weights = self.weights * robust_weight
        mean = float(weights @ self.y / weights.sum())
        return RefitRows(self.X, (self.y - mean)[:, None], weights), mean


@dataclass(frozen=True, eq=False)
class DiagnosedFit:
    """A fit, the weights it was made with, and what its residuals say.

    `next_weight` is the robust weight its residuals call for, `typical_error` the robust scale of
    its leave-one-out residuals. The rows that lost weight are a `tail`, not outliers, if they are
    many and the quartiles of all residuals are skewed.
    """

    ridge: Ridge
    mean: float
    robust_weight: Array
    next_weight: Array
    typical_error: float
    settled: bool
    tail: bool


def solve_and_diagnose(
    features: Features,
    noise_ratio: float,
    data: Responses,
    robust_weight: Array,
    settings: RefitSettings,
    sums: SharedSums | None = None,
) -> DiagnosedFit:
    """Ridge with weights w * robust weight, and a look at its residuals. With sums over many rows,
    residuals stand for those of rows left out.
    """
    rows, mean = data.centred(robust_weight)
    known = None if sums is None else sums.of(robust_weight, mean)
    ridge = solve_ridge(features, noise_ratio, rows, known)
    residuals, leverages = residuals_and_leverages(ridge, rows, leverage=sums is None)
    next_weight = data.robust_weight(residuals[:, 0] / np.sqrt(1.0 - leverages), settings)
    left_out = residuals[:, 0] / (1.0 - leverages)
    typical_error = float(scale_about_zero(left_out, data.weights))
    settled = bool(np.abs(next_weight - robust_weight).max() < settings.settled)
    lowered = data.weights[robust_weight < 1.0].sum() / data.weights.sum()
    low, middle, high = middle_quantiles(left_out, np.array([0.25, 0.5, 0.75]), data.weights)
    skewed = abs(low + high - 2.0 * middle) > settings.most_skewed * (high - low)
    tail = bool(skewed and lowered > settings.most_outliers)
    return DiagnosedFit(ridge, mean, robust_weight, next_weight, typical_error, settled, tail)


@dataclass(frozen=True, eq=False)
class SharedSums:
    """`ridge_sums` of many rows under several weights: made once for all rows, and those of the
    few rows of lowered weight taken off.
    """

    features: Features
    data: Responses

    @cached_property
    def all(self) -> tuple[Array, Array]:
        return self.over(np.arange(len(self.data.y)), np.ones(len(self.data.y)))

    def over(self, index: IntArray, part: Array) -> tuple[Array, Array]:
        """Sums of some rows, by a part of their weights, of responses y and 1: (r, r), (r, 2)."""
        some = self.data.take(index)
        Y = np.column_stack([some.y, np.ones(len(index))])
        return ridge_sums(self.features, RefitRows(some.X, Y, some.weights * part))

    def of(self, robust_weight: Array, mean: float) -> tuple[Array, Array]:
        """Sums under robust weights (n,) of the response less its mean."""
        low = np.flatnonzero(robust_weight < 1.0)
        lost = self.over(low, 1.0 - robust_weight[low])
        gram, moment = (whole - part for whole, part in zip(self.all, lost, strict=True))
        return gram, moment[:, :1] - mean * moment[:, 1:]


def _diagnose(
    fit: EvidenceFit, data: Responses, robust_weight: Array, settings: RefitSettings
) -> DiagnosedFit:
    features = pivoted_features(fit.kernel, data.X)
    return solve_and_diagnose(features, fit.noise_ratio, data, robust_weight, settings)


def rank_robustly(data: Responses, settings: RefitSettings) -> tuple[list[Candidate], Array]:
    """All candidates, best first, and the robust weight (n,) of each row."""
    everyone: Array = np.ones(len(data.y))
    plain = rank_candidates(data.centred(everyone)[0], settings)
    suspected = first_weight(data, settings)
    if np.all(suspected == 1.0):
        return plain, everyone
    robust, better = _rank_with_outliers_down(data, suspected, settings)
    found = _diagnose(plain[0].fit, data, everyone, settings)
    if better.typical_error < settings.robust_gain * found.typical_error:
        return robust, better.robust_weight
    return plain, everyone


def first_weight(data: Responses, settings: RefitSettings) -> Array:
    """The robust weight of each row under the untuned ard kernel, fitted to a clipped response.

    A tuned kernel may have bent itself to the outliers, which then have no large residuals.
    """
    kernel, noise_ratio = untuned_ard(data.X.shape[1], settings)
    clipped = replace(data, y=winsorise(data.y, settings.clip, data.weights))
    rows, mean = clipped.centred(np.ones(len(data.y)))
    ridge = solve_ridge(pivoted_features(kernel, data.X), noise_ratio, rows)
    actual = replace(rows, Y=(data.y - mean)[:, None])
    residuals, leverages = residuals_and_leverages(ridge, actual)
    return data.robust_weight(residuals[:, 0] / np.sqrt(1.0 - leverages), settings)


def _rank_with_outliers_down(
    data: Responses, robust_weight: Array, settings: RefitSettings
) -> tuple[list[Candidate], DiagnosedFit]:
    """Candidates under lowered weights, and what the residuals of the best one say.

    Outliers are looked for with the ard kernel, then again with the chosen one: what looks like an
    outlier to a kernel that does not suit the function may be none.
    """
    ard = None
    for _ in range(settings.robust_rounds):
        ard = fit_ard(data.centred(robust_weight)[0], settings, start=ard)
        found = _diagnose(ard, data, robust_weight, settings)
        if found.settled:
            break
        robust_weight = found.next_weight
    for _ in range(settings.robust_rounds):
        ard = fit_ard(data.centred(robust_weight)[0], settings, start=ard)
        ranked = rank_candidates(data.centred(robust_weight)[0], settings, ard)
        found = _diagnose(ranked[0].fit, data, robust_weight, settings)
        if found.settled:
            break
        robust_weight = found.next_weight
    return ranked, found


def solve_robustly(
    features: Features,
    noise_ratio: float,
    data: Responses,
    suspected: Array,
    settings: RefitSettings,
    sums: SharedSums | None,
) -> DiagnosedFit:
    """Ridge on all rows, with the suspected ones held down if that helps the others."""
    everyone: Array = np.ones(len(data.y))
    plain = solve_and_diagnose(features, noise_ratio, data, everyone, settings, sums)
    if np.all(suspected == 1.0):
        return plain
    robust = plain
    for _ in range(settings.robust_rounds):
        robust = solve_and_diagnose(features, noise_ratio, data, suspected, settings, sums)
        if robust.settled:
            break
        suspected = robust.next_weight
    return robust if robust.typical_error < settings.robust_gain * plain.typical_error else plain


def refit_regression(
    X: Array,
    y: Array,
    *,
    sample_weight: Array | None = None,
    robust: bool = True,
    settings: RefitSettings = NUMBERS,
) -> Refit:
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
        ones = np.ones(len(y))
        posterior = Posterior(None, np.zeros((0, 0)), 0.0, noise, fsum(counts))
        return Refit(
            zero, np.array([mean]), np.inf, noise=noise, robust_weight=ones, posterior=posterior
        )
    robust = robust and has_robust_scale(y, sample_weight)
    unit = np.sqrt(noise)
    # without the last digits, which are the rounding of another unit
    found = _refit_standard(X, np.round((y - mean) / unit, 10), counts, robust, settings)
    assert found.posterior is not None
    function = replace(found.function, coefficients=unit * found.function.coefficients)
    level = mean + unit * found.intercept
    return replace(
        found,
        function=function,
        intercept=level,
        noise=noise * found.noise,
        posterior=replace(
            found.posterior,
            prior=noise * found.posterior.prior,
            noise=noise * found.posterior.noise,
        ),
    )


def _refit_standard(
    X: Array, y: Array, counts: Array, robust: bool, settings: RefitSettings
) -> Refit:
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

    least = settings.pivot(best.noise_ratio, data.weights)
    features = pivoted_features(best.kernel, data.X[landmarks], least)
    if len(tuning) == m:
        solution = solve_and_diagnose(features, best.noise_ratio, data, sample_weight, settings)
    else:  # rows outside the sample are judged by what the sample predicts for them
        small = pivoted_features(best.kernel, sample.X)
        ridge = solve_ridge(small, best.noise_ratio, sample_rows)
        residual = data.y - sample_mean - small.expansion(ridge.beta).value(data.X)[:, 0]
        suspected = data.robust_weight(residual, settings)
        sums = None if m <= settings.landmarks else SharedSums(features, data)
        solution = solve_robustly(features, best.noise_ratio, data, suspected, settings, sums)
    ridge, total = solution.ridge, float((solution.robust_weight * data.weights).sum())
    all_weights = np.where(merged.member >= 0, solution.robust_weight[merged.member], 1.0)
    return Refit(
        function=features.expansion(ridge.beta),
        intercept=np.array([solution.mean]),
        penalty=best.noise_ratio,
        candidates=tuple(ranked),
        noise=best.noise_ratio * float(ridge.scale[0]),
        robust_weight=all_weights,
        tail=solution.tail,
        posterior=posterior_of(ridge, total),
    )
