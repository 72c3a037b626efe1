"""Findings: sets of columns of which one acts on the response, each with one confidence.

Problem: with few rows, near-copies cannot be distinguished, so that a selected column often
represents others that could act in its place. A finding is the smallest set of such columns of
which at least one acts in 95 % of the draws of the posterior (`gibbs`), or in as many as the data
allow: a credible set as in fine mapping (Maller et al. 2012), for effects of any shape.

The steps: candidate columns and their inner products (`candidates`), draws (v, K + P) of K columns
and P products (`gibbs`), and sets of columns from these (`cover`). Confidences (p,) are those of
all columns of the table.

References
----------
:cite:`maller-2012`
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gradsift.inference.candidates import (
    Candidates,
    choose_columns,
    kept_features,
    make_candidates,
    sift_fits,
)
from gradsift.inference.gibbs import Draws, draw
from gradsift.inference.settings import DEFAULT, PRODUCT, SHAPES, FindingSettings
from gradsift.protocols import Array, IntArray
from gradsift.sift import ChosenGroup, Sift
from gradsift.sift.rows import Rows

CLEAR, LIKELY, POSSIBLE = 0.95, 0.8, 0.3
"""Words: confidences from which on a finding is called clear, likely or possible."""


def certainty(confidence: float) -> str:
    """The word for a confidence.

    Examples
    --------
    >>> certainty(0.97), certainty(0.9), certainty(0.4), certainty(0.1)
    ('clear', 'likely', 'possible', 'unclear')
    """
    words = {CLEAR: "clear", LIKELY: "likely", POSSIBLE: "possible"}
    return next((word for least, word in words.items() if confidence >= least), "unclear")


@dataclass(frozen=True)
class Finding:
    """Columns of which one acts on the response.

    Attributes
    ----------
    columns : int array
        Column numbers, that of the largest confidence first.
    confidence : float
        Probability that at least one of them acts.
    members : array
        Confidence of each column, none larger than that of the finding. Their sum is not smaller.
    shape : str
        Most probable form of the effect: parts among "linear", "quadratic" and "local", or
        "product".
    partners : int array
        Columns that it acts with, if it acts in a product.
    """

    columns: IntArray
    confidence: float
    members: Array
    shape: str
    partners: IntArray

    @property
    def representative(self) -> int:
        """The column of the largest confidence."""
        return int(self.columns[0])


@dataclass(frozen=True)
class Findings:
    """Findings and the confidence of every column; a sequence of the findings.

    Attributes
    ----------
    findings : tuple of Finding
        The most certain first.
    confidence : (p,) array
        Probability of every column to act on the response. In a finding of one column it is that
        of the finding.
    """

    findings: tuple[Finding, ...]
    confidence: Array

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __getitem__(self, i: int) -> Finding:
        return self.findings[i]


def find(
    problem: Sift,
    chosen: Sequence[ChosenGroup],
    *,
    codes: IntArray | None = None,
    noise: float | None = None,
    n_columns: int | None = None,
    seed: int = 0,
    settings: FindingSettings = DEFAULT,
) -> Findings:
    """Findings of a sifted table.

    Parameters
    ----------
    problem : Sift
        The table, its response, the columns that are always kept (findings are given these) and
        those that never change.
    chosen : sequence of ChosenGroup
        The terms that the sift selected: there is a slot for each of them, and half of the chains
        start from them.
    codes : (n,) int array, optional
        Class numbers, where the response is labels.
    noise : float, optional
        Variance of the noise of the response, where it is known: of a working response
        1 / information.
    n_columns : int, optional
        The first columns, which confidences are for; those that follow are covariates.
    seed : int
        The same seed gives the same bits.
    """
    table, rows, always = problem.table, problem.response.rows, problem.always
    every = table.source.shape[1]
    kept = kept_features(table, always)

    def given(values: Array) -> Array:
        """Residuals of values (n, q) given the kept columns."""
        return np.asarray(values - kept.T @ (kept @ values) / rows.total)

    Y, fits = sift_fits(problem, chosen)
    Y, fits = given(Y), {key: given(fit) for key, fit in fits.items() if not {*always} & {*key}}
    excluded = [*always, *problem.constant]
    columns, elsewhere = choose_columns(table, Y, fits, excluded, problem.n_columns, settings)
    confidence = np.isin(np.arange(every), always).astype(float)
    if len(columns) == 0:
        return Findings((), confidence[:n_columns])
    entropy = None if codes is None else label_entropy(codes, rows)
    candidates = make_candidates(
        table, Y, [*fits], columns, kept, settings, noise=noise, entropy=entropy
    )
    candidates = replace(candidates, p=problem.n_columns, elsewhere=elsewhere)
    draws = draw(candidates, problem.settings.part_sizes, seed, settings)
    found = summarise(candidates, draws, settings)
    confidence[candidates.columns] = found.confidence
    return replace(found, confidence=confidence[:n_columns])


def label_entropy(codes: IntArray, rows: Rows) -> float:
    """Entropy of labels (n,), in nats: the log likelihood that a perfect model would gain."""
    share = np.bincount(codes if rows.kept is None else codes[rows.kept], rows.weight) / rows.total
    share = share[share > 0]
    return float(-rows.total * (share * np.log(share)).sum())


def summarise(candidates: Candidates, draws: Draws, settings: FindingSettings) -> Findings:
    """The findings in some draws, and the confidence of every candidate column."""
    V = column_views(candidates, draws.views)
    most = settings.most_confidence
    alone = np.minimum(V.mean(axis=0, dtype=np.float64), most)
    found = []
    for index in cover(V, candidates.correlations, settings):
        share = min(share_of(candidates, draws.views, index), most)
        if len(index) == 1:
            share = float(alone[index[0]])
        if share < settings.least_confidence:
            continue
        index = index[np.argsort(-alone[index], kind="stable")]
        shape, partners = form_of(candidates, draws, index, settings.least_partner)
        members = np.minimum(alone[index], share)
        found.append(Finding(candidates.columns[index], share, members, shape, partners))
    found.sort(key=lambda finding: (-finding.confidence, finding.representative))
    return Findings(tuple(found), alone)


def column_views(candidates: Candidates, views: Array) -> Array:
    """(v, K) probability in each view that a column acts, by itself or in a product."""
    K = len(candidates.columns)
    out = views[:, :K].copy()
    for i, (a, b) in enumerate(candidates.pairs):
        out[:, a] += views[:, K + i]
        out[:, b] += views[:, K + i]
    return np.asarray(np.minimum(out, 1.0))


def share_of(candidates: Candidates, views: Array, members: IntArray) -> float:
    """Share of the views in which some member acts, by itself or in a product."""
    K = len(candidates.columns)
    pairs = K + np.flatnonzero(np.isin(candidates.pairs, members).any(axis=1))
    total = views[:, np.concatenate([members, pairs])].sum(axis=1)
    return float(np.minimum(total, 1.0).mean(dtype=np.float64))


def form_of(
    candidates: Candidates, draws: Draws, members: IntArray, least_partner: float
) -> tuple[str, IntArray]:
    """The most probable shape of an effect of some columns, and the columns it acts with."""
    K, none = len(candidates.columns), np.zeros(0, dtype=np.intp)
    inside = np.isin(candidates.pairs, members)
    pairs = np.flatnonzero(inside.any(axis=1))
    weight = draws.views[:, K + pairs].mean(axis=0, dtype=np.float64)
    alone = draws.views[:, members].sum(axis=1).mean(dtype=np.float64)
    if weight.sum() <= alone:
        counts = draws.shapes[:, members].sum(axis=1)
        return SHAPES[int(counts.argmax())][0], none
    other = np.where(inside[pairs, 0], candidates.pairs[pairs, 1], candidates.pairs[pairs, 0])
    total = np.bincount(other, weight, minlength=K)
    total[members] = 0.0
    likely = np.count_nonzero(total > total.max() * least_partner)
    partners = np.argsort(-total, kind="stable")[:likely]
    return PRODUCT, candidates.columns[partners]


def cover(V: Array, correlations: Array, settings: FindingSettings) -> list[IntArray]:
    """Disjoint sets of columns of which one acts.

    A greedy search: the most probable column begins a set. Then the column is added that increases
    the probability that some member acts by most, again and again. Columns that act together with
    the members, and not in place of them, are not added.

    Parameters
    ----------
    V : (v, K) array
        Probabilities of columns, in each view.
    correlations : (K, K) array
        In absolute value.
    """
    V = V[np.linspace(0, len(V) - 1, min(settings.chosen_views, len(V))).astype(int)]
    found = []
    for _ in range(settings.most_findings):
        alone = V.mean(axis=0, dtype=np.float64)
        first = int(alone.argmax())
        if alone[first] < settings.least_first:
            break
        near = correlations[first] >= settings.related
        near[first] = False
        rest = np.flatnonzero(near & (alone > settings.least_gain / 2))
        # near-copies join even where both act in some draws: they may share one effect there
        part = np.minimum(settings.takes_place, 2 * (1 - np.square(correlations[first, rest])))
        members = grow(V, first, rest, part * alone[rest], settings)
        copies = np.flatnonzero(correlations[first] >= settings.same_column)
        members = np.concatenate([members, np.setdiff1d(copies, members)])
        found.append(members)
        V[:, members] = 0.0
    return found


def grow(V: Array, first: int, rest: IntArray, least: Array, settings: FindingSettings) -> IntArray:
    """The set that column `first` begins. Columns of `rest` may join it, each if it adds at least
    its entry of `least` to the probability.
    """
    members, some = [first], V[:, first].copy()
    probability = float(some.mean(dtype=np.float64))
    while probability < settings.level and len(members) < settings.most_members and len(rest):
        both = np.minimum(some[:, None] + V[:, rest], np.float32(1.0))
        gain = both.mean(axis=0, dtype=np.float64) - probability
        gain[gain < least] = 0.0
        best = int(gain.argmax())
        if gain[best] < settings.least_gain:
            break
        members.append(int(rest[best]))
        some, probability = both[:, best], probability + float(gain[best])
        rest, least = np.delete(rest, best), np.delete(least, best)
    return np.array(members, dtype=np.intp)
