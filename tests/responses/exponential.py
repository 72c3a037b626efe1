"""Waiting times with an exponential law: a response that is written for the tests alone.

y ~ Exp(mean exp(a + eta)); the constant a is profiled out: exp(a) = mean of y exp(-eta).
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp
from sklearn.base import RegressorMixin

from gradsift.estimators.sift import GradientSift
from gradsift.responses import Likelihood


@dataclass(frozen=True)
class LogMean:
    """exp(constant + eta)."""

    constant: float

    def predict(self, eta):
        return np.exp(self.constant + eta[:, 0])


@dataclass(frozen=True, eq=False)
class Exponential(Likelihood):
    @classmethod
    def of(cls, y, weight=None):
        if not (y > 0).all():
            raise ValueError("waiting times are positive.")
        return cls(np.asarray(y, dtype=float))

    def known(self, eta):
        return eta[:, 0] if self.offset is None else eta[:, 0] + self.offset[:, 0]

    def constant(self, eta, weight):
        terms = np.log(self.y) - self.known(eta)
        return logsumexp(terms, b=weight) - np.log(weight.sum())

    def rate(self, eta, weight):
        """y over its mean."""
        return np.exp(np.log(self.y) - self.known(eta) - self.constant(eta, weight))

    def deviance(self, eta, weight):
        a = self.constant(eta, weight)
        return float(2.0 * weight @ (a + self.known(eta) + self.rate(eta, weight)))

    def score(self, eta, weight):
        return (self.rate(eta, weight) - 1.0)[:, None]

    def information(self, eta, weight):
        return np.ones((len(eta), 1))

    def curvature(self, D, eta, weight):
        """Exact: of a mean that follows the rates of all rows."""
        rate = weight * self.rate(eta, weight)
        mean = D.T @ rate
        return D.T @ (rate[:, None] * D) - np.outer(mean, mean) / weight.sum()

    def link(self, eta, weight):
        return LogMean(float(self.constant(eta, weight)))


@dataclass(eq=False, repr=False)
class GradientSiftExponential(RegressorMixin, GradientSift):
    """The estimator of such a response: its class, and `predict`."""

    response_type = Exponential

    def predict(self, X, covariates=None, offset=None):
        return self.link_.predict(self._predicted(X, covariates, offset))
