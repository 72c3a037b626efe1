"""What `sample_weight` means: counts of rows, or relative in any unit; continuous and finite."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone, is_classifier

from gradsift import (
    GradientSiftClassifier,
    GradientSiftRegressor,
    OuterProductGradient,
    RidgeGradientClassifier,
    RidgeGradientRegressor,
    SiftOptions,
    SparseGradientClassifier,
    SparseGradientRegressor,
    SparseGradientRegressorCV,
)
from gradsift.exceptions import CountedRowsWarning, NothingSelectedWarning, RepeatedRowsWarning

MODELS = {
    type(model).__name__: model
    for model in [
        GradientSiftRegressor(options=SiftOptions(weight_kind="importance")),
        GradientSiftClassifier(options=SiftOptions(weight_kind="importance")),
        SparseGradientRegressor(),
        SparseGradientClassifier(),
        SparseGradientRegressorCV(cv=2, alphas=4),
        RidgeGradientRegressor(),
        RidgeGradientClassifier(),
        OuterProductGradient(),
    ]
}
MAGNITUDES = [1e-320, 1e-200, 1e-9, 5.0, 1e9, 1e150, 1e308]


@pytest.fixture(params=MODELS)
def model(request):
    return clone(MODELS[request.param])


def data_for(model, n=60, p=5):
    X = np.random.default_rng(3).normal(size=(n, p))
    score = X[:, 0] + X[:, 1] ** 2
    return X, score > np.median(score) if is_classifier(model) else score


def answers(model, X):
    return [model.feature_importances_, model.predict(X), model.gradient(X)]


@pytest.mark.parametrize(
    "weight",
    [
        *MAGNITUDES,
        *(np.full(60, 7).astype(dtype) for dtype in "?bHiqefdgO"),
        [3] * 60,
    ],
    ids=str,
)
def test_equal_weights_of_any_size_and_type_change_nothing(weight):
    for name in ("GradientSiftRegressor", "SparseGradientClassifier", "OuterProductGradient"):
        model = clone(MODELS[name])
        X, y = data_for(model)
        expected = answers(model.fit(X, y), X)
        for one, other in zip(expected, answers(model.fit(X, y, sample_weight=weight), X)):
            np.testing.assert_array_equal(one, other)


@pytest.mark.filterwarnings("ignore::gradsift.exceptions.NothingSelectedWarning")
def test_equal_weights_are_no_weights_for_every_estimator(model):
    X, y = data_for(model)
    expected = answers(model.fit(X, y), X)
    for one, other in zip(expected, answers(model.fit(X, y, sample_weight=np.full(60, 5)), X)):
        np.testing.assert_array_equal(one, other)


@pytest.mark.filterwarnings("ignore::gradsift.exceptions.NothingSelectedWarning")
def test_the_unit_of_weights_does_not_matter(model):
    """By powers of two, because they leave every digit of the weights as it is."""
    X, y = data_for(model)
    weight = np.random.default_rng(0).uniform(0.5, 3.0, 60)
    expected = answers(model.fit(X, y, sample_weight=weight), X)
    for power in (-990, -40, 3, 500, 1010):
        model.fit(X, y, sample_weight=np.ldexp(weight, power))
        for one, other in zip(expected, answers(model, X)):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", ["frequency", "importance"])
@pytest.mark.parametrize("estimator", [GradientSiftRegressor, GradientSiftClassifier])
@pytest.mark.filterwarnings("ignore::gradsift.exceptions.CountedRowsWarning")
def test_a_thousandth_more_weight_changes_next_to_nothing(kind, estimator):
    """The answer is a continuous function of the weights, whole numbers or not."""
    X, y = data_for(estimator())
    weight = np.random.default_rng(0).integers(1, 5, 60).astype(float)
    for base in (weight, np.full(60, 3.0)):
        one = estimator(options=SiftOptions(weight_kind=kind)).fit(X, y, sample_weight=base)
        for near in (base + 0.001, base * 1.001, base + 0.001 * (np.arange(60) == 7)):
            other = estimator(options=SiftOptions(weight_kind=kind)).fit(X, y, sample_weight=near)
            assert one.get_support().tolist() == other.get_support().tolist()
            moved = np.abs(one.gradient(X) - other.gradient(X)).max()
            assert moved <= 0.05 * np.abs(one.gradient(X)).max()


def false_selections(weights, tables=30):
    """Mean number of variables that noise selects, with the weights that a function draws."""
    found = 0
    for seed in range(tables):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(80, 15)), rng.normal(size=80)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NothingSelectedWarning)
            model = GradientSiftRegressor(options=SiftOptions(weight_kind="importance"))
            found += model.fit(X, y, sample_weight=weights(rng)).get_support().sum()
    return found / tables


@pytest.mark.parametrize(
    "weights",
    [lambda rng: np.full(80, 5), lambda rng: rng.integers(2, 12, 80)],
    ids=["five each", "survey weights"],
)
def test_importance_weights_keep_the_promise_on_noise(weights):
    """0.3 false variables per table are promised; 30 tables leave a standard error of 0.1."""
    assert false_selections(weights) < 0.3 + 3 * 0.1


@pytest.mark.parametrize("estimator", [GradientSiftRegressor, GradientSiftClassifier])
def test_counts_are_repeated_rows_and_say_so(estimator):
    X, y = data_for(estimator())
    counts = np.random.default_rng(0).integers(0, 5, 60)
    total, rows = counts.sum(), (counts > 0).sum()
    message = rf"counts of rows: {total} samples in {rows} rows.*weight_kind='importance'"
    with pytest.warns(CountedRowsWarning, match=message):
        weighted = estimator().fit(X, y, sample_weight=counts)
    with pytest.warns(RepeatedRowsWarning, match="rows are repeated measurements"):
        repeated = estimator().fit(X.repeat(counts, axis=0), y.repeat(counts))
    assert weighted.get_support().tolist() == repeated.get_support().tolist()
    np.testing.assert_allclose(weighted.gradient(X), repeated.gradient(X), rtol=1e-3, atol=1e-3)
    estimator(options=SiftOptions(weight_kind="importance")).fit(
        X, y, sample_weight=counts
    )  # and no warning


def test_five_each_are_five_copies_with_a_warning_or_nothing_at_all():
    X, y = data_for(GradientSiftRegressor())
    with pytest.warns(CountedRowsWarning, match=r"300 samples in 60 rows.* as good as 60 samples"):
        GradientSiftRegressor().fit(X, y, sample_weight=np.full(60, 5))
    with pytest.warns(CountedRowsWarning, match=r"15 samples in 60 rows.* as good as 60 samples"):
        GradientSiftRegressor().fit(X, y, sample_weight=np.full(60, 0.25))


def test_no_words_where_counts_make_few_more_samples(table):
    X, y = table
    GradientSiftRegressor().fit(X, y, sample_weight=np.r_[np.full(10, 2), np.ones(30)])
    GradientSiftRegressor().fit(X, y, sample_weight=np.r_[np.zeros(10), np.ones(30)])


@pytest.mark.filterwarnings("ignore::gradsift.exceptions.NothingSelectedWarning")
@pytest.mark.parametrize("ratio", [1e2, 1e5, 1e8, 1e11])
def test_very_unequal_weights_give_finite_answers(ratio, model):
    X, y = data_for(model)
    weight = np.geomspace(1.0, ratio, 60)[np.random.default_rng(0).permutation(60)]
    for found in answers(model.fit(X, y, sample_weight=weight), X):
        assert np.isfinite(found).all()


@pytest.mark.filterwarnings("ignore::gradsift.exceptions.ExtrapolationWarning")
@pytest.mark.filterwarnings("ignore::gradsift.exceptions.NothingSelectedWarning")
@pytest.mark.parametrize("heavy", [1e3 + 0.5, 1e6, 9e11])
def test_one_row_with_nearly_all_the_weight_gives_a_finite_answer(heavy, model):
    X, y = data_for(model)
    weight = np.ones(60)
    weight[7] = heavy
    for found in answers(model.fit(X, y, sample_weight=weight), X):
        assert np.isfinite(found).all()


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.r_[1e-200, np.ones(59)], r"sample_weight\[0\] is 1e-200 and sample_weight\[1\] is 1: "),
        (np.r_[np.ones(59), 1e150], r"weights may differ by a factor of 1e\+12 at most"),
        (["one"] * 60, "sample_weight holds values that are not numbers"),
        ([None] * 60, r"sample_weight\[0\] is nan"),
        ([10**400] * 60, "sample_weight holds values that are not numbers"),
    ],
    ids=["vanishing", "huge", "text", "none", "beyond floats"],
)
def test_weights_that_make_no_sense_are_refused(weight, message, model):
    X, y = data_for(model)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y, sample_weight=weight)
