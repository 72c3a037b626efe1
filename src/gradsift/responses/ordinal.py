"""Ordered classes: the cumulative logit law.

Problem: y_i is one of C ordered classes with P(y_i <= c) = expit(theta_c - eta_i). The cuts
theta (C - 1,) are profiled out by Newton steps. With u and l the cuts above and below class y_i,
less eta_i,

    P(y_i) = expit(u) expit(-l) (1 - exp(l - u)),
    d log P(y_i) / d eta_i = expit(u) + expit(l) - 1,

so that the log likelihood is concave in cuts and eta together, and no difference of probabilities
loses digits.

References
----------
:cite:`mccullagh-1980`
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit, log_expit

from gradsift.protocols import Array, IntArray
from gradsift.responses.labels import class_codes
from gradsift.responses.likelihood import STEPS, Likelihood


@dataclass(frozen=True, eq=False)
class Cuts:
    """What a fitted model keeps of ordered classes: P(y <= c) = expit(cuts[c] - eta)."""

    cuts: Array

    def predict(self, eta: Array) -> Array:
        """(n, C) probabilities of the classes."""
        below = expit(self.cuts - eta)
        ends = np.zeros((len(eta), 1)), np.ones((len(eta), 1))
        return np.asarray(np.diff(np.hstack([ends[0], below, ends[1]]), axis=1))


@dataclass(frozen=True, eq=False)
class OrderedLabels:
    """Labels with their order: `classes[codes]`, and `some[rows]` are those of some rows."""

    codes: IntArray
    classes: Array

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: IntArray) -> OrderedLabels:
        return OrderedLabels(self.codes[rows], self.classes)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.classes[self.codes], dtype=dtype)

    @classmethod
    def of(cls, y: Any) -> OrderedLabels | None:
        """The labels of an ordered pandas or polars category; None of anything else."""
        if isinstance(y, OrderedLabels):
            return y
        kind: Any = getattr(y, "dtype", None)
        if getattr(kind, "ordered", False):
            codes = getattr(y, "cat", y).codes  # of a pandas series, or a category itself
            return cls(np.asarray(codes), np.asarray(kind.categories))
        if str(kind).startswith("Enum("):
            codes = y.to_physical().cast(int).fill_null(-1)
            return cls(codes.to_numpy(), np.asarray(y.dtype.categories))
        return None


class Law(NamedTuple):
    """The best cuts at some eta, and the cuts above and below each row, less its eta."""

    cuts: Array
    above: Array
    below: Array


@dataclass(frozen=True, eq=False)
class Ordinal(Likelihood):
    """Class numbers 0 .. C - 1 in `y`, all of which occur.

    Examples
    --------
    >>> y = Ordinal.of(np.array([1, 2, 3, 3]))
    >>> y.link(np.zeros((4, 1)), np.ones(4)).predict(np.zeros((1, 1))).round(3).tolist()
    [[0.25, 0.25, 0.5]]
    """

    classes: Array = ()  # type: ignore[assignment]  # always given, after fields with defaults
    fallback: ClassVar[str] = "the class shares"

    @classmethod
    def records(cls, y: object) -> Any:
        """Labels of an ordered category; None of others, whose order is that of numbers."""
        return OrderedLabels.of(y)

    @classmethod
    def of(cls, y: Array | OrderedLabels, weight: Array | None = None) -> Self:
        """The response of ordered labels (n,), checked; weights have no influence."""
        if isinstance(y, OrderedLabels):
            if (y.codes < 0).any():
                raise ValueError(f"y is missing in row {int(np.argmin(y.codes))}: leave it out.")
            present, codes = class_codes(y.codes.astype(float))
            return cls(codes, None, y.classes[present.astype(int)])
        classes, codes = class_codes(y)
        if classes.dtype.kind not in "biuf":
            raise ValueError(
                f"y holds texts ({classes[0]!r}, ...), whose order is not known: pass an ordered "
                "category, such as pandas.Categorical(y, categories=[lowest, ...], ordered=True)."
            )
        return cls(codes, None, classes)

    @cached_property
    def between(self) -> Array:
        """(n, C - 1) indicators of the cut above each row; those of the cut below are one later."""
        return (self.y[:, None] == np.arange(len(self.classes) - 1)).astype(float)

    @cached_property
    def after(self) -> Array:
        """(n, C - 1) indicators of the cut below each row."""
        return (self.y[:, None] == np.arange(1, len(self.classes))).astype(float)

    @cached_property
    def last(self) -> dict[tuple[bytes, bytes], Law]:
        """The law at the last eta: its deviance, score and information follow each other."""
        return {}

    def law(self, eta: Array, weight: Array) -> Law:
        """The best cuts at eta."""
        key = (eta.tobytes(), weight.tobytes())
        if key not in self.last:
            known = (eta if self.offset is None else eta + self.offset)[:, 0]
            cuts = self.best_cuts(known, weight)
            self.last.clear()
            self.last[key] = self.places(cuts, known)
        return self.last[key]

    def places(self, cuts: Array, known: Array) -> Law:
        """The cuts around each row, less its eta; infinite beyond the first and last class."""
        ends = np.concatenate([[-np.inf], cuts, [np.inf]])
        return Law(cuts, ends[self.y + 1] - known, ends[self.y] - known)

    def log_likelihood(self, law: Law, weight: Array) -> float:
        """Of the law; minus infinity where cuts are out of order."""
        gaps = np.diff(law.cuts)
        if (gaps <= 0).any():
            return -np.inf
        inner = np.bincount(self.y, weight, len(self.classes))[1:-1]
        rows = log_expit(law.above) + log_expit(-law.below)
        return float(weight @ rows + inner @ np.log(-np.expm1(-gaps)))

    def best_cuts(self, known: Array, weight: Array) -> Array:
        """The cuts of largest likelihood, by Newton steps that are halved until they gain."""
        share = np.cumsum(np.bincount(self.y, weight, len(self.classes)))[:-1] / weight.sum()
        cuts = np.log(share / (1.0 - share)) + float(weight @ known / weight.sum())
        law = self.places(cuts, known)
        now = self.log_likelihood(law, weight)
        for _ in range(STEPS):
            gaps = np.diff(cuts)
            slope = (weight * expit(-law.above)) @ self.between
            slope -= (weight * expit(law.below)) @ self.after
            inner = np.bincount(self.y, weight, len(self.classes))[1:-1] / np.expm1(gaps)
            slope[1:] += inner
            slope[:-1] -= inner
            step = cho_solve(cho_factor(self.cut_curvature(law, weight)), slope)
            small, before = slope @ step < 1e-10, now
            if small:  # the last step is taken as it is: its gain is lost in rounding
                return np.asarray(cuts + step)
            for halved in range(STEPS):
                moved = self.places(cuts + step / 2.0**halved, known)
                now = self.log_likelihood(moved, weight)
                if now >= before:
                    law, cuts = moved, moved.cuts
                    break
        return cuts

    def cut_curvature(self, law: Law, weight: Array) -> Array:
        """(C - 1, C - 1) second derivative of minus the log likelihood in the cuts."""
        rows = (weight * spread(law.above)) @ self.between
        rows += (weight * spread(law.below)) @ self.after
        inner = np.bincount(self.y, weight, len(self.classes))[1:-1]
        # e^g / (e^g - 1)^2
        inner = inner / (4.0 * np.sinh(np.diff(law.cuts) / 2.0) ** 2)
        out = np.diag(rows)
        at = np.arange(len(inner))
        out[at, at] += inner
        out[at + 1, at + 1] += inner
        out[at, at + 1] -= inner
        out[at + 1, at] -= inner
        return out

    def deviance(self, eta: Array, weight: Array) -> float:
        return -2.0 * self.log_likelihood(self.law(eta, weight), weight)

    def score(self, eta: Array, weight: Array) -> Array:
        law = self.law(eta, weight)
        return np.asarray(expit(law.above) + expit(law.below) - 1.0)[:, None]

    def information(self, eta: Array, weight: Array) -> Array:
        law = self.law(eta, weight)
        return np.asarray(spread(law.above) + spread(law.below))[:, None]

    def informative_rows(self, weight: Array) -> float:
        """All rows: none is silent."""
        return float(weight.sum())

    def curvature(self, D: Array, eta: Array, weight: Array) -> Array:
        """(m, m) the exact second derivative, the cuts profiled out."""
        law = self.law(eta, weight)
        above, below = weight * spread(law.above), weight * spread(law.below)
        both = (above[:, None] * self.between + below[:, None] * self.after).T @ D
        own = D.T @ ((above + below)[:, None] * D)
        cuts = cho_factor(self.cut_curvature(law, weight))
        return np.asarray(own - both.T @ cho_solve(cuts, both))

    def link(self, eta: Array, weight: Array) -> Cuts:
        return Cuts(self.law(eta, weight).cuts)


def spread(x: Array) -> Array:
    """Derivative of expit."""
    return np.asarray(expit(x) * expit(-x))
