"""Every number that changes what the sift answers, each with its reason.

`SiftSettings` define the statistical procedure. `Limits` bound time and memory for large tables,
and change answers only by which columns are compared. Numbers that only bound a rounding error, or
change time or memory alone, stay with the code that uses them. The effect of each setting is
measured (record `ablation/table`) by halving it, doubling it and, if possible, switching it off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradsift.protocols import Array


@dataclass(frozen=True)
class Limits:
    """What large tables may take."""

    most_columns: int = 4000
    """Columns of a wide table, the most promising, that are searched; and columns of which all
    pairs are tested, however many rows there are.
    """
    most_products: float = 1e12
    """Rows times squared columns, times responses, up to which all pairs of columns are tested: 10
    seconds on two cores, and a fit does it up to five times. Beyond it, the most promising columns
    are paired, as many as give the same number times the part of all pairs that is in reach.
    """
    cluster_cost: int = 10
    """Times as long as others that products take to test where rows belong together."""
    least_columns: int = 250
    """Columns that are searched at least, however little memory the table takes; and groups that a
    proposal of the path may hold, which keeps long tables quick.
    """
    free_values: int = 5_200_000
    """Feature values (bytes) kept however small the table: no trouble on any machine."""
    most_values: int = 300_000_000
    """Feature values (bytes) kept at most, in tables of many rows."""


@dataclass(frozen=True)
class SiftSettings:
    """The settings of the sift; the steps they belong to are those of `docs/algorithm.md`."""

    # features of one column
    clip: float = 3.0
    """Standard deviations at which columns are cut off, and robust ones at which residuals are: one
    outlying row must determine neither a feature nor a fit. Also the range that the bumps cover.
    """
    clip_lines: bool = True
    """Whether linear features are cut off too. Effects mostly level off in the tails of a column,
    but a sum of columns does not: where the columns found explain more without the cut, a second
    search goes without it.
    """
    n_bumps: int = 8
    """Local features per column. Fewer miss waves, more spend degrees of freedom on noise."""
    ridge: float = 1e-3
    """Added to the correlations of features, where ties make them (nearly) dependent, and to those
    of a support, where near-copies do; coefficients lose .1 %.
    """
    # how large a group must be
    shares: tuple[float, float, float, float] = (0.3, 0.25, 0.2, 0.25)
    """How linear, quadratic and local groups, and products of two columns, divide the level: simple
    effects are the likelier ones.
    """
    n_known: int = 30
    """A generous size of a support: groups that a further group of a selected column competes with;
    products that a screen passes on to the search; groups beyond which a proposal that costs more
    than it explains is no start; columns from which on design effects of clusters
    of rows are shrunk towards their mean, because fewer do not tell how much they differ. Twice as
    many places of the ranking, as many as a panel has, are filled one after the other, each by the
    column that adds most to those before it: near-copies would follow each other otherwise.
    """
    # columns that are one variable
    joint_share: float = 0.5
    """Part of a variable's level that is for all its columns together; the others share the rest
    equally. Effects spread over the columns and effects of one column are as likely.
    """
    # rows that belong together
    most_correlation: float = 0.95
    """Correlation of the noise of two rows of a cluster at most: closer to 1, nothing of what lies
    between clusters would count.
    """
    # the path that proposes supports
    path_step: float = 0.8
    """Factor from one penalty of the path to the next."""
    path_end: float = 0.12
    """Where the path ends, as a fraction of its first penalty."""
    # the search for the best support
    most_df: float = 0.5
    """Coefficients that a support may have, as a part of the number of rows: more fit anything.
    A variable of several columns may have half as many; beyond it, leading principal components
    stand for the columns.
    """
    searched_df: float = 0.5
    """Degrees of freedom a column costs for having been searched for. Without, columns that explain
    each other's noise pass together with a true one: .57 false in 50 rows instead of .33.
    """
    breadth: int = 4
    """Groups tried as an addition, and as a replacement of each group, in a step of the search; and
    proposals from which the relaxed search starts, because weak signals have many optima.
    """
    relaxed: float = 2.0
    """False columns allowed in the relaxed support, which only proposes and ranks."""
    rounds: int = 3
    """Times that a residual is cut off and fitted again, looked at for products, and looked at for
    columns left out of the search: what a fit reveals changes little after that.
    """
    # a curve along a sum of columns
    index_gain: float = 0.5
    """Part of what the support leaves, and of what a line leaves, that a curve along one sum of
    columns must not exceed. On 200 rows and 20 columns, sin(2u) leaves .03 to .04 of the variance
    where the support leaves .4 to .96, and noise alone .6 to .7.
    """
    index_rows: int = 8
    """Rows for each column that such a sum may have: the direction is least squares in as many
    numbers.
    """
    index_bumps: int = 7
    """Bumps of the curve, one standard deviation wide, from 2.5 below to 2.5 above the mean."""
    index_ridge: float = 1e-4
    """Penalty, per row, of the bumps; and of a step, in units of its mean curvature."""
    # the order of columns that are not selected
    left_over: float = 0.3
    """False discovery rate at which a column outside of the support counts as associated with the
    response along a line. Where none does, columns are ranked by their own evidence. At .1, the
    average precision of weak linear effects is .005 to .015 lower, of thresholds .02 to .04; at .5,
    that of curved effects .003 to .01.
    """
    forward_ridge: float = 0.02
    """Ridge per column, on columns of length 1, with which those before are taken out: near-copies
    keep some of what they say, because they average noise.
    """
    # large tables
    limits: Limits = Limits()
    """What they may take."""

    @property
    def n_features(self) -> int:
        """Features of one column: linear, quadratic, bumps."""
        return 2 + self.n_bumps

    @property
    def part_sizes(self) -> tuple[int, int, int]:
        return 1, 1, self.n_bumps

    @property
    def parts(self) -> tuple[slice, slice, slice]:
        """Linear, quadratic and local features of one column."""
        return slice(0, 1), slice(1, 2), slice(2, 2 + self.n_bumps)

    @property
    def bump_sd(self) -> float:
        """Width of a bump, in standard deviations of the column."""
        return self.clip / self.n_bumps

    @property
    def knot_levels(self) -> Array:
        """The mid-quantiles at which bumps are centred."""
        return (np.arange(self.n_bumps) + 0.5) / self.n_bumps


DEFAULT = SiftSettings()
