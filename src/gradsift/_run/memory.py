"""Ask before taking: how much memory there is, and a clear word when a request will not fit."""

from __future__ import annotations

import math
import mmap
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
STATM = Path("/proc/self/statm")


def available_memory() -> float:
    """Bytes that can still be had: free memory, or a container's limit if that is less."""
    try:
        free = float(os.sysconf("SC_AVPHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not every system tells
        return float("inf")
    # memory that only caches files counts as taken there; it is given back on demand
    total = float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    free = max(free, 0.5 * total)
    try:
        return min(free, float(CGROUP_LIMIT.read_text()))
    except (OSError, ValueError):  # no container, or one without a limit
        return free


def check_memory(needed: float, what: str, advice: str) -> None:
    """Refuse a request of `needed` bytes that cannot be met."""
    there = available_memory()
    if needed > there:
        raise ValueError(
            f"{what} need about {needed / 1e9:.1f} GB, but {there / 1e9:.1f} GB are available. "
            f"{advice}"
        )


def in_own_pages(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Zeros in pages of their own, which the system gets back when the array is dropped.

    Memory from malloc may stay with the process instead, where it does no one any good.
    """
    size = np.dtype(dtype).itemsize * math.prod(shape)
    return np.ndarray(shape, dtype=dtype, buffer=mmap.mmap(-1, size) if size else None)


def resident_memory() -> int | None:
    """Bytes this process holds in memory now; None where the system does not tell."""
    try:
        return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError, IndexError):
        return None
