"""Tools for AnnData, in the manner of scverse: they read `obs`, and write into the object."""

from gradsift.tl._select import select

__all__ = ["select"]
