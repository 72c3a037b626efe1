"""What tools read from an AnnData, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from gradsift._run.suggest import did_you_mean
from gradsift.data.formats.sparse import check_indices
from gradsift.data.missing import as_response, known
from gradsift.estimators.columns import check_feature_groups
from gradsift.estimators.validation import check_columns
from gradsift.protocols import Array, IntArray
from gradsift.responses.survival import survival_records

if TYPE_CHECKING:
    from anndata import AnnData


@dataclass(frozen=True)
class Genes:
    """The variables that were chosen from, among all."""

    index: IntArray
    n_vars: int

    def spread(self, values: Array, fill: Any) -> Array:
        """Values of the chosen ones as values of all; `fill` for the others.

        Examples
        --------
        >>> Genes(np.array([0, 2]), 3).spread(np.array([5, 7]), 0).tolist()
        [5, 0, 7]
        """
        out = np.full((self.n_vars, *values.shape[1:]), fill, dtype=values.dtype)
        out[self.index] = values
        return out


def refuse_backed(adata: AnnData) -> None:
    if adata.isbacked:
        raise ValueError(
            "the AnnData lies in a file: take it into memory with adata.to_memory(), or fit "
            'GradientSiftRegressor().fit("file.h5ad", "column"), which reads it column by column.'
        )


def matrix(adata: AnnData, layer: str | None) -> Any:
    """X or a layer; sparse stays sparse."""
    if layer is not None and layer not in adata.layers:
        raise ValueError(
            f"layer={layer!r}: there is none of that name.{did_you_mean(layer, adata.layers)}"
        )
    values = adata.X if layer is None else adata.layers[layer]
    if values is None:
        raise ValueError("the AnnData has no X: give the name of a layer.")
    if sparse.issparse(values):
        check_indices(values)
    return values


def obs_column(adata: AnnData, name: str) -> Any:
    """A column of obs, which must be there."""
    if name not in adata.obs:
        raise ValueError(
            f"obs has no column {name!r} (it has {list(adata.obs)[:10]})."
            f"{did_you_mean(name, adata.obs)}"
        )
    return adata.obs[name]


def is_labels(column: Any) -> bool:
    """Whether a column of a frame holds classes rather than numbers."""
    return getattr(column.dtype, "kind", "O") not in "fiu"


def read_response(
    adata: AnnData,
    target: str | Sequence[str],
    task: str,
    event: str | None = None,
    exposure: str | None = None,
    entry: str | None = None,
    strata: str | None = None,
) -> tuple[str, Any, Any, IntArray]:
    """The task, the response as an estimator takes it, the exposure of counts, and the rows in
    which all of it is known.
    """
    targets = [target] if isinstance(target, str) else list(target)
    implied = {"survival": event, "counts": exposure, "regression": len(targets) > 1}
    wanted = [name for name, given in implied.items() if given]
    labels = any(is_labels(obs_column(adata, name)) for name in targets)
    if task == "auto":
        task = wanted[0] if wanted else "classification" if labels else "regression"
    if set(wanted) - {task}:
        raise ValueError(
            f"task={task!r} takes one target, an event belongs to survival times, and an exposure "
            "to counts."
        )
    if labels and task not in ("classification", "ordinal"):
        several = ": explain targets of classes one at a time" if len(targets) > 1 else ""
        raise ValueError(
            f"task={task!r} needs numbers, and {', '.join(targets)} holds others{several}."
        )
    if task != "survival" and (entry is not None or strata is not None):
        raise ValueError(f"task={task!r}: entry and strata belong to survival times.")
    more = (event, exposure, entry, strata)
    names = [*targets, *(name for name in more if name is not None)]
    read = {name: as_response(np.asarray(obs_column(adata, name))) for name in names}
    rows = np.flatnonzero(np.all([known(values) for values in read.values()], axis=0))
    exposed = None if exposure is None else read[exposure][rows].astype(float)
    if task == "survival":
        if event is None:
            raise ValueError("survival times need event=, the column that says how they ended.")
        asked = [None if name is None else read[name][rows] for name in (event, entry, strata)]
        return task, survival_records(read[targets[0]][rows], *asked), exposed, rows
    if task == "ordinal":
        column = adata.obs[targets[0]]
        if labels and not getattr(column.dtype, "ordered", False):
            raise ValueError(
                f"task='ordinal': {targets[0]} holds texts without an order. Make it an ordered "
                "category, or numbers."
            )
        return task, column.iloc[rows], exposed, rows
    if task == "classification":
        return task, read[targets[0]][rows].astype(str), exposed, rows
    Y = np.column_stack([read[name][rows].astype(float) for name in targets])
    return task, Y if len(targets) > 1 else Y[:, 0], exposed, rows


def chosen_genes(adata: AnnData, mask_var: Any) -> Genes:
    """The variables to choose from: all, a column of var, or a mask."""
    if mask_var is None:
        return Genes(np.arange(adata.n_vars), adata.n_vars)
    what = "mask_var"
    if isinstance(mask_var, str):
        what = f"mask_var={mask_var!r}"
        if mask_var not in adata.var:
            raise ValueError(
                f"mask_var={mask_var!r}: var has no such column.{did_you_mean(mask_var, adata.var)}"
            )
        mask_var = adata.var[mask_var]
    values = np.asarray(mask_var)
    numbers = (bool, int, float)
    wrong = [v for v in values.ravel().tolist() if not isinstance(v, numbers) or v not in (0, 1)]
    if values.shape == (adata.n_vars,) and wrong:
        raise ValueError(f"{what} holds no truth values, but {wrong[0]!r}: give True or False.")
    mask = values.astype(bool)
    if mask.shape != (adata.n_vars,):
        raise ValueError(f"mask_var has shape {mask.shape}, but there are {adata.n_vars} genes.")
    return Genes(np.flatnonzero(mask), adata.n_vars)


def covariate_columns(adata: AnnData, names: Sequence[str], rows: IntArray) -> Any:
    """Columns of obs as a frame, of these rows; None where there are none."""
    for name in names:
        obs_column(adata, name)
    return adata.obs[list(names)].iloc[rows] if len(names) else None


def by_columns(values: Any) -> Any:
    """Sparse values by columns, which is how they are read; others as they are."""
    return sparse.csc_array(values) if sparse.issparse(values) else np.asarray(values)


def about_chosen(params: dict[str, Any], genes: Genes, names: Any) -> dict[str, Any]:
    """Parameters of the estimators that name genes of var, about the genes that are chosen from."""
    kept, groups = params.get("always_keep"), params.get("feature_groups")
    if (kept is not None or groups is not None) and not names.is_unique:
        twice = names[names.duplicated()][0]
        raise ValueError(f"the gene {twice!r} is there twice: adata.var_names_make_unique() first.")
    params = dict(params)
    if kept is not None:
        columns = check_columns(kept, genes.n_vars, names.to_numpy(), "always_keep")
        if len(out := np.setdiff1d(columns, genes.index)):
            raise ValueError(f"always_keep holds {names[out[0]]!r}, which mask_var leaves out.")
        params["always_keep"] = np.isin(genes.index, columns)
    labels = check_feature_groups(groups, genes.n_vars, names.to_numpy())
    if labels is not None:
        params["feature_groups"] = [labels[k] for k in genes.index]
    return params
