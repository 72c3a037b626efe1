"""Pictures of what `gradsift.tl.select` wrote into an AnnData; each returns a Display."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradsift.displays import (
    ManhattanDisplay,
    ProjectionDisplay,
    QQDisplay,
    VolcanoDisplay,
)
from gradsift.displays.scale import positions_of

if TYPE_CHECKING:
    from anndata import AnnData
    from matplotlib.axes import Axes

__all__ = ["volcano", "manhattan", "qq", "projection"]

PLACES = ("chromosome", "start")
"""Columns of var that say where a variable lies, as scverse tools for genomes write them."""


def volcano(
    adata: AnnData,
    *,
    key: str = "gradsift",
    false_discovery_rate: float = 0.1,
    ax: Axes | None = None,
) -> VolcanoDisplay:
    """Evidence for every gene against its correlation with the target.

    Parameters
    ----------
    adata : AnnData
        After `gradsift.tl.select` with inference, on numbers or two classes.
    key : str, default='gradsift'
        The `key_added` of `select`.
    false_discovery_rate : float, default=0.1
        Genes with a q-value up to this are drawn in colour and named.
    ax : matplotlib axes, optional

    Returns
    -------
    display : VolcanoDisplay
    """
    columns = [_column(adata, key, c) for c in ("correlation", "pvals", "pvals_adj")]
    there = np.isfinite(columns[1])
    r, p, q = (column[there] for column in columns)
    return VolcanoDisplay(
        effects=r,
        p_values=p,
        q_values=q,
        names=list(adata.var_names[there]),
        false_discovery_rate=false_discovery_rate,
        effect_name=f"correlation with {adata.uns[key]['target']}",
    ).plot(ax=ax)


def manhattan(
    adata: AnnData,
    *,
    key: str = "gradsift",
    false_discovery_rate: float = 0.1,
    ax: Axes | None = None,
) -> ManhattanDisplay:
    """P-values along chromosomes or another scale.

    Places come from the columns ``chromosome`` and ``start`` of ``var``, or from names such as
    "chr1:12345" and "900 nm".

    Parameters
    ----------
    adata : AnnData
        After `gradsift.tl.select` with inference.
    key : str, default='gradsift'
        The `key_added` of `select`.
    false_discovery_rate : float, default=0.1
        Genes with a q-value up to this are drawn in colour and named.
    ax : matplotlib axes, optional

    Returns
    -------
    display : ManhattanDisplay
    """
    columns = [_column(adata, key, c) for c in ("pvals", "pvals_adj")]
    there = np.isfinite(columns[0])
    names = adata.var_names[there].astype(str).tolist()
    if set(PLACES) <= set(adata.var):
        chromosome, start = (adata.var[c][there].astype(str) for c in PLACES)
        places = [f"{c}:{s}" for c, s in zip(chromosome, start)]
    else:
        places = names
    return ManhattanDisplay(
        positions=positions_of(places),
        p_values=columns[0][there],
        q_values=columns[1][there],
        names=names,
        false_discovery_rate=false_discovery_rate,
    ).plot(ax=ax)


def qq(adata: AnnData, *, key: str = "gradsift", ax: Axes | None = None) -> QQDisplay:
    """P-values in order, against those that as many genes without effect would have.

    Parameters
    ----------
    adata : AnnData
        After `gradsift.tl.select` with inference.
    key : str, default='gradsift'
        The `key_added` of `select`.
    ax : matplotlib axes, optional

    Returns
    -------
    display : QQDisplay
    """
    p = _column(adata, key, "pvals")
    return QQDisplay(p_values=p[np.isfinite(p)]).plot(ax=ax)


def projection(
    adata: AnnData, *, key: str = "gradsift", ax: Axes | None = None
) -> ProjectionDisplay:
    """Rows on the directions that explain the target, coloured by it (of several, the first).

    Parameters
    ----------
    adata : AnnData
        After `gradsift.tl.select`.
    key : str, default='gradsift'
        The `key_added` of `select`.
    ax : matplotlib axes, optional

    Returns
    -------
    display : ProjectionDisplay
    """
    if f"X_{key}" not in adata.obsm:
        raise ValueError(_missing(f"obsm has no {f'X_{key}'!r}"))
    called = adata.uns[key]
    target = str(np.ravel(called["target"])[0])
    column = adata.obs[target]
    there = column.notna().to_numpy()
    return ProjectionDisplay(
        projection=np.asarray(adata.obsm[f"X_{key}"])[there],
        y=np.asarray(column[there]),
        labels=called["task"] in ("classification", "ordinal"),
        target=target,
    ).plot(ax=ax)


def _column(adata: AnnData, key: str, name: str) -> Any:
    column = f"{key}_{name}"
    if column not in adata.var:
        raise ValueError(_missing(f"var has no column {column!r}"))
    return adata.var[column].to_numpy()


def _missing(what: str) -> str:
    return (
        f"{what}: run gradsift.tl.select first (p-values need inference=True, which groups do not "
        "allow; correlations need numbers or two classes), or give its key_added as key."
    )
