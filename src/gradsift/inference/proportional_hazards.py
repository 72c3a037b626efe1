"""A test of proportional hazards: does the effect of the risk change with time?

Problem: survival times with log hazard beta eta_i, eta the predicted risk. The alternative adds
gamma g(t) eta_i, with g the rank of the event time, between -1/2 and 1/2. With the Schoenfeld
residual r_k of the events at a time (eta of the events less its mean over the risk set) and V_k its
variance, the score test of gamma = 0 at the best beta is

    (sum_k g_k r_k)^2 / (sum_k V_k g_k^2 - (sum_k V_k g_k)^2 / sum_k V_k),

a chi-square of one degree of freedom.

References
----------
:cite:`grambsch-1994`
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from gradsift.protocols import Array
from gradsift.responses import Survival

CLEAR = 0.01
"""Words: p-value below which hazards are said not to be proportional."""


@dataclass(frozen=True)
class Proportionality:
    """Whether the effect of a risk stays the same over time.

    Attributes
    ----------
    p_value : float
        Small where the effect changes with time.
    trend : float
        By how much the effect grows from the first event to the last, as a multiple of itself:
        -1 is an effect that is gone at the end.
    """

    p_value: float
    trend: float

    @property
    def holds(self) -> bool:
        """Whether nothing speaks clearly against proportional hazards."""
        return self.p_value >= CLEAR

    def __str__(self) -> str:
        if self.holds:
            return f"Nothing speaks against proportional hazards (p = {self.p_value:.2g})."
        how = "weaker" if self.trend < 0 else "stronger"
        return (
            f"Hazards are not proportional (p = {self.p_value:.2g}): effects get {how} with time, "
            "and hazard ratios are averages over it. Give the variable that changes as strata, or "
            "fit early times (later ones censored) and late times (with entry) apart."
        )


def proportional_hazards(
    response: Survival, eta: Array, weight: Array | None = None
) -> Proportionality:
    """Test whether the effect of a predicted risk changes with time.

    Parameters
    ----------
    response : Survival
    eta : (n,) array
        Predicted risks of its rows.
    weight : (n,) array, optional
        How many times rows count.

    Examples
    --------
    >>> from gradsift.responses.survival import survival_records
    >>> rng = np.random.default_rng(0)
    >>> risk = rng.normal(size=300)
    >>> y = Survival.of(survival_records(rng.exponential(np.exp(-risk)), np.ones(300)))
    >>> proportional_hazards(y, risk).holds
    True
    """
    weight = np.ones(len(eta)) if weight is None else weight
    z = np.asarray(eta, dtype=float)[:, None]
    if np.ptp(z) == 0.0:
        return Proportionality(1.0, 0.0)
    z = (z - z.mean()) / z.std()
    beta = float(response.fit(z, weight, penalty=0.0)[0, 0])
    residuals, variances, times = response.schoenfeld(z[:, 0], beta, weight)
    g = np.searchsorted(np.unique(times), times).astype(float)
    g = g / max(g.max(), 1.0) - 0.5
    g = g - variances @ g / variances.sum()
    information = float(variances @ g**2)
    if information <= 0.0:
        return Proportionality(1.0, 0.0)
    gamma = float(g @ residuals) / information
    p_value = float(chi2.sf(gamma**2 * information, 1))
    return Proportionality(p_value, gamma / beta if beta else 0.0)
