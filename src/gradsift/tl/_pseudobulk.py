"""One row for each donor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse

from gradsift._run.extras import require
from gradsift.data.row_groups import constant_in_groups, group_codes
from gradsift.protocols import Array
from gradsift.tl._reading import matrix, obs_column, refuse_backed

if TYPE_CHECKING:
    from anndata import AnnData

HOW = ("mean", "sum", "log_cpm")


def pseudobulk(
    adata: AnnData,
    groups: str,
    *,
    layer: str | None = None,
    how: Literal["mean", "sum", "log_cpm"] = "mean",
) -> Any:
    """Make one row of each group of rows, such as the cells of a donor.

    Cells of a donor say much about the donor and nothing about others: where a disease or a dose
    belongs to the donor, donors are what can be compared.

    Parameters
    ----------
    adata : AnnData
        In memory.
    groups : str
        The column of ``obs`` with the group of each row.
    layer : str, optional
        Take values from this layer, such as "counts"; None = ``X``.
    how : {'mean', 'sum', 'log_cpm'}, default='mean'
        'mean' for values on a log scale. 'sum' for counts; 'log_cpm' sums counts, divides by their
        total, and takes log2(1 + counts per million).

    Returns
    -------
    donors : AnnData
        A row for each group, in the order of their labels. ``obs`` keeps the columns that never
        change inside a group, and counts rows in ``n_rows``; ``var`` is kept.

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> import pandas as pd
    >>> import gradsift as gs
    >>> obs = pd.DataFrame({"donor": ["a", "a", "b"], "ill": ["y", "y", "n"]}, index=list("xyz"))
    >>> adata = anndata.AnnData(np.array([[1.0, 0.0], [3.0, 0.0], [5.0, 8.0]]), obs=obs)
    >>> donors = gs.tl.pseudobulk(adata, "donor")
    >>> donors.X.tolist(), donors.obs["ill"].tolist(), donors.obs["n_rows"].tolist()
    ([[2.0, 0.0], [5.0, 8.0]], ['y', 'n'], [2, 1])
    """
    if how not in HOW:
        raise ValueError(f"how={how!r}: use one of {', '.join(map(repr, HOW))}.")
    anndata = require("anndata", "genomics", "pseudobulk")
    refuse_backed(adata)
    codes = group_codes(np.asarray(obs_column(adata, groups)), adata.n_obs)
    count, first = np.bincount(codes), np.unique(codes, return_index=True)[1]
    member = sparse.csr_array((np.ones(len(codes)), (codes, np.arange(len(codes)))))
    total = member @ matrix(adata, layer)
    made: Array = np.asarray(total.toarray() if sparse.issparse(total) else total, dtype=float)
    labels = adata.obs[groups].iloc[first].astype(str)
    if how == "mean":
        made = made / count[:, None]
    elif how == "log_cpm":
        made = log_cpm(made, labels)
    kept = [c for c in adata.obs if constant_in_groups(adata.obs[c].astype(str).to_numpy(), codes)]
    obs = adata.obs.iloc[first][kept].assign(n_rows=count)
    obs.index = labels.to_list()
    return anndata.AnnData(made, obs=obs, var=adata.var.copy())


def log_cpm(counts: Array, labels: Any) -> Array:
    """log2(1 + counts per million) of rows of counts."""
    if counts.min(initial=0.0) < 0.0:
        raise ValueError("how='log_cpm' needs counts, but there are values below 0.")
    total = counts.sum(axis=1, keepdims=True)
    if (total == 0.0).any():
        raise ValueError(f"group {labels.iloc[int(total.argmin())]!r} has no counts at all.")
    return np.asarray(np.log2(1.0 + 1e6 * counts / total))
