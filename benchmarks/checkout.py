"""Another checkout of this repository, for comparisons of two versions."""

from __future__ import annotations

from argparse import ArgumentTypeError
from pathlib import Path


def checkout(text: str) -> Path:
    """The folder of a checkout, as a type of `argparse`. One without the package is refused: the
    installed version would run in its place, and both would be the same.
    """
    root = Path(text).resolve()
    if not (root / "src" / "gradsift" / "__init__.py").exists():
        raise ArgumentTypeError(f"{text} is no checkout of gradsift: it has no src/gradsift")
    return root
