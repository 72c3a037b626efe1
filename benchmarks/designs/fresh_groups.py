"""Studies of groups of rows of which any number of fresh groups can be drawn."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

COLUMNS = 40


SHARED = 0.5
"""Part of the variance that rows of a group share, in the noise and in every column."""


class Study(NamedTuple):
    """Rows of so many groups."""

    X: Any
    y: Any
    groups: Any
    covariates: Any = None

    @property
    def adjusted(self) -> dict[str, Any]:
        return {} if self.covariates is None else {"covariates": self.covariates}


def grouped(rng: np.random.Generator, who: Any, columns: int) -> Any:
    """Normal columns of unit variance of which groups share a part."""
    between = rng.normal(size=(who.max() + 1, columns))[who]
    within = rng.normal(size=(len(who), columns))
    return np.sqrt(SHARED) * between + np.sqrt(1.0 - SHARED) * within


def visits(rng: np.random.Generator, count: int, sizes: Any = 6, effect: float = 0.8) -> Study:
    who = np.repeat(np.arange(count), sizes)
    X = grouped(rng, who, COLUMNS)
    return Study(X, effect * X[:, :3].sum(axis=1) + grouped(rng, who, 1)[:, 0], who)


def unequal(rng: np.random.Generator, count: int) -> Study:
    """One to about 40 visits."""
    sizes = rng.lognormal(np.log(4.0), 0.9, count).round().clip(1).astype(int)
    return visits(rng, count, sizes)


def labels(rng: np.random.Generator, count: int) -> Study:
    """A label that may change from visit to visit; four in ten are positive."""
    study = visits(rng, count)
    return study._replace(y=np.where(study.y > 0.4, "b", "a"))


def donors(rng: np.random.Generator, count: int) -> Study:
    """The label is the donor's; ten cells each."""
    who = np.repeat(np.arange(count), 10)
    case = rng.integers(2, size=count)[who]
    X = grouped(rng, who, COLUMNS)
    X[:, :3] += 0.6 * (2.0 * case[:, None] - 1.0)
    return Study(X, np.where(case, "case", "control"), who)


def batches(rng: np.random.Generator, count: int) -> Study:
    """Four visits, and a batch of each subject that moves all columns and the response."""
    who = np.repeat(np.arange(count), 4)
    batch = rng.integers(2, size=count)[who]
    X = rng.normal(size=(count, COLUMNS))[who] + rng.normal(size=(len(who), COLUMNS))
    X += batch[:, None]
    y = X[:, 3] + batch + 0.7 * rng.normal(size=count)[who] + rng.normal(size=len(who))
    return Study(X, y, who, {"batch": np.array(["a", "b"])[batch]})


DESIGNS = {
    "30 subjects x 4 visits, batches": (batches, 30),
    "40 subjects x 6 visits": (visits, 40),
    "40 subjects, 1 to 40 visits": (unequal, 40),
    "40 subjects x 6 visits, nothing true": (lambda rng, m: visits(rng, m, effect=0.0), 40),
    "15 subjects x 6 visits": (visits, 15),
    "40 subjects x 6 visits, labels": (labels, 40),
    "30 donors x 10 cells, label per donor": (donors, 30),
}
