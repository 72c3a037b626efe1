"""Stand-ins against the plain correlation matrix."""

import numpy as np
import pytest

from gradsift.data import ArraySource
from gradsift.explain import correlated_stand_ins


@pytest.fixture
def families(rng):
    """Three families of four near-copies, one sign-flipped, a constant column, ten others."""
    roots = rng.normal(size=(80, 3))
    copies = np.repeat(roots, 4, axis=1) + 0.3 * rng.normal(size=(80, 12))
    copies[:, 1] *= -1
    return np.column_stack([copies, np.full(80, 1e6), rng.normal(size=(80, 10))])


@pytest.mark.parametrize("width", [1, 5, None])
def test_matches_the_correlation_matrix(families, width):
    selected = np.array([0, 4, 5, 15])
    found = correlated_stand_ins(ArraySource(families, width), selected)
    with np.errstate(invalid="ignore"):
        R = np.corrcoef(families, rowvar=False)
    for k, stand_ins in zip(selected, found):
        expected = {
            c for c in range(families.shape[1]) if abs(R[k, c]) >= 0.8 and c not in selected
        }
        assert set(stand_ins.columns.tolist()) == expected
        assert stand_ins.total == len(expected)
        assert np.allclose(stand_ins.correlations, R[k, stand_ins.columns])
        assert (np.diff(np.abs(stand_ins.correlations)) <= 0).all()
    assert found[0].correlations[found[0].columns == 1] < 0


def test_names_a_few_and_counts_all(families):
    one = correlated_stand_ins(families, np.array([0]), most=1)[0]
    assert len(one.columns) == 1
    assert one.total == 3


def test_data_frames_and_nothing_selected(families):
    pd = pytest.importorskip("pandas")
    frame = correlated_stand_ins(pd.DataFrame(families), np.array([0]))
    assert frame[0].total == 3
    assert correlated_stand_ins(families, np.zeros(0, dtype=int)) == []
