"""How sure: findings with their confidence, tests of columns, computed from a sift alone."""

from gradsift.inference.findings import Finding, Findings
from gradsift.inference.marginal_tests import Association
from gradsift.inference.results import Significance

__all__ = ["Association", "Finding", "Findings", "Significance"]
