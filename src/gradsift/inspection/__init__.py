"""Pictures of a fitted model, as Display objects: compute once, draw on request (matplotlib)."""

from gradsift.inspection._covariance import GradientCovarianceDisplay
from gradsift.inspection._cv import CVDisplay
from gradsift.inspection._eigenvalues import EigenvaluesDisplay
from gradsift.inspection._field import GradientFieldDisplay
from gradsift.inspection._importance import ImportanceDisplay
from gradsift.inspection._interactions import InteractionDisplay
from gradsift.inspection._loadings import LoadingsDisplay
from gradsift.inspection._path import PathDisplay
from gradsift.inspection._projection import ProjectionDisplay

__all__ = [
    "ImportanceDisplay",
    "GradientFieldDisplay",
    "InteractionDisplay",
    "ProjectionDisplay",
    "LoadingsDisplay",
    "EigenvaluesDisplay",
    "GradientCovarianceDisplay",
    "PathDisplay",
    "CVDisplay",
]
