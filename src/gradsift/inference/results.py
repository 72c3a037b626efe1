"""Results of conditional tests: p- and q-values, and the reduced models of the tests.

A test of a column compares two models: the *reduced model*, which does without the column, and the
same model with the column. `conditional_tests` makes these results, arrays (p,) over all columns;
estimators and reports keep them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from gradsift.protocols import Array, IntArray


@dataclass(frozen=True)
class ReducedModel:
    """The model that the sift selects without a column, or a set of columns, and the test of the
    column given this model.

    Attributes
    ----------
    columns : tuple of int
        Columns of the model.
    unexplained : float
        Share of the variance of the response that the model does not explain.
    background : float
        Share of the residual variance of a random effect of all other columns, each of them weak.
    part : str
        The test with the smallest p-value: "linear", "quadratic", "local" or "product".
    log_p : float
        Logarithm of the p-value of the column given the model.
    """

    columns: tuple[int, ...]
    unexplained: float
    background: float
    part: str
    log_p: float


@dataclass(frozen=True)
class ColumnTest:
    """Two tests of a column: by itself, and together with columns that could take its place.

    Attributes
    ----------
    column : int
    together : tuple of int
        The column and those that it was tested together with: its finding where it has one, else
        its stand-ins, the columns correlated with it.
    alone, as_finding : ReducedModel
        The models without the column, and without all columns of `together`, with their tests.
    """

    column: int
    together: tuple[int, ...]
    alone: ReducedModel
    as_finding: ReducedModel


@dataclass(frozen=True)
class ProductTest:
    """The test of a product of two columns given all univariate features of both."""

    first: int
    second: int
    p_value: float
    q_value: float


@dataclass(frozen=True)
class Significance:
    """p- and q-values of all columns.

    Attributes
    ----------
    p_values, q_values : (p,) arrays
        Of each column given all others. Columns that were not tested have an approximate p-value,
        of their univariate features given the selected columns, and the q-value of p = 1.
    finding_p_values, finding_q_values : (p,) arrays
        Of each column together with those that could take its place (its finding where it has one,
        else the columns correlated with it), given all columns outside this set.
    tests : tuple of ColumnTest
        The columns that were tested, with the reduced models, smallest p-value first.
    products : tuple of ProductTest
        The products that the sift selected, smallest p-value first.
    """

    p_values: Array
    q_values: Array
    finding_p_values: Array
    finding_q_values: Array
    tests: tuple[ColumnTest, ...] = field(repr=False)
    products: tuple[ProductTest, ...] = field(repr=False)

    def discoveries(self, false_discovery_rate: float = 0.1, *, findings: bool = False) -> IntArray:
        """Columns with a q-value up to this, most certain first; with `findings`, one of each set
        of columns that were tested together.
        """
        q = self.finding_q_values if findings else self.q_values
        p = self.finding_p_values if findings else self.p_values
        found = np.flatnonzero(q <= false_discovery_rate)
        return found[np.argsort(p[found], kind="stable")]

    def reason(
        self, column: int, name_of: Callable[[int], str] = "x{}".format, rate: float = 0.1
    ) -> str:
        """Why a column has a small q-value or a large one, in one sentence.

        Examples
        --------
        >>> from gradsift import GradientSiftRegressor, significance
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(150, 30))
        >>> X[:, 8] = X[:, 3] + 0.02 * rng.normal(size=150)
        >>> y = X[:, 3] ** 2 + X[:, 5] + rng.normal(size=150)
        >>> found = significance(GradientSiftRegressor(), X, y)
        >>> found.reason(5)
        'x5 is needed: no other columns explain as much.'
        >>> found.reason(3)
        'a near-copy can take its place: x8.'
        """
        if self.q_values[column] <= rate:
            return f"{name_of(column)} is needed: no other columns explain as much."
        test = next((test for test in self.tests if test.column == column), None)
        if test is None:
            return f"{name_of(column)} was not among the columns that were tested."
        others = [name_of(k) for k in test.together if k != column]
        same = [t.column for t in self.tests if t.together == test.together]
        if others and self.finding_q_values[[column, *same]].min() <= rate:
            return f"a near-copy can take its place: {', '.join(others)}."
        if self.p_values[column] <= rate:
            return f"chance is not excluded: {len(self.p_values):,} columns count as tests."
        best = ", ".join(map(name_of, test.alone.columns)) or "nothing"
        return f"{best} explains as much without {name_of(column)}."
