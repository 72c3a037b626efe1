"""Three kernels on the selected variables, each with the two derivatives the refit needs.

Those of `kernels` see all columns through inner products and distances alone; these see few columns
one by one, so that each can have a length scale of its own.

    ArdGaussian   k(x, z) = exp(-1/2 sum_k ((x - z)' v_k / l_k)^2),   axes v_k, length scales l_k
    Anova         k(x, z) = prod_k (1 + c_k e_k) / (1 + c_k),  e_k = exp(-(x_k - z_k)^2 / 2 l_k^2)
    DotProduct    k(x, z) = x'z / d

A kernel is a frozen value. Its hyperparameters are one vector `theta` of logarithms, so that an
optimiser can move them freely; `with_theta` returns the kernel at another vector. Two derivatives:

* `evaluator(X)` gives the map from `theta` to K = k(X, X) and to the map
  M -> sum_ij M_ij dK_ij/dtheta, for any M. A reverse-mode product: all derivatives cost about as
  much as K itself. What does not depend on `theta` is computed once, and memory is used again: K
  and its derivative are those of the last `theta` only.
* `gradient(Z, P, a)` gives the gradient at each row z of Z of the function sum_p a_p k(z, p).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, Self, TypeAlias

import numpy as np

from gradsift.numerics.distances import squared_distances
from gradsift.protocols import Array

Pullback: TypeAlias = Callable[[Array], Array]
Evaluator: TypeAlias = Callable[[Array], tuple[Array, Pullback]]
Bounds: TypeAlias = list[tuple[float, float]]


class ArdKernel(Protocol):
    """What the evidence, the solvers and the fitted objects ask of a kernel."""

    @property
    def name(self) -> str: ...

    @property
    def theta(self) -> Array:
        """Hyperparameters as logarithms, (t,)."""
        ...

    @property
    def bounds(self) -> Bounds:
        """Box of `theta` in which the evidence is maximised."""
        ...

    def with_theta(self, theta: Array) -> Self: ...

    def stretched(self, factor: float) -> Self:
        """The same kernel with every length scale multiplied by `factor`."""
        ...

    def log_prior(self) -> tuple[float, Array]:
        """Log prior density of `theta` up to a constant, and its gradient."""
        ...

    def __call__(self, A: Array, B: Array) -> Array:
        """k between the rows of A (n, d) and of B (m, d): (n, m)."""
        ...

    def evaluator(self, X: Array) -> Evaluator:
        """The map theta -> k(X, X), and the derivatives of sum_ij M_ij k(X, X)_ij for any M."""
        ...

    def gradient(self, Z: Array, P: Array, a: Array) -> Array:
        """Gradients at the rows of Z (n, d) of z -> sum_p a_p k(z, p): (n, d)."""
        ...


def _moment(T: Array, x: Array, z: Array) -> Array:
    """sum_ij T_ij (x_ik - z_jk)^2 for every coordinate k, by matrix products."""
    return np.asarray(T.sum(1) @ (x * x) + T.sum(0) @ (z * z) - 2.0 * (x * (T @ z)).sum(0))


@dataclass(frozen=True, eq=False)
class ArdGaussian:
    """exp(-1/2 sum_k ((x - z)' v_k / l_k)^2); theta = (log l_1, ..., log l_d).

    `axes` holds the v_k as columns (None: the coordinate axes). With `prior` = (mean, sd), each
    log l_k has a normal prior around `mean`.
    """

    log_scales: Array
    axes: Array | None = None
    prior: tuple[float, float] | None = None

    @property
    def name(self) -> str:
        return "ard" if self.axes is None else "rotated"

    @property
    def theta(self) -> Array:
        return self.log_scales

    @property
    def bounds(self) -> Bounds:
        return [(np.log(0.05), np.log(1e3))] * len(self.log_scales)

    def with_theta(self, theta: Array) -> Self:
        return replace(self, log_scales=theta)

    def stretched(self, factor: float) -> Self:
        return replace(self, log_scales=self.log_scales + np.log(factor))

    def log_prior(self) -> tuple[float, Array]:
        return _normal_log_density(self.log_scales, self.prior)

    def _along(self, X: Array) -> Array:
        """Coordinates along the axes."""
        return X if self.axes is None else X @ self.axes

    def _scaled(self, X: Array) -> Array:
        """Coordinates in which the kernel is exp(-|u - v|^2 / 2)."""
        return self._along(X) * np.exp(-self.log_scales)

    def __call__(self, A: Array, B: Array) -> Array:
        K = squared_distances(self._scaled(A), self._scaled(B))
        K *= -0.5
        return np.asarray(np.exp(K, out=K))

    def evaluator(self, X: Array) -> Evaluator:
        along = self._along(X)
        along = along - along.mean(axis=0)  # near the origin, no digits are lost
        n, d = along.shape
        left, right = np.ones((n, d + 2)), np.ones((n, d + 2))

        def evaluate(theta: Array) -> tuple[Array, Pullback]:
            U = np.multiply(along, np.exp(-theta), out=left[:, 2:])
            right[:, 2:] = U
            # -|u - v|^2 / 2 = -|u|^2 / 2 - |v|^2 / 2 + u'v, in one product
            left[:, 0] = right[:, 1] = -0.5 * np.einsum("ij,ij->i", U, U)
            K = left @ right.T
            K.flat[:: n + 1] = 0.0
            np.exp(K, out=K)
            # dK_ij / d log l_k = K_ij (u_ik - u_jk)^2
            return K, lambda M: _moment(M * K, U, U)

        return evaluate

    def gradient(self, Z: Array, P: Array, a: Array) -> Array:
        T = self(Z, P) * a
        inverse = np.exp(-self.log_scales)
        G: Array = T @ self._scaled(P) - self._scaled(Z) * T.sum(1)[:, None]
        G *= inverse
        return G if self.axes is None else G @ self.axes.T


@dataclass(frozen=True, eq=False)
class Anova:
    """prod_k (1 + c_k e_k(x, z)) / (1 + c_k); theta = (log c, log l).

    The product expands into all interactions: a term e_k e_l has variance c_k c_l. Small c_k means
    an additive function, and a variable with c_k -> 0 drops out. Length scale and weight of a
    nearly linear effect trade off against each other, hence the weak priors
    log c ~ N(0, 2^2), log l ~ N(log 3, 0.5^2).
    """

    log_weights: Array
    log_scales: Array

    @property
    def name(self) -> str:
        return "anova"

    @property
    def theta(self) -> Array:
        return np.concatenate([self.log_weights, self.log_scales])

    @property
    def bounds(self) -> Bounds:
        d = len(self.log_scales)
        return [(-8.0, 5.0)] * d + [(np.log(0.3), np.log(30.0))] * d

    def with_theta(self, theta: Array) -> Self:
        d = len(self.log_scales)
        return replace(self, log_weights=theta[:d], log_scales=theta[d:])

    def stretched(self, factor: float) -> Self:
        return replace(self, log_scales=self.log_scales + np.log(factor))

    def log_prior(self) -> tuple[float, Array]:
        weight_density, weight_slope = _normal_log_density(self.log_weights, (0.0, 2.0))
        scale_density, scale_slope = _normal_log_density(self.log_scales, (np.log(3.0), 0.5))
        return weight_density + scale_density, np.concatenate([weight_slope, scale_slope])

    def _factor(self, k: int, a: Array, b: Array) -> Array:
        """c_k e_k between two vectors of k-th coordinates."""
        inverse = np.exp(-self.log_scales[k])
        E = np.subtract.outer(a * inverse, b * inverse)
        E *= E
        E *= -0.5
        E += self.log_weights[k]
        return np.asarray(np.exp(E, out=E))

    def __call__(self, A: Array, B: Array) -> Array:
        K = np.full((len(A), len(B)), np.exp(-np.logaddexp(0.0, self.log_weights).sum()))
        for k in range(A.shape[1]):
            E = self._factor(k, A[:, k], B[:, k])
            E += 1.0
            K *= E
        return K

    def evaluator(self, X: Array) -> Evaluator:
        # K is symmetric with a constant diagonal: only the pairs i < j are computed.
        n, d = X.shape
        rows, columns = np.triu_indices(n, 1)
        upper, lower = rows * n + columns, columns * n + rows
        apart = np.square(X.T[:, rows] - X.T[:, columns])  # (d, pairs)
        shares, room = np.empty_like(apart), np.empty(len(rows))
        K = np.ones((n, n))

        def evaluate(theta: Array) -> tuple[Array, Pullback]:
            weights, precision = np.exp(theta[:d]), np.exp(-2.0 * theta[d:])
            values = np.full(len(rows), np.exp(-np.logaddexp(0.0, theta[:d]).sum()))
            for k in range(d):  # one variable at a time stays in the cache
                share = np.multiply(apart[k], -0.5 * precision[k], out=shares[k])
                np.exp(share, out=share)
                share *= weights[k]
                values *= np.add(share, 1.0, out=room)
                share /= room  # c e / (1 + c e): the share of dlog K / dlog c
            K.reshape(-1)[upper] = values
            K.reshape(-1)[lower] = values

            def pullback(M: Array) -> Array:
                flat = M.T.reshape(-1)  # no copy of what LAPACK returns
                T = (flat.take(upper) + flat.take(lower)) * values
                constant = np.exp(-np.logaddexp(0.0, -theta[:d]))
                by_weight = shares @ T - T.sum() * constant
                by_scale = [np.multiply(*each, out=room) @ T for each in zip(shares, apart)]
                return np.concatenate([by_weight, precision * by_scale])

            return K, pullback

        return evaluate

    def gradient(self, Z: Array, P: Array, a: Array) -> Array:
        T = self(Z, P) * a
        G = np.empty_like(Z)
        for k in range(Z.shape[1]):
            E = self._factor(k, Z[:, k], P[:, k])
            S = T * (E / (1.0 + E))
            G[:, k] = (S @ P[:, k] - Z[:, k] * S.sum(1)) * np.exp(-2.0 * self.log_scales[k])
        return G


@dataclass(frozen=True, eq=False)
class DotProduct:
    """x'z / d: Bayesian ridge regression; no hyperparameter but scale and noise."""

    dimension: int

    @property
    def name(self) -> str:
        return "linear"

    @property
    def theta(self) -> Array:
        return np.zeros(0)

    @property
    def bounds(self) -> Bounds:
        return []

    def with_theta(self, theta: Array) -> Self:
        return self

    def stretched(self, factor: float) -> Self:
        return self

    def log_prior(self) -> tuple[float, Array]:
        return 0.0, np.zeros(0)

    def __call__(self, A: Array, B: Array) -> Array:
        return A @ B.T / self.dimension

    def evaluator(self, X: Array) -> Evaluator:
        K = self(X, X)
        return lambda theta: (K, lambda M: np.zeros(0))

    def gradient(self, Z: Array, P: Array, a: Array) -> Array:
        return np.tile(a @ P / self.dimension, (len(Z), 1))


def _normal_log_density(x: Array, prior: tuple[float, float] | None) -> tuple[float, Array]:
    """Sum over x of the log normal density up to a constant, and its gradient in x."""
    if prior is None:
        return 0.0, np.zeros_like(x)
    mean, sd = prior
    z = (x - mean) / sd
    return -0.5 * float(z @ z), -z / sd
