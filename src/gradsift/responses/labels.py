"""A response of labels: contrasts of classes for the sift, log odds for covariates and the refit.

The sift explains C - 1 contrasts of C classes, (n, C - 1), by least squares, which is linear
discriminant analysis in its features (Hastie, Tibshirani and Buja, Flexible discriminant analysis
by optimal scoring, JASA 1994). Covariates are adjusted for by logistic regression.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from scipy.special import expit, softmax

from gradsift.numerics.logistic import fit_binary, fit_multinomial, with_ones
from gradsift.protocols import Array, IntArray

RIDGE = 0.1
"""Penalty of the logistic regression on covariates, in rows: it keeps coefficients finite where
covariates separate the classes.
"""


@dataclass(frozen=True, eq=False)
class Labels:
    """A response of class numbers.

    Attributes
    ----------
    codes : (n,) int array
        Class numbers 0 .. C - 1.
    classes : (C,) array
        The labels of the classes.
    offset : (n, 1) or (n, C) array, optional
        Known part of the log odds of the second class, or of the scores of more classes.
    """

    codes: IntArray
    classes: Array
    offset: Array | None = None
    robust: ClassVar[bool] = False  # labels have no outliers
    fallback: ClassVar[str] = "the class shares"

    @classmethod
    def records(cls, y: object) -> Array | None:
        """Nothing: y is one column."""
        return None

    @classmethod
    def of(cls, y: Array, weight: Array | None = None) -> Self:
        """The response of labels y (n,), checked; weights have no influence."""
        classes, codes = class_codes(y)
        return cls(codes, classes)

    @property
    def values(self) -> IntArray:
        """(n,) class numbers."""
        return self.codes

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def offset_columns(self) -> int:
        """Number of columns of an offset."""
        return self.n_classes if self.n_classes > 2 else 1

    @property
    def exchangeable(self) -> bool:
        """Whether rows are exchangeable if no column acts: not with an offset."""
        return self.offset is None

    @property
    def indicators(self) -> Array:
        """0/1 columns: of the second of two classes, or of all classes."""
        T = (self.codes[:, None] == np.arange(self.n_classes)).astype(float)
        return T[:, 1:] if self.n_classes == 2 else T

    def start(self, weight: Array | None = None) -> Array:
        """(n, C - 1) the response of least squares: contrasts of the classes, less their expected
        values given the offset.
        """
        contrasts = class_contrasts(self.codes, self.n_classes)
        if self.offset is None:
            return contrasts
        two = self.n_classes == 2
        expected = expit(self.offset) if two else softmax(self.offset, axis=1)[:, 1:]
        return np.asarray(contrasts + 1.0 - 2.0 * expected)

    def take(self, rows: IntArray) -> Self:
        offset = None if self.offset is None else self.offset[rows]
        return replace(self, codes=self.codes[rows], offset=offset)

    def given(self, part: Array) -> Self:
        """The same labels with a known part (n, 1) or (n, C)."""
        return replace(self, offset=part if self.offset is None else self.offset + part)

    def adjusted_for(self, C: Array | None, weight: Array | None) -> Self:
        """The labels given a logistic regression on covariates C (n, k) alone."""
        if C is None:
            return self
        return self.given(with_ones(C) @ self._logistic(C, weight))

    def coefficients(self, C: Array, others: Array, weight: Array | None) -> Array:
        """Coefficients (k, 1) or (k, C) of covariates C in a logistic regression on C and other
        columns (n, m).
        """
        return self._logistic(np.column_stack([C, others]), weight)[: C.shape[1]]

    def _logistic(self, X: Array, weight: Array | None) -> Array:
        """Coefficients of columns X and, last, of the constant: (k + 1, 1) in the log odds, or
        (k + 1, C) in the scores of more than two classes.
        """
        A, T = with_ones(X), self.indicators
        weight = np.ones(len(A)) if weight is None else weight
        start = np.zeros((A.shape[1], T.shape[1]))
        if T.shape[1] > 1:
            return fit_multinomial(A, T, weight, RIDGE, start, self.offset)
        known = None if self.offset is None else self.offset[:, 0]
        return fit_binary(A, T[:, 0], weight, RIDGE, start[:, 0], known).beta


def class_codes(y: Array) -> tuple[Array, IntArray]:
    """(classes, codes 0 .. C-1), refusing fewer than two classes."""
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y holds one class only ({classes.tolist()[0]!r}, {len(y)} times): a classifier needs "
            "at least two classes."
        )
    return classes, codes


def class_contrasts(codes: IntArray, n_classes: int) -> Array:
    """One column of -1 and 1 for two classes, C - 1 indicators for more (the sift whitens them)."""
    indicators = (codes[:, None] == np.arange(1, n_classes)).astype(float)
    return 2.0 * indicators - 1.0
