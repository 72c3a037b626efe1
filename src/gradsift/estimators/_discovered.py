"""Selection by tests of the columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradsift._typing import IntArray
from gradsift.sift import SiftResult
from gradsift.trust.tested import Significance


def discovered(found: SiftResult, tested: Significance, rate: float, keep: IntArray) -> SiftResult:
    """A result with the discoveries at a false discovery rate in the place of what was selected;
    they are ranked first, most certain first.
    """
    first = tested.discoveries(rate)
    ranking = np.lexsort((found.ranking, ~np.isin(np.arange(len(found.ranking)), first)))
    order = np.concatenate([first, ranking[len(first) :]])
    selected = np.union1d(first, keep).astype(np.intp)
    kept = set(selected.tolist())
    sure = {(t.first, t.second) for t in tested.products if t.q_value <= rate}
    tails = dict(zip(found.selected.tolist(), found.chi_square_tails.tolist(), strict=True))
    ranks = np.empty_like(found.ranking)
    ranks[order] = np.arange(1, len(order) + 1)
    scores = found.scores / 2.0
    scores[first] = 2.0 - np.arange(len(first)) / max(len(first), 1)
    return replace(
        found,
        selected=selected,
        ranking=ranks,
        scores=scores,
        interactions=tuple(pair for pair in found.interactions if pair[:2] in sure),
        groups=tuple(term for term in found.groups if kept.issuperset(term.variables)),
        chi_square_tails=np.array([tails.get(k, np.nan) for k in selected.tolist()]),
    )
