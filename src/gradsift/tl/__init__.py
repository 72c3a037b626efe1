"""Tools for AnnData, in the manner of scverse: they read `obs`, and write into the object."""

from gradsift.tl._pseudobulk import pseudobulk
from gradsift.tl._ranked import ranked, write_rnk
from gradsift.tl._select import select

__all__ = ["select", "pseudobulk", "ranked", "write_rnk"]
