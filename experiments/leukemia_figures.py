"""The drawings of the leukemia experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.leukemia_methods import machine
from experiments.tools import BLACK, BLUE, RED, canvas

if TYPE_CHECKING:
    from experiments.leukemia import Errors, Row
    from experiments.leukemia_data import Leukemia


def draw_direction(row: Row, data: Leukemia) -> Any:
    """The samples on the first feature of a method, with the threshold of the classifier on it."""
    figure, axes = canvas(1, 2, (9, 3.6), sharex=True)
    fitted = machine().fit(row.train[:, None], data.y)
    threshold = float(-fitted.intercept_[0] / fitted.coef_[0, 0])
    parts = ((row.train, data.y, "training"), (row.held, data.y_test, "test"))
    jitter = np.random.default_rng(0)
    for axis, (z, y, part) in zip(axes[0], parts):
        wrong = int((fitted.predict(z[:, None]) != y).sum())
        for value, name, colour, marker in ((1, "ALL", BLUE, "o"), (-1, "AML", RED, "^")):
            own = z[y == value]
            height = (value > 0) + jitter.uniform(-0.25, 0.25, len(own))
            axis.scatter(own, height, 32, color=colour, marker=marker, alpha=0.8, label=name)
        axis.axvline(threshold, color=BLACK, lw=1.2, ls="--", label="threshold of the classifier")
        axis.set_yticks([0, 1], ["AML", "ALL"])
        axis.set_ylim(-0.6, 1.6)
        axis.set_title(f"{len(y)} {part} samples, {wrong} on the wrong side", fontsize=10)
        axis.set_xlabel(f"{row.name}: first feature")
        axis.spines[["top", "right"]].set_visible(False)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=9)
    return figure


def draw_path(sgl: dict[str, tuple[Errors, ...]], genes: int, n: int, m: int) -> Any:
    """Errors along the path against the number of genes; the paper's number is marked."""
    figure, axes = canvas(1, len(sgl), (10, 3.8), sharey=True)
    for axis, (kind, errors) in zip(axes[0], sgl.items()):
        at = [e.n_variables for e in errors]
        axis.plot(
            at, [e.loo for e in errors], "o", color=BLUE, ms=8, mfc="none",
            label=f"leave-one-out in the paper's way, of {n}",
        )  # fmt: skip
        axis.plot(at, [e.test for e in errors], "^", color=RED, ms=4, label=f"test, of {m}")
        axis.axvline(genes, color=BLACK, lw=1.2, ls="--", label=f"the paper's {genes} genes")
        axis.set_xscale("log")
        ticks = [1, 2, 5, 10, 20, 50, 100]
        axis.set_xticks(ticks, [str(t) for t in ticks])
        axis.minorticks_off()
        axis.set(title=f"SGL ({kind})", xlabel="genes kept")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0, 0].set_ylabel("errors")
    axes[0, 0].yaxis.get_major_locator().set_params(integer=True)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=9)
    return figure
