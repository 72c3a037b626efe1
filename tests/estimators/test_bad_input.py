"""Bad input gets a ValueError that says what, where, and what to do (design.md, section 6)."""

import numpy as np
import pandas as pd
import pytest
from helpers import make_data, sparse_params
from sklearn.base import clone

from gradsift import (
    Gaussian,
    GradientSiftClassifier,
    GradientSiftRegressor,
    NearestNeighbors,
    OuterProductGradient,
    Penalties,
    RidgeGradientClassifier,
    RidgeGradientRegressor,
    SiftOptions,
    SparseGradientClassifier,
    SparseGradientRegressor,
)

MODELS = {
    type(m).__name__: m
    for m in (
        GradientSiftRegressor(missing="error"),
        GradientSiftClassifier(missing="error"),
        SparseGradientRegressor(),
        SparseGradientClassifier(),
        RidgeGradientRegressor(),
        RidgeGradientClassifier(),
        OuterProductGradient(),
    )
}
SPARSE = [name for name in MODELS if name.startswith("Sparse")]
PAIRWISE = [name for name in MODELS if not name.startswith("GradientSift")]
FIELDS = [name for name in MODELS if name.startswith(("Sparse", "Ridge"))]


def data():
    X, y = make_data("binary", n=20, p=4)
    return X, y


def spoil(X, row, column, value):
    X = X.copy()
    X[row, column] = value
    return X


def frame(X, names="abcd"):
    return pd.DataFrame(X, columns=list(names))


X, Y = data()
TEXT = frame(X).assign(c=["low"] * 20)
TABLES = {
    "nan": (spoil(X, 3, 2, np.nan), r"contains NaN: 1 bad .* column 2; the first in row 3.*Drop"),
    "inf": (spoil(X, 0, 1, np.inf), r"contains infinity \(inf\).* column 1; the first in row 0"),
    "named": (frame(spoil(X, 7, 3, -np.inf)), "infinity.*'d'; the first in row 7"),
    "text": (TEXT, r"column 'c' holds text \(row 0: 'low'\). Drop it, or encode"),
    "text array": (spoil(X.astype(object), 5, 1, "low"), r"column 1 holds text \(row 5: 'low'\)"),
    "repeated": (frame(X, "abba"), r"not unique: 'a' \(2 times\), 'b' \(2 times\). Rename"),
    "no columns": (X[:, :0], r"0 feature\(s\).*minimum of 1 is required"),
    "flat": (X[:, 0], "Expected 2D array, got 1D array"),
    "too long": (np.vstack([X, X]), "inconsistent numbers of samples"),
}


BAD = [
    (name, table)
    for name in MODELS
    for table in TABLES
    if table != "text" or name in PAIRWISE  # the sift takes text for categories
]


@pytest.mark.parametrize(("name", "table"), BAD)
def test_bad_tables(name, table):
    bad, message = TABLES[table]
    with pytest.raises(ValueError, match=message):
        clone(MODELS[name]).fit(bad, Y)


@pytest.mark.parametrize("table", ["nan", "inf", "named", "text", "no columns"])
@pytest.mark.parametrize("name", MODELS)
def test_bad_tables_at_prediction(name, table):
    """The same words after the fit, but for shapes, which scikit-learn explains."""
    bad, message = TABLES[table]
    if table == "no columns":
        message = "0 feature"
    model = clone(MODELS[name]).fit(frame(X) if isinstance(bad, pd.DataFrame) else X, Y)
    for method in ("predict", "transform", "gradient"):
        with pytest.raises(ValueError, match=message):
            getattr(model, method)(bad)


@pytest.mark.parametrize("name", MODELS)
def test_wrong_number_of_columns_at_prediction(name):
    model = clone(MODELS[name]).fit(X, Y)
    with pytest.raises(ValueError, match=r"X has 3 features, but .* is expecting 4"):
        model.predict(X[:, :3])


@pytest.mark.parametrize("name", MODELS)
def test_too_few_rows(name):
    with pytest.raises(ValueError, match=r"2 sample\(s\).*minimum of 3 is required"):
        clone(MODELS[name]).fit(X[:2], np.array([0, 1]))


@pytest.mark.parametrize("name", MODELS)
def test_bad_response(name):
    classifier = name.endswith("Classifier")
    message = (
        r"one class only \(.*1.*, 20 times\): a classifier needs at least two"
        if classifier
        else r"y is constant \(all 20 values are 1\): there is no change to explain"
    )
    with pytest.raises(ValueError, match=message):
        clone(MODELS[name]).fit(X, np.ones(20, dtype=int))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        clone(MODELS[name]).fit(X, Y[:-1])
    if classifier:
        with pytest.raises(ValueError, match="Unknown label type"):
            clone(MODELS[name]).fit(X, np.random.default_rng(0).normal(size=20))
    else:
        with pytest.raises(ValueError, match=r"y contains NaN|NaN"):
            clone(MODELS[name]).fit(X, np.r_[np.nan, Y[1:]])


@pytest.mark.parametrize("name", [name for name in MODELS if not name.endswith("Classifier")])
def test_a_response_whose_powers_are_lost(name):
    """Often a sentinel for a missing value, such as the largest number of a format."""
    huge = np.r_[Y[:5], 1e200, Y[6:]]
    with pytest.raises(ValueError, match=r"y reaches 1e\+200.* another unit.*\(row 5\)"):
        clone(MODELS[name]).fit(X, huge)
    with pytest.raises(ValueError, match="y varies by 1e-200 only"):
        clone(MODELS[name]).fit(X, 1e-200 * Y)


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize(("size", "times"), [(1e200, 1.0), (1e90, 1e60)])
def test_numbers_too_large_to_compute_with(name, size, times):
    """Each alone may be held, their products not."""
    y = Y if name.endswith("Classifier") else times * Y
    model = clone(MODELS[name]).set_params(standardize=False)
    with pytest.raises(ValueError, match=r"too large to compute with.*standardize=True"):
        model.fit(size * X, y)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.zeros(20), "all sample weights are zero"),
        (-np.ones(20), r"sample_weight\[0\] is -1.0"),
        (np.ones(7), r"shape \(7,\) but X has 20 rows: need \(20,\)"),
        (np.r_[np.inf, np.ones(19)], r"sample_weight\[0\] is inf"),
    ],
    ids=["zero", "negative", "short", "infinite"],
)
def test_bad_weights(name, weight, message):
    with pytest.raises(ValueError, match=message):
        clone(MODELS[name]).fit(X, Y, sample_weight=weight)


@pytest.mark.parametrize("name", MODELS)
def test_weights_that_leave_one_class_or_value(name):
    """What is left of the response after dropping rows of weight zero is what counts."""
    with pytest.raises(ValueError, match=r"one class only|y is constant"):
        clone(MODELS[name]).fit(X, Y, sample_weight=(Y == 1).astype(float))


SETTINGS = [
    ("weights", "knn", r"weights='knn' is not a weight rule. Use one of", PAIRWISE),
    ("weights", Gaussian(1e-5), "leaves every pair weight at zero.*Use scale='half", PAIRWISE),
    ("weights", Gaussian("wide"), "scale='wide' is not a bandwidth", PAIRWISE),
    ("weights", NearestNeighbors(0), "k=0 neighbours", PAIRWISE),
    ("weights", NearestNeighbors(form="x"), "form='x' is unknown", PAIRWISE),
    ("n_components", 0, "n_components=0: use 'auto' or a whole number >= 1", MODELS),
    ("n_components", 1.5, "n_components=1.5", MODELS),
    ("n_components", "all", "n_components='all'", MODELS),
    ("kernel", "rbf", r"kernel='rbf' is not a kernel. Use one of \['affine'", FIELDS),
    ("kernel", np.eye(20), "a function of the inner products and squared distances", FIELDS),
    ("kernel", lambda p: p.inner[:3], r"an array of shape \(3, 20\)", FIELDS),
    ("kernel", lambda p: -p.inner, "zero at every sample|not positive semidefinite", FIELDS),
    ("alpha", -1.0, "alpha=-1.0", FIELDS),
    ("alpha", np.nan, "alpha=nan", FIELDS),
    ("alpha", np.inf, "alpha=inf", FIELDS),
    ("method", "sgd", "solver='sgd' is unknown. Use 'auto'", SPARSE),
    ("tol", 0.0, "tol=0.0 must be positive", SPARSE),
    ("max_iter", 0, "max_iter=0 must be at least 1", SPARSE),
    ("penalty_factor", [1.0, 2.0], r"shape \(2,\) but there are 4 variables", SPARSE),
    ("penalty_factor", [1, 1, -1, 1], r"penalty_factor\[2\] is -1.0", SPARSE),
    ("penalty_factor", [1, np.inf, 1, 1], r"penalty_factor\[1\] is inf", SPARSE),
    ("alpha_0", 0.0, "alpha_0=0.0 must be positive", ["SparseGradientClassifier"]),
]


@pytest.mark.parametrize(
    ("name", "setting", "value", "message"),
    [(name, *rest) for *rest, names in SETTINGS for name in names],
    ids=lambda v: v if isinstance(v, str) and len(v) < 30 else "",
)
def test_bad_settings(name, setting, value, message):
    with pytest.raises(ValueError, match=message):
        clone(MODELS[name]).set_params(**sparse_params(**{setting: value})).fit(X, Y)


@pytest.mark.parametrize("seed", ["seed", -1, 2**40, 1.5])
def test_a_seed_that_is_none_is_refused_before_any_work(seed, table):
    X, y = table
    with pytest.raises(ValueError, match=r"seed=.*use a whole number"):
        GradientSiftRegressor(options=SiftOptions(seed=seed)).fit(X, y)


@pytest.mark.parametrize("size", [1e-280, 1e-200, 1e-160, 1e160, 1e200])
def test_the_unit_of_a_column_does_not_matter_however_small_or_large(size, table):
    X, y = table
    plain = GradientSiftRegressor().fit(X, y)
    other = GradientSiftRegressor().fit(X * [size, 1, 1, 1, 1, 1], y)
    assert other.get_support().tolist() == plain.get_support().tolist()
    assert plain.get_support()[0]


def test_columns_whose_squares_overflow_are_refused_in_words():
    X = np.array([[4e-194], [2e125], [1e165]])
    with pytest.raises(ValueError, match="too large to compute with"):
        OuterProductGradient(standardize=False).fit(X, [0.0, 1.0, 2.0])


def test_a_slope_whose_square_vanishes_is_not_zero():
    Z = np.random.default_rng(0).normal(size=(20, 2))
    X, y = Z * [1.0, 1e140], 1e-30 * Z.sum(axis=1)
    model = OuterProductGradient(standardize=False, weights="uniform").fit(X, y)
    assert model.get_support().all()


def test_adaptive_weights_where_no_variable_is_penalised(table):
    X, y = table
    model = SparseGradientRegressor(
        weights="adaptive", penalties=Penalties(penalty_factor=np.zeros(X.shape[1]))
    )
    assert model.fit(X, y).get_support().all()
