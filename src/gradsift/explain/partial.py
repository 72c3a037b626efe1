"""The partial effect of every selected variable, and the pairs that act together."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gradsift.explain.additive import AdditiveFit, Target, fit_additive, target_of
from gradsift.explain.dependence import fit_with_pairs
from gradsift.explain.effects import Curve, Effect, describe_effect
from gradsift.numerics.sampling import evenly_spaced
from gradsift.protocols import Array, IntArray

GRID = 61
MIDDLE = (0.025, 0.975)  # quantiles of a variable between which its curve is drawn and judged
MOST_ROWS = 2_000  # rows that curves are fitted to: more make them narrower, not truer
MOST_DRAWN = 300  # rows kept for drawing
MOST_JOINT = 30  # variables in one additive model
MOST_COEFFICIENTS = 630
ROWS_PER_VARIABLE = 5


@dataclass(frozen=True, eq=False)
class PartialEffects:
    """What each of some variables does, given the others.

    Attributes
    ----------
    effects : tuple, one item per variable
        Each a tuple of one `Effect` per output: of a number, of the second of two classes, or of
        each of several.
    pairs : tuple of (int, int)
        Variables that change each other's effect, clearest first.
    fit : AdditiveFit
        The model of the first variables that the pairs are from.
    X : (rows, a) array
        The rows it was fitted to.
    """

    effects: tuple[tuple[Effect, ...], ...]
    pairs: tuple[tuple[int, int], ...]
    fit: AdditiveFit
    X: Array

    def partners(self, k: int) -> list[int]:
        """Variables that change the effect of variable k."""
        return [b if a == k else a for a, b in self.pairs if k in (a, b)]

    def curves_beside(self, k: int, other: int, output: int) -> tuple[Curve, Curve]:
        """Curves of variable k at the lower and the upper quartile of another variable."""
        x, z = self.X[:, k], self.X[:, other]
        low, high = curve_quartiles(z, grid_of(z))
        return (
            curve_of(self.fit, k, output, x, (other, low)),
            curve_of(self.fit, k, output, x, (other, high)),
        )

    def leading(self, k: int) -> int:
        """The output on which variable k has the largest effect that is clear."""
        effects = self.effects[k]
        return max(
            range(len(effects)), key=lambda o: (effects[o].shape != "unclear", effects[o].size)
        )


def partial_effects(X: Array, y: Array, classes: Array | None = None) -> PartialEffects:
    """Estimate the effect of every column of X on the response.

    Parameters
    ----------
    X : (n, a) array
        Selected variables, most important first.
    y : (n,) array
        Numbers, or labels.
    classes : array, optional
        The classes labels may have; None for numbers.

    Returns
    -------
    effects : PartialEffects

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 4))
    >>> y = 2 * X[:, 0] - X[:, 1] ** 2 + X[:, 2] * X[:, 3] + 0.3 * rng.normal(size=200)
    >>> found = partial_effects(X, y)
    >>> [effect.words for (effect,) in found.effects]
    ['increasing, straight', 'inverted U', 'through interactions', 'through interactions']
    >>> found.pairs
    ((2, 3),)
    """
    rows = some_rows(y, classes)
    X, target = X[rows], target_of(np.asarray(y)[rows], classes)
    joint = most_joint(len(X), X.shape[1], target.values.shape[1])
    fit = fit_with_pairs(X[:, :joint], target)
    found = [describe_all(fit, k, X[:, k]) for k in range(joint)]
    # the fitted values stand for the variables of the joint model
    found += [
        describe_all(fit_additive(np.column_stack([fit.fitted, x]), target), -1, x)
        for x in X.T[joint:]
    ]
    found = [
        effects if any(e.shape != "unclear" for e in effects) else on_its_own(x, target, effects)
        for x, effects in zip(X.T, found)
    ]
    return PartialEffects(tuple(found), fit.design.pairs, fit, X)


def some_rows(y: Array, classes: Array | None) -> IntArray:
    """Evenly spread rows; of labels, about as many of every class.

    How often a class occurs among the rows moves the constant of the log odds, not the effects.
    """
    y = np.asarray(y)
    if len(y) <= MOST_ROWS:
        return np.arange(len(y))
    members = [np.arange(len(y))] if classes is None else [np.flatnonzero(y == c) for c in classes]
    most = MOST_ROWS // len(members)
    chosen = [m[evenly_spaced(len(m), most)] for m in members]
    return np.sort(np.concatenate(chosen))


def most_joint(n: int, a: int, outputs: int) -> int:
    """How many variables one additive model can hold."""
    most = min(MOST_JOINT, MOST_COEFFICIENTS // (7 * outputs), n // ROWS_PER_VARIABLE)
    return int(np.clip(most, 1, a))


def describe_all(fit: AdditiveFit, k: int, x: Array) -> tuple[Effect, ...]:
    """The effect of one variable on each output."""
    return tuple(
        describe_effect(
            curve_of(fit, k, output, x),
            shared=fit.shared_spread(k, output),
            own=fit.own_spread(k, output),
            outputs=fit.coefficients.shape[1],
        )
        for output in range(fit.coefficients.shape[1])
    )


def on_its_own(x: Array, target: Target, beside: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """The effects of a variable without the others, where they are clear."""
    alone = describe_all(fit_additive(x[:, None], target), 0, x)
    return tuple(
        effect if single.shape == "unclear" else replace(single, alone=True)
        for single, effect in zip(alone, beside)
    )


def curve_of(
    fit: AdditiveFit, k: int, output: int, x: Array, held: tuple[int, float] | None = None
) -> Curve:
    """The effect of variable k, with values x at the samples, over the middle of the samples."""
    grid = grid_of(x)
    effect, covariance = fit.curve(k, output, grid, held)
    quartiles = curve_quartiles(x, grid)
    samples = drawn(fit, k, output, x)
    return Curve(grid, effect, covariance, quartiles, float(x.std()), samples)


def curve_quartiles(x: Array, grid: Array) -> tuple[float, float]:
    """Lower and upper quartile, or the ends of the grid where these are one value."""
    low, high = np.quantile(x, [0.25, 0.75])
    return (float(low), float(high)) if low < high else (float(grid[0]), float(grid[-1]))


def grid_of(x: Array) -> Array:
    """Values over the middle of the samples; the values themselves where there are few."""
    values = np.unique(x)
    if len(values) <= 5:
        return values
    low, high = np.quantile(x, MIDDLE)
    return np.linspace(low, high, GRID) if high > low else np.linspace(values[0], values[-1], GRID)


def drawn(fit: AdditiveFit, k: int, output: int, x: Array) -> Array:
    """(value, effect plus residual) or (value, whether of the class) at some samples."""
    rows = evenly_spaced(len(x), MOST_DRAWN)
    observed = fit.target.values[rows, output]
    if not fit.target.labels:
        block = fit.design.blocks[k]
        own = fit.design.matrix[rows, block] @ fit.coefficients[block, output]
        observed = fit.unit * (own + observed - fit.fitted[rows, output])
    return np.column_stack([x[rows], observed])
