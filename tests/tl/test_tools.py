"""AnnData in, AnnData with results out; donors, covariates, layers and masks included."""

import anndata
import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import gradsift as gs
from gradsift import GradientSiftRegressor

mpl.use("Agg")


@pytest.fixture
def table():
    """80 samples, 40 genes: g3 bends, g8 is straight; age acts and goes along with g5."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 40))
    age = rng.uniform(20, 80, size=80)
    X[:, 5] += age / 20
    dose = X[:, 3] ** 2 - 2 * X[:, 8] + 0.1 * age + 0.3 * rng.normal(size=80)
    obs = pd.DataFrame(
        {"dose": dose, "age": age, "site": rng.choice(["a", "b", "c"], size=80)},
        index=[f"s{k}" for k in range(80)],
    )
    obs["ill"] = pd.Categorical(np.where(X[:, 8] > 0, "yes", "no"))
    return anndata.AnnData(X, obs=obs, var=pd.DataFrame(index=[f"g{k}" for k in range(40)]))


def selected(adata, key="gradsift"):
    return adata.var_names[adata.var[f"{key}_selected"]].tolist()


def test_results_are_those_of_the_estimator(table):
    gs.tl.select(table, "dose", inference=False)
    model = GradientSiftRegressor().fit(table.X, table.obs["dose"].to_numpy())
    np.testing.assert_array_equal(table.var["gradsift_selected"], model.get_support())
    np.testing.assert_array_equal(table.var["gradsift_rank"], model.ranking_)
    np.testing.assert_array_equal(table.varm["gradsift_edr"], model.components_.T)
    np.testing.assert_allclose(table.obsm["X_gradsift"], model.transform(table.X))
    assert "gradsift_confidence" not in table.var


def test_covariates_are_kept_and_never_found(table):
    gs.tl.select(table, "dose", inference=False)
    assert "g5" in selected(table)  # stands in for age
    gs.tl.select(table, "dose", covariates=["age", "site"], inference=False)
    assert selected(table) == ["g3", "g8"]
    assert table.varm["gradsift_edr"].shape[0] == table.n_vars
    assert sorted(table.var["gradsift_rank"]) == list(range(1, 41))


def test_numbers_that_differential_expression_tools_write(table):
    gs.tl.select(table, "dose", covariates=["age"])
    written = ("score", "pvals", "pvals_adj", "confidence", "finding")
    assert {f"gradsift_{name}" for name in written} <= set(table.var)
    assert sorted(table.var["gradsift_rank"]) == list(range(1, 41))
    r = table.var["gradsift_correlation"]
    assert np.corrcoef(table.X[:, 8], table.obs["dose"])[0, 1] == pytest.approx(r["g8"])
    assert (table.var["gradsift_stat"] == table.var["gradsift_score"] * np.sign(r)).all()
    members = table.uns["gradsift"]["findings"]["members"]
    assert any("g8" in text for text in members)


def test_sparse_values_layers_and_masks(table):
    table.layers["log"] = sparse.csr_matrix(np.where(np.abs(table.X) > 0.3, table.X, 0.0))
    table.var["highly_variable"] = [k < 20 for k in range(40)]
    gs.tl.select(
        table, "dose", layer="log", mask_var="highly_variable", covariates=["age"], inference=False,
        key_added="hv",
    )  # fmt: skip
    assert selected(table, "hv") == ["g3", "g8"]
    assert (table.var["hv_rank"][20:] == 0).all()
    assert table.var["hv_score"][20:].isna().all()


def test_classes_and_rows_without_one(table):
    table.obs["ill"] = table.obs["ill"].astype(object)
    table.obs.iloc[:5, table.obs.columns.get_loc("ill")] = None
    gs.tl.select(table, "ill", inference=False)
    assert table.uns["gradsift"]["task"] == "classification"
    assert selected(table) == ["g8"]
    assert table.var["gradsift_stat"]["g8"] > 0  # the odds of "yes", the second class
    assert len(table.obsm["X_gradsift"]) == 80


def test_a_copy_leaves_the_object_alone(table):
    out = gs.tl.select(table, "dose", inference=False, copy=True)
    assert list(table.var) == []
    assert selected(out)


def test_results_go_through_a_file(table, tmp_path):
    gs.tl.select(table, "dose", covariates=["age"])
    table.write_h5ad(tmp_path / "t.h5ad")
    again = anndata.read_h5ad(tmp_path / "t.h5ad")
    assert selected(again) == selected(table)
    assert again.uns["gradsift"]["findings"].equals(table.uns["gradsift"]["findings"])
    gs.pl.volcano(again)


def cells(donors=30, each=8, seed=0):
    """Counts of cells; 15 ill donors have more of g2."""
    rng = np.random.default_rng(seed)
    donor = np.repeat(np.arange(donors), each)
    ill = (np.arange(donors) % 2)[donor]
    rate = np.exp(rng.normal(1.5, 0.3, size=(donors, 25)))[donor]
    rate[:, 2] *= np.where(ill, 3.0, 1.0)
    obs = pd.DataFrame(
        {"donor": [f"d{k:02d}" for k in donor], "disease": np.where(ill, "ill", "well"),
         "quality": rng.uniform(size=len(donor))},
        index=[f"c{k}" for k in range(len(donor))],
    )  # fmt: skip
    var = pd.DataFrame(index=[f"g{k}" for k in range(25)])
    return anndata.AnnData(sparse.csr_matrix(rng.poisson(rate).astype(float)), obs=obs, var=var)


def test_donors_as_groups_are_compared_by_their_means():
    adata = cells()
    adata.X = np.log1p(adata.X.toarray())
    gs.tl.select(adata, "disease", groups="donor")
    assert selected(adata) == ["g2"]
    with pytest.raises(ValueError, match="p-values need inference=True"):
        gs.pl.qq(adata)


def test_what_is_asked_for_must_be_there(table, tmp_path):
    with pytest.raises(ValueError, match=r"obs has no column 'dsoe'.* Did you mean 'dose'"):
        gs.tl.select(table, "dsoe")
    with pytest.raises(ValueError, match="layer='log'"):
        gs.tl.select(table, "dose", layer="log")
    with pytest.raises(ValueError, match="mask_var='hv': var has no such column"):
        gs.tl.select(table, "dose", mask_var="hv")
    with pytest.raises(ValueError, match="task='numbers'"):
        gs.tl.select(table, "dose", task="numbers")
    table.write_h5ad(tmp_path / "t.h5ad")
    with pytest.raises(ValueError, match="to_memory"):
        gs.tl.select(anndata.read_h5ad(tmp_path / "t.h5ad", backed="r"), "dose")


def test_pictures(table):
    gs.tl.select(table, "dose", covariates=["age"])
    assert "g8" in gs.pl.volcano(table).discoveries
    assert gs.pl.qq(table).ax_.collections[0].get_offsets().shape == (40, 2)
    assert gs.pl.projection(table).ax_.get_xlabel()
    with pytest.raises(ValueError, match="give no order"):
        gs.pl.manhattan(table)
    table.var["chromosome"] = ["chr1"] * 20 + ["chr2"] * 20
    table.var["start"] = np.r_[np.arange(20), np.arange(20)] * 1000
    shown = gs.pl.manhattan(table)
    assert [tick.get_text() for tick in shown.ax_.get_xticklabels()] == ["1", "2"]


@pytest.fixture
def responses():
    """120 samples, 20 genes, of which g3 acts on every response; g8 on the height only."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(120, 20))
    death, end = rng.exponential(np.exp(-2.0 * X[:, 3])), rng.exponential(2.0, size=120)
    depth = rng.uniform(0.5, 4.0, 120)
    place = np.searchsorted([-1.0, 1.0], 2.0 * X[:, 3] + rng.logistic(size=120))
    noise = 0.3 * rng.normal(size=(120, 2))
    obs = {
        "months": np.minimum(death, end),
        "died": death <= end,
        "cells": rng.poisson(depth * np.exp(0.8 * X[:, 3])),
        "depth": depth,
        "grade": pd.Categorical(np.array(["low", "mid", "high"])[place], ["low", "mid", "high"],
                                ordered=True),
        "mass": X[:, 3] + noise[:, 0],
        "height": X[:, 8] ** 2 - X[:, 3] + noise[:, 1],
        "site": rng.choice(["a", "b"], size=120),
    }  # fmt: skip
    obs = pd.DataFrame(obs, index=[f"s{k}" for k in range(120)])
    obs.loc["s5", "mass"] = obs.loc["s7", "depth"] = np.nan
    return anndata.AnnData(X, obs=obs, var=pd.DataFrame(index=[f"g{k}" for k in range(20)]))


@pytest.mark.parametrize(
    ("target", "params", "task", "scale"),
    [
        ("months", {"event": "died"}, "survival", "hazard"),
        ("cells", {"exposure": "depth"}, "counts", "rate"),
        ("grade", {"task": "ordinal"}, "ordinal", "probability"),
        (["mass", "height"], {}, "regression", "number"),
    ],
)
def test_every_response_is_explained_and_saved(responses, target, params, task, scale, tmp_path):
    gs.tl.select(responses, target, **params)
    assert "g3" in selected(responses)
    assert responses.var["gradsift_confidence"]["g3"] > 0.9
    called = responses.uns["gradsift"]
    assert called["task"] == task
    assert set(called["findings"]["scale"]) == {scale}
    assert "g3" in called["headline"]
    gs.pl.projection(responses)
    responses.write_h5ad(tmp_path / "t.h5ad")
    if isinstance(target, list):
        assert set(called["findings"]["outcome"]) == {"mass", "height"}
        assert selected(responses) == ["g3", "g8"]


def test_survival_times_take_entry_and_strata(responses):
    responses.obs["since"] = 0.5 * responses.obs["months"]
    responses.obs.loc["s9", "since"] = np.nan
    gs.tl.select(responses, "months", event="died", entry="since", strata="site")
    obs, X = responses.obs.drop(index="s9"), responses[responses.obs_names != "s9"].X
    model = gs.GradientSiftSurvival(inference=True).fit(
        np.asfortranarray(X), obs["months"], obs["died"], obs["since"], obs["site"]
    )
    np.testing.assert_array_equal(responses.var["gradsift_score"], model.sift_.scores)
    np.testing.assert_array_equal(responses.var["gradsift_confidence"], model.confidence_)


def test_responses_that_cannot_be_read_are_refused_in_one_sentence(responses):
    for target, params, words in [
        ("months", {"task": "survival"}, "need event="),
        ("months", {"event": "died", "task": "counts"}, "an event belongs to survival times"),
        (["mass", "height"], {"task": "counts"}, "takes one target"),
        (["mass", "site"], {}, "mass, site holds others: explain targets of classes one at a time"),
        ("mass", {"entry": "depth"}, "entry and strata belong to survival times"),
        ("site", {"task": "ordinal"}, "texts without an order"),
        ("months", {"event": "died", "groups": "site"}, "cannot have groups"),
        ("grade", {"task": "ordinal", "groups": "site"}, "cannot have groups"),
    ]:
        with pytest.raises(ValueError, match=words):
            gs.tl.select(responses, target, **params)
    assert "gradsift" not in responses.uns
