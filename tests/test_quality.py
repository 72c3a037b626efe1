"""What the method must show: the paper's examples."""

from pathlib import Path

import numpy as np
import pytest

from gradsift import gradient_path

DATA = Path(__file__).resolve().parents[1] / "../shared/data"


def turlach(seed, n=100, p=10):
    """(2 x1 - 1)^2 + x2 + .. + x5 + noise of sd sqrt(0.05): x1 is uncorrelated with y."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, p))
    y = (2 * X[:, 0] - 1) ** 2 + X[:, 1:5].sum(axis=1)
    return X, y + np.sqrt(0.05) * rng.normal(size=n)


def first_five(X, y):
    """The support of exactly five on the way down the path, halving where it is skipped over."""
    path = gradient_path(X, y, n_alphas=25, eps=0.02)
    sizes = np.array([len(s) for s in path.supports])
    if (sizes == 5).any():
        return path.supports[int(np.argmax(sizes == 5))]
    after = int(np.argmax(sizes > 5))
    high, low = path.alphas[after - 1], path.alphas[after]
    for _ in range(40):
        middle = np.sqrt(high * low)
        support = gradient_path(X, y, alphas=[middle], tol=1e-6).supports[0]
        if len(support) == 5:
            return support
        high, low = (middle, low) if len(support) < 5 else (high, middle)
    return support


def test_turlach_true_five():
    found = [first_five(*turlach(seed)).tolist() == [0, 1, 2, 3, 4] for seed in range(20)]
    assert sum(found) >= 19


@pytest.mark.shared
def test_leukemia_path_is_certified():
    """72 x 7129 as the paper normalises it: every gene zero mean and unit length."""
    file = DATA / "leukemia.npz"
    if not file.exists():
        pytest.skip(f"{file} is not here")
    with np.load(file) as data:
        X = np.vstack([data["X_train"], data["X_test"]]).astype(float)
        y = np.concatenate([data["y_train"], data["y_test"]])
    X -= X.mean(axis=0)
    X /= np.maximum(np.linalg.norm(X, axis=0), 1e-12)
    path = gradient_path(
        X, y, task="classification", kernel="linear", standardize=False, n_alphas=12, eps=0.05
    )
    assert path.converged.all()
    assert path.dual_gaps.max() <= 1e-4
    assert len(path.supports[0]) == 0
    assert len(path.supports[-1]) >= 5
    known = {1881, 4846, 2287, 1833, 2019, 3319, 5771, 6854}  # genes known to separate the classes
    assert known & set(path.supports[-1].tolist())
