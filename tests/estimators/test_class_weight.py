"""`class_weight` moves the boundary between classes, and nothing else."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score, recall_score

from gradsift import (
    GradientSiftClassifier,
    RidgeGradientClassifier,
    SparseGradientClassifier,
    SparseGradientClassifierCV,
)
from gradsift.exceptions import NothingSelectedWarning

MODELS = {
    type(model).__name__: model
    for model in [
        GradientSiftClassifier(),
        SparseGradientClassifier(),
        SparseGradientClassifierCV(cv=2, alphas=4),
        RidgeGradientClassifier(),
    ]
}


@pytest.fixture(params=MODELS)
def model(request):
    return clone(MODELS[request.param])


def rare(n=300, p=6, shift=2.0, seed=0):
    """One row in ten is of the class "rare", in noise that overlaps."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = np.where(X[:, 0] + rng.normal(size=n) > shift, "rare", "usual")
    return X, y


@pytest.mark.parametrize("weight", ["balanced", {"rare": 30.0}, {"rare": 5.0, "usual": 0.5}])
def test_selection_field_and_directions_do_not_depend_on_it(weight, model):
    X, y = rare()
    plain = clone(model).fit(X, y)
    weighted = clone(model).set_params(class_weight=weight).fit(X, y)
    for name in ("feature_importances_", "ranking_", "components_", "eigenvalues_"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(weighted, name))
    np.testing.assert_array_equal(plain.gradient(X), weighted.gradient(X))
    rare_weight, usual_weight = weighted.class_weight_
    odds = plain.predict_proba(X)[:, 0] / plain.predict_proba(X)[:, 1]
    new = weighted.predict_proba(X)[:, 0] / weighted.predict_proba(X)[:, 1]
    np.testing.assert_allclose(new, odds * rare_weight / usual_weight, rtol=1e-8)


def test_balanced_finds_the_rare_class():
    X, y = rare()
    new_X, new_y = rare(2_000, seed=1)
    plain = GradientSiftClassifier().fit(X, y)
    balanced = GradientSiftClassifier(class_weight="balanced").fit(X, y)
    share = (y == "rare").mean()
    assert balanced.class_weight_ == pytest.approx([0.5 / share, 0.5 / (1 - share)])
    recalls = [recall_score(new_y, m.predict(new_X), pos_label="rare") for m in (plain, balanced)]
    assert recalls[1] > recalls[0] + 0.2
    scores = [balanced_accuracy_score(new_y, m.predict(new_X)) for m in (plain, balanced)]
    assert scores[1] > scores[0] + 0.05


@pytest.mark.filterwarnings("ignore", category=NothingSelectedWarning)
def test_rare_classes_are_no_more_evidence():
    """On noise, whatever the weights: what is selected is what is selected without them."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(80, 30)), rng.uniform(size=80) < 0.1
        plain = GradientSiftClassifier().fit(X, y)
        heavy = GradientSiftClassifier(class_weight={True: 1e4}).fit(X, y)
        assert plain.get_support().tolist() == heavy.get_support().tolist()


def test_three_classes_and_sample_weights():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4))
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=90), [-1.0, 0.0])
    weight = rng.integers(1, 3, 90)
    model = SparseGradientClassifier(class_weight="balanced").fit(X, y, sample_weight=weight)
    counts = np.bincount(y, weights=weight)
    assert model.class_weight_ == pytest.approx(counts.sum() / (3 * counts))
    plain = SparseGradientClassifier().fit(X, y, sample_weight=weight)
    shift = model.decision_function(X) - plain.decision_function(X)
    np.testing.assert_allclose(shift, np.tile(np.log(model.class_weight_), (90, 1)), atol=1e-9)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ("even", "use None, 'balanced' or a dict"),
        ([1, 2], "use None, 'balanced' or a dict"),
        ({"rare": 0.0}, "weights are finite and positive"),
        ({"rare": np.nan}, "weights are finite and positive"),
        ({"odd": 2.0}, "not in class_weight"),
    ],
)
def test_bad_class_weights_are_refused(weight, message, model):
    X, y = rare(60, 3, shift=0.0)
    with pytest.raises(ValueError, match=message):
        model.set_params(class_weight=weight).fit(X, y)
