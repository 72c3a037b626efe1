"""Every number that changes what the refit answers, each with its reason.

Numbers that only change time or memory, starting points of searches and tolerances of rounding stay
next to the code that uses them. The effect of each is in `docs/benchmarks/accuracy.md`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gradsift.protocols import Array


def exponentials(first: float, end: float, step: float) -> tuple[float, ...]:
    """exp(first), exp(first + step), ... below exp(end)."""
    return tuple(np.exp(np.arange(first, end, step)).tolist())


@dataclass(frozen=True)
class RefitSettings:
    """The settings of the refit; the steps they belong to are those of `docs/algorithm.md`."""

    # rows
    tuning_rows: int = 300
    """Rows that tune the kernel: the evidence costs their cube."""
    landmarks: int = 1_000
    """Rows that carry the predictor."""
    least_pivot: float = 0.3
    """Time: variance that a row must add to the kernel to carry the predictor of more rows than
    `landmarks`, in units of the noise of the mean of all rows. Of 20,000 rows 260 in place of 800
    carry it; predictions change by a thousandth of the noise.
    """
    exact_rows: int = 4_000
    """Rows up to which each is left out of a refit that all others carry; of more, the landmarks
    carry it.
    """
    most_rows: int = 1_000
    """Rows of which matrices are decomposed, at the cost of their cube. On so many, penalty and
    stretch of labels are chosen; up to so many, a ridge on all columns is tried; so many tune and
    carry the kernel ridges.
    """
    clip: float = 3.0
    """Standard deviations at which columns are cut off for the predictors on all columns: an
    outlying value would dominate a ridge, and make its row unlike all others for a kernel. And the
    robust ones at which the response is cut off for the fit that looks for outliers, and from which
    rows lose weight, where there may be some.
    """
    # kernels and the choice among them
    start_noise: float = 0.1
    """Noise over signal from which the evidence is maximised."""
    shrink_scales: bool = False
    """Whether length scales are drawn towards 2 sqrt(d): labels say little about a single one."""
    per_angle: float = 0.5
    """Nats that each of the d (d - 1) / 2 angles of a rotated kernel costs."""
    linear_per_variable: float = -1.0
    """Nats per length scale that the linear kernel does without. Without this bonus R2 is the same
    (48 refit designs +.0008 (.0006), 40 folds of real tables +.005 (.006)), but 3 of 46 fits of
    linear designs choose another kernel.
    """
    rotation_rounds: int = 5
    """Rotations at most, each in the axes of the fit before. With one alone, the error of gradients
    of numbers rises by .010 (.002); that of labels falls by .03 (.01). Where the first one is not
    worth its angles there is no second: on 19 designs, later ones won .4 nats at most.
    """
    most_rotated: int = 15
    """Variables up to which rotations are tried: beyond, angles cost more than they ever won."""
    anova_trial: int = 10
    """Time: iterations after which a hopeless anova fit, the dearest of the four, is given up."""
    anova_hope: float = 10.0
    """Time: nats that its remaining iterations may still win (largest gain measured: 6)."""
    penalties: tuple[float, ...] = (10.0, 3.2, 1.0, 0.32, 0.1)
    """Penalties of logistic regression, largest first. Leave-one-out is too noisy for less."""
    stretches: tuple[float, ...] = (1.0, 1.6)
    """Factors on all length scales, which make up for coding labels as numbers. Without the second
    one, the error of gradients rises by .02 to .04 on two sets of seeds, most where a class is
    rare; log loss is the same within .001.
    """
    # outliers in the response
    outlier_z: float = 4.5
    """Robust standard deviations beyond which a leave-one-out residual suggests outliers."""
    noise_floor: float = 0.05
    """Least noise, as a share of the spread of y: errors of approximation are no outliers."""
    robust_rounds: int = 3
    """Time: fits in turn with lowering weights; twice as many change nothing."""
    settled: float = 0.1
    """Time: change of a row's weight that makes another round worth while; half of it changes
    nothing.
    """
    robust_gain: float = 0.9
    """Typical error that a fit with lowered weights must reach, as a fraction of that without."""
    most_outliers: float = 0.125
    """Part of the rows beyond which those of lowered weight may be the tail of the response."""
    most_skewed: float = 1.0 / 3.0
    """Quartile skewness of residuals beyond which they are: one twice as far off as the other."""
    # predictors on all columns
    ensemble_rows: tuple[int, int] = (10, 10_000)
    """Least and most rows of a table for which any is tried."""
    ridge_cut: float = 6.25
    """Squared standard errors by which a correlation must stand out: 1 % of noise columns do."""
    ridge_columns: int = 20_000
    """Columns that the ridge may use: those that stand out most."""
    ridge_noise: tuple[float, ...] = exponentials(np.log(1e-5), np.log(1e2), 0.1)
    """Noise ratios tried for the ridge, in units of the mean variance of its prior: a grid, which
    rounding does not move.
    """
    kernel_lengths: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0)
    """Length scales tried, in units of the typical size of a row, from the longest, which is nearly
    a line, down as long as rows left out are predicted better.
    """
    laplace_lengths: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0, 8.0)
    """The same for the Laplace kernel, in units of the number of columns. Beside ridge and Gaussian
    kernel, it brought the mean rank among six predictors on 25 tables from 1.98 to 1.72. On 500
    folds of these, predictions without it lose .0017 (.0007) of R2 or accuracy.
    """
    differences: int = 1_000_000_000
    """Absolute differences up to which a Laplace kernel is tried: a second of work."""
    kernel_noise: tuple[float, ...] = exponentials(-7.0, 4.1, 0.5)
    """Noise ratios tried, in units of the mean eigenvalue."""
    kernel_columns: int = 20_000
    """Columns of a table above which no kernel ridge is tried: it keeps rows of all columns."""
    kernel_trials: tuple[int, int] = (250, 500)
    """Rows of two samples that say whether a kernel on all columns may get a share. In tables of
    less than twice the second number it is fitted without asking.
    """
    least_learning: float = 0.03
    """Nats per row that it may always gain when rows double."""
    folds: int = 10
    """Folds of the rows that the ridge is scored on."""
    held_out_rows: int = 200
    """Rows held out in all, at least: of fewer rows, several divisions into folds are made."""
    most_repeats: int = 4
    """Divisions into folds at most."""
    slopes: tuple[float, ...] = exponentials(-3.0, 4.0, 0.1)
    """Slopes tried that turn least-squares scores of coded labels into log odds."""
    softmax_factors: tuple[float, ...] = tuple(np.exp(-0.1 * np.arange(20, -1, -1)).tolist())
    """Factors tried on the slope of several classes, whose log odds of one against the rest are too
    bold together.
    """
    stacking_power: float = 0.25
    """Power of the odds in which predictions are averaged: scores of few rows are noisy."""
    least_gain: float = 7.0
    """Nats that a predictor on all columns must gain: 6, and log 3 because three are tried. On pure
    noise one of them does in one to three tables of a hundred.
    """
    least_weight: float = 0.02
    """A smaller part in the average is not worth reading its columns with every prediction."""

    def pivot(self, noise_ratio: float, weights: Array) -> float:
        """Least variance of a pivot for rows with these weights (n,)."""
        few = len(weights) <= self.landmarks
        return 0.0 if few else self.least_pivot * noise_ratio / float(weights.sum())


NUMBERS = RefitSettings()
LABELS = RefitSettings(
    start_noise=0.5,
    shrink_scales=True,
    per_angle=1.0,
    linear_per_variable=0.0,
    rotation_rounds=1,
    landmarks=300,
)
"""Labels are noisier than numbers: they start from more noise, pay more for angles and rotate once.
"""

SURVIVAL = replace(NUMBERS, least_gain=0.0)
"""Times with few events say little about any predictor, and a weak one still orders the rows: where
2 nats are asked for, the held-out concordance falls by .005 on 15 real tables, by .04 on one. On
noise, 13 tables of 40 get such a member in place of 6; risks have a standard deviation of .10 in
place of .09.
"""
