"""A permutation test of what a group adds to a fit, by a saddlepoint approximation.

Let a (n,) be the contribution of a group to a fit, and r (n,) the residual without it. The
chi-square levels of the sift assume that u = sum_i a_i r_i is normal far out in its tail. If both
are skewed (few cases, many zeros, a column that is constant but for two rows), it is not. The
probability that randomly permuted residuals reach u is about exp(-D), with D the smallest
Kullback-Leibler divergence of a tilted distribution under which the expected sum is u:

    D = sup_t  t_0 u - sum_i log mean_j exp(t_0 a_i r_j + t_1 r_j + t_2 (r_j^2 - 1)).

Row i draws residual r_j with probabilities tilted by t_0 a_i r_j; t_1 and t_2 keep the mean and the
variance of the draws those of r. For normal r, 2 D = -n log(1 - rho^2), the decrease of n log det
by the group. For a column that marks one row, D is about log n, however perfect the fit. Let K(t)
be the sum over i. Skovgaard's correction :cite:`skovgaard-2001`,

    w + log(v / w) / w,     w = sqrt(2 D),     v = t_0 (det K''(t) / det K''_12(0))^(1/2),

is nearly standard normal for small n too. It fails where u is nearly the largest sum that any
permutation can give, because K'' is nearly singular there. Stirling's formula for the k rows that
contribute to u replaces it: w^2 - 2 log(2 pi k).
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from gradsift.protocols import Array, IntArray
from gradsift.sift.features import Columns, summed_squares
from gradsift.sift.groups import pillai_log_p, shares

MOST_PLACES = 256
"""Rounding: rows, and residuals, beyond which neighbours are taken together, which bounds the error
of the approximation.
"""
MOST_STEPS = 25
"""Time: Newton steps; a dozen are enough."""
BARTLETT = 2.5
"""Theory: -(n - 2.5) log(1 - rho^2) is chi-square(1) to second order (Bartlett 1938)."""


def permutation_ratio(
    a: Array, r: Array, weight: Array, gain: float, enough: float = np.inf
) -> float:
    """The gain that a permutation test confirms, over the gain that was observed, in [0, 1].

    Parameters
    ----------
    a : array (n, q)
        What a group, or a variable, contributes to the fit.
    r : array (n, q)
        Residual of the fit without it.
    weight : array (n,)
    gain : float
        Rise of n log det of the residual covariance without it.
    enough : float
        A part that is enough to know of: where it is surely larger, a lower bound of it will do.
    """
    n = float(weight.sum())
    a, r = along_main_axis(a, r, weight)
    each = a * r
    u = float(weight @ each)
    if u <= 0.0:
        return 1.0
    carriers = u * u / float(weight @ each**2)
    # given correlated columns the gain says more than a: as far as it says, or as far as can be
    most = largest_sum(a, r, weight)
    u = max(u, min(n * np.sqrt(-np.expm1(-gain / n)), most))
    taken = -(n - BARTLETT) * float(np.log1p(-(min(u / n, 0.999999) ** 2)))
    taken = max(taken, gain * (1.0 - BARTLETT / n))
    if taken < 1.0:
        return 1.0
    return min(chi_square_of(a, r, weight, u, carriers, enough * taken) / taken, 1.0)


def largest_sum(a: Array, r: Array, weight: Array) -> float:
    """The largest sum_i a_i r_i of any permutation: both in order, weight w being w copies."""
    one, two = np.argsort(a, kind="stable"), np.argsort(r, kind="stable")
    below_one, below_two = np.cumsum(weight[one]), np.cumsum(weight[two])
    cuts = np.sort(np.concatenate([below_one, below_two]))
    mass = np.diff(cuts, prepend=0.0)
    middle = cuts - mass / 2
    last = len(a) - 1
    at_one = np.minimum(np.searchsorted(below_one, middle), last)
    at_two = np.minimum(np.searchsorted(below_two, middle), last)
    return float(mass @ (a[one][at_one] * r[two][at_two]))


def along_main_axis(a: Array, r: Array, weight: Array) -> tuple[Array, Array]:
    """Contribution and residual along the response in which the contribution is largest, both
    centred, with unit variance, (n,) each.
    """
    n = weight.sum()
    a, r = a - weight @ a / n, r - weight @ r / n
    values, vectors = np.linalg.eigh((r.T * weight) @ r / n)
    half = vectors / np.sqrt(np.maximum(values, 1e-12 * max(values.max(), 1e-300)))
    a, r = a @ half, r @ half
    axis = np.linalg.eigh((a.T * weight) @ a)[1][:, -1]
    a, r = a @ axis, r @ axis
    size = np.sqrt(weight @ (a * a) / n)
    return a / max(size, 1e-300), r


def places(x: Array, weight: Array) -> tuple[Array, Array]:
    """Values and their weights; of many, neighbours are taken together (the outermost stay
    alone).
    """
    if len(x) <= MOST_PLACES:
        return x, weight
    order = np.argsort(x, kind="stable")
    x, weight = x[order], weight[order]
    edge = MOST_PLACES // 4
    middle = np.linspace(edge, len(x) - edge, MOST_PLACES - 2 * edge + 1).astype(int)[:-1]
    first = np.r_[np.arange(edge), middle, np.arange(len(x) - edge, len(x))]
    total = np.add.reduceat(weight, first)
    return np.add.reduceat(weight * x, first) / total, total


Drawn = tuple[float, Array, Array]
"""A value t'(u, 0, 0) - K(t), and what its slopes are made of."""


class Tilted(NamedTuple):
    """t'(u, 0, 0) - K(t) at some t, with the gradient and the Hessian of K."""

    value: float
    gradient: Array
    hessian: Array


class Permutations:
    """Rows that draw residuals: the cumulant function K(t) of (sum a r, sum r, sum r^2)."""

    def __init__(self, a: Array, r: Array, weight: Array) -> None:
        self.a, self.weight = places(a, weight)
        self.r, mass = places(r, weight)
        self.chance = mass / mass.sum()
        self.kept = orthonormal(np.stack([self.r, self.r**2]), self.chance)

    @cached_property
    def moments(self) -> Array:
        """The functions of the residuals whose expectations make up the slopes, one a column."""
        each = np.vstack([self.r, self.kept])
        k = len(each)
        return np.vstack([each, (each[:, None] * each[None]).reshape(k * k, -1)]).T

    def drawn(self, t: Array, u: float) -> Drawn:
        """The value at t, and what it is made of: one exponential for each row and residual, and
        their sum for each row.
        """
        log_chance = t[1:] @ self.kept + np.log(self.chance)
        E = np.column_stack([t[0] * self.a, np.ones_like(self.a)]) @ np.stack([self.r, log_chance])
        top = E.max(axis=1)
        E -= top[:, None]
        np.exp(E, out=E)
        mass = E.sum(axis=1)
        return float(t[0] * u - self.weight @ (np.log(mass) + top)), E, mass

    def tilted(self, drawn: Drawn | None = None) -> Tilted:
        """The value and the slopes, from what `drawn` gives; without it at t = 0, where every row
        draws each residual with its probability.
        """
        if drawn is None:
            value, expected = 0.0, np.tile(self.chance @ self.moments, (len(self.a), 1))
        else:
            value, E, mass = drawn
            # what each row expects of r, of the kept functions, and of their products
            expected = E @ self.moments / mass[:, None]
        k = 1 + len(self.kept)
        by_row = np.ones((len(self.a), k))
        by_row[:, 0] = self.a  # row i draws a_i r
        m = by_row * expected[:, :k]
        weighted = by_row * self.weight[:, None]
        second = np.einsum("ik,ikl,il->kl", weighted, expected[:, k:].reshape(-1, k, k), by_row)
        return Tilted(value, self.weight @ m, second - (m.T * self.weight) @ m)


def orthonormal(F: Array, chance: Array) -> Array:
    """An orthonormal basis (k, n) of functions F (m, n) under these chances; constants, and what
    depends on the others, left out (two classes: r^2 is a function of r).
    """
    F = F - (F @ chance)[:, None]
    size = np.sqrt(F**2 @ chance)
    F = F[size > 1e-9] / size[size > 1e-9, None]
    values, vectors = np.linalg.eigh((F * chance) @ F.T)
    good = values > 1e-8 * max(values.max(initial=0.0), 1e-300)
    return np.asarray((vectors[:, good] / np.sqrt(values[good])).T @ F)


def chi_square_of(
    a: Array, r: Array, weight: Array, u: float, carriers: float, enough: float = np.inf
) -> float:
    """The chi-square with one degree of freedom that sum_i w_i a_i r_i = u amounts to; where it is
    surely larger than `enough`, a lower bound of it.
    """
    permutations = Permutations(a, r, weight)
    less = 2 * float(np.log(2 * np.pi * carriers))
    t, start = first_tilt(permutations, u, float(weight.sum()))
    if start is not None and 2 * start[0] - less >= enough:
        return 2 * start[0] - less
    t, there = solve_tilt(permutations, u, t, start)
    w = float(np.sqrt(2 * max(there.value, 0.0)))
    if w < 1.0 or t[0] <= 0:
        return w * w
    flat = permutations.tilted().hessian[1:, 1:]
    H = there.hessian + 1e-12 * np.eye(len(t))
    bend = np.linalg.slogdet(H)[1] - np.linalg.slogdet(flat)[1]
    corrected = w + (np.log(t[0]) + bend / 2 - np.log(w)) / w
    return float(max(max(corrected, 0.0) ** 2, w * w - less, 0.0))


def first_tilt(permutations: Permutations, u: float, n: float) -> tuple[Array, Drawn | None]:
    """The tilt of normal residuals, or a part of it, where its value is above that of t = 0; the
    maximum is one, and any such start leads there. Else t = 0 and None.
    """
    rho = min(u / n, 0.999)
    guess = rho / (1 - rho * rho)
    square = (permutations.kept * permutations.chance) @ permutations.r**2
    normal = np.r_[guess, -guess * rho / 2 * square]
    for part in (1.0, 0.5, 0.25):
        start = permutations.drawn(part * normal, u)
        if start[0] > 0.0:
            return part * normal, start
    return np.zeros_like(normal), None


def solve_tilt(
    permutations: Permutations, u: float, t: Array, start: Drawn | None
) -> tuple[Array, Tilted]:
    """The tilt that maximises, by Newton steps from what `first_tilt` gives."""
    k = len(t)
    now = permutations.tilted(start)
    goal = np.zeros(k)
    goal[0] = u
    for _ in range(MOST_STEPS):
        grad, H = now.gradient, now.hessian
        step = np.linalg.solve(H + (1e-9 * np.trace(H) + 1e-12) * np.eye(k), goal - grad)
        if float((goal - grad) @ step) < 1e-3:
            break
        size = 1.0
        while size > 1e-8 and not (there := permutations.drawn(t + size * step, u))[0] > now.value:
            size /= 2
        if size <= 1e-8:
            break
        t, now = t + size * step, permutations.tilted(there)
    return t, now


def exchangeable_log_p(table: Columns, columns: IntArray, R: Array, n: float) -> Array:
    """log p-values (k,) of some columns, for a response R (n, q) of unit variance and any
    distribution whose rows are exchangeable; never below those of `association_log_p`.

    Parts are taken in the order of their Beta tails, and left out where these are not below the
    p-value found so far: permutations only raise them.
    """
    rows, settings = table.rows, table.settings
    q, share = R.shape[1], np.log(shares(False, settings)[:3])
    root, weight = rows.column_root, rows.weights
    out = np.zeros(len(columns))
    for where, Z in table.features(columns):
        along = Z @ R / rows.total
        trace = summed_squares(along, rows, settings) * rows.total
        sizes = zip(trace, settings.part_sizes, strict=True)
        raw = np.stack([pillai_log_p(one, n, m, q) for one, m in sizes]) - share[:, None]
        for k, z, U, each, size in zip(range(where.start, where.stop), Z, along, raw.T, trace.T):
            for j in np.argsort(each, kind="stable"):
                if each[j] >= out[k]:
                    break
                part, m = settings.parts[j], settings.part_sizes[j]
                most = min(m, q)
                gain = -n * most * np.log1p(-min(size[j] / most, 0.999999))
                gain *= permutation_ratio(z[part].T @ U[part] / root, R / root, weight, gain)
                trace_left = -most * np.expm1(np.array([-gain / (n * most)]))
                log_p = pillai_log_p(trace_left, n, m, q)[0] - share[j]
                out[k] = min(out[k], max(log_p, each[j]))
    return out
