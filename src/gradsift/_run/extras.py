"""Optional libraries: imported when they are used, with advice where they are missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def require(module: str, extra: str, what: str) -> Any:
    """An optional library, or an error that says how to get it.

    Parameters
    ----------
    module : str
    extra : str
        The extra of this package that installs it.
    what : str
        What needs it, as the beginning of a sentence.

    Examples
    --------
    >>> require("math", "all", "counting").floor(2.5)
    2
    >>> require("no_such_library", "all", "counting")
    Traceback (most recent call last):
    ImportError: counting needs no_such_library: pip install 'gradsift[all]'
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise ImportError(f"{what} needs {package}: pip install 'gradsift[{extra}]'") from error
