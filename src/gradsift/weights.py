"""Pair weights w_ij: how much the Taylor step from sample i to sample j is trusted.

| name                  | w_ij                                         | storage   |
|-----------------------|----------------------------------------------|-----------|
| `gaussian`            | exp(-d^2 / (2 s^2))                          | (n, n)    |
| `uniform`             | 1                                            | (n, n)    |
| `NearestNeighbors(k)` | exp(-2 d^2 / s^2) for the k nearest j, else 0| CSR, n k  |
| `adaptive`            | one of these, in the selected variables      |           |

The paper prints two Gaussians: the plain one above, and exp(-2 d^2/s^2) for the truncated weight.
`NearestNeighbors(form="paper")` is the second, `form="plain"` truncates the first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy import sparse

from gradsift._typing import Array
from gradsift.kernel import Gaussian, ScaleRule, bandwidth, median_distance


@dataclass(frozen=True)
class Uniform:
    """Every pair counts the same."""


@dataclass(frozen=True)
class NearestNeighbors:
    """A sample sees its k nearest others (and itself); a sparse graph.

    Parameters
    ----------
    k : int
        Number of neighbours. Ties go to the lower row number.
    form : {'paper', 'plain'}
        exp(-2 d^2 / s^2), as the paper prints its truncated weight, or exp(-d^2 / (2 s^2)).
    scale : float, 'half-median', 'theory' or TheoryRate
        The bandwidth s.
    """

    k: int = 10
    form: Literal["paper", "plain"] = "paper"
    scale: ScaleRule = "half-median"


@dataclass(frozen=True)
class Adaptive:
    """Distances over the selected variables only: fit, measure again in what was selected, refit.

    The paper's Discussion. Repeated until the selected set stays the same (or comes back).

    Parameters
    ----------
    base : Gaussian or NearestNeighbors
        The rule applied to those distances.
    max_rounds : int
        Most refits.
    """

    base: Gaussian | NearestNeighbors = field(default_factory=Gaussian)
    max_rounds: int = 20


AnyWeights: TypeAlias = "Gaussian | Uniform | NearestNeighbors"

WEIGHTS: dict[str, AnyWeights | Adaptive] = {
    "gaussian": Gaussian(),
    "uniform": Uniform(),
    "nearest": NearestNeighbors(),
    "adaptive": Adaptive(),
}


def as_weights(weights: object) -> AnyWeights | Adaptive:
    """A weight rule from its short name, or itself."""
    if isinstance(weights, (Gaussian, Uniform, NearestNeighbors, Adaptive)):
        return weights
    if isinstance(weights, str) and weights in WEIGHTS:
        return WEIGHTS[weights]
    raise ValueError(
        f"weights={weights!r} is not a weight rule. Use one of {sorted(WEIGHTS)}, "
        "Gaussian(scale=...), Uniform(), NearestNeighbors(k=10, form='paper') or Adaptive(base)."
    )


def base_rule(weights: AnyWeights | Adaptive) -> AnyWeights:
    """The rule from distances to weights."""
    return weights.base if isinstance(weights, Adaptive) else weights


def gaussian_weights(sqdist: Array, scale: float) -> Array:
    """exp(-d^2 / (2 s^2)), dense."""
    return Gaussian(scale).of_distances(sqdist)


def nearest_weights(
    sqdist: Array, k: int, scale: float, form: Literal["paper", "plain"] = "paper"
) -> sparse.csr_array[Any]:
    """Gaussian weights of each sample's k nearest others and itself, as a CSR graph."""
    if form not in ("paper", "plain"):
        raise ValueError(f"form={form!r} is unknown. Use 'paper' or 'plain'.")
    n = len(sqdist)
    if not k >= 1:
        raise ValueError(f"k={k} neighbours leave no pair. Use k of at least 1.")
    k = min(k, n - 1)
    others = sqdist.copy()
    np.fill_diagonal(others, -1.0)  # a sample is its own nearest, whatever its copies
    order = np.argsort(others, axis=1, kind="stable")[:, : k + 1]
    columns = np.sort(order, axis=1)
    d = np.take_along_axis(sqdist, columns, axis=1)
    # exp(-2 d^2/s^2) is exp(-d^2/(2 (s/2)^2))
    values = gaussian_weights(d, scale / 2 if form == "paper" else scale)
    indptr = np.arange(0, n * (k + 1) + 1, k + 1)
    return sparse.csr_array((values.ravel(), columns.ravel(), indptr), shape=(n, n))


def pair_weights(
    rule: AnyWeights, sqdist: Array, n_features: int, sample_weight: Array | None = None
) -> Array | sparse.csr_array[Any]:
    """w_ij from squared distances, before sample weights and scaling."""
    if isinstance(rule, Uniform):
        return np.ones_like(sqdist)
    scale = bandwidth(rule.scale, sqdist, n_features, sample_weight)
    if isinstance(rule, NearestNeighbors):
        W: Any = nearest_weights(sqdist, rule.k, scale, rule.form)
    else:
        W = gaussian_weights(sqdist, scale)
    total = W.sum() - W.diagonal().sum()
    if total < 1e-200:
        nearest = np.sqrt(sqdist[~np.eye(len(sqdist), dtype=bool)].min())
        raise ValueError(
            f"scale={scale:g} leaves every pair weight at zero: the two closest samples are "
            f"{nearest:.3g} apart. Use scale='half-median' "
            f"(here {0.5 * median_distance(sqdist, sample_weight):.3g}), or standardise the "
            "columns first."
        )
    return W


def normalise(W: Array | sparse.csr_array[Any], share: Array) -> Array | sparse.csr_array[Any]:
    """share_i share_j w_ij: the paper's 1/n^2 when all shares are 1/n; sample weights otherwise."""
    if sparse.issparse(W):
        D = sparse.diags_array(share)
        return sparse.csr_array(D @ W @ D)
    return share[:, None] * W * share[None, :]
