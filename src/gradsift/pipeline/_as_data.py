"""Fitted models as plain data and back: a tree that JSON can hold, and arrays next to it.

Every value becomes a number, a text, None, or a dict with one key that says what it is:

    {"array": 3}                          the array with that number
    {"texts": [...]}                      a one-dimensional array of Python strings
    {"tuple": [...]}, {"list": [...]}     sequences
    {"dict": [[key, value], ...]}
    {"object": "Scaling", "fields": {..}} one of the classes in `CLASSES`, by its name there

Reading builds nothing else. A class that is not in the list has no way in, functions have no form
at all, and every field of an object is compared with the type that its class declares.
"""

from __future__ import annotations

import re
from dataclasses import fields
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from gradsift import GradientSiftClassifier, GradientSiftRegressor, GradientSiftSurvival, answer
from gradsift.data import Scaling
from gradsift.data.read_options import ReadOptions
from gradsift.estimators.columns import Interaction
from gradsift.estimators.covariates import Covariate, Covariates
from gradsift.estimators.sift_fit import SiftOptions
from gradsift.inference import findings
from gradsift.inference.marginal_tests import Association
from gradsift.inference.results import ColumnTest, ProductTest, ReducedModel, Significance
from gradsift.numerics.ard_kernels import Anova, ArdGaussian, DotProduct
from gradsift.refit import OutcomePredictors, Predictor, Refit
from gradsift.refit.all_columns import KernelMember, LinearMember
from gradsift.refit.evidence import Candidate, EvidenceFit, Expansion, Features, Posterior
from gradsift.responses.counts import LogMean
from gradsift.responses.ordinal import Cuts
from gradsift.responses.survival import BaselineHazard
from gradsift.sift import ChosenGroup, SiftResult
from gradsift.tables.columns import Column, TableEncoder
from gradsift.tables.parse import NumberStyle
from gradsift.tables.response import ResponseColumns

ESTIMATORS: dict[str, type] = {
    cls.__name__: cls
    for cls in (GradientSiftRegressor, GradientSiftClassifier, GradientSiftSurvival)
}
OPEN = (
    Scaling, Association, SiftResult, ChosenGroup, Interaction, Significance,
    ColumnTest, ProductTest, ReducedModel, findings.Finding,
)  # fmt: skip
"""Their arrays may hold NaN or infinity: missing values, the scale of a constant column, what was
not tested or not measured. All others are factors of predictions.
"""
PARTS = (
    *OPEN, TableEncoder, Column, NumberStyle, ReadOptions, ResponseColumns, Covariate,
    Covariates, SiftOptions, Predictor, BaselineHazard, LogMean, Cuts, OutcomePredictors, Refit,
    LinearMember, KernelMember, Candidate, EvidenceFit, Expansion, Features, Posterior,
    ArdGaussian, Anova, DotProduct,
)  # fmt: skip
ANSWER = (
    answer.Answer, answer.Comparison, answer.Direction, answer.Effect, answer.Estimate,
    answer.Finding, answer.Level, answer.Line, answer.Member, answer.Note, answer.Prediction,
    answer.RiskGroup, answer.Score, answer.Sheet,
)  # fmt: skip
CLASSES: dict[str, type] = {cls.__name__: cls for cls in PARTS}
CLASSES |= {f"answer.{cls.__name__}": cls for cls in ANSWER}
"""What a model may consist of, by the names that files use."""

NAME_OF = {cls: name for name, cls in (ESTIMATORS | CLASSES).items()}
FITTED = re.compile(r"[a-z][a-z0-9_]*_")
KINDS = "biufU"  # types of arrays that can be stored: no objects, so no pickles


class NotOursError(ValueError):
    """The data describes something that no model of ours consists of."""


class Writer:
    """Turns objects into a tree; the arrays gather in `arrays`, each of them once."""

    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []
        self._number: dict[int, int] = {}

    def tree(self, value: Any) -> Any:
        """A value as plain data."""
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, np.ndarray):
            return self._array(value)
        if type(value) in (list, tuple):
            return {type(value).__name__: [self.tree(v) for v in value]}
        if type(value) is dict:
            return {"dict": [[self.tree(k), self.tree(v)] for k, v in value.items()]}
        return self._object(value)

    def _array(self, value: NDArray[Any]) -> Any:
        if value.dtype == object:
            if value.ndim == 1 and all(isinstance(v, str) for v in value):
                return {"texts": value.tolist()}
            raise TypeError("an array of Python objects cannot be stored in a model file.")
        if value.dtype.kind not in KINDS:
            raise TypeError(f"an array of type {value.dtype} cannot be stored in a model file.")
        if id(value) not in self._number:
            self._number[id(value)] = len(self.arrays)
            self.arrays.append(value)
        return {"array": self._number[id(value)]}

    def _object(self, value: Any) -> Any:
        kind: Any = type(value)
        name = NAME_OF.get(kind)
        if name is None:
            raise TypeError(
                f"a {kind.__name__} cannot be stored in a model file, which holds fitted "
                "GradientSift* and what they consist of. Keep it as a pickle, which only you "
                "should load."
            )
        names = vars(value) if name in ESTIMATORS else field_types(kind)
        return {"object": name, "fields": {k: self.tree(getattr(value, k)) for k in names}}


class Reader:
    """Builds objects from a tree, and refuses whatever is not described there or does not fit."""

    def __init__(self, arrays: list[NDArray[Any]]) -> None:
        self.arrays = arrays
        self.named: set[int] = set()

    def value(self, tree: object) -> Any:
        """The value that a tree describes."""
        if tree is None or isinstance(tree, (bool, int, float, str)):
            return tree
        if not isinstance(tree, dict):
            raise NotOursError(f"a {type(tree).__name__} stands where a value was expected")
        if tree.keys() == {"object", "fields"}:
            return self._object(tree["object"], tree["fields"])
        if len(tree) != 1:
            raise NotOursError(f"a value has the keys {sorted(map(str, tree))[:5]}")
        ((kind, content),) = tree.items()
        return self._special(kind, content)

    def _special(self, kind: str, content: Any) -> Any:
        if kind == "array" and is_count(content) and content < len(self.arrays):
            self.named.add(content)
            return self.arrays[content]
        if kind in ("tuple", "list") and isinstance(content, list):
            values = [self.value(v) for v in content]
            return tuple(values) if kind == "tuple" else values
        if kind == "texts" and is_list_of(content, str):
            out = np.empty(len(content), dtype=object)
            out[:] = content
            return out
        if kind == "dict" and is_list_of(content, list) and all(len(v) == 2 for v in content):
            pairs = [(self.value(k), self.value(v)) for k, v in content]
            if all(isinstance(k, (str, int, float, bool, NoneType)) for k, _ in pairs):
                return dict(pairs)
        raise NotOursError(f"an entry of kind {kind!r} is not of the form this format has")

    def _object(self, name: Any, content: Any) -> Any:
        if not isinstance(name, str) or not isinstance(content, dict):
            raise NotOursError("an object has no name or no fields")
        if name in ESTIMATORS:
            return self._estimator(ESTIMATORS[name], content)
        if name not in CLASSES:
            raise NotOursError(f"it holds {name!r}, which no model consists of")
        return build(CLASSES[name], {k: self.value(v) for k, v in content.items()})

    def _estimator(self, cls: Any, content: dict[str, Any]) -> Any:
        names = set(cls().get_params(deep=False))
        values = {k: self.value(v) for k, v in content.items()}
        model = cls(**{k: v for k, v in values.items() if k in names})
        for name, found in values.items():
            if name in names:
                continue
            if not FITTED.fullmatch(name) or hasattr(cls, name):
                raise NotOursError(f"{cls.__name__} has no fitted attribute {name!r}")
            setattr(model, name, found)
        return model


def build(cls: Any, values: dict[str, Any]) -> Any:
    """A dataclass or named tuple from its fields, each of the type that is declared."""
    hints = field_types(cls)
    if values.keys() != hints.keys():
        other = sorted(values.keys() ^ hints.keys())
        raise NotOursError(f"{cls.__name__} has other fields than {other[:3]}")
    for name, found in values.items():
        if not conforms(found, hints[name]):
            raise NotOursError(f"{cls.__name__}.{name} is a {type(found).__name__}")
        if cls not in OPEN and not is_finite(found):
            raise NotOursError(f"{cls.__name__}.{name} is not finite")
    return cls(**values)


@cache
def field_types(cls: Any) -> dict[str, Any]:
    """Field -> declared type."""
    hints = get_type_hints(cls)
    names = getattr(cls, "_fields", None) or [field.name for field in fields(cls)]
    return {name: hints[name] for name in names}


def conforms(value: object, hint: Any) -> bool:
    """Whether a value is of a declared type; protocols are met by any object of ours."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    while hasattr(origin, "__value__"):  # a named alias, as NDArray is since NumPy 2.5
        origin = get_origin(origin.__value__) or origin.__value__
    if origin in (Union, UnionType):
        return any(conforms(value, option) for option in inner)
    if origin is Literal:
        return value in inner
    if origin in (tuple, list):
        if not isinstance(value, origin):
            return False
        if origin is list or (len(inner) == 2 and inner[1] is Ellipsis):
            return all(conforms(v, inner[0]) for v in value)
        return len(value) == len(inner) and all(map(conforms, value, inner))
    if origin is dict:
        return isinstance(value, dict) and all(
            conforms(k, inner[0]) and conforms(v, inner[1]) for k, v in value.items()
        )
    if hint is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if getattr(hint, "_is_protocol", False):
        return type(value) in NAME_OF
    return isinstance(value, origin or hint)


def is_finite(value: Any) -> bool:
    """Whether arrays, also those in a sequence, hold neither NaN nor infinity."""
    if isinstance(value, (list, tuple)):
        return all(map(is_finite, value))
    floats = isinstance(value, np.ndarray) and value.dtype.kind == "f"
    return not floats or bool(np.isfinite(value).all())


def is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_list_of(value: object, kind: type) -> bool:
    return isinstance(value, list) and all(isinstance(v, kind) for v in value)
