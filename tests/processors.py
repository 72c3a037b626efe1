"""Print the kinds of processor that OpenBLAS can play here, one a line, besides this one.

OpenBLAS has kernels for every kind of processor, and they add in different orders. The variable
OPENBLAS_CORETYPE picks one, so that one machine can run the tests as several would. Kinds whose
instructions this processor lacks are left out, and so are kinds for which OpenBLAS uses kernels
that are on the list already.

Run by `make test-processors`.
"""

import os
import subprocess
import sys

KINDS = ["Sandybridge", "Haswell", "Zen", "SkylakeX"]
TRY = """
import numpy as np, scipy.linalg, threadpoolctl
A = np.random.default_rng(0).normal(size=(200, 200))
scipy.linalg.lstsq(A @ A.T, A @ A[0])
print({lib.get("architecture") for lib in threadpoolctl.threadpool_info()} - {None})
"""


def kernels(kind=None):
    """What OpenBLAS uses for a kind of processor; None where it cannot run here."""
    env = {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"}
    env |= {} if kind is None else {"OPENBLAS_CORETYPE": kind}
    run = subprocess.run([sys.executable, "-c", TRY], env=env, capture_output=True, text=True)
    return run.stdout if run.returncode == 0 else None


def others():
    """Kinds with kernels of their own that run here, besides the one that OpenBLAS finds."""
    seen = {None, kernels()}
    for kind in KINDS:
        found = kernels(kind)
        if found not in seen:
            seen.add(found)
            yield kind


if __name__ == "__main__":
    print(*others(), sep="\n")
