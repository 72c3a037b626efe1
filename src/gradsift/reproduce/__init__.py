"""Every table and figure of the paper (Ye & Xie), each by one command.

An experiment is a pure function from settings to a frozen result, and a function that writes the
result as a Markdown table and PNG figures. Run them with `gradsift reproduce NAME`, or from Python:

    from gradsift.reproduce import run
    run(["table1"], out="reproduced")
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from gradsift.reproduce._tools import Progress, Settings, silent

__all__ = ["EXPERIMENTS", "Experiment", "Progress", "Settings", "run"]


@dataclass(frozen=True)
class Experiment:
    """One table or figure: its title, and the module that computes and writes it."""

    name: str
    title: str

    @property
    def compute(self) -> Callable[[Settings, Progress], Any]:
        """settings, progress -> a frozen dataclass of arrays."""
        return import_module(f"gradsift.reproduce.{self.name}").compute

    @property
    def write(self) -> Callable[[Any, Path], list[Path]]:
        """result, folder -> the files written."""
        return import_module(f"gradsift.reproduce.{self.name}").write


EXPERIMENTS: dict[str, Experiment] = {
    name: Experiment(name, title)
    for name, title in {
        "table1": "which variables are selected: SGL, LASSO, GradientSift (simulation)",
        "figure1": "regularisation paths of SGL and the LASSO",
        "circles": "two variables among 200: SGL, GL, LASSO, GradientSift at rising noise",
        "leukemia": "variables, directions and errors on the leukemia data",
        "convergence": "the estimated gradient against the true one as n grows",
    }.items()
}


def run(
    names: Sequence[str],
    out: str | Path = "reproduced",
    progress: Progress = silent,
    settings: Settings | None = None,
) -> list[Path]:
    """Compute and write the named experiments, in the order given.

    Parameters
    ----------
    names : list of str
        Keys of `EXPERIMENTS`.
    out : path
        Folder for the files; made if it is not there.
    progress : callable, optional
        progress(done, total, what), called as work finishes.
    settings : Settings, optional
        Repeats, data file, processes.

    Returns
    -------
    paths : list of Path
        Files written. Each experiment's files appear when all of it is computed.
    """
    unknown = [name for name in names if name not in EXPERIMENTS]
    if unknown:
        raise ValueError(f"no experiment {unknown[0]!r}. There are: {', '.join(EXPERIMENTS)}.")
    paths: list[Path] = []
    for name in names:
        experiment = EXPERIMENTS[name]
        result = experiment.compute(settings or Settings(), progress)
        paths += experiment.write(result, Path(out))
    return paths
