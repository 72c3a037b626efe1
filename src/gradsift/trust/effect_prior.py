"""The prior of one effect: its shape, and its size.

With orthonormal features Z_g of a part g (linear, quadratic, local), Z_g Z_g' = n I, coefficients
b ~ N(0, s^2 v_g / n) and a residual r, the Bayes factor of an effect is closed form,

    log BF = - sum_g m_g / 2 log(1 + v_g)  -  nu / 2 log(1 - sum_g k_g ||Z_g r||^2 / (n a)),

with k_g = v_g / (1 + v_g), m_g features, a = ||r||^2 and the noise variance s^2 integrated out
under the prior 1 / s^2. This is the single-effect regression of SuSiE [1]_ with functions in place
of slopes and Student in place of Gaussian Bayes factors.

References
----------
.. [1] G. Wang, A. Sarkar, P. Carbonetto and M. Stephens (2020). A simple new approach to variable
   selection in regression, with application to genetic fine mapping. Journal of the Royal
   Statistical Society B 82, 1273-1300.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradsift._typing import Array, IntArray
from gradsift.trust.finding_settings import FindingSettings

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
