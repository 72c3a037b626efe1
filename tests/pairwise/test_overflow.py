"""Numbers too large to compute with end in words, also on rows held out."""

import numpy as np
import pytest

from gradsift import SparseGradientRegressorCV


def test_a_held_out_row_beyond_all_others_is_refused_in_words():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 3))
    X[3, 1] = 1e200
    y = X[:, 0] + rng.normal(size=12)
    with pytest.raises(ValueError, match="too large to compute with"):
        SparseGradientRegressorCV(cv=3, alphas=3).fit(X, y)
