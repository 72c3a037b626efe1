"""How sure: findings with their confidence, tests of columns, computed from a sift alone."""

from gradsift.inference.conditional_tests import significance
from gradsift.inference.marginal_tests import Association
from gradsift.inference.results import Significance

__all__ = ["Association", "Significance", "significance"]
