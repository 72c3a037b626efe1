"""Models come back to the bit."""

from copy import copy
from dataclasses import replace
from types import GenericAlias

import numpy as np
import pytest
from model_cases import FITS, RECIPE, model_of, sample

from gradsift import GradientSiftRegressor, RidgeGradientRegressor
from gradsift.pipeline import load_model, record_training, save_model
from gradsift.pipeline._as_data import CLASSES, ESTIMATORS, conforms, field_types
from gradsift.tables.columns import TableEncoder


@pytest.mark.parametrize("name", FITS)
def test_a_model_comes_back_to_the_bit(name, path):
    model = model_of(name)
    save_model(path, model, RECIPE)
    again, recipe, _ = load_model(path)
    assert recipe == RECIPE
    assert vars(again).keys() == vars(model).keys()
    assert again.get_params().keys() == model.get_params().keys()
    X = np.random.default_rng(5).normal(size=(9, model.n_features_in_))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    np.testing.assert_array_equal(again.gradient(X), model.gradient(X))
    np.testing.assert_array_equal(again.ranking_, model.ranking_)


def test_arrays_keep_their_order_in_memory(path):
    model = copy(model_of("sift"))
    assert model.components_.shape[0] > 1  # or nothing is tested here
    for order in ("C", "F"):
        model.components_ = np.asarray(model.components_, order=order)
        save_model(path, model, RECIPE)
        assert load_model(path).model.components_.strides == model.components_.strides


class Alias:
    """An alias with a name and a value, as NDArray is since NumPy 2.5 (Python 3.12)."""

    __value__ = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def test_a_named_alias_of_arrays_is_a_type():
    hint = GenericAlias(Alias, (np.float64,))
    assert conforms(np.zeros(2), hint)
    assert not conforms([0.0, 0.0], hint)


def test_the_rows_of_the_fit_come_back(path):
    X, y = sample()
    model = model_of("sift")
    save_model(path, model, RECIPE, record_training(model, X, y))
    training = load_model(path).training
    assert not training.unseen(X, y).any()
    assert training.unseen(X + 1.0, y).all()


def test_the_same_model_gives_the_same_bytes(good, tmp_path):
    save_model(tmp_path / "again", model_of("sift"), RECIPE)
    assert (tmp_path / "again").read_bytes() == good.read_bytes()


def test_a_model_fitted_from_disk_works_without_the_table(path, tmp_path):
    X, y = sample()
    np.save(tmp_path / "X.npy", X)
    model = GradientSiftRegressor().fit(str(tmp_path / "X.npy"), y)
    gradient = model.gradient(X)
    save_model(path, model, RECIPE)
    (tmp_path / "X.npy").unlink()
    np.testing.assert_array_equal(load_model(path)[0].gradient(X), gradient)


def test_names_of_columns_come_back(path):
    pandas = pytest.importorskip("pandas")
    X, y = sample()
    frame = pandas.DataFrame(X, columns=[f"gène {k}" for k in range(X.shape[1])])
    save_model(path, GradientSiftRegressor().fit(frame, y), RECIPE)
    assert load_model(path)[0].feature_names_in_.tolist() == list(frame.columns)


def test_other_objects_are_not_saved(path):
    model = copy(model_of("sift"))
    model.predictor_ = print
    with pytest.raises(TypeError, match="cannot be stored"):
        save_model(path, model, RECIPE)
    with pytest.raises(TypeError, match="cannot be stored"):
        save_model(path, RidgeGradientRegressor().fit(*sample()), RECIPE)


def test_every_class_of_the_list_declares_its_types():
    for cls in CLASSES.values():
        assert field_types(cls) is not None
    assert not set(CLASSES) & set(ESTIMATORS)


# ------------------------------------------------------------------ files that are not ours


def test_a_recipe_is_plain_data():
    changed = replace(RECIPE, encoder=TableEncoder(("a", "b")))
    assert changed.names == ("a", "b")
