"""Install every extra by itself in a fresh environment, and use what it enables.

Run with `python packaging/extras.py dist/gradsift-*.whl`, or `make test-extras`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

FIT = "from gradsift import GradientSiftRegressor as G; import numpy as np; \
X = np.random.default_rng(0).normal(size=(60, 5)); m = G().fit(X, X[:, 1] ** 2); "
USES = {
    "": FIT + "from gradsift import explain; \
m.set_params(inference=True).fit(X, X[:, 1] ** 2); assert 'goes with' in m.answer_.to_html()",
    "cli": "import subprocess as s, sys; \
s.run([sys.executable, '-m', 'gradsift', 'info'], check=True)",
    "plot": FIT + "import matplotlib; matplotlib.use('agg'); \
from gradsift.displays import LoadingsDisplay as D; D.from_estimator(m)",
    "big": FIT + "import dask.array as da; m.predict(da.from_array(X, chunks=(60, 2)))",
    "genomics": FIT + "import anndata, gradsift as gs; a = anndata.AnnData(X); \
a.obs['y'] = X[:, 1] ** 2; gs.tl.select(a, 'y'); assert a.var['gradsift_selected'].sum() == 1",
    "dosages": FIT + "from bgen import BgenWriter; from gradsift.data import open_source; \
w = BgenWriter('t.bgen', 60); P = np.eye(3)[np.arange(60) % 3]; \
w.add_variant('v', 'rs1', '1', 5, ['A', 'G'], P); w.close(); \
assert open_source('t.bgen').columns(np.array([0])).sum() == 60; import pgenlib",
}  # fmt: skip
"""What each extra must make possible; '' is the core."""


def try_out(wheel: Path, extra: str) -> bool:
    """Whether the extra installs into an empty environment and its use runs there."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder) / "bin" / "python")
        what = f"{wheel.resolve()}[{extra}]" if extra else str(wheel.resolve())
        install = [python, "-m", "pip", "install", "--quiet", what]
        for command in (install, [python, "-c", USES[extra]]):
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode:
                print(done.stderr[-2000:])
                return False
    return True


def main() -> int:
    wheel = Path(sys.argv[1])
    failed = False
    for extra in sys.argv[2:] or USES:
        works = try_out(wheel, extra)
        failed |= not works
        print(f"{extra or 'core':10s} {'works' if works else 'FAILS'}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
