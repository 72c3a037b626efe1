"""The samples of the paper's problem: their response, their weights, those without a response."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gradsift._typing import Array, IntArray, Source
from gradsift.data import Scaling, measure_scaling, stack_rows, standardised, take_rows


@dataclass(frozen=True)
class Response:
    """The response as the data term wants it.

    Attributes
    ----------
    values : (c, n) array
        Regression: y, one row. Two classes: -1 and 1. More: one-hot, one row per class.
    is_labels : bool
    """

    values: Array
    is_labels: bool = False

    @classmethod
    def numbers(cls, y: Array) -> Response:
        return cls(np.asarray(y, dtype=float)[None, :])

    @classmethod
    def labels(cls, codes: IntArray, n_classes: int) -> Response:
        """codes are 0 .. n_classes - 1."""
        one_hot = (np.arange(n_classes)[:, None] == codes).astype(float)
        return cls(2.0 * one_hot[1:] - 1.0 if n_classes == 2 else one_hot, is_labels=True)

    def codes(self) -> IntArray:
        """Class numbers 0 .. C-1 (all zero for numbers), for splitters that stratify."""
        if not self.is_labels:
            return np.zeros(self.values.shape[1], dtype=int)
        if len(self.values) == 1:
            return (self.values[0] > 0).astype(int)
        return self.values.argmax(axis=0)

    def take(self, rows: IntArray) -> Response:
        return Response(self.values[:, rows], self.is_labels)


@dataclass(frozen=True)
class ReferenceSamples:
    """The samples that the field is expanded over: those with a response first.

    Attributes
    ----------
    source : Source
    weight : (N,) array
        How much each sample counts; one for those without a response.
    order : (N,) int array
        The samples along the response; those without one come last.
    response : Response
        Of the first n samples.
    share : (n,) array
        Weights of those, with sum one.
    paired : float
        The part of the weight that the samples in a pair have.
    """

    source: Source
    weight: Array
    order: IntArray
    response: Response
    share: Array
    paired: float = 1.0

    @property
    def n(self) -> int:
        return len(self.share)

    def standardised(self, standardize: bool, missing: str) -> tuple[Scaling, ReferenceSamples]:
        """The scaling of the columns, and the samples seen through it."""
        scaling = measure_scaling(
            self.source,
            self.weight / self.weight.sum(),
            standardize=standardize,
            missing=missing,
        )
        if not standardize and scaling.fill is None:
            return scaling, self
        return scaling, replace(self, source=standardised(self.source, scaling))

    def in_a_pair(self, rows: IntArray) -> ReferenceSamples:
        """These samples alone: the others are in no pair, and of no more use."""
        paired = float(self.share[rows].sum())
        return ReferenceSamples(
            take_rows(self.source, rows),
            self.weight[rows],
            np.argsort(self.response.values[0][rows], kind="stable"),
            self.response.take(rows),
            self.share[rows] / paired,
            paired,
        )


def reference_samples(
    source: Source, response: Response, weight: Array, unlabelled: Source | None
) -> ReferenceSamples:
    """The samples with a response, and below them those without one."""
    n = source.shape[0]
    order, share = np.argsort(response.values[0], kind="stable"), weight / weight.sum()
    if unlabelled is None:
        return ReferenceSamples(source, weight, order, response, share)
    both = stack_rows(source, unlabelled)
    return ReferenceSamples(
        both,
        np.concatenate([weight, np.ones(both.shape[0] - n)]),
        np.concatenate([order, np.arange(n, both.shape[0])]),
        response,
        share,
    )
