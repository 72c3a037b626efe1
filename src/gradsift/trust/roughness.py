"""By how much probabilities may be off for want of draws: of all that was drawn, and of what is
shown of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from gradsift._typing import Array, IntArray
from gradsift.trust.draws import Draws, set_probability, standard_error


@dataclass(frozen=True)
class Roughness:
    """What chains of draws that are no longer one say about probabilities.

    Attributes
    ----------
    standard_error : float
        Largest Monte Carlo standard error of a probability.
    disagreement : float
        Largest difference of a probability between chains of the first and of the second start.
    """

    standard_error: float = 0.0
    disagreement: float = 0.0

    @property
    def value(self) -> float:
        """By how much some probability may be off: two standard errors, or half of the disagreement
        if that is more.
        """
        return max(2.0 * self.standard_error, self.disagreement / 2.0)


def roughness_of(chains: Array) -> Roughness:
    """The roughness of some probabilities, (b, ...) in each chain; the first half of the chains has
    the first start.

    Examples
    --------
    >>> roughness_of(np.array([[1.0, 0.5], [1.0, 0.5], [0.75, 0.5], [0.75, 0.5]])).disagreement
    0.25
    """
    if chains.size == 0:
        return Roughness()
    half = len(chains) // 2
    gaps = np.abs(chains[:half].mean(axis=0) - chains[half:].mean(axis=0))
    return Roughness(float(standard_error(chains).max()), float(gaps.max()))


def largest(found: Iterable[Roughness]) -> Roughness:
    """The largest error and the largest disagreement of several."""
    known = [Roughness(), *found]
    return Roughness(
        max(one.standard_error for one in known), max(one.disagreement for one in known)
    )


def roughness_of_all(draws: Draws) -> Roughness:
    """The roughness of every candidate, shown or not."""
    tallies = [tally for tally in (draws.own, draws.products) if tally is not None]
    return largest(roughness_of(tally.means) for tally in tallies)


def roughness_of_columns(draws: Draws, columns: IntArray) -> Roughness:
    """The roughness of what is said of some columns: that they act, by themselves or in a
    product.
    """
    return largest(roughness_of(column_chains(draws, int(column))) for column in columns)


def column_chains(draws: Draws, column: int) -> Array:
    """Probability (b,) of a column to act by itself or in a product, in each chain."""
    own = draws.own.means[:, draws.columns == column].sum(axis=1)
    if draws.products is None:
        return np.asarray(own)
    pairs = np.flatnonzero((draws.pairs == column).any(axis=1))
    some = set_probability(draws.products.views_of(pairs)).mean(axis=0, dtype=np.float64)
    return np.asarray(1.0 - (1.0 - own) * (1.0 - some))
