"""What a variable does, as part of a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from gradsift.explain.effects import Effect
from gradsift.explain.variables import VariableSummary, short_list

VERBS = {
    "increasing": ("rises with it", "rise with it"),
    "decreasing": ("falls with it", "fall with it"),
    "U-shaped": ("first falls and then rises with it", "first fall and then rise with it"),
    "inverted U": ("first rises and then falls with it", "first rise and then fall with it"),
    "wavy": ("goes up and down with it", "go up and down with it"),
}


def effect_clause(row: VariableSummary, target: str) -> str:
    """What the response does with a variable; for labels, the odds of every class.

    Parameters
    ----------
    row : VariableSummary
    target : str
        What the response is called.

    Returns
    -------
    clause : str
        Such as 'yield rises with it, nearly in a straight line'.
    """
    if row.effect.shape == "unclear":
        return "the rows do not show in which direction it acts"
    if row.effect.shape == "through interactions":
        return f"it acts together with {short_list(list(row.partners))}, hardly on its own"
    if row.output is None:
        clause = f"{target} {VERBS[row.effect.shape][0]}{_manner(row.effect)}"
    else:
        clause = _class_clauses(row)
    if row.effect.mixed:
        clause += f"; by how much depends on {short_list(list(row.partners))}"
    if row.effect.alone:
        clause += ", taken on its own; beside the other variables its part is not clear"
    return clause


def _class_clauses(row: VariableSummary) -> str:
    """'the odds of a and b rise with it, those of c fall with it'."""
    groups: dict[str, list[str]] = {}
    for output, effect in row.effects:
        if effect.shape in VERBS:
            groups.setdefault(VERBS[effect.shape][1] + _manner(effect), []).append(str(output))
    parts = [f"odds of {short_list(classes)} {verb}" for verb, classes in groups.items()]
    return "the " + ", the ".join(parts)


def _manner(effect: Effect) -> str:
    """How a rise or fall goes, and where."""
    limits = {"above": effect.above, "below": effect.below}
    where = " and ".join(f"{k} {v:.3g}" for k, v in limits.items() if v is not None)
    if where:
        return f" where it is {where}"
    if effect.mixed or effect.alone or effect.bend is None:
        return ""
    return ", nearly in a straight line" if effect.bend == "straight" else ", along a curve"


def pair_clause(rows: Sequence[VariableSummary]) -> str:
    """The first pair that acts together, '' if there is none.

    Parameters
    ----------
    rows : sequence of VariableSummary

    Returns
    -------
    clause : str
        Such as 'x3 and x7 change each other's effect'.
    """
    row = next((row for row in rows if row.partners), None)
    return "" if row is None else f"{row.name} and {row.partners[0]} change each other's effect"
