"""Responses with a likelihood: a subclass defines five methods and inherits the others.

A subclass defines, for a predictor eta (n, 1) on the link scale, its deviance -2 log L(eta)
(nuisance parameters profiled out), the score d log L / d eta, the information (the expected
-d^2 log L / d eta^2 of each row), the response of some rows, and how eta becomes a prediction.
Everything else follows:

- least squares stands for the likelihood by the *working response* W(eta) = eta + score(eta) / mean
  information, with equal weights (weights of iteratively reweighted least squares would depend on
  what is explained); where nothing is known yet, by normal scores of the score at eta = 0 (of
  survival times, by the score itself);
- supports are fitted by penalised likelihood, with a prior N(0, 1) for the coefficient of each
  feature of unit variance;
- the first term of the sift's criterion is the deviance.

References
----------
:cite:`mccullagh-1989`
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import rankdata

from gradsift.protocols import Array, IntArray

STEPS = 50
"""Newton steps of a penalised fit at most; five to eight are usual."""
TOL = 1e-8
"""Fall of the penalised deviance, per row, below which a fit has converged."""


class Link(Protocol):
    """The part of a response that a fitted model keeps: how eta becomes a prediction."""

    def predict(self, eta: Array) -> Array: ...


@dataclass(frozen=True, eq=False)
class Likelihood(ABC):
    """A response with a likelihood.

    Attributes
    ----------
    y : (n,) array
        The response, in a form that `take` can index.
    offset : (n, 1) array, optional
        A known part of eta.
    """

    y: NDArray[Any]
    offset: Array | None = None
    robust: ClassVar[bool] = False  # the likelihood says what an outlier is
    codes: ClassVar[None] = None
    offset_columns: ClassVar[int] = 1
    fallback: ClassVar[str] = "one value for all rows"

    @classmethod
    def records(cls, y: object) -> Array | None:
        """(n, ...) values of a y that is more than one column; None where it is one."""
        return None

    @classmethod
    @abstractmethod
    def of(cls, y: Array, weight: Array | None = None) -> Self:
        """The response of values y, checked; `weight` are counts of rows."""

    @abstractmethod
    def deviance(self, eta: Array, weight: Array) -> float:
        """-2 log likelihood (up to a constant) at eta (n, 1), offset added, nuisance profiled out;
        rows count `weight` (n,) times.
        """

    @abstractmethod
    def score(self, eta: Array, weight: Array) -> Array:
        """(n, 1) derivative of the log likelihood of each row, over its weight."""

    @abstractmethod
    def information(self, eta: Array, weight: Array) -> Array:
        """(n, 1) information of each row, over its weight; positive."""

    @abstractmethod
    def link(self, eta: Array, weight: Array) -> Link:
        """How predictions follow from eta, with the nuisance parameters at eta."""

    def curvature(self, D: Array, eta: Array, weight: Array) -> Array:
        """(m, m) second derivative of half the deviance in the coefficients of a design D (n, m):
        by the information, unless a subclass knows it exactly.
        """
        return np.asarray(D.T @ (self.information(eta, weight) * weight[:, None] * D))

    @property
    def values(self) -> Array:
        """(n,) values of the response."""
        return np.asarray(self.y)

    @property
    def exchangeable(self) -> bool:
        """Whether rows are exchangeable if no column acts: not with an offset."""
        return self.offset is None

    def take(self, rows: IntArray) -> Self:
        """The response of some rows."""
        offset = None if self.offset is None else self.offset[rows]
        return replace(self, y=self.y[rows], offset=offset)

    def given(self, part: Array) -> Self:
        """The same response with a known part (n, 1) of eta."""
        return replace(self, offset=part if self.offset is None else self.offset + part)

    def start(self, weight: Array | None = None) -> Array:
        """(n, 1) what stands for the response where nothing is known: normal scores of the score at
        eta = 0.
        """
        n = len(self.values)
        weight = np.ones(n) if weight is None else weight
        place = (rankdata(self.score(np.zeros((n, 1)), weight)[:, 0]) - 0.5) / n
        return np.asarray(ndtri(place))[:, None]

    def unit(self, weight: Array) -> float:
        """Standard deviation of the noise of the working response at eta = 0."""
        information = self.information(np.zeros((len(weight), 1)), weight)[:, 0]
        return float(1.0 / np.sqrt(np.average(information, weights=weight)))

    def informative_rows(self, weight: Array) -> float:
        """The total information at eta = 0, in rows; at most that of all rows. It is the number of
        events of survival times and of rare counts.
        """
        total = weight @ self.information(np.zeros((len(weight), 1)), weight)[:, 0]
        return float(min(total, weight.sum()))

    def working(self, eta: Array, weight: Array) -> Array:
        """(n, 1) the working response at eta."""
        information = np.average(self.information(eta, weight)[:, 0], weights=weight)
        return np.asarray(eta + self.score(eta, weight) / information)

    def fit(self, D: Array, weight: Array, penalty: float = 1.0) -> Array:
        """Coefficients (m, 1) of a design D (n, m) of largest likelihood, with `penalty` / 2 times
        their squares subtracted: Newton steps, halved until they gain.
        """
        beta = np.zeros((D.shape[1], 1))
        now = self.deviance(D @ beta, weight)
        for _ in range(STEPS):
            eta = D @ beta
            hessian = self.curvature(D, eta, weight) + penalty * np.eye(D.shape[1])
            slope = D.T @ (self.score(eta, weight) * weight[:, None]) - penalty * beta
            step, before = np.linalg.solve(hessian, slope), now
            for halved in range(STEPS):
                moved = beta + step / 2.0**halved
                now = self.deviance(D @ moved, weight) + penalty * float((moved**2).sum())
                if now <= before:
                    beta = moved
                    break
            if before - now < TOL * len(D):
                break
        return beta

    def adjusted_for(self, C: Array | None, weight: Array | None) -> Self:
        """The same response given its regression on covariates C (n, k) alone."""
        if C is None:
            return self
        return self.given(C @ self.coefficients(C, np.zeros((len(C), 0)), weight))

    def coefficients(self, C: Array, others: Array, weight: Array | None) -> Array:
        """Coefficients (k, 1) of covariates C in a regression on C and other columns (n, m)."""
        weight = np.ones(len(C)) if weight is None else weight
        return self.fit(np.column_stack([C, others]), weight, penalty=0.1)[: C.shape[1]]
