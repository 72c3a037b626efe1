"""What a fitted model says about each variable, as plain data for tables, plots and files."""

from gradsift.explain.correlated import StandIns, correlated_stand_ins
from gradsift.explain.dependence import acting_together, effect_dependence
from gradsift.explain.effects import Effect, describe_effect
from gradsift.explain.names import Names, names_of_best, variable_names
from gradsift.explain.variables import (
    VariableSummary,
    best_selected,
    best_unselected,
    gradient_columns,
    gradient_covariance,
    output_names,
    summarise_variables,
)

__all__ = [
    "VariableSummary",
    "summarise_variables",
    "Effect",
    "describe_effect",
    "StandIns",
    "correlated_stand_ins",
    "variable_names",
    "Names",
    "names_of_best",
    "best_selected",
    "best_unselected",
    "gradient_columns",
    "gradient_covariance",
    "output_names",
    "effect_dependence",
    "acting_together",
]
