"""Sources: blocks and columns are two views of one table."""

import numpy as np
import pytest

from gradsift.data import ArraySource, ScaledSource, Scaling, open_source
from gradsift.data.source import block_width
from gradsift.protocols import Source

X = np.random.default_rng(0).normal(size=(5, 11))
SCALING = Scaling(X.mean(axis=0), X.std(axis=0))
SOURCES = {
    "array": (ArraySource(X), X),
    "float32": (ArraySource(X.astype(np.float32)), X.astype(np.float32).astype(float)),
    "fortran": (ArraySource(np.asfortranarray(X)), X),
    "scaled": (ScaledSource(ArraySource(X), SCALING), (X - X.mean(axis=0)) / X.std(axis=0)),
}


@pytest.mark.parametrize("width", [1, 4, 100])
@pytest.mark.parametrize("name", SOURCES)
def test_blocks_tile_the_columns(name, width, monkeypatch):
    monkeypatch.setattr("gradsift.data.source.BLOCK_BYTES", 8 * 5 * width)
    source, table = SOURCES[name]
    assert isinstance(source, Source)
    assert source.shape == table.shape
    assert block_width(5) == width
    at = 0
    for where, block in source.blocks():
        assert where.start == at  # in order, no gap, no overlap
        assert block.dtype == np.float64
        np.testing.assert_allclose(block, table[:, where], rtol=1e-15)
        at = where.stop
    assert at == 11
    index = np.array([7, 0, 3])
    np.testing.assert_allclose(source.columns(index), table[:, index], rtol=1e-15)
    assert source.columns(np.array([], dtype=int)).shape == (5, 0)


def test_open_source():
    assert open_source(X).shape == X.shape
    source = SOURCES["scaled"][0]
    assert open_source(source) is source
    with pytest.raises(TypeError, match="cannot read columns from list: pass a NumPy array"):
        open_source([[1.0]])
