"""Which variables matter: gradient learning with a potential.

The field f estimates the gradient of the regression function; f is a gradient, f = grad G, of a
potential

    G(x) = sum_k G_k(x^k) + sum_{k < l} b_kl x^k x^l.

The exact line integral of f from x_i to x_j is G(x_j) - G(x_i), so the pair loss with all pairs at
weight one,

    1/n^2 sum_ij ( y_j - y_i - int_0^1 f(x_i + t (x_j - x_i)) . (x_j - x_i) dt )^2  =  2 var(y -
    G(x)),

needs n rows instead of n^2 pairs: a sparse additive model with pairwise products, written in its
gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradsift._run.progress import Say, silent
from gradsift.protocols import Array, IntArray, Source
from gradsift.sift.logit_interactions import Classes, interactions_of
from gradsift.sift.procedure import Sifted, Sifter
from gradsift.sift.ranking import (
    loss_without,
    ranks,
    scores,
    selected_scores,
    variable_losses,
)
from gradsift.sift.response import in_principal_axes, make_response
from gradsift.sift.rows import make_rows
from gradsift.sift.search import TOL
from gradsift.sift.settings import DEFAULT, Limits, SiftSettings

__all__ = [
    "ChosenGroup",
    "Classes",
    "SiftResult",
    "SiftSettings",
    "Limits",
    "Sifter",
    "describe",
    "make_sifter",
    "sift",
    "sift_support",
]

PARTS = ("linear", "quadratic", "local", "joint", "product")


@dataclass(frozen=True)
class ChosenGroup:
    """One term of the potential."""

    part: str
    """"linear", "quadratic", "local", "joint" (all columns of one variable) or "product"."""
    variables: tuple[int, ...]
    strength: float
    """Rise of the log residual variance (log det, several responses) without this term."""


@dataclass(frozen=True)
class SiftResult:
    selected: IntArray
    """Selected columns, sorted."""
    ranking: IntArray
    """(p,) rank of every column, 1 = best."""
    scores: Array
    """(p,) larger = better: (1, 2] selected, [0, 1) the others."""
    interactions: tuple[tuple[int, int, float], ...]
    """Selected products (k, l, strength), strongest first; for classes only those that the log odds
    need, too.
    """
    groups: tuple[ChosenGroup, ...]
    """Terms of the selected potential, strongest first."""
    chi_square_tails: Array
    """One per selected column: chi-square tail of what the fit loses without it. It orders columns
    and is no p-value: the columns were chosen for being large here, and others may stand in for
    them.
    """
    residual: Array
    """(rows with positive weight, q) what the selected terms leave over, in units of the whitened
    response.
    """
    correlation: float = 0.0
    """Correlation of the noise of two rows of a group; 0 without groups."""
    clip_lines: bool = True
    """Whether the linear features that it was found with were cut off."""


def sift(source: Source, Y: Array, **options: Any) -> SiftResult:
    """Select and rank variables; options as in `make_sifter`.

    Deterministic: the same input gives the same bits.
    """
    return describe(*make_sifter(source, Y, **options).settled())


def describe(
    sifter: Sifter, sifted: Sifted, classes: Classes | None = None, *, ranked: bool = True
) -> SiftResult:
    """The selected terms and the ranking of all columns, without the features they were made of.

    `classes` says what the classes are where the response is told beside covariates or an offset.
    Unless `ranked`, columns that are not selected all have the score 0.
    """
    groups, support, response = sifted.groups, sifted.support, sifter.response
    selected, loss, log_p = variable_losses(groups, support, response)
    strength = loss_without(groups, support, response, [(g,) for g in support])
    if ranked:
        sifter.say(f"ranking {sifter.source.shape[1]:,} columns")
        score = scores(sifter, sifted)
    else:
        score = np.zeros(sifter.source.shape[1])
        score[selected] = selected_scores(loss)
    k, first = len(groups.columns), groups.first_product

    def part(g: int) -> str:
        return PARTS[g // k if g < 3 * k else 3 + (g >= first)]

    terms = sorted(
        (
            ChosenGroup(part(g), groups.parents_of(g), float(s))
            for g, s in zip(support, strength, strict=True)
        ),
        key=lambda term: (-term.strength, term.variables),
    )
    kept = {groups.parents_of(g) for g in interactions_of(groups, support, response, classes)}
    pairs = [t for t in terms if t.part == "product" and t.variables in kept]
    clusters = response.rows.clusters
    residual = response.rows.in_order(sifter.residual(groups, support) / response.root)
    return SiftResult(
        selected=np.array(selected, dtype=np.intp),
        ranking=ranks(score),
        scores=score,
        interactions=tuple((t.variables[0], t.variables[1], t.strength) for t in pairs),
        groups=tuple(terms),
        chi_square_tails=np.exp(log_p),
        residual=residual,
        correlation=0.0 if clusters is None else clusters.correlation,
        clip_lines=sifter.settings.clip_lines,
    )


def sift_support(source: Source, Y: Array, **options: Any) -> IntArray:
    """The columns that `sift` would select, without ranking the others."""
    _, sifted = make_sifter(source, Y, **options).settled()
    return np.array(sifted.groups.variables(sifted.support), dtype=np.intp)


def make_sifter(
    source: Source,
    Y: Array,
    *,
    false_positives: float = 0.3,
    interactions: bool = True,
    always_keep: Sequence[int] = (),
    feature_groups: IntArray | None = None,
    constant: Sequence[int] = (),
    sample_weight: Array | None = None,
    groups: IntArray | None = None,
    robust: bool = True,
    tol: float = TOL,
    say: Say = silent,
    settings: SiftSettings = DEFAULT,
) -> Sifter:
    """Check the arguments of a sift, and set it up.

    Parameters
    ----------
    source : Source
        Standardised columns, (n, p); constant columns are zero. Read in blocks.
    Y : array (n, q)
        Response, or +-1 labels (q = 1), or the C - 1 contrasts of C classes. Centred and whitened
        here.
    false_positives : float
        Expected number of false variables when nothing is true.
    interactions : bool
        Also look for products of two variables.
    always_keep : sequence of int
        Columns that are always selected; their linear part is not penalised.
    feature_groups : int array (p,), optional
        Columns with the same number are one variable: one price, whatever the number of columns.
    constant : sequence of int
        Columns that never change: nothing competes with them.
    sample_weight : array (n,), optional
        Numbers of samples: 2 is the row twice, 0 removes it.
    groups : array (n,), optional
        Labels of rows that belong together, such as the visits of a subject: they may depend on
        each other in any way, rows with different labels may not.
    robust : bool
        Winsorise residuals at three robust standard deviations. Off for labels.
    tol : float
        Accuracy of the group lasso that proposes supports.
    say : function
        Told what is done next.
    settings : SiftSettings
        Numbers of the procedure; change them to study it, not to use it.
    """
    n, p = source.shape
    if not 0 < false_positives < np.inf:
        raise ValueError(
            f"false_positives={false_positives!r}: expected a positive number, e.g. 0.3."
        )
    if Y.ndim != 2 or len(Y) != n:
        raise ValueError(
            f"Y has shape {Y.shape}: expected ({n}, q), one row per row of the source."
        )
    always = tuple(sorted({int(v) for v in always_keep}))
    if always and (always[0] < 0 or always[-1] >= p):
        raise ValueError(f"always_keep={always}: expected column numbers from 0 to {p - 1}.")
    response = make_response(Y, make_rows(n, sample_weight, groups), robust, settings)
    return Sifter(
        source,
        in_principal_axes(response, source),
        float(false_positives),
        interactions,
        always,
        tol,
        say,
        settings,
        labels=feature_groups,
        constant=tuple(constant),
    )
