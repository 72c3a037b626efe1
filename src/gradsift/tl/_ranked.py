"""All genes in order, as pathway tools take them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradsift._run.atomic import atomic_write

if TYPE_CHECKING:
    from anndata import AnnData


def ranked(adata: AnnData, *, key: str = "gradsift") -> Any:
    """The table of all genes, best first.

    Parameters
    ----------
    adata : AnnData
        After `select`.
    key : str, default='gradsift'
        The `key_added` of `select`.

    Returns
    -------
    table : DataFrame
        ``names``, ``scores`` (with the sign of the correlation where there is one), and what else
        `select` wrote: ``pvals``, ``pvals_adj``, ``selected``, ``rank`` and so on.

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> import pandas as pd
    >>> import gradsift as gs
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> obs = pd.DataFrame({"dose": -X[:, 2]}, index=[f"s{k}" for k in range(60)])
    >>> adata = anndata.AnnData(X, obs=obs, var=pd.DataFrame(index=list("abcde")))
    >>> gs.tl.select(adata, "dose")
    >>> gs.tl.ranked(adata)[["names", "scores"]].head(1).to_numpy().tolist()
    [['c', -2.0]]
    """
    prefix = f"{key}_"
    found = adata.var[[c for c in adata.var if str(c).startswith(prefix)]]
    if found.empty:
        raise ValueError(
            f"adata.var has no column that begins with {prefix!r}: run gradsift.tl.select first, "
            "or give its key_added as key."
        )
    found = found.rename(columns=lambda c: str(c).removeprefix(prefix))
    found.insert(0, "names", adata.var_names.astype(str))
    found.insert(1, "scores", found.pop("stat") if "stat" in found else found["score"])
    return found[found["rank"] > 0].sort_values("rank").reset_index(drop=True)


def write_rnk(adata: AnnData, path: str | os.PathLike[str], *, key: str = "gradsift") -> Path:
    """Write names and scores of all genes as a ``.rnk`` file, as GSEA and gseapy take it.

    Parameters
    ----------
    adata : AnnData
        After `select`.
    path : str or path
        An existing file is replaced.
    key : str, default='gradsift'
        The `key_added` of `select`.

    Returns
    -------
    path : Path
    """
    table = ranked(adata, key=key)
    if not table["names"].is_unique:
        twice = table["names"][table["names"].duplicated()].iloc[0]
        raise ValueError(
            f"the gene {twice!r} is there twice: adata.var_names_make_unique() before select."
        )
    table = table.sort_values("scores", ascending=False, kind="stable")
    target = Path(path)
    lines = [f"{name}\t{score:.6g}\n" for name, score in zip(table["names"], table["scores"])]
    with atomic_write(target) as part:
        part.write_text("".join(lines), encoding="utf-8")
    return target
