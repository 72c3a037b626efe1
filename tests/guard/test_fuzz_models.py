"""Model files changed at random: refused with one sentence, or a model that still works."""

import json
import warnings
import zipfile
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from guard.counting import try_cases
from hypothesis import strategies as st

from gradsift import GradientSiftClassifier, GradientSiftRegressor
from gradsift.pipeline import load_model, save_model
from gradsift.tables import Recipe, ResponseColumns
from gradsift.tables.columns import TableEncoder

MODELS = ("sift", "labels")


@cache
def good_file(name: str) -> bytes:
    """A model file of one kind, as bytes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 8))
    y = X[:, 0] ** 2 + 2 * X[:, 1]
    model = {
        "sift": lambda: GradientSiftRegressor().fit(X, y),
        "labels": lambda: GradientSiftClassifier().fit(X, np.where(y > 1, "a", "b")),
    }[name]()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.gradsift"
        save_model(
            path, model, Recipe(ResponseColumns("y"), "regression", TableEncoder(tuple("abcdefgh")))
        )
        return path.read_bytes()


@dataclass(frozen=True)
class Change:
    """A place in the tree of a model (taken round its number of places) and what is put there."""

    model: str
    places: tuple[int, ...]
    values: tuple[Any, ...]

    def apply(self) -> bytes:
        with zipfile.ZipFile(BytesIO(good_file(self.model))) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        tree = json.loads(parts["model.json"])
        for place, value in zip(self.places, self.values):
            spots = list(spots_of(tree))
            node, key = spots[place % len(spots)]
            node[key] = value
        parts["model.json"] = json.dumps(tree).encode()
        return packed(parts)


@dataclass(frozen=True)
class OtherArray:
    """One of the arrays replaced by another."""

    model: str
    number: int
    array: Any

    def apply(self) -> bytes:
        with zipfile.ZipFile(BytesIO(good_file(self.model))) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        file = BytesIO()
        np.lib.format.write_array(file, self.array, allow_pickle=False)
        names = sorted(name for name in parts if name.startswith("arrays/"))
        parts[names[self.number % len(names)]] = file.getvalue()
        return packed(parts)


@dataclass(frozen=True)
class OtherBytes:
    """Some bytes of the file replaced, and some cut off."""

    model: str
    places: tuple[int, ...]
    values: bytes
    cut: int

    def apply(self) -> bytes:
        data = bytearray(good_file(self.model))
        for place, value in zip(self.places, self.values):
            data[place % len(data)] = value
        return bytes(data[: len(data) - self.cut])


def packed(parts: dict[str, bytes]) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


def spots_of(node: Any) -> Any:
    """Every (container, key) of a JSON tree."""
    entries = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in list(entries):
        yield node, key
        if isinstance(value, (dict, list)):
            yield from spots_of(value)


names = st.sampled_from(
    ["SiftResult", "Scaling", "refit.Linear", "kernel.Affine", "builtins.eval", "os.system", ""]
)
leaves = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 40), st.floats(), st.text(max_size=5),
    st.builds(lambda k: {"array": k}, st.integers(-2, 60)),
)  # fmt: skip
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.builds(lambda v: {"tuple": v}, st.lists(inner, max_size=3)),
        st.builds(lambda v: {"list": v}, st.lists(inner, max_size=3)),
        st.builds(
            lambda name, fields: {"object": name, "fields": fields},
            names,
            st.dictionaries(
                st.sampled_from(["mean", "scale", "fill", "predict"]), inner, max_size=3
            ),
        ),
    ),
    max_leaves=6,
)
shapes = st.sampled_from([(), (0,), (1,), (8,), (3, 8), (8, 3), (1, 2, 8), (40,), (40, 8)])
arrays = st.builds(
    lambda shape, kind, fill: np.full(shape, fill).astype(kind),
    shapes,
    st.sampled_from(["f8", "f4", "i8", "u1", "?", "U3"]),
    st.sampled_from([0, 1, 7, -3, 100]),
)
kinds = st.sampled_from(MODELS)
some = st.lists(st.integers(0, 10**6), min_size=1, max_size=3).map(tuple)
cases = st.one_of(
    st.builds(Change, kinds, some, st.lists(trees, min_size=1, max_size=3).map(tuple)),
    st.builds(OtherArray, kinds, st.integers(0, 60), arrays),
    st.builds(OtherBytes, kinds, some, st.binary(min_size=1, max_size=3), st.integers(0, 40)),
)


def run(case: Any) -> bool:
    """Whether the file was loaded; a model that was loaded predicts, or says why it cannot."""
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "model.gradsift"
        path.write_bytes(case.apply())
        try:
            model, recipe, _ = load_model(path)
        except ValueError as error:
            assert str(error).startswith("model.gradsift is no model file")  # noqa: PT017
            assert "\n" not in str(error)  # noqa: PT017
            return False
        assert isinstance(recipe, Recipe)
        X = np.random.default_rng(1).normal(size=(5, model.n_features_in_))
        assert len(model.predict(X)) == 5
        assert model.gradient(X).shape[-2:] == X.shape
        return True


def test_a_changed_model_file_is_refused_or_still_works():
    try_cases("load_model", cases, run)
