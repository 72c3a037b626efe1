"""Every number that changes what credible families say, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FamilySettings:
    """The settings of credible families; the steps they belong to are those of `docs/trust.md`."""

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
    empty: float = 0.75
    """Prior probability that a slot is empty. At one half, 21 tables of noise had 3 families."""
    spare_slots: int = 2
    """Slots beyond the terms that the sift selected, for effects it missed."""
    # what is drawn from
    pool: int = 1000
    """Columns that the first draws choose from: those with the largest Bayes factors against the
    response or what any term leaves, as true columns masked by others may rank far down.
    """
    pool_values: int = 10_000_000
    """Feature values of the pool (40 MB): fewer columns of a table of more than 1,000 rows, where
    evidence is sharper.
    """
    active: int = 128
    """Columns that the other draws always look at, at most: those the first draws chose."""
    least_active: float = 1e-3
    """Columns with a smaller probability in the first draws are looked at by chance."""
    others: int = 128
    """Columns that a draw of a slot looks at by chance, about."""
    neighbours: int = 24
    """Columns that may stand for each variable of a product: those most correlated with it."""
    # the draws
    first_chains: int = 16
    """Chains side by side in the first draws, half from the sift's fit, half from nothing."""
    first_sweeps: int = 24
    """Sweeps of the first draws, of which the last two thirds say which columns go on."""
    powers: tuple[float, ...] = (1.0, 0.7, 0.45, 0.25)
    """Powers of the likelihood in the other draws: one, which counts, and those of hotter chains
    that swap states with it.
    """
    class_powers: tuple[float, ...] = (1.0, 0.6)
    """The same for several classes, whose likelihood is an integral and takes longer."""
    level_rows: int = 100_000
    """Rows of all levels of a chain at most; labels of long tables have fewer levels."""
    burn_in: int = 10
    """Sweeps after which the chains of each power have parted."""
    most_rounds: int = 5
    """Times that as many sweeps say which columns are likely, at most."""
    most_unlikely: float = 0.03
    """Probability of all columns together that are looked at by chance, at which this ends."""
    least_sweeps: int = 40
    """Kept sweeps before the first look at their accuracy."""
    most_sweeps: int = 400
    """Kept sweeps at most."""
    standard_error: float = 0.01
    """Largest Monte Carlo standard error of any probability at which the draws end: two runs then
    differ by less than .03 in nearly all cases.
    """
    # families from draws
    level: float = 0.95
    """A family grows until its probability is this."""
    least_probability: float = 0.5
    """Families less probable than this are not reported."""
    takes_place: float = 0.5
    """A column joins a family if it adds this part of its own probability at least: it acts in
    the place of the members, not beside them.
    """
    related: float = 0.3
    """Smallest correlation of a member with the first one, in absolute value."""
    least_gain: float = 2e-3
    """A family ends where no column adds more to its probability."""
    most_members: int = 100
    """Columns of a family at most."""


DEFAULT = FamilySettings()
