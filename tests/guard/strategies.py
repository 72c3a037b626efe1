"""Hypothesis strategies for tables, responses, weights and settings, good and bad.

A case is drawn as a short recipe (sizes, kinds, a seed) and built from it, so that a failing
example prints as one line and shrinks to few rows, few columns and the plainest kinds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from guard.forms import FORMS
from hypothesis import strategies as st

Column = Callable[[np.random.Generator, int, np.ndarray], np.ndarray]
"""(generator, rows, the first column) -> a column."""

COLUMNS: dict[str, Column] = {
    "normal": lambda rng, n, first: rng.normal(size=n),
    "ties": lambda rng, n, first: rng.integers(0, 3, n).astype(float),
    "binary": lambda rng, n, first: rng.integers(0, 2, n).astype(float),
    "constant": lambda rng, n, first: np.full(n, 3.3),
    "zero": lambda rng, n, first: np.zeros(n),
    "copy": lambda rng, n, first: first.copy(),
    "negated copy": lambda rng, n, first: -first,
    "almost a copy": lambda rng, n, first: first + 1e-9 * rng.normal(size=n),
    "one row differs": lambda rng, n, first: (np.arange(n) == 0).astype(float),
    "heavy tails": lambda rng, n, first: rng.standard_cauchy(n),
    "far from zero": lambda rng, n, first: 1e8 + rng.normal(size=n),
    "large": lambda rng, n, first: 1e60 * rng.normal(size=n),
    "small": lambda rng, n, first: 1e-60 * rng.normal(size=n),
    "huge": lambda rng, n, first: 1e200 * rng.normal(size=n),
    "tiny": lambda rng, n, first: 1e-200 * rng.normal(size=n),
    "all scales": lambda rng, n, first: 10.0 ** rng.uniform(-200, 200, n),
}
DTYPES = ["float64", "float32", "int64", "int8", "bool"]
SPOILS = ["nan", "inf", "-inf", "column of nan"]


@dataclass(frozen=True)
class TableRecipe:
    """How a table of numbers is made."""

    n: int
    kinds: tuple[str, ...]
    seed: int
    dtype: str = "float64"
    spoil: str = "none"

    def build(self) -> np.ndarray:
        rng = np.random.default_rng(self.seed)
        first = rng.normal(size=self.n)
        X = np.column_stack([COLUMNS[kind](rng, self.n, first) for kind in self.kinds])
        if self.dtype == "bool":
            X = np.median(X, axis=0) < X
        elif self.dtype.startswith("int"):
            most = np.iinfo(self.dtype).max // 2
            X = np.clip(np.round(3 * np.clip(X, -1e15, 1e15)), -most, most).astype(self.dtype)
        elif self.dtype == "float32":
            X = np.clip(X, -1e38, 1e38).astype(np.float32)
        return self._spoiled(X, rng)

    def _spoiled(self, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        if self.spoil == "none" or X.dtype.kind != "f":
            return X
        row, column = rng.integers(self.n), rng.integers(X.shape[1])
        if self.spoil == "column of nan":
            X[:, column] = np.nan
        else:
            X[row, column] = float(self.spoil)
        return X


@st.composite
def table_recipes(
    draw: Any, spoiled: bool = False, most_rows: int = 60, most_columns: int = 30
) -> TableRecipe:
    """Mostly small tables; some as large as allowed."""
    n = draw(st.integers(3, 16) | st.integers(3, most_rows))
    p = draw(st.integers(1, 6) | st.integers(1, most_columns))
    kinds = st.just("normal") if draw(st.booleans()) else st.sampled_from(sorted(COLUMNS))
    return TableRecipe(
        n,
        tuple(draw(st.lists(kinds, min_size=p, max_size=p))),
        draw(st.integers(0, 2**32 - 1)),
        "float64" if spoiled else draw(st.sampled_from(DTYPES[:1] * 4 + DTYPES)),
        draw(st.sampled_from(SPOILS)) if spoiled else "none",
    )


@dataclass(frozen=True)
class Choice:
    """Values that should be answered, and values that should be refused."""

    good: list[Any]
    bad: list[Any] = field(default_factory=list)

    def values(self, spoiled: bool) -> st.SearchStrategy[Any]:
        return st.sampled_from(self.bad if spoiled and self.bad else self.good)


NUMBERS = Choice(
    ["linear", "linear", "curved", "noise", "ties", "binary", "one row differs", "far from zero",
     "heavy tails", "large", "small"],
    ["constant", "nan", "inf", "text", "short", "huge", "tiny"],
)  # fmt: skip
LABELS = Choice(
    ["str", "str", "int", "bool", "object", "negative", "rare", "many classes", "float",
     "unicode", "noise"],
    ["one", "missing", "short"],
)  # fmt: skip
WEIGHTS = Choice(
    ["none", "none", "none", "none", "ones", "uniform", "whole", "some zero", "wide"],
    ["huge", "tiny", "all zero", "negative", "nan", "short"],
)


def make_numbers(kind: str, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A response of numbers that depends on the first column."""
    n = len(X)
    first = standard(X)
    noise = 0.1 * rng.normal(size=n)
    answers: dict[str, Callable[[], np.ndarray]] = {
        "linear": lambda: first + noise,
        "curved": lambda: first**2 + noise,
        "noise": lambda: rng.normal(size=n),
        "ties": lambda: np.round(first),
        "binary": lambda: (first > 0).astype(int),
        "constant": lambda: np.full(n, 7.0),
        "one row differs": lambda: (np.arange(n) == n - 1).astype(float),
        "large": lambda: 1e60 * (first + noise),
        "small": lambda: 1e-60 * (first + noise),
        "huge": lambda: 1e200 * (first + noise),
        "tiny": lambda: 1e-200 * (first + noise),
        "far from zero": lambda: 1e10 + first + noise,
        "heavy tails": lambda: first + rng.standard_cauchy(n),
        "nan": lambda: np.where(np.arange(n) == 1, np.nan, first),
        "inf": lambda: np.where(np.arange(n) == 1, np.inf, first),
        "text": lambda: np.array([f"a{k}" for k in range(n)]),
        "short": lambda: first[:-1],
    }
    return answers[kind]()


def make_labels(kind: str, n_classes: int, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Labels of many types that depend on the first column."""
    n = len(X)
    order = np.argsort(np.argsort(standard(X) + 0.1 * rng.normal(size=n)))
    codes = (order * n_classes) // n
    answers: dict[str, Callable[[], Any]] = {
        "str": lambda: np.array([f"class {c}" for c in codes]),
        "int": lambda: codes,
        "bool": lambda: codes > 0,
        "object": lambda: np.array([f"c{c}" for c in codes], dtype=object),
        "negative": lambda: codes * 7 - 5,
        "rare": lambda: np.where(np.arange(n) == 0, "rare", "common"),
        "many classes": lambda: np.arange(n) // (1 + n // 12),  # of few rows, each its own
        "one": lambda: np.array(["only"] * n),
        "missing": lambda: np.array(
            [None if i == 1 else f"c{c}" for i, c in enumerate(codes)], dtype=object
        ),
        "float": lambda: codes.astype(float),
        "unicode": lambda: np.array(["äß", "日本", "🙂", "", " x "])[codes],
        "noise": lambda: rng.integers(0, n_classes, n),
        "short": lambda: codes[:-1],
    }
    return answers[kind]()


def standard(X: np.ndarray) -> np.ndarray:
    """The first column on a plain scale, whatever is in it."""
    first = np.nan_to_num(X[:, 0].astype(float), posinf=0.0, neginf=0.0)
    largest = np.abs(first).max()
    return first / largest if largest > 0 else first


def make_weights(kind: str, n: int, rng: np.random.Generator) -> np.ndarray | None:
    weights = {
        "none": lambda: None,
        "ones": lambda: np.ones(n),
        "uniform": lambda: rng.uniform(0.5, 2.0, n),
        "whole": lambda: rng.integers(1, 4, n),
        "some zero": lambda: (rng.uniform(size=n) > 0.3).astype(float),
        "huge": lambda: 1e150 * rng.uniform(0.5, 2.0, n),
        "tiny": lambda: 1e-200 * rng.uniform(0.5, 2.0, n),
        "wide": lambda: 10.0 ** rng.uniform(-9, 9, n),
        "all zero": lambda: np.zeros(n),
        "negative": lambda: -np.ones(n),
        "nan": lambda: np.full(n, np.nan),
        "short": lambda: np.ones(n - 1),
    }
    return weights[kind]()


@dataclass(frozen=True)
class Case:
    """One call of a public entry."""

    table: TableRecipe
    response: str
    n_classes: int = 0
    weight: str = "none"
    form: str = "array"
    params: dict[str, Any] = field(default_factory=dict)

    def build(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """(X, y, sample_weight)."""
        X = self.table.build()
        rng = np.random.default_rng(self.table.seed + 1)
        if self.n_classes:
            y = make_labels(self.response, self.n_classes, X, rng)
        else:
            y = make_numbers(self.response, X, rng)
        return X, y, make_weights(self.weight, len(X), rng)


FAULTS = ["none", "none", "none", "table", "response", "weight", "params", "params"]
"""What is wrong with a case: most are to be answered."""


@st.composite
def cases(draw: Any, labels: bool, params: dict[str, Choice]) -> Case:
    """A table, a response, weights, a storage form and some settings that are not the default."""
    fault = draw(st.sampled_from(FAULTS))
    responses = LABELS if labels else NUMBERS
    chosen = draw(st.sets(st.sampled_from(sorted(params)), max_size=2))
    return Case(
        draw(table_recipes(fault == "table")),
        draw(responses.values(fault == "response")),
        draw(st.integers(2, 5)) if labels else 0,
        draw(WEIGHTS.values(fault == "weight")),
        draw(st.sampled_from(["array"] * 8 + sorted(FORMS))),
        {name: draw(params[name].values(fault == "params")) for name in sorted(chosen)},
    )
