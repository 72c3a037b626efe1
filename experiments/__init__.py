"""Every table and figure of the paper (Ye & Xie), each by one command.

An experiment is a module with pure functions: `compute` from settings to a frozen result, `record`
to plain numbers, `tables` and `text` from those numbers to Markdown, `figures` from the result.
Run them from the folder of the repository with `python -m experiments NAME`, or from Python:

    from experiments import run
    run(["table1"], out="reproduced")
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from experiments.tools import (
    Progress,
    Settings,
    numbers,
    save_figure,
    silent,
    write_text,
)

__all__ = ["EXPERIMENTS", "Experiment", "Progress", "Settings", "run"]


@dataclass(frozen=True)
class Experiment:
    """One table or figure: its title, and the module that computes and writes it."""

    name: str
    title: str

    @property
    def module(self) -> Any:
        return import_module(f"experiments.{self.name}")

    @property
    def compute(self) -> Callable[[Settings, Progress], Any]:
        """settings, progress -> a frozen dataclass of arrays."""
        return self.module.compute

    def write(self, result: Any, out: Path) -> list[Path]:
        """NAME.json with the numbers, NAME.md with the tables, and the figures."""
        kept = self.module.record(result)
        paths = [
            write_text(out / f"{self.name}.json", numbers(kept)),
            write_text(out / f"{self.name}.md", self.module.text(kept)),
        ]
        for name, figure in self.module.figures(result).items():
            paths += save_figure(out / f"{name}.png", figure)
        return paths


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
