"""`gradsift info`: versions and extras."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version

CORE = ("gradsift", "numpy", "scipy", "scikit-learn")
EXTRAS = (
    "typer", "rich", "pyarrow", "openpyxl", "matplotlib", "dask", "distributed",
    "zarr", "anndata", "bed-reader", "pgenlib", "bgen", "pynndescent",
)  # fmt: skip


def run() -> None:
    """Print what is installed."""
    machine = f"{platform.system()}, {os.cpu_count()} cores"
    print(f"{'python':14s}{platform.python_version()} on {machine}")
    for package in CORE:
        print(f"{package:14s}{version(package)}")
    for package in EXTRAS:
        try:
            print(f"{package:14s}{version(package)}")
        except PackageNotFoundError:
            print(f"{package:14s}not installed")
