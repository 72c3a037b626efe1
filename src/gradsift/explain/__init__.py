"""What a fitted model says about each variable, as plain data for tables, plots and files."""

from gradsift.explain.correlated import StandIns, correlated_stand_ins
from gradsift.explain.effects import Curve, Effect, describe_effect
from gradsift.explain.findings import FindingSummary, FindingTest, Member, summarise_findings
from gradsift.explain.marginal import correlations
from gradsift.explain.names import Names, names_of_best, variable_names
from gradsift.explain.partial import PartialEffects, partial_effects
from gradsift.explain.sentences import effect_clause, pair_clause
from gradsift.explain.variables import (
    VariableSummaries,
    VariableSummary,
    best_selected,
    best_unselected,
    came_back,
    gradient_columns,
    gradient_covariance,
    output_names,
    summarise_variables,
)

__all__ = [
    "FindingSummary",
    "FindingTest",
    "Member",
    "summarise_findings",
    "VariableSummaries",
    "VariableSummary",
    "summarise_variables",
    "Curve",
    "Effect",
    "describe_effect",
    "effect_clause",
    "pair_clause",
    "PartialEffects",
    "partial_effects",
    "StandIns",
    "correlated_stand_ins",
    "correlations",
    "variable_names",
    "Names",
    "names_of_best",
    "best_selected",
    "best_unselected",
    "came_back",
    "gradient_columns",
    "gradient_covariance",
    "output_names",
]
