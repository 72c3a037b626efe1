#!/usr/bin/env bash
# usage: test_wheel.sh WHEEL FOLDER PYTHON TEST...
# Installs a wheel into a fresh environment of PYTHON in FOLDER, runs tests there that see nothing
# of the repository but themselves and the simulated designs, and then the test of the recipe.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
wheel=$(realpath "$1") folder=$2 python=$3
shift 3
rm -rf "$folder"
mkdir -p "$folder"
"$python" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet "$wheel[test]"
cp -r "$here/tests" "$here/benchmarks" "$folder"
cat > "$folder/pytest.ini" <<'INI'
[pytest]
addopts = --quiet --import-mode=importlib --strict-markers
pythonpath = tests benchmarks
filterwarnings =
    error
    ignore:The 'future.infer_string' option is deprecated
markers = shared: needs the data sets beside the repository
INI
cd "$folder"
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
venv/bin/python --version
venv/bin/python -m pytest "$@"
PATH="$PWD/venv/bin:$PATH" "$here/packaging/conda-forge/run_test.sh"
