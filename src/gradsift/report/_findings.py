"""All that a report is made from."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import gradsift
from gradsift.explain import VariableSummary
from gradsift.trust import HeldOut, Stability


def versions() -> dict[str, str]:
    """Versions of what the numbers depend on.

    Returns
    -------
    versions : dict
        Name of the package, version.
    """
    found = {"gradsift": gradsift.__version__, "python": platform.python_version()}
    for package in ("numpy", "scipy", "scikit-learn"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


@dataclass(frozen=True)
class Findings:
    """A fitted model with what belongs to it.

    Parameters
    ----------
    model : fitted estimator
        Any estimator of this package.
    X : (n, p) array or data frame
        Samples to judge the effects at and to draw: the training table, or some of its rows.
    y : (n,) array
        Their responses or labels.
    names : sequence of str, optional
        Column names; None = as the model knows them.
    target : str, default='y'
        What the response is called.
    source : str, optional
        The file the table came from.
    n_samples : int, optional
        Rows the model was fitted to, where X is only a part of them.
    sample_names : sequence of str, optional
        One per row of X.
    variables : sequence of VariableSummary, optional
        From `gradsift.explain.summarise_variables`; None = computed here.
    stability : Stability, optional
        From `gradsift.trust.stability`.
    held_out : HeldOut, optional
        From `gradsift.trust.held_out`.
    command : str, optional
        The command or code that does it again.
    versions : mapping, optional
        Versions of the software used; None = what is installed here.
    seed : int, optional
    fingerprint : str, optional
        Digest of the data.
    seconds : float, optional
        How long it took.
    created : str, optional
        When, as text.
    warnings : sequence of str
        What the run complained about.
    """

    model: Any
    X: Any
    y: Any
    names: Sequence[str] | None = None
    target: str = "y"
    source: str | None = None
    n_samples: int | None = None
    sample_names: Sequence[str] | None = None
    variables: Sequence[VariableSummary] | None = None
    stability: Stability | None = None
    held_out: HeldOut | None = None
    command: str | None = None
    versions: Mapping[str, str] = field(default_factory=versions)
    seed: int | None = None
    fingerprint: str | None = None
    seconds: float | None = None
    created: str | None = None
    warnings: Sequence[str] = ()
