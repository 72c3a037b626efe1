"""Fits one move away from a support are the fits that solving their equations gives."""

import numpy as np
import pytest

from gradsift.sift import criterion as moves_module
from gradsift.sift.criterion import NormalEquations, after_move, log_det, log_dets, neighbours

SIZES = {0: 1, 1: 8, 2: 1, 3: 3, 4: 8, 5: 1}
SUPPORT = (1, 2, 3)


def equations(q, seed=0, copy=False):
    """Normal equations of the groups of `SIZES`."""
    rng = np.random.default_rng(seed)
    ends = np.cumsum(list(SIZES.values()))
    where = {g: slice(int(e - s), int(e)) for (g, s), e in zip(SIZES.items(), ends, strict=True)}
    Z = rng.normal(size=(ends[-1], 60)) + rng.normal(size=60)
    if copy:  # the group that may enter is a copy of one in the support
        Z[where[0]] = Z[where[2]]
    Y = rng.normal(size=(60, q)) + Z[:q].T
    return NormalEquations(Z @ Z.T / 60, Z @ Y / 60, Y.T @ Y / 60, where, 1e-3)


@pytest.mark.parametrize("q", [1, 4])
@pytest.mark.parametrize("copy", [False, True])
@pytest.mark.parametrize("together", [1, 10**6])
def test_every_move_gives_the_fit_of_its_own_equations(q, copy, together, monkeypatch):
    monkeypatch.setattr(moves_module, "TOGETHER", together)
    of = equations(q, copy=copy)
    near = neighbours(of, SUPPORT)
    moves = [(out, new) for out in (None, *SUPPORT) for new in (None, 0, 4, 5)]
    found = near.after(moves)[1]
    for move, value, cov in zip(moves, log_dets(found), found, strict=True):
        _, expected = of.fit(after_move(SUPPORT, move))
        np.testing.assert_allclose(cov, expected, rtol=1e-8, atol=1e-10)
        assert value == pytest.approx(log_det(expected), abs=1e-8)


def test_coefficients_of_groups_that_leave_are_exactly_zero():
    of = equations(2)
    at = {g: of.index((g,)) for g in SUPPORT}
    B, cov = neighbours(of, SUPPORT).after([(g, None) for g in SUPPORT])
    for g, found, left in zip(SUPPORT, B, cov, strict=True):
        full = np.zeros_like(of.corr)
        full[of.index(SUPPORT)] = found
        rest = tuple(h for h in SUPPORT if h != g)
        np.testing.assert_allclose(full[of.index(rest)], of.fit(rest)[0], rtol=1e-8)
        np.testing.assert_allclose(left, of.fit(rest)[1], rtol=1e-8)
        assert not full[at[g]].any()


def test_the_empty_support_has_neighbours():
    of = equations(2)
    one = of.where[1]
    alone = NormalEquations(of.gram[one, one], of.corr[one], of.cov, {1: slice(0, 8)}, of.ridge)
    cov = neighbours(alone, ()).after([(None, 1)])[1][0]
    np.testing.assert_allclose(cov, alone.fit((1,))[1])
