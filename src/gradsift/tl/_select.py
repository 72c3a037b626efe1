"""Select genes, and write what was found into the AnnData."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gradsift._run.extras import require
from gradsift.answer import Answer, explain
from gradsift.estimators.survival import SIFTS
from gradsift.inference import correlations
from gradsift.protocols import Array
from gradsift.tl._reading import (
    Genes,
    about_chosen,
    by_columns,
    chosen_genes,
    covariate_columns,
    matrix,
    obs_column,
    read_response,
    refuse_backed,
)

if TYPE_CHECKING:
    from anndata import AnnData

TASKS = ("auto", *SIFTS)
WRITTEN = (
    *("selected", "rank", "score", "importance", "correlation", "stat"),
    *("pvals", "pvals_adj", "confidence", "finding"),
)
"""Columns of ``var``, without their prefix."""


def select(
    adata: AnnData,
    target: str | Sequence[str],
    *,
    event: str | None = None,
    entry: str | None = None,
    strata: str | None = None,
    exposure: str | None = None,
    groups: str | None = None,
    covariates: str | Sequence[str] = (),
    layer: str | None = None,
    mask_var: Any = None,
    task: Literal["auto", "regression", "classification", "counts", "ordinal", "survival"] = "auto",
    inference: bool | None = None,
    key_added: str = "gradsift",
    copy: bool = False,
    **params: Any,
) -> Any:
    """Find the genes that a column of ``obs`` depends on, and write them into ``var``.

    Parameters
    ----------
    adata : AnnData
        In memory. Values should be on a scale on which differences mean something, such as the log
        of normalised counts.
    target : str or sequence of str
        The column of ``obs`` to explain: numbers, classes, counts, ordered answers or survival
        times; or several columns of numbers at once. Rows without a value are left out.
    event : str, optional
        Of survival times: the column that says whether they ended in an event (bool or 0/1).
    entry, strata : str, optional
        Of survival times: the column of times from which rows were observed, and the column of
        labels whose rows have a baseline hazard of their own.
    exposure : str, optional
        Of counts: the column of the time, area or depth that they refer to.
    groups : str, optional
        The column of ``obs`` that says which rows belong together, such as the donor of a cell.
        Where the target never changes inside a group, the means of the groups are compared. Not
        for counts, ordered answers and survival times.
    covariates : str or sequence of str
        Columns of ``obs`` that are adjusted for, such as age, sex or batch, and are never findings;
        texts are categories.
    layer : str, optional
        Take values from this layer; None = ``X``.
    mask_var : str or (n_vars,) bool array, optional
        The genes to choose from, such as "highly_variable".
    task : {'auto', 'regression', 'classification', 'counts', 'ordinal', 'survival'}
        'auto' takes times with an `event` for survival, numbers with an `exposure` for counts,
        other numbers for numbers, and all else for classes.
    inference : bool, optional
        Also say how sure it is: findings and confidences. None = yes, unless the
        target differs inside of groups, with which it cannot be said.
    key_added : str, default='gradsift'
        Prefix of what is written. What an earlier call wrote under it is removed.
    copy : bool, default=False
        Leave `adata` as it is and return a copy with the results.
    **params
        Further parameters of `GradientSiftRegressor`, `GradientSiftClassifier` or
        `GradientSiftSurvival`, such as `false_positives`. `always_keep` and `feature_groups` are
        about the genes of ``var``, by name or number.

    Returns
    -------
    adata : AnnData or None
        None unless `copy`. Written are, with the prefix ``gradsift_``,

        - in ``var``: ``selected`` (bool), ``rank`` (1 = best, 0 = not among those chosen from),
          ``score`` (orders all genes; above 1 where selected), ``importance``; for numbers and two
          classes ``correlation`` with the response, and ``stat``, the score with its sign;
          ``pvals`` and ``pvals_adj`` (q-values) of its association with the response; with
          inference its ``confidence``, and ``finding`` (the number in the table of findings, 0 =
          none);
        - ``varm["gradsift_edr"]``, the directions, and ``obsm["X_gradsift"]``, rows placed on them;
        - ``uns["gradsift"]``: how it was called, the ``headline``, and tables of ``findings`` (as
          ``Answer.to_frame``) and ``interactions``.

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> import pandas as pd
    >>> import gradsift as gs
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(100, 30))
    >>> dose = X[:, 3] ** 2 + X[:, 8] + 0.3 * rng.normal(size=100)
    >>> obs = pd.DataFrame({"dose": dose}, index=[f"s{k}" for k in range(100)])
    >>> adata = anndata.AnnData(X, obs=obs, var=pd.DataFrame(index=[f"g{k}" for k in range(30)]))
    >>> gs.tl.select(adata, "dose")
    >>> adata.var_names[adata.var["gradsift_selected"]].tolist()
    ['g3', 'g8']
    """
    if task not in TASKS:
        raise ValueError(f"task={task!r}: use one of {', '.join(map(repr, TASKS))}.")
    adata = adata.copy() if copy else adata
    refuse_backed(adata)
    genes = chosen_genes(adata, mask_var)
    X = by_columns(matrix(adata, layer)[:, genes.index])
    kind, response, exposed, rows = read_response(
        adata, target, task, event, exposure, entry, strata
    )
    if groups is not None and kind not in ("regression", "classification"):
        raise ValueError(
            f"task={kind!r} assumes independent rows and cannot have groups. Make one row of "
            "each group first, or give the groups among the covariates."
        )
    group = None if groups is None else np.asarray(obs_column(adata, groups))[rows]
    covariates = [covariates] if isinstance(covariates, str) else list(covariates)
    known_influences = covariate_columns(adata, covariates, rows)
    settings = about_chosen(params, genes, adata.var_names)
    settings |= {"inference": groups is None if inference is None else inference}
    given = {"groups": group, "covariates": known_influences, "exposure": exposed}
    fit_params = {name: values for name, values in given.items() if values is not None}
    model = SIFTS[kind](**settings).fit(X[rows], response, **fit_params)
    _forget(adata, key_added)
    _write_var(adata, model, genes, key_added)
    numbers = kind in ("regression", "counts") and isinstance(target, str)
    if numbers or (kind == "classification" and len(model.classes_) == 2):
        _write_signs(adata, correlations(X[rows], response), genes, key_added)
    adata.varm[f"{key_added}_edr"] = genes.spread(model.components_.T, 0.0)
    adata.obsm[f"X_{key_added}"] = np.asarray(model.transform(X))
    names = adata.var_names[genes.index].astype(str).tolist()
    answer = explain(model, X[rows], response, names=names, target=event or target, **fit_params)
    named = target if isinstance(target, str) else np.array(list(target), dtype=str)
    called: dict[str, Any] = {"target": named, "covariates": np.array(covariates, dtype=str)}
    called |= {"task": kind, "groups": groups or ""}
    adata.uns[key_added] = called | _tables(names, model, answer)
    return adata if copy else None


def _forget(adata: AnnData, key: str) -> None:
    """Remove columns that an earlier call wrote: this one may not write them all again."""
    old = [f"{key}_{name}" for name in WRITTEN if f"{key}_{name}" in adata.var]
    adata.var = adata.var.drop(columns=old)


def _write_var(adata: AnnData, model: Any, genes: Genes, key: str) -> None:
    """One value per gene."""
    found: dict[str, tuple[Any, Any]] = {
        "selected": (model.get_support(), False),
        "rank": (model.ranking_, 0),
        "score": (model.sift_.scores, np.nan),
        "importance": (model.feature_importances_, 0.0),
    }
    tested = getattr(model, "significance_", None) or model.association_
    if tested is not None:
        found["pvals"], found["pvals_adj"] = (tested.p_values, np.nan), (tested.q_values, np.nan)
    if hasattr(model, "findings_"):
        found["confidence"] = model.confidence_, np.nan
        number = np.zeros(model.n_features_in_, dtype=np.int64)
        for k, finding in reversed(list(enumerate(model.findings_, start=1))):
            number[finding.columns] = k  # the most certain finding of a gene is the first
        found["finding"] = number, 0
    for name, (values, fill) in found.items():
        adata.var[f"{key}_{name}"] = genes.spread(np.asarray(values), fill)


def _write_signs(adata: AnnData, r: Array, genes: Genes, key: str) -> None:
    adata.var[f"{key}_correlation"] = genes.spread(r, np.nan)
    signs = np.sign(adata.var[f"{key}_correlation"].to_numpy())
    adata.var[f"{key}_stat"] = adata.var[f"{key}_score"].to_numpy() * signs


def _tables(names: list[str], model: Any, answer: Answer) -> dict[str, Any]:
    """The answer and interactions with the names of genes, as tables that a file holds."""
    pandas = require("pandas", "genomics", "a table")
    pairs = [(names[i.first], names[i.second], i.strength) for i in model.interactions_]
    found = answer.to_frame()
    found["confidence"] = found["confidence"].astype(float)
    return {
        "headline": answer.headline,
        "findings": found,
        "interactions": pandas.DataFrame(pairs, columns=["first", "second", "strength"]),
    }
