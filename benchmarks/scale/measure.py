"""Tables that are large: memory, time and what is found.

    python benchmarks/scale/measure.py disk FOLDER [p]      1,000 rows x p columns float32 (.npy), the sift
    python benchmarks/scale/measure.py path FOLDER [p]      the same file, 20 alphas of the paper's path
    python benchmarks/scale/measure.py genotypes FOLDER [p] 200 rows x p variants (PLINK), gradsift select
    python benchmarks/scale/measure.py plink FOLDER         genotypes: a pass, a select, and plink2 --glm (Debian)
    python benchmarks/scale/measure.py rows                 100,000 x 50, beside a random forest
    python benchmarks/scale/measure.py sparse               2,000 x 500,000 scipy.sparse
    python benchmarks/scale/measure.py cells                20,000 x 2,000 scipy.sparse, 8 % not zero
    python benchmarks/scale/measure.py million [p]          1,000,000 x p (20), both families

p is 1,000,000 (10,000,000 variants) unless given. Memory is resident memory above the interpreter's,
mapped file pages included. Files are made in FOLDER where they are missing (4 GB; 0.8 GB).
"""  # noqa: E501

from __future__ import annotations

import ctypes
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from gradsift import (
    GradientSiftRegressor,
    Landmarks,
    SparseGradientRegressor,
    gradient_path,
)
from gradsift._run.memory import resident_memory
from gradsift.data import ScaledSource, measure_scaling, open_source
from gradsift.sift.features import Columns
from gradsift.sift.rows import make_rows


def measured(call: Callable[[], Any]) -> tuple[Any, float, float]:
    """(answer, seconds, bytes above what was resident before)."""
    ctypes.CDLL(None).malloc_trim(0)  # what making the data left behind would be used, and not show
    before = peak = resident_memory() or 0
    running = True

    def watch() -> None:
        nonlocal peak
        while running:
            peak = max(peak, resident_memory() or 0)
            time.sleep(0.05)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    start = time.perf_counter()
    answer = call()
    seconds = time.perf_counter() - start
    running = False
    watcher.join()
    return answer, seconds, peak - before


def table_on_disk(folder: Path, p: int, n: int = 1_000) -> tuple[Path, np.ndarray, list[int]]:
    """A float32 file, a response of five of its columns, and which they are."""
    file, rng = folder / f"table-{p}.npy", np.random.default_rng(5)
    if not file.exists():
        X = np.lib.format.open_memmap(file, mode="w+", dtype=np.float32, shape=(n, p))
        for row in X:
            row[:] = rng.standard_normal(p, dtype=np.float32)
        X.flush()
    planted = [11, p // 4, p // 2 + 1, 3 * p // 4 + 2, p - 1]
    Z = open_source(file).columns(np.array(planted))
    y = Z[:, 0] ** 2 + 1.5 * np.sin(2 * Z[:, 1]) + Z[:, 2] + np.abs(Z[:, 3]) + np.tanh(2 * Z[:, 4])
    return file, y + 0.5 * np.random.default_rng(6).normal(size=n), planted


def disk(folder: Path, p: int = 1_000_000) -> None:
    file, y, planted = table_on_disk(folder, p)
    model, seconds, memory = measured(
        lambda: GradientSiftRegressor(interactions=False).fit(file, y)
    )
    M = np.random.default_rng(0).normal(size=(len(y), 200))
    start = time.perf_counter()
    for _, block in open_source(file).blocks():
        block.T @ M
    one = time.perf_counter() - start
    print(f"{seconds:.0f} s = {seconds / one:.1f} passes of {one:.1f} s, {memory / 1e9:.2f} GB")
    print(f"planted {planted}, selected {model.get_support(indices=True).tolist()}")


def path(folder: Path, p: int = 1_000_000) -> None:
    file, y, planted = table_on_disk(folder, p)
    kernel = Landmarks("gaussian", 200)
    found, seconds, memory = measured(
        lambda: gradient_path(file, y, kernel=kernel, n_alphas=20, verbose=1)
    )
    print(f"{seconds:.0f} s, {memory / 1e9:.2f} GB, largest gap {found.dual_gaps.max():.0e}")
    print(f"planted {planted}, first in {[s.tolist() for s in found.supports if 0 < len(s) < 6]}")


def genotypes(folder: Path, p: int = 10_000_000, n: int = 200) -> None:
    bed = folder / f"variants-{p}.bed"
    planted = [1_234 % p, p // 2, p - 1_000]
    if not bed.exists():
        write_plink(bed, n, p, planted)
    command = ["select", str(bed), "--target", "phenotype", "--out", str(folder / "out"), "--force"]
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "gradsift", *command], check=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    print(f"{time.perf_counter() - start:.0f} s, {peak / 1e9:.2f} GB with the interpreter")
    print("planted", [f"rs{k}" for k in planted])


def write_plink(bed: Path, n: int, p: int, planted: list[int], step: int = 100_000) -> None:
    """Random variants; the trait is additive in the first and last planted one, and higher in
    heterozygotes of the middle one."""
    rng, seen = np.random.default_rng(5), {}
    code = np.array([3, 2, 0], dtype=np.uint8)  # PLINK's two bits for 0, 1, 2 copies
    with bed.open("wb") as out, bed.with_suffix(".bim").open("w") as names:
        out.write(b"\x6c\x1b\x01")
        for first in range(0, p, step):
            width = min(step, p - first)
            share = rng.uniform(0.1, 0.5, size=(width, 1))
            u = rng.random((width, n), dtype=np.float32)
            G = (u < share**2).astype(np.uint8) + (u < 1 - (1 - share) ** 2)
            seen.update({k: G[k - first].astype(float) for k in planted if 0 <= k - first < width})
            four = code[G].reshape(width, n // 4, 4) << np.array([0, 2, 4, 6], dtype=np.uint8)
            out.write(np.bitwise_or.reduce(four, axis=2).tobytes())
            names.writelines(f"1\trs{k}\t0\t{k}\tA\tC\n" for k in range(first, first + width))
    a, b, c = (seen[k] for k in planted)
    trait = 1.2 * a + 1.5 * (b == 1) - c + 0.5 * rng.normal(size=n)
    lines = [f"0 s{i} 0 0 0 {v:.5f}\n" for i, v in enumerate(trait)]
    bed.with_suffix(".fam").write_text("".join(lines))


def cpu_of(command: list[str]) -> float:
    """Processor seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def plink(folder: Path) -> None:
    """A screening pass, linear and dominance statistics, and a whole select where nothing acts, and
    plink2 on the same files.
    """
    sizes = (2_000, 200_000), (50_000, 5_000)
    for (n, p), missing in product(sizes, (0.01, 0.0)):
        prefix = str(folder / f"dummy-{n}-{p}-{missing}")
        make = ["--dummy", str(n), str(p), str(missing), "scalar-pheno", "--make-bed"]
        cpu_of(["plink2", *make, "--out", prefix])
        cpu_of(["plink2", "--bfile", prefix, "--make-pgen", "--out", prefix])
        glm = ["--bfile", prefix, "--glm", "allow-no-covars", "--threads", "1", "--out", prefix]
        theirs = min(cpu_of(["plink2", *glm]) for _ in range(2))
        lines = Path(f"{prefix}.fam").read_text().splitlines()
        y = np.array([float(line.split()[5]) for line in lines])
        R, ours = ((y - y.mean()) / y.std())[:, None], {}
        for kind in ("bed", "pgen"):
            source = open_source(f"{prefix}.{kind}")
            for _ in range(3):
                start = time.process_time()
                Columns(source, make_rows(n, None)).statistics(R)
                seconds = time.process_time() - start
                ours[kind] = min(seconds, ours.get(kind, seconds))
        out = ["--out", str(folder / "out"), "--force", "--threads", "1"]
        command = ["select", f"{prefix}.bed", "--target", "phenotype", *out]
        whole = cpu_of([sys.executable, "-m", "gradsift", *command])
        print(
            f"{n} x {p}, {missing} missing: pass {ours['bed']:.2f} s (.pgen {ours['pgen']:.2f} s), "
            f"select {whole:.1f} s, plink2 {theirs:.2f} s of processor time",
            flush=True,
        )


def rows(n: int = 100_000, trees: int = 20) -> None:
    from sklearn.ensemble import RandomForestRegressor

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 50))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2 + 0.3 * X[:, 4]
    y = y + rng.normal(size=n)
    model, seconds, memory = measured(lambda: GradientSiftRegressor().fit(X, y))
    best = np.argsort(model.ranking_)[:5].tolist()
    print(f"sift {seconds:.0f} s, {memory / 1e9:.2f} GB, best {best}")
    forest = RandomForestRegressor(trees, n_jobs=2, random_state=0)
    _, seconds, _ = measured(lambda: forest.fit(X, y))
    best = np.argsort(-forest.feature_importances_)[:5].tolist()
    print(
        f"forest {seconds:.0f} s for {trees} trees ({seconds * 500 / trees:.0f} s for 500), {best}"
    )


def million(p: int = 20, n: int = 1_000_000) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal(size=(n, p))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2 + 0.3 * X[:, 4]
    y = y + rng.normal(size=n)
    for model in (SparseGradientRegressor(), GradientSiftRegressor()):
        _, seconds, memory = measured(lambda model=model: model.fit(X, y))
        best = np.argsort(model.ranking_)[:5].tolist()
        print(
            f"{type(model).__name__} {seconds:.0f} s, {memory / 1e9:.2f} GB beside "
            f"{X.nbytes / 1e9:.2f} GB of X; selected {model.get_support(indices=True).tolist()}, "
            f"best {best}"
        )


def sparse_table(n: int = 2_000, p: int = 500_000) -> None:
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(n, 3)) * (rng.random((n, 3)) < 0.2)
    spread = sparse.random(
        n, p - 3, density=0.001, format="csc", random_state=0,
        data_rvs=lambda size: rng.normal(size=size) + 2,
    )  # fmt: skip
    S = sparse.hstack([sparse.csc_matrix(dense), spread]).tocsc()
    y = dense[:, 0] ** 2 + 2 * np.sin(2 * dense[:, 1]) + dense[:, 2] + 0.5 * rng.normal(size=n)
    size = S.data.nbytes + S.indices.nbytes + S.indptr.nbytes
    model, seconds, memory = measured(lambda: GradientSiftRegressor(interactions=False).fit(S, y))
    print(f"{seconds:.0f} s, {memory / 1e6:.0f} MB = {memory / size:.1f} times the matrix")
    print(f"planted [0, 1, 2], selected {model.get_support(indices=True).tolist()}")


def cells(n: int = 20_000, p: int = 2_000, donors: int = 40) -> None:
    """Counts of cells on a log scale: a fit, and a pass of statistics of cells of some donors."""
    rng = np.random.default_rng(0)
    S = sparse.random(
        n, p, density=0.08, format="csc", dtype=np.float32, random_state=0,
        data_rvs=lambda size: np.log1p(rng.geometric(0.4, size)).astype(np.float32),
    )  # fmt: skip
    rows = make_rows(n, None, rng.integers(0, donors, n))
    assert rows.clusters is not None
    noise = rng.normal(size=(n, 1)) + rows.clusters.spread(rng.normal(size=donors))[:, None]
    rows = replace(rows, clusters=rows.clusters.correlated(noise))
    table = open_source(S)
    table = ScaledSource(table, measure_scaling(table, np.full(n, 1.0 / n)))
    start = time.process_time()
    Columns(table, rows).statistics(rows.centred(noise))
    print(f"a pass with {donors} donors: {time.process_time() - start:.1f} s of processor time")
    genes = S[:, :3].toarray().astype(float)
    y = genes[:, 0] - 1.5 * (genes[:, 1] > 0.9) + 0.5 * genes[:, 2] ** 2 + rng.normal(size=n)
    size, start = S.data.nbytes + S.indices.nbytes + S.indptr.nbytes, time.process_time()
    model, _, memory = measured(lambda: GradientSiftRegressor().fit(S, y))
    seconds, times = time.process_time() - start, memory / size
    print(f"a fit: {seconds:.1f} s, {memory / 1e6:.0f} MB = {times:.1f} times the matrix")
    print(f"planted [0, 1, 2], selected {model.get_support(indices=True).tolist()}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["disk" | "path" | "genotypes" | "plink" as what, folder, *size]:
            Path(folder).mkdir(parents=True, exist_ok=True)
            {"disk": disk, "path": path, "genotypes": genotypes, "plink": plink}[what](
                Path(folder), *map(int, size)
            )
        case ["rows"]:
            rows()
        case ["sparse"]:
            sparse_table()
        case ["cells"]:
            cells()
        case ["million", *size]:
            million(*map(int, size))
        case _:
            sys.exit(__doc__)
