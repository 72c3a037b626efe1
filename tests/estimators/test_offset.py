"""`fit(offset=...)` of labels: a known part of the log odds."""

import numpy as np
import pytest

from gradsift import GradientSiftClassifier
from gradsift.exceptions import NothingSelectedWarning


@pytest.mark.parametrize("n_classes", [2, 3])
def test_an_offset_of_labels_is_in_the_link(n_classes):
    rng = np.random.default_rng(5)
    X, known = rng.normal(size=(400, 10)), 2.0 * rng.normal(size=(400, n_classes))
    scores = known.copy()
    scores[:, 1] += 2.0 * X[:, 4]
    chance = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    y = (chance.cumsum(axis=1) < rng.uniform(size=(400, 1))).sum(axis=1)
    offset = known[:, 1] - known[:, 0] if n_classes == 2 else known
    model = GradientSiftClassifier(0.05).fit(X, y, offset=offset)
    assert model.get_support(indices=True).tolist() == [4]
    found = model.predict_proba(X, offset=offset)
    assert np.abs(found - chance).mean() < 0.05
    beyond = model.decision_function(X, offset=0.0)
    whole = model.decision_function(X, offset=offset)
    np.testing.assert_allclose(whole - beyond, offset, atol=1e-9)
    with pytest.raises(ValueError, match="cannot take an offset of labels"):
        GradientSiftClassifier(inference=True).fit(X, y, offset=offset)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_where_nothing_is_selected_the_offset_says_all(n_classes):
    rng = np.random.default_rng(6)
    known = rng.normal(size=(300, n_classes))
    chance = np.exp(known) / np.exp(known).sum(axis=1, keepdims=True)
    y = (chance.cumsum(axis=1) < rng.uniform(size=(300, 1))).sum(axis=1)
    offset = known[:, 1] - known[:, 0] if n_classes == 2 else known
    X = rng.normal(size=(300, 4))
    with pytest.warns(NothingSelectedWarning):
        model = GradientSiftClassifier(1e-6).fit(X, y, offset=offset)
    np.testing.assert_allclose(model.predict_proba(X, offset=offset), chance, atol=0.1)
