import socket
from pathlib import Path

import numpy as np
import pytest
from sklearn.svm import SVC

from experiments import EXPERIMENTS, Settings, leukemia, leukemia_data
from experiments import leukemia_methods as methods
from experiments.leukemia_data import DataMissing, Leukemia, load
from experiments.tools import silent

SHARED = Path(__file__).parents[3] / "shared" / "data" / "leukemia.npz"


@pytest.fixture
def small(rng):
    """Something like the real data: 30 genes, 15 + 9 samples, two thirds of them in one class."""
    y = np.where(np.arange(24) % 3 == 0, -1, 1)
    X = 500.0 + 100.0 * rng.normal(size=(24, 30))
    X[:, :3] += 400.0 * y[:, None]
    names = np.array([f"G{k}_at" for k in range(30)])
    return Leukemia(X[:15], y[:15], X[15:], y[15:], names, names)


def few_penalties(X, y):
    """`methods.sgl` with five penalties."""
    path = methods.sgl_path(X, y, steps=5)
    return {f"SGL ({kind})": methods.sparsest(path[kind], X, y) for kind in path}


@pytest.mark.filterwarnings("ignore::gradsift.exceptions.RareClassWarning")
def test_table_on_a_small_problem(small, tmp_path):
    some = (few_penalties, methods.gl, methods.all_genes, methods.lasso)
    result = leukemia.compute(Settings(n_jobs=1), silent, small, some, (methods.sift,))
    names = [row.name for row in result.rows]
    assert names[:4] == ["SGL (variables)", "SGL (S-EDR)", "GL (ESFs)", "linear SVM, all genes"]
    assert names[-1].endswith("log values")
    # three clear genes: the sparse methods put one of them first and make hardly a mistake
    for row in result.rows:
        assert 0 <= row.loo <= 15
        if row.name in ("SGL (variables)", "LASSO", "GradientSift (selected), log values"):
            assert row.genes[0] in {0, 1, 2}
            assert max(row.loo, row.nested, row.test) <= 1
    # along the path variables come in; the test part chooses nothing, so any error may stand there
    sizes = [e.n_variables for e in result.sgl["variables"]]
    assert sizes[0] <= 3 <= sizes[-1]
    assert len(result.gl) == len(methods.RIDGES) * methods.MOST_ESFS
    paths = EXPERIMENTS["leukemia"].write(result, tmp_path)
    assert [p.name for p in paths] == [
        "leukemia.json",
        "leukemia.md",
        "leukemia-direction.png",
        "leukemia-direction.pdf",
        "leukemia-path.png",
        "leukemia-path.pdf",
    ]
    assert "G0_at" in paths[1].read_text()


def test_left_out_sample_touches_nothing(small):
    # the same fold whatever the held-out values are: normalising, selection, all of it inside
    changed = small.X.copy()
    changed[0] = 1e6
    other = Leukemia(changed, small.y, *(getattr(small, k) for k in (
        "X_test", "y_test", "accession", "description")))  # fmt: skip
    rest = np.arange(15) != 0
    fits = [
        next(leukemia._fits(d.X[rest], d.y[rest], d.X[:1], (few_penalties,), ()))
        for d in (small, other)
    ]
    np.testing.assert_array_equal(fits[0][1].index, fits[1][1].index)
    np.testing.assert_array_equal(fits[0][2], fits[1][2])


def test_leave_one_out_by_support_vectors_is_leave_one_out(rng):
    X, y = rng.normal(size=(25, 3)), np.where(rng.uniform(size=25) < 0.5, 1, -1)
    rows = np.arange(25)
    plain = sum(
        SVC(kernel="linear", C=100.0).fit(X[rows != i], y[rows != i]).predict(X[[i]])[0] != y[i]
        for i in rows
    )
    assert methods.loo_errors(X, y) == plain


def test_missing_data_says_how_to_get_it(tmp_path, monkeypatch):
    with pytest.raises(DataMissing, match=r"--data leukemia\.npz"):
        load(tmp_path / "nothing.npz")
    (tmp_path / "text.npz").write_text("no archive")
    with pytest.raises(DataMissing, match="not a NumPy archive"):
        load(tmp_path / "text.npz")
    np.savez(tmp_path / "half.npz", X_train=np.zeros((3, 2)))
    with pytest.raises(DataMissing, match="no array X_test, y_test, y_train"):
        load(tmp_path / "half.npz")

    def no_network(*args, **kwargs):
        raise OSError("no route to host")

    monkeypatch.setattr(socket, "create_connection", no_network)
    monkeypatch.setattr(leukemia_data, "fetch_openml", no_network)
    with pytest.raises(DataMissing, match="OpenML did not answer"):
        load(None)


class Bunch:
    """What fetch_openml returns."""

    def __init__(self, X, target):
        import pandas as pd

        self.data = pd.DataFrame(X, columns=[f"g{k}" for k in range(X.shape[1])])
        self.target = target


@pytest.mark.parametrize("published", [True, False])
def test_openml_copy_is_used_only_in_the_published_order(published, monkeypatch):
    pytest.importorskip("pandas")
    target = np.repeat(["ALL", "AML", "ALL", "AML"], [27, 11, 20, 14])
    if not published:
        target = np.sort(target)
    bunch = Bunch(np.zeros((72, 7129)), target)
    monkeypatch.setattr(leukemia_data, "fetch_openml", lambda *a, **k: bunch)
    if published:
        data = load(None)
        assert data.X.shape == (38, 7129)
        assert (data.y_test == 1).sum() == 20
    else:
        with pytest.raises(DataMissing, match="published order"):
            load(None)


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.exists(), reason=f"{SHARED} is not here")
def test_bars_on_the_real_data():
    data = load(SHARED)
    X, X_test = methods.normalise(data.X, data.X_test)
    found = methods.sgl(X, data.y)
    errors = {}
    for name, features in found.items():
        Z, Z_test = features.of(X), features.of(X_test)
        wrong = (methods.machine().fit(Z, data.y).predict(Z_test) != data.y_test).sum()
        errors[name] = (methods.loo_errors(Z, data.y), int(wrong))
    assert errors["SGL (S-EDR)"][0] == 0
    assert errors["SGL (S-EDR)"][1] <= 1
    assert errors["SGL (variables)"][0] <= 1
    assert errors["SGL (variables)"][1] <= 2
