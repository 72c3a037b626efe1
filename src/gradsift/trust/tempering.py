"""Parallel tempering: hotter chains beside those that count, so that these change their mode.

Columns that explain a response as well together as others do are modes of the posterior, and chains
that draw one slot at a time seldom go from one to the other. At a *power* below one of the
likelihood the modes are flat, and chains wander. Chains of neighbouring powers swap their states,
with the probability that leaves the posterior of both as it is (Geyer, 1991). Only chains at power
one count.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from gradsift._typing import Array, IntArray
from gradsift.trust.slots import Chains, Noise


def at_powers(chains: Chains, powers: tuple[float, ...]) -> Chains:
    """The same chains at each of several powers of the likelihood."""
    b = len(chains.residual)
    return chains.take(np.tile(np.arange(b), len(powers)), powers)


def log_density(noise: Noise, chains: Chains) -> Callable[[Array], Array]:
    """log density (b,) of where chains are, as a function of the powers (b,) of their likelihood:
    variance of the noise integrated out, prior of what the slots hold left out.
    """
    left = np.square(chains.residual, dtype=np.float64).sum(axis=(1, 2))
    used, size = chains.used.sum(axis=0), chains.size.sum(axis=0)

    def density(power: Array) -> Array:
        half = (power * noise.dof + used) / 2
        return np.asarray(gammaln(half) - half * np.log((power * left + size + 1e-300) / 2))

    return density


def swapped(
    density: Callable[[Array], Array],
    powers: tuple[float, ...],
    turn: int,
    u: Array,
    stays: NDArray[np.bool_] | None = None,
) -> IntArray:
    """(b,) which chain goes where, if every second pair of neighbouring powers may swap; the other
    pairs have the next turn. `density` as `log_density`; u (b,) are uniform; chains that `stays`
    (b,) do not swap: hotter ones cannot hold what they hold.
    """
    bound = np.zeros(len(u), dtype=bool) if stays is None else stays
    each = len(u) // len(powers)
    order = np.arange(len(u))
    own = np.repeat(powers, each)
    other = own.copy()
    pairs = [
        (np.arange(i * each, (i + 1) * each), np.arange((i + 1) * each, (i + 2) * each))
        for i in range(turn % 2, len(powers) - 1, 2)
    ]
    for cold, hot in pairs:
        other[cold], other[hot] = own[hot], own[cold]
    gain = density(other) - density(own)
    for cold, hot in pairs:
        free = ~(bound[cold] | bound[hot])
        taken = np.flatnonzero(free & (np.log(1.0 - u[cold]) < gain[cold] + gain[hot]))
        order[cold[taken]], order[hot[taken]] = hot[taken], cold[taken]
    return order
