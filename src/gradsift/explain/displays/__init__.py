"""Pictures of a fitted model, as Display objects: compute once, draw on request (matplotlib)."""

from gradsift.explain.displays._confidence import ConfidenceDisplay
from gradsift.explain.displays._covariance import GradientCovarianceDisplay
from gradsift.explain.displays._cv import CVDisplay
from gradsift.explain.displays._effect import EffectDisplay
from gradsift.explain.displays._eigenvalues import EigenvaluesDisplay
from gradsift.explain.displays._field import GradientFieldDisplay
from gradsift.explain.displays._importance import ImportanceDisplay
from gradsift.explain.displays._interactions import InteractionDisplay
from gradsift.explain.displays._loadings import LoadingsDisplay
from gradsift.explain.displays._manhattan import ManhattanDisplay
from gradsift.explain.displays._path import PathDisplay
from gradsift.explain.displays._projection import ProjectionDisplay
from gradsift.explain.displays._qq import QQDisplay
from gradsift.explain.displays._volcano import VolcanoDisplay

__all__ = [
    "EffectDisplay",
    "ImportanceDisplay",
    "ConfidenceDisplay",
    "VolcanoDisplay",
    "ManhattanDisplay",
    "QQDisplay",
    "GradientFieldDisplay",
    "InteractionDisplay",
    "ProjectionDisplay",
    "LoadingsDisplay",
    "EigenvaluesDisplay",
    "GradientCovarianceDisplay",
    "PathDisplay",
    "CVDisplay",
]
