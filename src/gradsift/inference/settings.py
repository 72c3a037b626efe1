"""Every number that changes what findings and tests say, each with its reason; the effect prior.

The prior of one effect is a mixture over its shapes and sizes. With orthonormal features
Z_g (m_g, n) of a part g (linear, quadratic, local), Z_g Z_g' = n I, coefficients
b ~ N(0, s^2 v_g / n) and a residual r (n,), the Bayes factor of an effect is closed form,

    log BF = - sum_g m_g / 2 log(1 + v_g)  -  nu / 2 log(1 - sum_g k_g ||Z_g r||^2 / (n a)),

with k_g = v_g / (1 + v_g), a = ||r||^2, nu the degrees of freedom of r, and the noise variance s^2
integrated out under the prior 1 / s^2. This is the single-effect regression of SuSiE (Wang et al.
2020) with functions in place of slopes and Student in place of Gaussian Bayes factors.

Numbers that only change time or memory, and tolerances of rounding, are constants of the modules
that use them.

References
----------
:cite:`wang-2020`
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradsift.protocols import Array, IntArray

SHAPES = (
    ("linear", (1.0, 0.0, 0.0)),
    ("quadratic", (0.0, 1.0, 0.0)),
    ("linear + quadratic", (0.5, 0.5, 0.0)),
    ("local", (0.0, 0.0, 1.0)),
    ("linear + local", (0.5, 0.0, 0.5)),
    ("linear + quadratic + local", (1 / 3, 1 / 3, 1 / 3)),
)
"""How the variance of an effect is divided among linear, quadratic and local features."""
PRODUCT = "product"


@dataclass(frozen=True)
class EffectPrior:
    """A mixture prior of one effect: c components, each one shape at one size."""

    variance: Array
    """(c, parts) v: prior variance of coefficients in units of s^2 / n; zero = not used."""
    log_weight: Array
    """(c,) logarithm of the prior probability of each component."""
    shape: IntArray
    """(c,) which of `SHAPES`."""

    @property
    def shrink(self) -> Array:
        """(c, parts) k = v / (1 + v): posterior mean over least-squares estimate, by part."""
        return self.variance / (1.0 + self.variance)


def effect_sizes(n: float, settings: FindingSettings) -> Array:
    """Prior variances of an effect, in units of its squared standard error, increasing."""
    least = settings.least_size
    most = max(settings.most_ratio * n, least)
    count = 1 + int(np.ceil(np.log(most / least) / np.log(settings.size_step)))
    return np.geomspace(least, most, max(count, 2))


def univariate_prior(
    n: float, part_sizes: tuple[int, ...], settings: FindingSettings
) -> EffectPrior:
    """The prior of a function of one column, whose parts have these numbers of features."""
    sizes = effect_sizes(n, settings)
    parts = np.array([share for _, share in SHAPES]) / np.array(part_sizes)
    weights = np.array(settings.shape_weights) / len(sizes)
    return EffectPrior(
        variance=(sizes[:, None, None] * parts).reshape(-1, parts.shape[1]),
        log_weight=np.log(np.tile(weights, len(sizes))),
        shape=np.tile(np.arange(len(SHAPES)), len(sizes)),
    )


@dataclass(frozen=True)
class FindingSettings:
    """The settings of findings; their steps are described in `docs/findings.md`."""

    # candidates
    columns: int = 128
    """Time: candidate columns, those that the sift selected and those with the largest Bayes
    factors against the response or a partial residual. 96 and 256 give the same log loss (33
    tables).
    """
    least_columns: int = 24
    """Time: candidate columns of a long table at least: evidence is sharp there, and features long.
    """
    values: int = 2_000_000
    """Time: rows times candidate columns at most; fewer columns where rows are more than 15,600."""
    neighbours: int = 8
    """Columns that may take the place of either side of a product that the sift selected."""
    least_length: float = 0.5
    """Features of a smaller squared length depend on others: a column of two values has one
    feature, not ten. With the ridge of the sift, a feature has this length where .001 of its
    variance is independent of the features before it.
    """
    least_adjusted_length: float = 1e-3
    """Rounding: squared length of a feature given the columns that are always kept, below which it
    is one of their combinations.
    """
    # the prior of one effect
    least_size: float = 16.0
    """Squared size, in standard errors, of the smallest effects of the prior: the largest of 2,000
    columns of noise has 2 log 2,000 = 15, so that smaller effects cannot be found in wide tables.
    """
    most_ratio: float = 1.5
    """Signal to noise of the largest effects: 60 % of the variance."""
    size_step: float = 9.0
    """Largest ratio of two neighbouring squared sizes: a prior variance that is wrong by a factor
    of three costs half a unit of log evidence for each feature.
    """
    shape_weights: tuple[float, ...] = (0.3, 0.15, 0.15, 0.1, 0.15, 0.15)
    """Prior probability of each of `SHAPES`: straight lines most often, as in the sift; mixtures
    not much less, so that one straight column does not lightly take the place of two curved ones.
    """
    product: float = 0.2
    """Prior probability that an effect is a product, where the sift selected one."""
    # the number of effects
    spare_slots: int = 3
    """Slots beyond the terms that the sift selected, for effects it missed."""
    first_odds: float = 0.4
    """Prior odds that a slot is filled while all others are empty. Findings in a table without any
    effect: .06 with odds of .2, .08 with .4, .12 with .6; effects of sparse tables that are in
    findings of .5 or more: .62, .66, .68 (300 tables).
    """
    further_odds: float = 2.0
    """The same where some other slot is filled: a table in which one effect is seen has more."""
    most_odds: float = 0.05
    """Odds of a slot to hold one given column at most (two fifths of it while all slots are empty),
    so that the prior alone makes no finding in a table of few columns.
    """
    power: float = 0.8
    """Power of the likelihood. Real noise and real effects are not those of the model, so its
    evidence is too sharp: with 1, claims of .95 or more were right in .91 of the cases.
    """
    # the draws
    chains: int = 64
    """Time: chains that run at the same time, half from the fit of the sift, half from nothing."""
    least_chains: int = 8
    """Time: chains at least, where slots or classes are many."""
    burn_in: int = 30
    """Time: sweeps at the start of each chain that are discarded."""
    sweeps: int = 60
    """Time: sweeps after these. With a third of the draws, the Monte Carlo error of confidences is
    up to .1.
    """
    most_draws: int = 80_000
    """Time: slots drawn in all chains together, times half of the contrasts; more draws give the
    same findings with less Monte Carlo error.
    """
    start_ridge: float = 1e-3
    """Rounding: ridge of the least-squares fit that half of the chains start from: its terms may be
    near-copies of each other.
    """
    # from draws to findings
    level: float = 0.95
    """A finding grows until one of its columns acts in this share of the draws."""
    takes_place: float = 0.5
    """A column joins a finding if the confidence of the finding rises by this part of that of the
    column at least, or by 2 (1 - r^2) of it if that is less: such a column acts in place of the
    members, not together with them.
    """
    related: float = 0.3
    """Smallest absolute correlation of a member with the first one."""
    least_gain: float = 2e-3
    """A finding is complete where no column adds more to its confidence."""
    most_members: int = 100
    """Words: columns that a finding lists at most."""
    most_findings: int = 20
    """Words: findings that are listed at most. Those after the first few have little confidence."""
    least_first: float = 0.02
    """Time: confidence of the first column of a finding at least: columns below it could hardly
    reach `least_confidence` together.
    """
    same_column: float = 0.9999
    """Rounding: absolute correlation of columns that are equal, all of which join a finding
    that one of them begins.
    """
    chosen_views: int = 3_000
    """Time: draws of a slot from which the members of findings are chosen, evenly spaced; all draws
    give their confidence.
    """
    least_partner: float = 0.05
    """Words: columns that a product is reported to act with: those with this part of the
    probability of the most probable one.
    """
    least_confidence: float = 0.3
    """Words: findings below this are not reported."""
    most_confidence: float = 0.995
    """No confidence is above it, except for columns that are always kept: too few tables were
    measured to distinguish .995 from 1.
    """


@dataclass(frozen=True)
class ColumnTestSettings:
    """The settings of tests of columns; their steps are described in `docs/guarantees.md`."""

    # which columns are tested given the others, together with which
    most_candidates: int = 40
    """Time: columns tested at most, besides those that the user names and the first ones of
    findings: each takes two more sifts.
    """
    further: int = 6
    """Columns tested that are in no support, those with the smallest p-values: the sift may have
    missed them by a little.
    """
    stand_in: float = 0.8
    """Absolute correlation from which on columns are tested together. A false column whose
    correlation with a true one is lower can be a false discovery.
    """
    gate: float = 0.1
    """The second round needs a q-value of the first that is no larger: without one, the selected
    columns that it adjusts for may be noise.
    """
    # the random effect
    shares: tuple[float, ...] = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
    """Shares of the variance that are tried: the likelihood is flat, so a finer grid is no gain."""
    share_cost: float = 1.0
    """What a share above zero has to gain in -2 log likelihood: without it, noise has a random
    effect in half of the tables.
    """
    exact_rows: int = 600
    """Time: rows up to which the relationship matrix is exact: each test takes n^3 operations."""
    probes: int = 200
    """Time: random vectors by which it is approximated with more rows."""
    most_rows: int = 20_000
    """Rows above which there is no random effect: the products would take more than 64 MB."""
    # tests given a model
    least_feature: float = 0.03
    """A feature is not tested if less than this part of its length is orthogonal to the design."""
    least_residual: float = 1e-4
    """Rounding: part of the variance of numbers that a residual counts at least: where a model fits
    perfectly, rounding must not make another column significant. The residuals of labels have a
    known variance, which is never taken to be less.
    """
    check_below: float = 0.005
    """p-values of F tests below this are checked against permutations of the rows, as the normal
    approximation is bad far in the tail only.
    """
    label_ridge: float = 1.0
    """Penalty of the squared log odds per standard deviation of a term: finite estimates where
    classes are separated, as with a normal prior of unit variance.
    """
    least_probability: float = 1e-4
    """Rounding: probabilities of a label are no closer to 0 and 1: no residual exceeds 100 standard
    deviations.
    """
    most_partners: int = 20
    """Time: products tested exactly, the most promising of each piece of partners."""
    partners_at_a_time: int = 512
    """Memory: partners of a piece."""
    # tests of columns one by one
    checked_q_value: float = 0.2
    """Time: q-values up to which p-values of single columns are checked against permutations of the
    rows: nobody lists columns at a larger false discovery rate.
    """


DEFAULT = FindingSettings()
TESTS = ColumnTestSettings()
