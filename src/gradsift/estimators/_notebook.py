"""A fitted estimator in a notebook: the finding first, scikit-learn's diagram below it."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from gradsift.trust.association import RATE

MOST = 10
# colours of the page around it, whatever its theme
CELL = "text-align:left;padding:2px 12px 2px 0;border:0"


class NotebookForm:
    """Mixin: `_repr_html_` and `_repr_mimebundle_` with a short form of the finding on top."""

    @property
    def _repr_html_(self) -> Any:
        # scikit-learn's is a property that raises AttributeError when diagrams are switched off
        diagram = super()._repr_html_  # type: ignore[misc]
        return lambda: short_form(self) + diagram()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = short_form(self) + bundle["text/html"]
        return bundle


def short_form(model: Any) -> str:
    """The selected variables as a small HTML table; '' before `fit`.

    Column names are data: they are escaped.
    """
    try:
        check_is_fitted(model)
    except NotFittedError:
        return ""
    support = model.get_support(indices=True)
    order = support[np.argsort(model.ranking_[support], kind="stable")]
    names = getattr(model, "feature_names_in_", None)
    sizes = model.feature_importances_
    head = (
        f"<b>{len(support):,} of {model.n_features_in_:,} variables selected</b>, "
        f"{model.n_components_} direction{'' if model.n_components_ == 1 else 's'}"
    )
    association = getattr(model, "association_", None)  # methods of the paper have none
    if association is not None:
        head += f", {len(association.associated()):,} associated one by one (FDR {RATE:.0%})"
    largest = float(sizes.max(initial=0.0)) or 1.0
    rows = "".join(
        _row(
            int(model.ranking_[k]),
            f"x{k}" if names is None else str(names[k]),
            float(sizes[k]),
            float(sizes[k]) / largest,
        )
        for k in order[:MOST]
    )
    hidden = len(order) - MOST
    more = f"<div>and {hidden:,} more</div>" if hidden > 0 else ""
    table = (
        f'<table style="border-collapse:collapse;margin:6px 0;font-size:inherit">{rows}</table>'
        if rows
        else ""
    )
    return (
        '<div style="font-family:system-ui,sans-serif;font-size:13px;line-height:1.5;'
        f'margin-bottom:8px"><div>{head}</div>{table}{more}</div>'
    )


def _row(rank: int, name: str, size: float, share: float) -> str:
    bar = (
        f'<div style="width:{100 * share:.0f}px;height:6px;border-radius:3px;'
        'background:#0072B2"></div>'
    )
    return (
        f'<tr><td style="{CELL}">{rank}</td><td style="{CELL}"><b>{escape(name)}</b></td>'
        f'<td style="{CELL}">{size:.3g}</td><td style="{CELL}">{bar}</td></tr>'
    )
