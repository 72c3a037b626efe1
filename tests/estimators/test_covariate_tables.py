"""What covariates may be given as, and the columns that they become."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from gradsift import GradientSiftRegressor
from gradsift.estimators.columns import find_encoder
from gradsift.estimators.covariate_terms import independent_columns

N = 60


@pytest.fixture(scope="module")
def confounded():
    """Batches and age act on the response, beside column 3."""
    rng = np.random.default_rng(0)
    batch, age = rng.integers(3, size=N), rng.normal(50.0, 10.0, size=N)
    X = rng.normal(size=(N, 10))
    y = X[:, 3] + 2.5 * (batch == 2) + 0.1 * age + 0.5 * rng.normal(size=N)
    return X, y, pd.DataFrame({"batch": np.array(["a", "b", "c"])[batch], "age": age})


def test_columns_that_repeat_others_are_not_used():
    C = np.random.default_rng(0).normal(size=(30, 3))
    twice = np.column_stack([C[:, 0], np.zeros(30), C[:, 1], C[:, 0] - C[:, 1], C[:, 2]])
    assert independent_columns(twice).tolist() == [0, 2, 4]


def test_categories_are_named_as_in_the_columns_of_a_mixed_table(confounded):
    X, y, C = confounded
    codes = C["batch"].map({"a": 1.0, "b": 2.0, "c": 3.0}).astype("category")
    table = pd.DataFrame({"batch": codes})
    model = GradientSiftRegressor().fit(X, y, covariates=table)
    part = model.covariates_.parts[0]
    found = {f"batch={level}" for level in (*part.levels, part.reference)}
    assert found == set(find_encoder(table, "error", y).names) == {"batch=1", "batch=2", "batch=3"}


def test_covariates_of_any_data_frame_are_the_same(confounded):
    X, y, C = confounded
    fitted = GradientSiftRegressor(predict_with="selected").fit(X, y, covariates=C)
    for table in (pl.from_pandas(C), pa.table({name: list(C[name]) for name in C})):
        model = GradientSiftRegressor(predict_with="selected").fit(X, y, covariates=table)
        assert model.covariates_.columns == fitted.covariates_.columns
        np.testing.assert_array_equal(
            model.predict(X, covariates=table), fitted.predict(X, covariates=C)
        )
