"""Pictures of a fitted model, as Display objects: compute once, draw on request (matplotlib)."""

from gradsift.displays._directions import (
    EigenvaluesDisplay,
    LoadingsDisplay,
    ProjectionDisplay,
)
from gradsift.displays._evidence import (
    ConfidenceDisplay,
    ManhattanDisplay,
    QQDisplay,
    VolcanoDisplay,
)
from gradsift.displays._field import GradientFieldDisplay
from gradsift.displays._penalty import CVDisplay, PathDisplay

__all__ = [
    "GradientFieldDisplay",
    "ProjectionDisplay",
    "LoadingsDisplay",
    "EigenvaluesDisplay",
    "ConfidenceDisplay",
    "VolcanoDisplay",
    "ManhattanDisplay",
    "QQDisplay",
    "PathDisplay",
    "CVDisplay",
]
