"""The response of a sift: numbers or labels, as the sift sees them and as the refit learns them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, softmax

from gradsift.estimators.covariate_regression import labels_part, numbers_part
from gradsift.numerics.logistic import with_ones
from gradsift.numerics.sampling import drawn_rows
from gradsift.protocols import Array, IntArray
from gradsift.refit import (
    ClassScore,
    NumberScore,
    Refit,
    refit_classification,
    refit_regression,
)

if TYPE_CHECKING:
    from gradsift.estimators.sift_fit import SiftOptions


REFIT_ROWS = 200_000  # rows the refit learns from at most: its 1,000 landmarks gain nothing by more


@dataclass(frozen=True)
class Numbers:
    """A response of numbers, for the sift and for the refit."""

    y: Array
    robust: bool = True
    """Whether rows may be outliers. It goes by the response as it was told: what is left of zeros
    beside covariates or an offset is no tie any more.
    """
    codes = None  # numbers have no classes

    @property
    def values(self) -> Array:
        return self.y

    def take(self, rows: IntArray) -> Numbers:
        return replace(self, y=self.y[rows])

    def covariate_part(
        self, C: Array, beside: Array, rows: IntArray, weight: Array | None
    ) -> Array:
        """Coefficients of covariates C beside other columns, both of some rows."""
        return numbers_part(C, beside, self.y[rows], weight, robust=self.robust)

    def beside(self, C: Array | None, weight: Array | None) -> Numbers:
        """The numbers less what a regression on covariates C alone says of them."""
        if C is None:
            return self
        alone = np.zeros((len(C), 0))
        return self.less(C @ numbers_part(C, alone, self.y, weight, robust=self.robust))

    def less(self, part: Array) -> Numbers:
        """What is left to explain beside a known part (n, 1)."""
        return replace(self, y=self.y - part[:, 0])

    @property
    def contrasts(self) -> Array:
        return self.y[:, None]

    def rows(self) -> IntArray:
        """Rows that the refit learns from."""
        return refit_rows(np.zeros(len(self.y), dtype=int))

    def refit(self, Z: Array, rows: IntArray, weight: Array | None, options: SiftOptions) -> Refit:
        some = None if weight is None else weight[rows]
        return refit_regression(
            Z, self.y[rows], sample_weight=some, robust=self.robust, settings=options.refit
        )

    def log_score(
        self, refit: Refit, weight: Array | None, options: SiftOptions
    ) -> NumberScore | None:
        """How predictors on all columns learn the response; None where none are tried."""
        return NumberScore.of(self.y, weight, refit, options.refit)


@dataclass(frozen=True)
class Labels:
    """A response of class numbers, for the sift and for the refit."""

    codes: IntArray
    classes: Array
    offset: Array | None = None
    """(n, 1) known part of the log odds of the second class, or (n, C) of the scores."""
    robust = False  # labels have no outliers

    @property
    def values(self) -> IntArray:
        return self.codes

    def take(self, rows: IntArray) -> Labels:
        offset = None if self.offset is None else self.offset[rows]
        return Labels(self.codes[rows], self.classes, offset)

    def covariate_part(
        self, C: Array, beside: Array, rows: IntArray, weight: Array | None
    ) -> Array:
        """Coefficients of covariates C beside other columns, both of some rows."""
        some = self.take(rows)
        A = np.column_stack([C, beside])
        return labels_part(A, some.indicators, some.offset, weight)[: C.shape[1]]

    def beside(self, C: Array | None, weight: Array | None) -> Labels:
        """The same labels beside what a logistic model of covariates C alone says of them."""
        if C is None:
            return self
        return self.less(with_ones(C) @ labels_part(C, self.indicators, self.offset, weight))

    @property
    def indicators(self) -> Array:
        """0/1 columns: of the second of two classes, or of all classes."""
        T = (self.codes[:, None] == np.arange(self.n_classes)).astype(float)
        return T[:, 1:] if self.n_classes == 2 else T

    def less(self, part: Array) -> Labels:
        """The same labels beside a known part (n, 1) or (n, C)."""
        return replace(self, offset=part if self.offset is None else self.offset + part)

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def contrasts(self) -> Array:
        contrasts = class_contrasts(self.codes, self.n_classes)
        if self.offset is None:
            return contrasts
        two = self.n_classes == 2
        expected = expit(self.offset) if two else softmax(self.offset, axis=1)[:, 1:]
        return np.asarray(contrasts + 1.0 - 2.0 * expected)

    def rows(self) -> IntArray:
        """Rows that the refit learns from."""
        return refit_rows(self.codes)

    def refit(self, Z: Array, rows: IntArray, weight: Array | None, options: SiftOptions) -> Refit:
        return refit_classification(
            Z,
            self.codes[rows],
            n_classes=self.n_classes,
            sample_weight=None if weight is None else weight[rows],
            offset=None if self.offset is None else self.offset[rows],
            settings=options.refit,
        )

    def log_score(
        self, refit: Refit, weight: Array | None, options: SiftOptions
    ) -> ClassScore | None:
        """How predictors on all columns learn the response; None where none are tried."""
        if self.offset is not None:  # it has no place in predictors on all columns
            return None
        return ClassScore.of(self.codes, self.n_classes, weight, options.refit)


def refit_rows(codes: IntArray) -> IntArray:
    """Rows that the refit learns from: all, or very many drawn with a fixed seed, and one of every
    class at least.
    """
    n = len(codes)
    if n <= REFIT_ROWS:
        return np.arange(n)
    return np.union1d(drawn_rows(n, REFIT_ROWS), np.unique(codes, return_index=True)[1])


def class_contrasts(codes: IntArray, n_classes: int) -> Array:
    """One column of -1 and 1 for two classes, C - 1 indicators for more (the sift whitens them)."""
    indicators = (codes[:, None] == np.arange(1, n_classes)).astype(float)
    return 2.0 * indicators - 1.0
