"""The response, and its robust stand-in.

Least squares against y (n, q) is replaced by least squares against fit + winsorised(y - fit), the
stand-in response: outlying rows stay in the fit, with bounded influence (Huber, Robust Statistics,
1981, chapter 7). Labels have no outliers (`robust=False`), and a response with many equal values
(zeros) has no robust scale.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gradsift._run.passes import each_block
from gradsift.numerics.robust import largest_tie, winsorise
from gradsift.protocols import Array, Source
from gradsift.responses import Likelihood
from gradsift.sift.features import clipped
from gradsift.sift.groups import least_squares
from gradsift.sift.rows import Rows
from gradsift.sift.settings import DEFAULT, SiftSettings


@dataclass(frozen=True)
class SiftResponse:
    Y: Array
    """(n, q) kept rows, centred, whitened, unscaled."""
    rows: Rows
    robust: bool
    settings: SiftSettings = DEFAULT
    likelihood: Likelihood | None = None
    """Of the kept rows; None for numbers and classes, which least squares fits."""

    @property
    def root(self) -> Array | float:
        root = self.rows.root
        return root if isinstance(root, float) else root[:, None]

    @cached_property
    def start(self) -> Array:
        """The stand-in for an empty fit, rows scaled."""
        return self.adapted(np.zeros_like(self.Y))

    @property
    def weight(self) -> Array:
        """(n,) of the kept rows."""
        weight = self.rows.weight
        return np.ones(len(self.Y)) if weight is None else weight

    @cached_property
    def unit(self) -> float:
        """A standard deviation of noise, on the link scale."""
        return 1.0 if self.likelihood is None else self.likelihood.unit(self.weight)

    def adapted(self, fit: Array) -> Array:
        """The response given a fit: fit + winsorised(y - fit), or the working response of a
        likelihood; centred. `fit` and the answer have scaled rows.
        """
        if not self.robust and (self.likelihood is None or not fit.any()):
            return self.Y * self.root
        plain = fit / self.root
        if self.likelihood is not None:
            W = self.likelihood.working(plain * self.unit, self.weight) / self.unit
            return self.rows.recentred(W) * self.root
        Y = plain + winsorise(self.Y - plain, self.settings.clip, self.rows.weight)
        return self.rows.recentred(Y) * self.root

    def fitted(self, Z: Array, Y: Array) -> Array:
        """(n, q) fit to features Z (m, n): by least squares to Y, or by penalised likelihood. Rows
        are scaled.
        """
        if self.likelihood is None:
            return np.asarray(Z.T @ least_squares(Z, Y, self.rows.total, self.settings.ridge))
        D = Z.T / self.root
        beta = self.likelihood.fit(D, self.weight)
        return np.asarray(D @ beta / self.unit * self.root)

    def deviance(self, fit: Array) -> float | None:
        """The deviance of a likelihood at a fit, rows scaled; None without a likelihood."""
        if self.likelihood is None:
            return None
        return self.likelihood.deviance(fit / self.root * self.unit, self.weight)


def make_likelihood(likelihood: Likelihood, rows: Rows, settings: SiftSettings) -> SiftResponse:
    """A response with a likelihood: at first, normal scores of its score."""
    if rows.clusters is not None:
        raise ValueError("a response with a likelihood takes rows for independent: no groups.")
    if rows.kept is not None:
        likelihood = likelihood.take(rows.kept)
    Y = likelihood.start(rows.weight)
    return replace(whitened_response(Y, rows, False, settings), likelihood=likelihood)


def make_response(
    Y: Array, rows: Rows, robust: bool, settings: SiftSettings = DEFAULT
) -> SiftResponse:
    """Centre and whiten the responses (q > 1: symmetric, so that no order of the classes is
    preferred).
    """
    Y = rows.take(np.asarray(Y, dtype=np.float64))
    if Y.shape[1] == 1:
        robust = robust and largest_tie(Y[:, 0], rows.weight) <= settings.most_tied
    if rows.clusters is not None:
        noise = winsorise(Y, settings.clip, rows.weight) if robust else Y
        rows = replace(rows, clusters=rows.clusters.correlated(noise, settings))
    return whitened_response(Y, rows, robust, settings)


def whitened_response(Y: Array, rows: Rows, robust: bool, settings: SiftSettings) -> SiftResponse:
    """The same for kept rows whose dependence is known."""
    Y = rows.centred(Y)
    weight = np.ones(len(Y)) if rows.weight is None else rows.weight
    cov = (Y * weight[:, None]).T @ Y / rows.total
    values, vectors = np.linalg.eigh(cov)
    scale = 1 / np.sqrt(np.where(values > 1e-12 * max(values.max(), 1e-300), values, np.inf))
    Y = Y * scale if Y.shape[1] == 1 else Y @ (vectors * scale) @ vectors.T
    return SiftResponse(Y, rows, robust, settings)


def in_principal_axes(response: SiftResponse, source: Source) -> SiftResponse:
    """Several responses (classes) along the principal axes of their covariances with the columns:
    these are the same in whatever order the classes are.
    """
    q = response.Y.shape[1]
    if q == 1:
        return response
    rows, M = response.rows, np.zeros((q, q))
    weighted = response.Y * np.square(response.root)

    def covariances(X: Array) -> Array:
        along = clipped(X, rows, response.settings).T @ weighted
        return np.asarray(along.T @ along)

    for _, part in each_block(source, lambda _: covariances):
        M += part
    return replace(response, Y=response.Y @ np.linalg.eigh(M)[1])


def given_noise(response: SiftResponse, noise: Array) -> SiftResponse:
    """The same response, with the intraclass correlation of this noise (n, q), whose rows are not
    mapped.
    """
    clusters = response.rows.clusters
    if clusters is None:
        return response
    Y = clusters.unmapped(response.Y.T).T
    rows = replace(response.rows, clusters=clusters.correlated(noise, response.settings))
    return whitened_response(Y, rows, response.robust, response.settings)
