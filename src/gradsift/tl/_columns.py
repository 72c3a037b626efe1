"""Parameters of the estimators that are about columns, given by names or numbers of ``var``."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradsift.estimators.columns import check_feature_groups
from gradsift.estimators.validation import check_columns
from gradsift.tl._reading import Genes


def about_chosen(params: dict[str, Any], genes: Genes, names: Any) -> dict[str, Any]:
    """The same parameters, about the genes that are chosen from."""
    asked = {name: params[name] for name in ASKED if params.get(name) is not None}
    if asked and not names.is_unique:
        twice = names[names.duplicated()][0]
        raise ValueError(f"the gene {twice!r} is there twice: adata.var_names_make_unique() first.")
    return params | {name: ASKED[name](value, genes, names) for name, value in asked.items()}


def kept_columns(value: Any, genes: Genes, names: Any) -> list[int]:
    kept = check_columns(value, genes.n_vars, names.to_numpy(), "always_keep")
    if len(out := np.setdiff1d(kept, genes.index)):
        raise ValueError(f"always_keep holds {names[out[0]]!r}, which mask_var leaves out.")
    return [int(k) for k in np.searchsorted(genes.index, kept)]


def group_labels(value: Any, genes: Genes, names: Any) -> list[str] | None:
    labels = check_feature_groups(value, genes.n_vars, names.to_numpy())
    return None if labels is None else [labels[k] for k in genes.index]


ASKED = {"always_keep": kept_columns, "feature_groups": group_labels}
