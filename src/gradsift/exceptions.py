"""Our warnings. Bad input raises plain ValueError, so that nobody has to import anything."""

from __future__ import annotations


class NothingSelectedWarning(UserWarning):
    """No variable is selected: predictions fall back to the mean or the class shares."""


class ImputedWarning(UserWarning):
    """Missing values were filled without being asked for, as their format expects them."""


class SkippedColumnsWarning(UserWarning):
    """A file holds columns that are no numbers; they were left out."""


class MissingTargetWarning(UserWarning):
    """Rows of a file have no value of the response; they were left out."""


class ExtrapolationWarning(UserWarning):
    """New samples lie far beyond what the model has seen, or hold categories it has not seen."""


class RareClassWarning(UserWarning):
    """A class has so few rows that `false_positives` is no promise for it."""


class CountedRowsWarning(UserWarning):
    """Weights are taken as counts of rows, and claim more or less evidence than there are rows."""


class FewGroupsWarning(UserWarning):
    """Rows come in so few groups that `false_positives` is no promise."""


class RepeatedRowsWarning(UserWarning):
    """Rows are repeated measurements of a sample, or copies: `false_positives` is no promise."""


class DependentRowsWarning(UserWarning):
    """Rows are like the rows before them, as in a series: `false_positives` is no promise."""
