#!/usr/bin/env bash
# The main job on a small table with a known answer: column x1 acts, by a square.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python - <<'PY'
import numpy as np

rng = np.random.default_rng(0)
X = rng.normal(size=(100, 8))
table = np.column_stack([X, X[:, 1] ** 2 + 0.1 * rng.normal(size=100)])
header = ",".join([*(f"x{k}" for k in range(8)), "y"])
np.savetxt("table.csv", table, delimiter=",", header=header, comments="")
PY
gradsift select table.csv --target y --cv 2
grep -q '^1,x1,' gradsift-out/selected.csv
test -s gradsift-out/report.html
gradsift predict gradsift-out table.csv --out predicted.csv
test "$(wc -l < predicted.csv)" = 101
