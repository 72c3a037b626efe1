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

import logging
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from gradsift._run.threads import map_blocks
from gradsift.numerics.distances import median_distance, products
from gradsift.numerics.kernels import Gaussian, ScaleRule, bandwidth
from gradsift.numerics.sampling import drawn_rows
from gradsift.protocols import Array, IntArray, Source

TILE_BYTES = 64 << 20
"""Memory: one tile of distances."""


class Near(NamedTuple):
    """The k nearest others of some samples, and each sample itself.

    Attributes
    ----------
    rows : (a, k + 1) int array
        Ascending.
    sqdist : (a, k + 1) array
        Squared distances to them.
    """

    rows: IntArray
    sqdist: Array


def nearest_in(sqdist: Array, own: IntArray, k: int) -> Near:
    """From distances of samples `own` to all samples, (a, n). Ties go to the lower row number."""
    others = sqdist.copy()
    others[np.arange(len(own)), own] = -1.0  # a sample is its own nearest, whatever its copies
    at = np.argpartition(others, k, axis=1)[:, : k + 1]
    reach = np.take_along_axis(others, at, axis=1).max(axis=1, keepdims=True)
    tied = np.flatnonzero((others <= reach).sum(axis=1) > k + 1)
    at[tied] = np.argsort(others[tied], axis=1, kind="stable")[:, : k + 1]
    at = np.sort(at, axis=1)
    return Near(at, np.take_along_axis(sqdist, at, axis=1))


def find_nearest(source: Source, k: int) -> Near:
    """The k nearest others of every sample of a source, without an n x n array."""
    n = source.shape[0]
    height = max(1, TILE_BYTES // (8 * n))
    tiles = [np.arange(a, min(a + height, n)) for a in range(0, n, height)]
    found = list(
        map_blocks(lambda tile: nearest_in(products(source, tile).sqdist.T, tile, k), tiles)
    )
    return Near(np.concatenate([f.rows for f in found]), np.concatenate([f.sqdist for f in found]))


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


DENSE_ROWS = 5_000
"""Up to here all distances are kept, (n, n); beyond, neighbours are searched for, and predictions
expanded around so many samples.
"""
FEW_ROWS = 1_000
"""Up to here (n, n) arrays are decomposed, or made again and again: the kernel's factor is exact.
Of more samples, so many give the bandwidth of a predictor.
"""
MOST_ROWS = 20_000
"""Samples at most for weights by name: of more, so many are drawn. Nearest samples take a time that
grows with the square of their number.
"""
MANY = NearestNeighbors(k=20, form="plain")
log = logging.getLogger("gradsift")


def as_weights(weights: object) -> AnyWeights | Adaptive:
    """A weight rule from its short name; a rule is returned as it is."""
    if isinstance(weights, (Gaussian, Uniform, NearestNeighbors, Adaptive)):
        return weights
    if isinstance(weights, str) and weights in WEIGHTS:
        return WEIGHTS[weights]
    raise ValueError(
        f"weights={weights!r} is not a weight rule. Use one of {sorted(WEIGHTS)}, "
        "Gaussian(scale=...), Uniform(), NearestNeighbors(k=10, form='paper') or Adaptive(base)."
    )


def fixed_rule(weights: object, who: str) -> AnyWeights:
    """A rule for estimators without selection, which cannot be adaptive."""
    rule = as_weights(weights)
    if isinstance(rule, Adaptive):
        raise ValueError(
            f"weights={weights!r} measures distances in the selected variables, and {who} keeps "
            f"all of them. Use weights={rule.base!r}."
        )
    return rule


def rows_for(weights: object, n_samples: int) -> IntArray | None:
    """The samples that a fit uses where the short names of Gaussian weights mean some of very many;
    None = all.
    """
    if n_samples <= MOST_ROWS or weights not in ("gaussian", "adaptive"):
        return None
    log.info("weights=%r: the fit uses %d of %d samples", weights, MOST_ROWS, n_samples)
    return drawn_rows(n_samples, MOST_ROWS)


def rule_for(weights: object, n_samples: int) -> AnyWeights:
    """The rule for this many samples.

    The short names of Gaussian weights mean all pairs while these fit into memory with ease, and
    the near pairs beyond; `Gaussian()` itself always means all pairs.
    """
    if n_samples > DENSE_ROWS and weights in ("gaussian", "adaptive"):
        log.info("%d samples: weights=%r keeps the %d nearest", n_samples, weights, MANY.k)
        return MANY
    rule = as_weights(weights)
    return rule.base if isinstance(rule, Adaptive) else rule


def check_k(rule: NearestNeighbors, n_samples: int) -> int:
    """The number of neighbours, at most all others."""
    if rule.form not in ("paper", "plain"):
        raise ValueError(f"form={rule.form!r} is unknown. Use 'paper' or 'plain'.")
    if not rule.k >= 1:
        raise ValueError(f"k={rule.k} neighbours leave no pair. Use k of at least 1.")
    return min(rule.k, n_samples - 1)


def neighbour_graph(near: Near, scale: float, form: str) -> sparse.csr_array[Any]:
    """Gaussian weights of the pairs found, as a CSR graph."""
    # exp(-2 d^2/s^2) is exp(-d^2/(2 (s/2)^2))
    values = Gaussian(scale / 2 if form == "paper" else scale).of_distances(near.sqdist)
    n, width = near.rows.shape
    indptr = width * np.arange(n + 1)
    return sparse.csr_array((values.ravel(), near.rows.ravel(), indptr), shape=(n, n))


def sparse_weights(
    rule: NearestNeighbors, source: Source, sqdist: Array, sample_weight: Array | None = None
) -> sparse.csr_array[Any]:
    """w_ij for many samples, with no n x n array.

    `sqdist` are the distances of a few samples among each other, `sample_weight` theirs: the
    bandwidth is measured in them.
    """
    n, p = source.shape
    scale = bandwidth(rule.scale, sqdist, p, sample_weight, n_samples=n)
    near = find_nearest(source, check_k(rule, n))
    return _seen(neighbour_graph(near, scale, rule.form), scale, near.sqdist, sqdist)


def pair_weights(
    rule: AnyWeights, sqdist: Array, n_features: int, sample_weight: Array | None = None
) -> Array | sparse.csr_array[Any]:
    """w_ij from squared distances, before sample weights and scaling."""
    if isinstance(rule, Uniform):
        return np.ones_like(sqdist)
    n = len(sqdist)
    scale = bandwidth(rule.scale, sqdist, n_features, sample_weight)
    if isinstance(rule, NearestNeighbors):
        near = nearest_in(sqdist, np.arange(n), check_k(rule, n))
        W: Any = neighbour_graph(near, scale, rule.form)
    else:
        W = Gaussian(scale).of_distances(sqdist)
    return _seen(W, scale, sqdist, sqdist, sample_weight)


def _seen(
    W: Any, scale: float, found: Array, among: Array, sample_weight: Array | None = None
) -> Any:
    """The weights, unless none is left."""
    total = W.sum() - W.diagonal().sum()
    if total < 1e-200:
        nearest = np.sqrt(found[found > 0.0].min(initial=np.inf))
        raise ValueError(
            f"scale={scale:g} leaves every pair weight at zero: the two closest samples are "
            f"{nearest:.3g} apart. Use scale='half-median' "
            f"(here {0.5 * median_distance(among, sample_weight):.3g}), or standardise the "
            "columns first."
        )
    return W


def normalise(W: Array | sparse.csr_array[Any], share: Array) -> Array | sparse.csr_array[Any]:
    """share_i share_j w_ij: the paper's 1/n^2 when all shares are 1/n; sample weights otherwise."""
    if sparse.issparse(W):
        D = sparse.diags_array(share)
        return sparse.csr_array(D @ W @ D)
    return share[:, None] * W * share[None, :]
