"""Pictures of an answer as SVG: intervals on one axis, curves, categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import floor, inf, log, log10

import numpy as np

from gradsift._run.printable import printable
from gradsift.answer.effects import value_text
from gradsift.answer.results import Effect, Estimate, RiskGroup, Scale
from gradsift.answer.words import shortened

FACTORS = (1e-4, 1e4)
"""Ratios that an axis may show."""
PAD = 0.03
"""Room at either end of an axis, as a part of it."""
MOST_LEVELS = 7
"""Categories in a picture; the table below has all."""
LEFT, RIGHT, TOP, BOTTOM, TALL = 46.0, 290.0, 6.0, 122.0, 170
"""Places in a picture of 300 by TALL."""


def safe(text: object) -> str:
    """Text from a file as HTML and SVG may have it: names are data."""
    return escape(printable(text))


@dataclass(frozen=True)
class Axis:
    """From values to places, with a few round ticks; probabilities in per cent, ratios by their
    logarithm.
    """

    low: float
    high: float
    ticks: tuple[float, ...]
    scale: Scale
    ratio: bool = False

    @classmethod
    def around(
        cls, values: Sequence[float], scale: Scale, count: int = 4, *, ratio: bool = False
    ) -> Axis:
        """An axis that holds some values."""
        if ratio:
            values = np.log(np.clip(values, *FACTORS)).tolist()
        low, high = min(values), max(values)
        gap = (high - low) or abs(high) or 1.0
        ticks = factors(low, high) if ratio else round_numbers(low, high, gap, count)
        return cls(low - PAD * gap, high + PAD * gap, ticks, scale, ratio)

    def at(self, value: float, start: float, end: float) -> float:
        """The place of a value between two ends, inside of which it stays."""
        if self.ratio:
            value = log(min(max(value, FACTORS[0]), FACTORS[1]))
        part = min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)
        return start + part * (end - start)

    def label(self, tick: float) -> str:
        if self.ratio:
            return f"{tick:.2g}" if tick < 1 else value_text(tick)
        return f"{100 * tick:.0f}" if self.scale == "probability" else value_text(tick)


def round_numbers(low: float, high: float, gap: float, count: int) -> tuple[float, ...]:
    """About `count` round numbers between two."""
    scale = 10.0 ** floor(log10(gap / count))
    step = min((m * scale for m in (1, 2, 2.5, 5, 10)), key=lambda s: abs(s - gap / count))
    ticks = np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step
    return tuple((ticks + 0.0).tolist())


def factors(low: float, high: float) -> tuple[float, ...]:
    """Powers of 2, 4, 10 or more between two logarithms."""
    base = next(b for b in (2.0, 4.0, 10.0, 100.0, 1e4, 1e9) if (high - low) / log(b) < 5.5)
    first, last = np.ceil(low / log(base) - 1e-9), np.floor(high / log(base) + 1e-9)
    return tuple((base ** np.arange(first, last + 1)).tolist())


def tag(name: str, css: str, text: str | None = None, **at: float | str) -> str:
    """An element of an SVG: numbers with one digit, text escaped."""
    values = {k.replace("_", "-"): v if isinstance(v, str) else f"{v:.1f}" for k, v in at.items()}
    head = f'<{name} class="{css}"' + "".join(f' {k}="{v}"' for k, v in values.items())
    return f"{head}/>" if text is None else f"{head}>{safe(text)}</{name}>"


def svg(width: int, height: int, title: str, *parts: str) -> str:
    """A picture with its text alternative."""
    head = f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{safe(title)}">'
    return f"{head}{''.join(parts)}</svg>"


def whisker(e: Estimate, axis: Axis, y: float, ends: tuple[float, float], css: str) -> str:
    """A dot with its interval on a horizontal axis; without it where a finding is not clear."""
    low, mid, high = (axis.at(v, *ends) for v in (e.low, e.value, e.high))
    line = "" if css == "maybe" else tag("line", f"whisker {css}", x1=low, x2=high, y1=y, y2=y)
    return line + tag("circle", f"dot {css}", cx=mid, cy=y, r=5)


def rules(axis: Axis, ends: tuple[float, float], top: float, bottom: float) -> str:
    """Vertical lines at the ticks, zero darker."""
    none = 1.0 if axis.ratio else 0.0
    at = [(axis.at(t, *ends), "zero" if t == none else "grid") for t in axis.ticks]
    return "".join(tag("line", css, x1=x, x2=x, y1=top, y2=bottom) for x, css in at)


def scale(axis: Axis, ends: tuple[float, float], y: float) -> str:
    """Numbers at the ticks."""
    at = [(axis.at(t, *ends), axis.label(t)) for t in axis.ticks]
    return "".join(tag("text", "tick", text, x=x, y=y, text_anchor="middle") for x, text in at)


def curve_picture(e: Effect, axis: Axis, name: str, title: str) -> str:
    """Curves with their bands, and the rows below them."""
    x = e.lines[0].x
    across = Axis(x[0], x[-1], Axis.around([x[0], x[-1]], "number", 3).ticks, "number")
    parts = [scale(across, (LEFT, RIGHT), 152), x_title(name, (LEFT + RIGHT) / 2)]
    for t in axis.ticks:
        y = axis.at(t, BOTTOM, TOP)
        parts.append(tag("line", "grid", x1=LEFT, x2=RIGHT, y1=y, y2=y))
        parts.append(tag("text", "tick", axis.label(t), x=LEFT - 6, y=y + 4, text_anchor="end"))
    step = (RIGHT - LEFT) / max(len(e.spread), 1)
    for k, s in enumerate(e.spread):
        x0, y0 = LEFT + k * step, 138 - 12 * s
        parts.append(tag("rect", "rows", x=x0, y=y0, width=step - 1, height=12 * s))
    for k, line in enumerate(e.lines):
        px = [across.at(v, LEFT, RIGHT) for v in line.x]

        def path(values: list[float], px: list[float] = px) -> list[str]:
            return [f"{u:.0f},{axis.at(v, BOTTOM, TOP):.1f}" for u, v in zip(px, values)]

        upper, lower = path([m.high for m in line.y]), path([m.low for m in line.y])
        parts.append(tag("polygon", f"band s{k}", points=" ".join(upper + lower[::-1])))
        middle = " ".join(path([m.value for m in line.y]))
        parts.append(tag("polyline", f"curve s{k}", points=middle))
    return svg(300, TALL, title, *parts)


def level_picture(e: Effect, axis: Axis, name: str, title: str) -> str:
    """Predictions at categories or single values, one below the other."""
    levels = list(e.levels)
    if e.comparisons[0].shape == "differs" and not e.comparisons[0].given:
        levels.sort(key=lambda level: -level.mean.value)
    levels = levels if len(levels) <= MOST_LEVELS else [*levels[: MOST_LEVELS - 1], levels[-1]]
    ends, bottom = (108.0, RIGHT), 132.0
    step = min(bottom / len(levels), 34.0)
    parts = [rules(axis, ends, 4, bottom), scale(axis, ends, 152), x_title(name, sum(ends) / 2)]
    for k, level in enumerate(levels):
        y, label = bottom / 2 + step * (k - 0.5 * (len(levels) - 1)), shortened(level.label, 17)
        parts.append(tag("text", "label", label, x=ends[0] - 8, y=y + 4, text_anchor="end"))
        parts.append(whisker(level.mean, axis, y, ends, "clear"))
    return svg(300, TALL, title, *parts)


def step_picture(groups: Sequence[RiskGroup]) -> str:
    """Shares without an event by time, as steps."""
    end = groups[0].at_risk[-1][0]
    end = max(end, *(g.steps[-1][0] for g in groups))
    across = Axis(0.0, end, tuple(t for t, _ in groups[0].at_risk), "number")
    up = Axis(0.0, 1.0, (0.0, 0.25, 0.5, 0.75, 1.0), "probability")
    parts = [scale(across, (LEFT, RIGHT), 138), x_title("time", (LEFT + RIGHT) / 2, 154)]
    for t in up.ticks:
        y = up.at(t, BOTTOM, TOP)
        parts.append(tag("line", "grid", x1=LEFT, x2=RIGHT, y1=y, y2=y))
        parts.append(tag("text", "tick", up.label(t), x=LEFT - 6, y=y + 4, text_anchor="end"))
    for k, g in enumerate(groups):
        points, before = [], 1.0
        for t, share in [*g.steps, (end, g.steps[-1][1])]:
            x = across.at(t, LEFT, RIGHT)
            points += [f"{x:.1f},{up.at(s, BOTTOM, TOP):.1f}" for s in (before, share)]
            before = share
        parts.append(tag("polyline", f"curve s{k}", points=" ".join(points)))
    text = "; ".join(f"{g.label} {median_text(g)}" for g in groups)
    return svg(300, 158, f"time by which half had the event: {text}", *parts)


def median_text(g: RiskGroup) -> str:
    return value_text(g.median) if g.median < inf else "not reached"


def x_title(name: str, x: float, y: float = 167.0) -> str:
    return tag("text", "tick", shortened(name, 36), x=x, y=y, text_anchor="middle")
