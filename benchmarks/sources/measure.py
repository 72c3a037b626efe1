"""A table on disk, far larger than the memory of the fit: peak memory and time.

    PYTHONPATH=src python benchmarks/sources/measure.py FOLDER [n_columns]

writes a float32 .npy of 1,000 rows with five relevant columns into FOLDER (4 GB at the default of
1,000,000 columns), fits it, and removes it.
"""

import resource
import sys
import time
from pathlib import Path

import numpy as np

from gradsift import GradientSiftRegressor
from gradsift.data import open_source

N = 1_000


def make(path, p, seed=0):
    """Rows of standard normals, written one by one; the response bends in five of them."""
    rng = np.random.default_rng(seed)
    support = np.linspace(17, p - 11, 5).astype(int)
    np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(N, p)).flush()
    S = np.empty((N, 5))
    with path.open("r+b") as file:
        file.seek(path.stat().st_size - 4 * N * p)
        for i in range(N):
            row = rng.standard_normal(p, dtype=np.float32)
            S[i] = row[support]
            file.write(row.tobytes())
    y = 1.5 * np.sin(2 * S[:, 0]) + S[:, 1] ** 2 + 1.2 * S[:, 2] + 1.5 * np.abs(S[:, 3])
    return y + 1.2 * np.tanh(3 * S[:, 4]) + 0.5 * rng.standard_normal(N), support


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def main(folder, p):
    path = Path(folder) / "wide.npy"
    y, support = make(path, p)
    try:
        M = np.random.default_rng(0).normal(size=(N, 200))
        start = time.perf_counter()
        for _, block in open_source(path).blocks():
            block.T @ M
        one_pass = time.perf_counter() - start
        before, start = peak(), time.perf_counter()
        model = GradientSiftRegressor(interactions=False).fit(path, y)
        took = time.perf_counter() - start
    finally:
        path.unlink()
    print(f"fit: {took:.0f} s, {took / one_pass:.1f} passes of X_block.T @ M (n x 200)")
    print(f"peak: {peak():.2f} GB, {before:.2f} GB before the fit")
    print(f"planted {support.tolist()}, selected {model.get_support(indices=True).tolist()}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000)
