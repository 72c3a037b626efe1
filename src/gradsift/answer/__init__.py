"""The answer: one frozen object, which the console, the page, frames and files are made of."""

from gradsift.answer.answer import FRAME, Answer
from gradsift.answer.build import explain, make_answer
from gradsift.answer.effects import EffectSample
from gradsift.answer.results import (
    Comparison,
    Direction,
    Effect,
    Estimate,
    Finding,
    Level,
    Line,
    Member,
    Note,
    Prediction,
    RiskGroup,
    Score,
    Sheet,
)

__all__ = [
    "FRAME",
    "Answer",
    "Comparison",
    "Direction",
    "Effect",
    "EffectSample",
    "Estimate",
    "Finding",
    "Level",
    "Line",
    "Member",
    "Note",
    "Prediction",
    "RiskGroup",
    "Score",
    "Sheet",
    "explain",
    "make_answer",
]
