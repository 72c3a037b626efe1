"""`select` as people call it: twice on one object, with names of genes, with one covariate."""

import anndata
import numpy as np
import pandas as pd
import pytest

import gradsift as gs


@pytest.fixture
def table():
    """100 samples, 20 genes: g3 makes the dose, the two classes and the three."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(100, 20))
    obs = pd.DataFrame({"age": rng.uniform(20, 80, size=100), "site": rng.choice(["a", "b"], 100)})
    obs.index = [f"s{k}" for k in range(100)]
    obs["dose"] = X[:, 3] + 0.3 * rng.normal(size=100)
    obs["two"] = np.where(X[:, 3] > 0, "yes", "no")
    obs["three"] = np.array(["a", "b", "c"])[np.digitize(X[:, 3], [-0.5, 0.5])]
    names = [f"g{k}" for k in range(20)]
    var = pd.DataFrame({"few": np.arange(20) < 10, "text": ["no"] * 20}, index=names)
    return anndata.AnnData(X, obs=obs, var=var)


def selected(adata):
    return adata.var_names[adata.var["gradsift_selected"]].tolist()


def test_nothing_stays_of_the_call_before(table):
    table.var["gradsift_note"] = "mine"
    fresh = table.copy()
    gs.tl.select(table, "two", key_added="other")
    gs.tl.select(table, "two")
    gs.tl.select(table, "three", inference=False)
    gs.tl.select(fresh, "three", inference=False)
    mine = [name for name in table.var if not name.startswith("other")]
    pd.testing.assert_frame_equal(table.var[mine], fresh.var)
    assert not {"gradsift_confidence", "gradsift_stat"} & set(table.var)
    assert {"other_confidence", "other_stat", "gradsift_note"} <= set(table.var)


@pytest.mark.parametrize(
    "covariates", ["age", ("age",), np.array(["age", "site"]), pd.Index(["age", "site"])], ids=str
)
def test_covariates_in_any_form(table, covariates):
    gs.tl.select(table, "dose", covariates=covariates, inference=False)
    given = ["age"] if len(covariates) in (1, 3) else ["age", "site"]
    assert table.uns["gradsift"]["covariates"].tolist() == given
    assert selected(table) == ["g3"]


@pytest.mark.parametrize("mask_var", [None, "few"])
def test_columns_are_named_as_in_var(table, mask_var):
    asked = {"mask_var": mask_var, "inference": False}
    gs.tl.select(table, "dose", always_keep=["g7"], **asked)
    assert selected(table) == ["g3", "g7"]
    gs.tl.select(table, "dose", feature_groups={"pathway": ["g3", "g5"]}, **asked)
    assert selected(table) == ["g3", "g5"]
    labels = ["A" if k in (3, 6) else None for k in range(20)]
    gs.tl.select(table, "dose", feature_groups=labels, **asked)
    assert selected(table) == ["g3", "g6"]


def test_numbers_of_columns_are_those_of_var(table):
    mask = np.arange(20) % 2 == 1
    gs.tl.select(table, "dose", always_keep=[7], mask_var=mask, inference=False)
    assert selected(table) == ["g3", "g7"]
    with pytest.raises(ValueError, match="always_keep holds 'g8', which mask_var leaves out"):
        gs.tl.select(table, "dose", always_keep=["g8"], mask_var=mask)


def test_names_that_are_there_twice_are_refused_where_they_are_needed(table):
    table.var_names = ["g0", *table.var_names[:-1]]
    gs.tl.select(table, "dose", inference=False)
    with pytest.raises(ValueError, match=r"'g0' is there twice.*var_names_make_unique"):
        gs.tl.select(table, "dose", always_keep=["g0"])


def test_a_mask_holds_truth_values(table):
    with pytest.raises(ValueError, match="mask_var='text' holds no truth values"):
        gs.tl.select(table, "dose", mask_var="text")
    with pytest.raises(ValueError, match="mask_var holds no truth values, but 'g0'"):
        gs.tl.select(table, "dose", mask_var=table.var_names)
    ones = table.var["few"].astype(int)
    gs.tl.select(table, "dose", mask_var=ones, inference=False)
    assert (table.var["gradsift_rank"] > 0).sum() == 10
    gs.tl.select(table, "dose", mask_var=table.var["few"].astype("boolean"), inference=False)
    assert (table.var["gradsift_rank"] > 0).sum() == 10
    unsure = pd.array([None, *[True] * 19], dtype="boolean")
    with pytest.raises(ValueError, match="mask_var holds no truth values, but <NA>"):
        gs.tl.select(table, "dose", mask_var=unsure)
