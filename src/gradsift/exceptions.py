"""Our warnings. Bad input raises plain ValueError, so that nobody has to import anything."""

from __future__ import annotations


class NothingSelectedWarning(UserWarning):
    """No variable is selected: predictions fall back to the mean or the class shares."""
