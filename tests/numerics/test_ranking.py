"""Ranking and the choice of alpha."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gradsift.pairwise.fit import choose_alpha, rank_variables

sizes = arrays(float, 8, elements=st.sampled_from([0.0, 0.0, 1.0, 2.0, 3.5]))


@given(importances=sizes, runner_up=sizes)
def test_ranking_is_a_permutation_in_order(importances, runner_up):
    ranking = rank_variables(importances, runner_up)
    assert sorted(ranking) == list(range(1, 9))
    for a in range(8):
        for b in range(a + 1, 8):
            key_a = (importances[a], runner_up[a])
            key_b = (importances[b], runner_up[b])
            # larger first; ties to the lower column number
            assert (ranking[a] < ranking[b]) == (key_a >= key_b)


def test_rules():
    """Decreasing alpha; 1se takes the largest alpha within a standard error of the best."""
    scores = np.array([[-5.0, -5.2], [-3.0, -3.4], [-2.8, -3.4], [-4.0, -4.0]])
    assert choose_alpha(scores, "min") == 2
    # best mean -3.1, error 0.6/sqrt(2)/sqrt(2) = 0.3: the second row, at -3.2, is as good
    assert choose_alpha(scores, "1se") == 1
    assert choose_alpha(scores[:, :1], "1se") == 2  # one fold has no standard error
    assert choose_alpha(1e200 * scores, "1se") == 1  # the unit of the scores does not matter


@given(scores=arrays(float, (6, 4), elements=st.floats(-3, 3)))
def test_one_se_never_takes_a_smaller_alpha(scores):
    assert choose_alpha(scores, "1se") <= choose_alpha(scores, "min")
    assert scores.mean(axis=1)[choose_alpha(scores, "min")] == pytest.approx(
        scores.mean(axis=1).max()
    )
