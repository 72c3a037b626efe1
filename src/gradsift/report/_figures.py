"""The pictures of a report."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradsift.data.slices import take_rows
from gradsift.explain import Names, VariableSummary
from gradsift.explain.displays import (
    ConfidenceDisplay,
    CVDisplay,
    EffectDisplay,
    EigenvaluesDisplay,
    InteractionDisplay,
    LoadingsDisplay,
    PathDisplay,
    ProjectionDisplay,
)
from gradsift.explain.displays.style import readable
from gradsift.explain.positions import Positions, column_positions
from gradsift.numerics.sampling import evenly_spaced
from gradsift.report._findings import Findings
from gradsift.report._svg import inline_svg

MOST_ROWS, MOST_EFFECTS, MOST_PAIRS = 400, 12, 6


MOST_TICKS = 5  # numbers along a picture: more run into each other


@dataclass(frozen=True)
class Picture:
    """An inline SVG with what is said below it."""

    title: str
    caption: str
    svg: str
    wide: bool = False


@contextmanager
def drawing() -> Iterator[None]:
    """Without complaints that concern the drawing, not the data.

    Letters the drawing font lacks are drawn by the reader's browser; names were checked at the fit.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from")
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        yield


class Easel:
    """Draws displays of one fitted model on figures of a given size."""

    def __init__(self, findings: Findings) -> None:
        rows = evenly_spaced(len(findings.y), MOST_ROWS)
        names = findings.sample_names
        self.model = findings.model
        self.X = take_rows(findings.X, rows)
        self.y = np.asarray(findings.adjusted_y)[rows]
        self.names = findings.all_names
        self.samples = [f"row {k + 1}" if names is None else str(names[k]) for k in rows.tolist()]
        self.target = findings.target
        self.count = 0

    def picture(
        self,
        draw: Callable[[Any], Any],
        size: tuple[float, float],
        title: str,
        caption: str,
        *,
        wide: bool = False,
    ) -> Picture:
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import TightLayoutEngine
        from matplotlib.ticker import AutoLocator

        # one pair of axes: a tight layout does what a constrained one does, in less time
        figure = Figure(figsize=size, layout=TightLayoutEngine(pad=0.4))
        ax = figure.add_subplot()
        display = draw(ax)
        if isinstance(ax.xaxis.get_major_locator(), AutoLocator):
            ax.locator_params(axis="x", nbins=MOST_TICKS)
        self.count += 1
        svg = inline_svg(figure, display.hover_, f"p{self.count}-", title)
        return Picture(readable(title), readable(caption), svg, wide)

    def effect(self, row: VariableSummary) -> Picture:
        return self.picture(
            lambda ax: EffectDisplay(effects=row.effects, name=row.name, target=self.target).plot(
                ax=ax
            ),
            (4.4, 3.1),
            row.name,
            row.words,
        )

    def interaction(self, row: VariableSummary, partner: int) -> Picture:
        other = row.partners[partner]
        return self.picture(
            lambda ax: InteractionDisplay(
                curves=row.partner_curves[partner],
                name=row.name,
                partner=other,
                output=row.output,
                target=self.target,
            ).plot(ax=ax),
            (4.4, 3.1),
            f"{row.name} and {other}",
            f"What {row.name} does where {other} is low, and where it is high: at the lower and "
            "the upper quarter of its values.",
        )

    def projection(self) -> Picture:
        return self.picture(
            lambda ax: ProjectionDisplay.from_estimator(
                self.model,
                self.X,
                self.y,
                target=self.target,
                sample_names=self.samples,
                ax=ax,
            ),
            (5.6, 4.0),
            "The samples along the directions",
            "Each point is a row of the table, seen in the few directions along which the response "
            "changes.",
        )

    def confidence(self, positions: Positions) -> Picture:
        where = "along the chromosomes" if positions.breaks else "along the scale"
        return self.picture(
            lambda ax: ConfidenceDisplay(
                positions=positions,
                confidence=self.model.confidence_,
                findings=self.model.findings_,
                names=self.names,
            ).plot(ax=ax),
            (7.2, 2.8),
            f"Where they lie {where}",
            "How sure it is that each column acts; one colour for each finding, grey for others.",
            wide=True,
        )

    def loadings(self) -> Picture:
        r = min(self.model.n_components_, 6)
        used = min(int(np.count_nonzero(self.model.components_[:r].any(axis=0))), 20)
        return self.picture(
            lambda ax: LoadingsDisplay.from_estimator(self.model, names=self.names, ax=ax),
            (2.4 + 0.55 * max(r, 4), 1.3 + 0.28 * max(used, 5)),
            "What the directions are made of",
            "Weight of each standardised variable in each direction.",
        )

    def eigenvalues(self) -> Picture:
        return self.picture(
            lambda ax: EigenvaluesDisplay.from_estimator(self.model, ax=ax),
            (4.4, 2.9),
            "How many directions are needed",
            "Share of the gradient's variation along each direction.",
        )

    def path(self) -> Picture:
        return self.picture(
            lambda ax: PathDisplay.from_estimator(self.model, names=self.names, ax=ax),
            (7.2, 4.0),
            "Which variables come in as the penalty falls",
            "Each line is a variable; the dotted line marks the penalty that was chosen.",
            wide=True,
        )

    def cv_curve(self) -> Picture:
        return self.picture(
            lambda ax: CVDisplay.from_estimator(self.model, ax=ax),
            (7.2, 3.6),
            "Error on held-out rows along the penalty",
            "Mean over folds, with one standard error.",
            wide=True,
        )


def effects_to_draw(variables: list[VariableSummary]) -> list[VariableSummary]:
    """Variables whose curve says something, best ranked first."""
    quiet = ("unclear", "through interactions")
    return [row for row in variables if row.effect.shape not in quiet][:MOST_EFFECTS]


def pairs_to_draw(variables: list[VariableSummary]) -> list[tuple[VariableSummary, int]]:
    """(variable, number of its partner) of each pair that acts together, once."""
    out, seen = [], set()
    for row in variables:
        for k, other in enumerate(row.partner_columns):
            if (pair := frozenset((row.column, other))) not in seen:
                seen.add(pair)
                out.append((row, k))
    return out[:MOST_PAIRS]


def scales_to_draw(findings: Findings) -> list[Positions]:
    """The scale that the columns lie along, if there is one and there are findings."""
    if not findings.found or isinstance(findings.all_names, Names):
        return []
    found = column_positions(findings.all_names)
    return [] if found is None else [found]


def directions_to_draw(model: Any) -> list[str]:
    """Pictures of the directions that say something the effects do not.

    One variable is its own direction, and one direction needs no count of directions.
    """
    if model.n_components_ == 0 or int(model.get_support().sum()) < 2:
        return []
    return ["projection", "loadings"] + (["eigenvalues"] if model.n_components_ > 1 else [])


def draw_all(findings: Findings) -> dict[str, list[Picture]]:
    """The pictures of each section of the report: those that say something."""
    model, variables, easel = findings.model, findings.variables, Easel(findings)
    sections: dict[str, list[Picture]] = {
        # how the levels of a category compare is said in the table
        "effects": [
            easel.effect(row)
            for row in effects_to_draw(variables)
            if row.column not in findings.level_effects
        ],
        "together": [easel.interaction(*pair) for pair in pairs_to_draw(variables)],
        "directions": [getattr(easel, name)() for name in directions_to_draw(model)],
        "findings": [easel.confidence(positions) for positions in scales_to_draw(findings)],
        "sure": [],
    }
    if findings.described.penalty_choice is not None and model.alphas_[0] > 0.0:
        sections["sure"] = [easel.cv_curve()]
        if any(len(s) for s in model.path_.supports):
            sections["sure"].append(easel.path())
    return sections
