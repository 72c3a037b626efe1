"""The predictor of a fit: g of the selected columns, averaged with members on all columns.

    eta(x) = (1 - sum_m s_m) g(x) + sum_m s_m h_m(x)

on the scale of the link: the mean of numbers (q = 1), the log odds of the second of two classes
(q = 1), or the centred scores of C > 2 classes (q = C). g is a kernel function of the selected
columns (`refit_regression`, `refit_classification`); gradients and directions come from it alone.
Members h_m are a ridge and kernel ridges on all columns (`all_columns`).

The shares s_m, and that of g, are proportional to exp(gain / 4) (stacking with exponential weights,
as in :cite:`yao-2018`). The gain is the log score of held-out rows above that of a constant, in
nats (`log_scores`); the power 1/4 allows for its noise if rows are few. Because the k columns of g
were selected from p, log C(p, k) nats are subtracted from its gain.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.special import softmax

from gradsift._run.passes import each_block
from gradsift.data import ArraySource, ScaledSource, Scaling
from gradsift.protocols import Array, IntArray, Source
from gradsift.refit.all_columns import (
    KernelFit,
    Member,
    RidgeFit,
    distinct_rows,
    fit_kernels,
    fit_screened_ridge,
)
from gradsift.refit.evidence import Refit
from gradsift.refit.log_scores import LogScore, NumberScore, log_choices
from gradsift.refit.settings import RefitSettings


@dataclass(frozen=True, eq=False)
class Predictor:
    """Predictions and gradients at rows in the user's units, for any response.

    Attributes
    ----------
    scaling : Scaling
        Of all columns.
    index : (k,) int array
        The selected columns.
    refit : Refit
        g, a function of the selected columns, standardised.
    members : tuple of LinearMember and KernelMember
        Predictors on all columns, standardised, with which g is averaged; often none.
    shares : tuple of float
        The part that each member has in predictions; g has the rest.
    gains : tuple of float
        Nats by which each member predicts held-out rows better than a constant does.
    selected_gain : float
        The same for g, less log C(p, k) for the choice of k columns; nan if no members were tried.
    spread : float
        Of numbers, errors of the average at held-out rows, in standard deviations that g expects.
    """

    scaling: Scaling
    index: IntArray
    refit: Refit
    members: tuple[Member, ...] = ()
    shares: tuple[float, ...] = ()
    gains: tuple[float, ...] = ()
    selected_gain: float = np.nan
    spread: float = 1.0

    def columns(self, X: Source | Array) -> Array:
        """The selected columns, standardised, (n, k)."""
        return selected_columns(X, self.scaling, self.index)

    @property
    def member_columns(self) -> IntArray:
        """Columns that members use, increasing."""
        used = [member.index for member in self.members]
        return np.unique(np.concatenate(used)) if used else self.index[:0]

    def eta(self, X: Source | Array, use: Literal["auto", "selected"] = "auto") -> Array:
        """Predictions (n, q) on the scale of the link; 'selected' uses g alone."""
        source = ArraySource(X) if isinstance(X, np.ndarray) else X
        own = self.refit.value(self.columns(source))
        if use == "selected" or not self.members:
            return own
        # a view: only the columns that members use are read and standardised
        columns = ScaledSource(source, self.scaling)
        out = (1.0 - sum(self.shares)) * own
        for member, share in zip(self.members, self.shares, strict=True):
            out = out + share * member.scores(columns)
        return out

    def standard_gradient(self, X: Source | Array) -> Array:
        """grad g (q, n, k), per standard deviation of each selected column."""
        return self.refit.gradient(self.columns(X))

    def gradient(self, X: Source | Array) -> Array:
        """grad g (q, n, k) in the units of X."""
        return self.scaling.derivative(self.standard_gradient(X), self.index)

    def std(self, X: Source | Array, use: Literal["auto", "selected"] = "auto") -> Array:
        """(n,) standard deviations of new responses around predictions of numbers."""
        assert self.refit.posterior is not None
        posterior = self.refit.posterior
        variance = posterior.variance(self.columns(X)) + posterior.noise
        return np.asarray((self.spread if use == "auto" else 1.0) * np.sqrt(variance))

    def gradient_std(self, X: Source | Array) -> Array:
        """(1, n, k) standard deviations of the gradient of numbers, in the units of X."""
        assert self.refit.posterior is not None
        variance = self.refit.posterior.slope_variance(self.columns(X))
        return self.scaling.derivative(np.sqrt(variance)[None], self.index)

    def difference_std(self, A: Source | Array, B: Source | Array) -> Array:
        """(n,) standard deviations of g(a) - g(b) of numbers."""
        assert self.refit.posterior is not None
        variance = self.refit.posterior.difference_variance(self.columns(A), self.columns(B))
        return np.sqrt(variance)


@dataclass(frozen=True, eq=False)
class OutcomePredictors:
    """One predictor for each of several outcomes (q), with the methods of a single one.

    Attributes
    ----------
    outcomes : tuple of q Predictors
        Of the same selected columns.
    """

    outcomes: tuple[Predictor, ...]

    @property
    def scaling(self) -> Scaling:
        return self.outcomes[0].scaling

    @property
    def index(self) -> IntArray:
        return self.outcomes[0].index

    @property
    def members(self) -> tuple[Member, ...]:
        return tuple(member for one in self.outcomes for member in one.members)

    @property
    def shares(self) -> tuple[float, ...]:
        """Shares of the members, averaged over the outcomes."""
        return tuple(share / len(self.outcomes) for one in self.outcomes for share in one.shares)

    @property
    def member_columns(self) -> IntArray:
        return np.unique(np.concatenate([one.member_columns for one in self.outcomes]))

    def columns(self, X: Source | Array) -> Array:
        return self.outcomes[0].columns(X)

    def eta(self, X: Source | Array, use: Literal["auto", "selected"] = "auto") -> Array:
        return np.hstack([one.eta(X, use) for one in self.outcomes])

    def standard_gradient(self, X: Source | Array) -> Array:
        return np.concatenate([one.standard_gradient(X) for one in self.outcomes])

    def gradient(self, X: Source | Array) -> Array:
        return np.concatenate([one.gradient(X) for one in self.outcomes])

    def std(self, X: Source | Array, use: Literal["auto", "selected"] = "auto") -> Array:
        """(n, q)"""
        return np.column_stack([one.std(X, use) for one in self.outcomes])

    def gradient_std(self, X: Source | Array) -> Array:
        return np.concatenate([one.gradient_std(X) for one in self.outcomes])

    def difference_std(self, A: Source | Array, B: Source | Array) -> Array:
        """(q, n)"""
        return np.stack([one.difference_std(A, B) for one in self.outcomes])


def selected_columns(X: Source | Array, scaling: Scaling, index: IntArray) -> Array:
    """Selected columns, standardised, without their last digits.

    Those are the standardising's own rounding, and an optimiser must not get to amplify them.
    """
    values = X[:, index] if isinstance(X, np.ndarray) else X.columns(index)
    return np.round(scaling.apply(values, index), 10) + 0.0


def average(
    predictor: Predictor,
    columns: Source,
    Z: Array,
    response: LogScore | None,
    settings: RefitSettings,
) -> Predictor:
    """The predictor with those members on all columns that get a share of its predictions.

    Parameters
    ----------
    predictor : without members.
    columns : all columns of the rows of the fit, standardised.
    Z : (n, k) the selected ones, as the refit had them.
    response : how members learn the response; None where none are to be tried.
    """
    n, p = columns.shape
    if response is None or (n > settings.most_rows and p > settings.kernel_columns):
        return predictor
    rows = distinct_rows(columns, response.Y, response.weights)
    chosen = log_choices(count_varying(columns), Z.shape[1])
    own_gain = response.of_refit(predictor.refit, Z) - chosen
    # nats that a member must gain to get a share, next to g alone
    behind = np.log(1.0 / settings.least_weight - 1.0) / settings.stacking_power
    needed = max(own_gain - float(behind), settings.least_gain)
    found: list[RidgeFit | KernelFit] = [
        *fit_screened_ridge(columns, response, rows, settings),
        *fit_kernels(columns, response, rows, needed, settings),
    ]
    gains = np.array([fit.calibrated.gain for fit in found])
    shares = stacking_shares(gains, own_gain, settings)
    kept = np.flatnonzero(shares > 0)
    spread = 1.0
    if len(kept) and isinstance(response, NumberScore):
        held_out = [found[k].held_out for k in kept]
        spread = response.spread(predictor.refit, Z, shares[kept], held_out)
    return replace(
        predictor,
        members=tuple(found[k].member() for k in kept),
        shares=tuple(shares[kept].tolist()),
        gains=tuple(gains[kept].tolist()),
        selected_gain=own_gain,
        spread=spread,
    )


def stacking_shares(gains: Array, own_gain: float, settings: RefitSettings) -> Array:
    """The part of each member (m,) in the average of predictions; g has the rest."""
    usable = np.where(gains >= settings.least_gain, gains, -np.inf)
    shares = softmax(settings.stacking_power * np.append(usable, own_gain))
    shares = np.where(shares >= settings.least_weight, shares, 0.0)
    return np.asarray(shares[:-1] / max(float(shares.sum()), 1e-300))


def count_varying(source: Source) -> int:
    """Columns, standardised, that are not constant."""
    return sum(count for _, count in each_block(source, lambda _: _varying_in))


def _varying_in(Z: Array) -> int:
    return int(Z.any(axis=0).sum())
