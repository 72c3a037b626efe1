"""Every number that changes what findings say, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradsift.protocols import Array, IntArray

# The prior of one effect: its shape, and its size.
#
# With orthonormal features Z_g of a part g (linear, quadratic, local), Z_g Z_g' = n I,
# coefficients b ~ N(0, s^2 v_g / n) and a residual r, the Bayes factor of an effect is closed
# form,
#
#     log BF = - sum_g m_g / 2 log(1 + v_g)  -  nu / 2 log(1 - sum_g k_g ||Z_g r||^2 / (n a)),
#
# with k_g = v_g / (1 + v_g), m_g features, a = ||r||^2 and the noise variance s^2 integrated out
# under the prior 1 / s^2. This is the single-effect regression of SuSiE [1]_ with functions in
# place of slopes and Student in place of Gaussian Bayes factors.
#
# References
# ----------
# .. [1] G. Wang, A. Sarkar, P. Carbonetto and M. Stephens (2020). A simple new approach to variable
#    selection in regression, with application to genetic fine mapping. Journal of the Royal
#    Statistical Society B 82, 1273-1300.


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
    """Prior settings of an effect."""

    variance: Array
    """(c, parts) v: prior variance of coefficients in units of s^2 / n; zero = not used."""
    log_weight: Array
    """(c,) logarithm of the prior probability of each setting."""
    shape: IntArray
    """(c,) which of `SHAPES`."""

    @property
    def shrink(self) -> Array:
        """(c, parts) k = v / (1 + v): part of a least-squares coefficient that is believed."""
        return self.variance / (1.0 + self.variance)


def effect_sizes(n: float, settings: FindingSettings) -> Array:
    """Squared sizes of effects in standard errors, from just visible to large."""
    least = settings.least_size
    most = max(settings.most_ratio * n, least)
    count = 1 + int(np.ceil(np.log(most / least) / np.log(settings.size_step)))
    return np.geomspace(least, most, max(count, 2))


def own_prior(n: float, part_sizes: tuple[int, ...], settings: FindingSettings) -> EffectPrior:
    """Settings of a function of one column."""
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
    """The settings of findings; the steps they belong to are those of `docs/findings.md`."""

    # candidates
    columns: int = 128
    """Candidate columns: those that the sift selected, and those with the largest Bayes factors
    against the response or a partial residual. 96 and 256 give the same log loss (33 tables).
    """
    least_columns: int = 24
    """Candidate columns of a long table at least: evidence is sharp there, and features long."""
    values: int = 2_000_000
    """Rows times candidate columns at most; fewer columns of a table of more than 15,600 rows."""
    neighbours: int = 8
    """Columns that may take the place of either side of a product that the sift selected."""
    # the prior of one effect
    least_size: float = 16.0
    """Squared size, in standard errors, of the smallest effects looked for: 2 log 2,000 is 15, so
    smaller ones drown among a few thousand columns.
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
    """Chains side by side, half from the fit of the sift, half from nothing."""
    least_chains: int = 8
    """Chains at least, where slots or classes are many."""
    burn_in: int = 30
    """Sweeps of each chain that do not count."""
    sweeps: int = 60
    """Sweeps that count. With a third of the draws, findings move by up to .1 between seeds."""
    most_draws: int = 80_000
    """Slots drawn in all chains together, times half of the contrasts."""
    # from draws to findings
    level: float = 0.95
    """A finding grows until one of its columns acts in this share of the draws."""
    takes_place: float = 0.5
    """A column joins a finding if it adds this part of its own confidence at least, or 2 (1 - r^2)
    of it if that is less: it acts in the place of the members, not together with them.
    """
    related: float = 0.3
    """Smallest absolute correlation of a member with the first one."""
    least_gain: float = 2e-3
    """A finding ends where no column adds more to its confidence."""
    most_members: int = 100
    """Columns of a finding at most."""
    least_confidence: float = 0.3
    """Findings below this are not reported."""
    most_confidence: float = 0.995
    """No confidence is above, but for kept columns: too few tables were measured to tell .995
    from 1.
    """


DEFAULT = FindingSettings()
