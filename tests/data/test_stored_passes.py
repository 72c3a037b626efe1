"""A fit from passes that separate jobs make: the same bits for any number of parts."""

from dataclasses import replace

import numpy as np
import pytest

from gradsift.data import ScaledSource, measure_scaling, open_source
from gradsift.data.source import BesideSource, ColumnsSource
from gradsift.data.stored_passes import (
    PassNeededError,
    last_pass,
    missing,
    run_part,
    with_passes,
)
from gradsift.sift.procedure import sift
from gradsift.sift.settings import Limits, SiftSettings

pytestmark = pytest.mark.filterwarnings("ignore::gradsift.exceptions.ImputedWarning")
N, P = 140, 700
FEW = SiftSettings(limits=Limits(most_columns=60, least_columns=60, free_values=0))


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr("gradsift.data.source.BLOCK_BYTES", 8 * N * 40)
    monkeypatch.setattr("gradsift.data.stored_passes.VARIANTS", 64)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("stored") / "table.npy"
    X = rng.normal(size=(N, P)).astype(np.float32)
    np.save(path, X)
    return path, X[:, 5] + np.abs(X[:, 400]) + 0.5 * rng.normal(size=N)


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    bed_reader = pytest.importorskip("bed_reader")
    rng = np.random.default_rng(1)
    path = tmp_path_factory.mktemp("stored") / "calls.bed"
    X = rng.binomial(2, 0.3, (N, P)).astype(float)
    X[rng.random(X.shape) < 0.01] = np.nan
    bed_reader.to_bed(path, X)
    return path, np.nan_to_num(X[:, 5], nan=1) + rng.normal(size=N)


def fit(source, y):
    scaling = measure_scaling(source, np.full(N, 1.0 / N))
    Z = ScaledSource(source, replace(scaling, fill=None))
    return scaling, sift(Z, y[:, None], settings=FEW)


def in_parts(path, y, folder, parts):
    """The fit, and how many rounds it took."""
    for number in range(9):
        try:
            return fit(with_passes(open_source(path), folder), y), number
        except PassNeededError:
            for part in np.random.default_rng(number).permutation(parts) + 1:
                run_part(open_source(path), folder, int(part), parts)
    raise AssertionError("a fit takes a few passes")


def same_bits(one, other):
    (scaling, found), (scaling_of, found_of) = one, other
    assert np.array_equal(scaling.mean, scaling_of.mean)
    assert np.array_equal(scaling.scale, scaling_of.scale)
    for name in ("selected", "ranking", "scores", "residual"):
        assert np.array_equal(getattr(found, name), getattr(found_of, name))


@pytest.mark.parametrize("kind", ["table", "calls"])
def test_any_number_of_parts_gives_the_bits_of_one_fit(kind, tmp_path, request):
    path, y = request.getfixturevalue(kind)
    whole = fit(open_source(path), y)
    for parts in (1, 22):
        found, rounds = in_parts(path, y, tmp_path / str(parts), parts)
        assert 2 <= rounds <= 5
        same_bits(found, whole)


def test_parts_of_different_numbers_go_together_and_repeats_cost_nothing(table, tmp_path):
    path, y = table
    source = open_source(path)
    with pytest.raises(PassNeededError):
        fit(with_passes(source, tmp_path), y)
    run_part(source, tmp_path, 1, 2)
    run_part(source, tmp_path, 3, 3)
    assert missing(last_pass(tmp_path))
    assert not run_part(source, tmp_path, 1, 4)  # done before
    assert run_part(source, tmp_path, 2, 3)
    assert missing(last_pass(tmp_path)) == []


def test_a_killed_part_leaves_no_result(table, tmp_path, monkeypatch):
    path, y = table
    source = open_source(path)
    with pytest.raises(PassNeededError):
        fit(with_passes(source, tmp_path), y)
    monkeypatch.setattr("pathlib.Path.replace", lambda *names: (_ for _ in ()).throw(OSError()))
    with pytest.raises(OSError):
        run_part(source, tmp_path, 1, 2)
    monkeypatch.undo()
    before = missing(last_pass(tmp_path))
    assert run_part(source, tmp_path, 1, 2)
    assert missing(last_pass(tmp_path)) != before


def test_views_keep_their_columns(table, tmp_path):
    path, y = table
    kept = np.arange(0, P, 2)
    view = BesideSource(ColumnsSource(open_source(path), kept), y[:, None])
    with pytest.raises(PassNeededError):
        measure_scaling(with_passes(view, tmp_path), np.full(N, 1.0 / N))
    run_part(view, tmp_path, 1, 1)
    found = measure_scaling(with_passes(view, tmp_path), np.full(N, 1.0 / N))
    wanted = measure_scaling(view, np.full(N, 1.0 / N))
    np.testing.assert_array_equal(found.scale, wanted.scale)
