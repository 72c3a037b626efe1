"""How many directions: held-out prediction along them, after :cite:`xia-2002`.

For d = 0, 1, 2, ... the best d directions are found on four fifths of the samples (`mave`, from the
leading ones of the fit), and a local linear fit in their coordinates predicts the last fifth. The
fewest directions whose error is within one standard error of the smallest are kept. Refining the
directions for every d matters: a slightly wrong first direction leaves signal to the second, so
that nearly every function of one direction would seem to have two.

Directions are searched in the span of the leading ones of the fit, so that the cost does not depend
on the number of selected variables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from gradsift.numerics.directions import Directions, find_directions
from gradsift.numerics.sampling import evenly_spaced, folds_along, merge_rows
from gradsift.pairwise.local_linear import best_bandwidth, fit_mave, smooth, whiten
from gradsift.protocols import Array, IntArray, Source

MOST = 5
"""Directions at most: a local fit in more coordinates has no neighbours."""
ROWS_PER_DIRECTION = 20
"""Samples that each direction needs: with fewer, what is held out cannot tell one from none."""
SPAN = 20
"""Leading directions of the fit in whose span directions are looked for, at most."""
ROWS_IN_SPAN = 10
"""Samples for each of them at least: `mave` is least squares in as many numbers per direction."""
FOLDS = 5
MOST_ROWS = 300
"""Samples that are looked at; time grows with their square."""


@dataclass(frozen=True)
class Dimension:
    """Held-out evidence on the number of directions; entry d is that of d directions.

    Attributes
    ----------
    errors : (D + 1,) array
        Mean squared error of held-out samples, relative to that of their mean (d = 0).
    standard_errors : (D + 1,) array
        Of the difference to the smallest error.
    chosen : int
        The fewest directions within one standard error of the best, and one at least.
    """

    errors: Array
    standard_errors: Array
    chosen: int


def count_directions(
    source: Source,
    Y: Array,
    share: Array,
    index: IntArray,
    B: Array,
    n_components: int | Literal["auto"],
) -> tuple[Directions, Dimension | None]:
    """Directions of coefficients B (a, m) of the columns `index`, as many as asked for; with
    'auto', as many as held-out prediction of the responses Y (c, n) asks for, and the evidence.
    """
    p = source.shape[1]
    if n_components != "auto":
        return find_directions(index, B, p, n_components), None
    found = find_directions(index, B, p, SPAN)
    leading = found.components[:, index].T
    dimension = choose_dimension(source.columns(index) @ leading, Y.T, share)
    return Directions(found.components[: dimension.chosen], found.eigenvalues), dimension


def choose_dimension(X: Array, Y: Array, share: Array) -> Dimension:
    """How many directions predict Y (n, c), in the span of coordinates X (n, r), largest first."""
    X, Y, share, _ = merge_rows(_unit(X, share), _unit(Y, share), share)
    some = evenly_spaced(len(Y), MOST_ROWS)
    X, Y, share = X[some], Y[some], share[some] / share[some].sum()
    n = len(Y)
    X = X[:, : min(SPAN, max(1, n // ROWS_IN_SPAN))]
    most = min(MOST, X.shape[1], n // ROWS_PER_DIRECTION)
    if most < 2:  # nothing to choose from
        unknown = np.full(1, np.nan)
        return Dimension(unknown, unknown.copy(), min(1, X.shape[1]))
    return settle(held_out_errors(X, Y, share, most), share)


def _unit(X: Array, share: Array) -> Array:
    """Centred, its largest number 1: squares neither overflow nor vanish."""
    X = X - share @ X / share.sum()
    largest = np.abs(X).max(initial=0.0)
    return np.asarray(X / largest if largest > 0.0 else X)


def held_out_errors(X: Array, Y: Array, share: Array, most: int) -> Array:
    """Squared errors (d + 1, n) of held-out samples, which are in the order of their responses,
    with 0, 1, ... directions.

    It ends at `most`, or once a further direction makes things worse; not at the first, because
    two variables that only act together are worth nothing one at a time.
    """
    folds, errors = folds_along(len(Y), FOLDS)[0], []
    for d in range(most + 1):
        out = np.empty(len(Y))
        for k in range(FOLDS):
            test = folds == k
            seen = share[~test] / share[~test].sum()
            guess = _predict(X[~test], Y[~test], seen, X[test], d)
            out[test] = ((Y[test] - guess) ** 2).sum(axis=1)
        errors.append(out)
        if d > 1 and share @ errors[-1] > share @ errors[-2]:
            break
    return np.array(errors)


def _predict(X: Array, Y: Array, share: Array, X_new: Array, d: int) -> Array:
    """Through the best d directions: the first d of X are where the search for them starts."""
    if d == 0:
        return (share @ Y)[None]
    Z, turn, back = whiten(X, share)
    gamma = fit_mave(Z, Y, share, back[:, :d]).gamma
    places, at = Z @ gamma, (X_new - share @ X) @ turn @ gamma
    return smooth(at, places, Y, share, best_bandwidth(places, Y, share)[0])


def settle(errors: Array, share: Array) -> Dimension:
    """The choice from held-out errors (d + 1, n): the fewest within one standard error of the best
    number, in the difference to it.
    """
    mean = errors @ share
    more = errors - errors[mean.argmin()]
    spread = np.sqrt((more - (more @ share)[:, None]) ** 2 @ share**2)
    fewest = int(np.argmax(mean - mean.min() <= spread))
    relative = max(float(mean[0]), np.finfo(float).tiny)
    return Dimension(mean / relative, spread / relative, max(1, fewest))
