"""A fit that is interrupted or fails leaves the estimator as it was, fitted or not."""

import inspect
import logging
import sys

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from gradsift import (
    AlphaGrid,
    GradientSelector,
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
from gradsift.exceptions import NothingSelectedWarning

MODELS = {
    type(model).__name__: model
    for model in [
        GradientSiftRegressor(),
        GradientSiftClassifier(),
        SparseGradientRegressor(),
        SparseGradientClassifier(),
        SparseGradientRegressorCV(cv=2, alphas=AlphaGrid(n_alphas=3, eps=0.3)),
        RidgeGradientRegressor(),
        RidgeGradientClassifier(),
        OuterProductGradient(),
        GradientSelector(SparseGradientRegressor()),
    ]
}
MOMENTS = 12


@pytest.fixture(params=MODELS)
def model(request):
    return clone(MODELS[request.param])


def tables(model):
    """Two training tables that share neither shape nor column names, and labels where needed."""
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    rng = np.random.default_rng(0)
    out = []
    for n, names in ((40, ["a", "b", "c", "d"]), (50, ["u", "v", "w"])):
        X = pd.DataFrame(rng.normal(size=(n, len(names))), columns=names)
        score = (2 * X.iloc[:, 0] + X.iloc[:, 1]).to_numpy()
        labels = np.where(score > 0, names[0], names[1])
        out.append((X, labels if is_classifier(model) else score))
    return out


class Interrupt:
    """Ctrl-C at one of the calls that gradsift makes; with `at=None` they are counted only."""

    def __init__(self, at=None):
        self.at, self.calls = at, 0

    def __enter__(self):
        sys.setprofile(self.see)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)

    def see(self, frame, event, _):
        name = frame.f_globals.get("__name__", "")
        if event == "call" and name.startswith("gradsift.") and name != "gradsift._run.threads":
            self.calls += 1
            # Python itself swallows what is raised while it closes a generator nobody needs
            closing = frame.f_code.co_flags & inspect.CO_GENERATOR
            if self.at is not None and self.calls >= self.at and not closing:
                self.at = None
                raise KeyboardInterrupt


def moments(model, X, y):
    fresh = clone(model)
    with Interrupt() as seen:
        fresh.fit(X, y)
    return np.unique(np.linspace(1, 0.98 * seen.calls, MOMENTS).astype(int))


def outcome(model, X):
    return model.transform(X) if isinstance(model, GradientSelector) else model.predict(X)


def test_an_interrupted_fit_keeps_the_last_one(model):
    (X, y), (other, z) = tables(model)
    model.fit(X, y)
    before, expected = dict(vars(model)), outcome(model, X)
    for at in moments(model, other, z):
        with pytest.raises(KeyboardInterrupt), Interrupt(at):
            model.fit(other, z)
        assert vars(model).keys() == before.keys()
        assert all(vars(model)[name] is value for name, value in before.items())
        np.testing.assert_array_equal(outcome(model, X), expected)


def test_an_interrupted_first_fit_leaves_nothing_behind(model):
    X, y = tables(model)[0]
    before = dict(vars(model))
    for at in moments(model, X, y):
        with pytest.raises(KeyboardInterrupt), Interrupt(at):
            model.fit(X, y)
        assert vars(model) == before
        with pytest.raises(NotFittedError):
            check_is_fitted(model)


def test_a_refused_table_changes_nothing(model):
    (X, y), (other, z) = tables(model)
    model.fit(X, y)
    before = dict(vars(model))
    other.iloc[3, 1] = np.inf
    for bad in ((other, z), (other.iloc[:1], z[:1]), (other.iloc[:, :0], z), (other, z[:-1])):
        with pytest.raises(ValueError):
            model.fit(*bad)
        assert vars(model) == before
    assert model.feature_names_in_.tolist() == list(X.columns)


class Impatient(logging.Handler):
    """Interrupts at a message of the progress log."""

    def __init__(self, word):
        super().__init__()
        self.word = word

    def emit(self, record):
        if self.word in record.getMessage():
            raise KeyboardInterrupt


@pytest.mark.parametrize("word", ["standardising", "refit on"])
def test_an_interrupt_between_the_stages_of_a_sift(word, caplog):
    caplog.set_level(logging.INFO, logger="gradsift")
    (X, y), (other, z) = tables(GradientSiftRegressor())
    model = GradientSiftRegressor(options=SiftOptions(verbose=1)).fit(X, y)
    before = dict(vars(model))
    log, handler = logging.getLogger("gradsift"), Impatient(word)
    log.addHandler(handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            model.fit(other, z)
    finally:
        log.removeHandler(handler)
    assert vars(model) == before


def test_a_warning_that_is_an_error_is_a_failed_fit():
    rng = np.random.default_rng(0)
    model = SparseGradientRegressor(alpha=1e9)
    with pytest.raises(NothingSelectedWarning):
        model.fit(rng.normal(size=(20, 3)), rng.normal(size=20))
    with pytest.raises(NotFittedError):
        check_is_fitted(model)


def test_a_fitted_model_is_its_parameters_and_its_fitted_attributes(model):
    """Nothing else is parked on it: no copy of the table, no state between two steps."""
    X, y = tables(model)[0]
    model.fit(X, y)
    fitted = {name for name in vars(model) if name.endswith("_")}
    assert set(vars(model)) - fitted == set(model.get_params(deep=False))
