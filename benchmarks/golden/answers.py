"""What is kept of a fitted model, how it is stored, and how two records are compared.

Answers are a flat dictionary of named values: arrays, numbers, texts, or lists of texts. A record
on disk keeps the shape of every array, its norm and a few values (`thumbnail`), so that a record of
hundreds of fits stays small. Two processes of one job compare whole arrays, to the bit.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

CLOSE = 1e-6
"""Relative to the largest value: sums in another order differ by less."""
KEPT_VALUES = 12
KEPT_INTEGERS = 30
DIGITS = 9
PREDICTED_ROWS = 20
GRADIENT_ROWS = 5
ASSOCIATED_COLUMNS = 20

Answers = dict[str, Any]
Compare = Callable[[Any, Any], str | None]
"""In what a value differs from an earlier one; None where it is the same."""


def spread(count: int, most: int) -> np.ndarray:
    """At most `most` of `count` places, evenly spread."""
    return np.unique(np.linspace(0, max(count - 1, 0), min(count, most)).astype(int))


def rows_of(X: Any, most: int) -> Any:
    """A few rows of an array, a data frame or a memory map."""
    index = spread(X.shape[0], most)
    return X.iloc[index] if hasattr(X, "iloc") else X[index]


def model_answers(model: Any, X: Any, **at_predict: Any) -> Answers:
    """Selected set, ranking, importances, predictions, gradients, directions and what belongs to
    them; `X` holds new rows, `at_predict` their covariates and offset.
    """
    few = {name: rows_of(np.asarray(value), PREDICTED_ROWS) for name, value in at_predict.items()}
    predicted = rows_of(X, PREDICTED_ROWS)
    found: Answers = {}
    for name in ("feature_importances_", "variable_importances_", "ranking_", "components_"):
        keep_attribute(found, model, name)
    for name in ("eigenvalues_", "n_components_", "alpha_", "classes_", "mean_"):
        keep_attribute(found, model, name)
    if hasattr(model, "get_support"):
        found["selected"] = model.get_support(indices=True)
    if hasattr(model, "predict"):
        found["predictions"] = model.predict(predicted, **few)
    if hasattr(model, "predict_proba"):
        found["probabilities"] = model.predict_proba(predicted, **few)
    if hasattr(model, "gradient"):
        found["gradients"] = model.gradient(rows_of(X, GRADIENT_ROWS))
    return found | sift_answers(model)


def keep_attribute(found: Answers, model: Any, name: str) -> None:
    if getattr(model, name, None) is not None:
        found[name.rstrip("_")] = getattr(model, name)


def sift_answers(model: Any) -> Answers:
    """What only a `GradientSift*` has: terms, products, associations, shares of predictors."""
    if not hasattr(model, "sift_"):
        return {}
    found: Answers = {
        "interactions": np.array([tuple(pair) for pair in model.interactions_], dtype=float),
        "terms": [f"{group.part} {group.variables}" for group in model.sift_.groups],
        "strengths": np.array([group.strength for group in model.sift_.groups]),
        "scores": model.sift_.scores,
    }
    if model.association_ is not None:
        columns = spread(len(model.association_.p_values), ASSOCIATED_COLUMNS)
        found["association p"] = model.association_.p_values[columns]
        found["association q"] = model.association_.q_values[columns]
    if model.predictor_.members:
        found["shares"] = np.array(model.predictor_.shares)
        found["members"] = [str(member.kind) for member in model.predictor_.members]
    if hasattr(model, "significance_"):
        found |= significance_answers(model.significance_)
    return found


def significance_answers(tested: Any) -> Answers:
    return {
        "p": tested.p_values,
        "q": tested.q_values,
        "finding p": tested.finding_p_values,
        "finding q": tested.finding_q_values,
        "product q": np.array([product.q_value for product in tested.products]),
    }


@contextmanager
def messages(found: Answers) -> Iterator[None]:
    """Warnings and the error of a block, as texts under the name "messages"."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        said: list[str] = []
        try:
            yield
        except Exception as error:  # the text of any error is the answer
            said = [f"{type(error).__name__}: {error}"]
    texts = [f"{one.category.__name__}: {one.message}" for one in caught]
    found["messages"] = [*texts, *said]


def answers_of(case: Callable[[], Answers]) -> Answers:
    """The answers of a case and the messages that came with them."""
    said: Answers = {}
    found: Answers = {}
    with messages(said):
        found = case()
    return {**found, **said}


# ------------------------------------------------ stored
def thumbnail(value: Any) -> Any:
    """What is stored of one answer: plain JSON."""
    if isinstance(value, (str, bool)):
        return value
    if isinstance(value, list):
        return [str(item) for item in value]
    array = np.asarray(value)
    if array.dtype.kind in "iub":
        flat = array.ravel().astype("<i8")
        short = {"shape": list(array.shape), "first": flat[:KEPT_INTEGERS].tolist()}
        if flat.size > KEPT_INTEGERS:
            short["hash"] = hashlib.sha256(flat.tobytes()).hexdigest()[:16]
        return short
    if array.dtype.kind != "f":
        return [str(item) for item in array.ravel()]
    flat = array.ravel().astype(float)
    kept = [float(f"{v:.{DIGITS}g}") for v in flat[spread(flat.size, KEPT_VALUES)]]
    norm = float(f"{np.linalg.norm(flat[np.isfinite(flat)]):.{DIGITS}g}")
    return {"shape": list(array.shape), "norm": norm, "values": kept}


def stored_difference(was: Any, now: Any) -> str | None:
    """In what two thumbnails differ; None where they are the same to `CLOSE`."""
    if not (
        isinstance(was, dict) and isinstance(now, dict) and "values" in was and "values" in now
    ):
        return None if was == now else "differs"
    if was["shape"] != now["shape"]:
        return f"shape {was['shape']} -> {now['shape']}"
    old, new = (np.array([one["norm"], *one["values"]], dtype=float) for one in (was, now))
    if not np.array_equal(np.isfinite(old), np.isfinite(new)):
        return "another set of finite values"
    finite = np.isfinite(old)
    if not finite.any():
        return None
    largest = max(float(np.abs(old[finite]).max()), 1e-300)
    off = float(np.abs(old[finite] - new[finite]).max()) / largest
    return None if off <= CLOSE else f"by {off:.1e}"


def bit_difference(was: Any, now: Any) -> str | None:
    """In what two whole answers differ, to the bit."""
    if isinstance(was, (str, bool, list)):
        return None if was == now else "differs"
    old, new = np.asarray(was), np.asarray(now)
    if old.shape != new.shape or old.dtype != new.dtype:
        return f"{old.dtype}{list(old.shape)} -> {new.dtype}{list(new.shape)}"
    if old.dtype.kind == "O":
        return None if old.tolist() == new.tolist() else "differs"
    if old.tobytes() == new.tobytes():
        return None
    if old.dtype.kind != "f":
        return f"{np.count_nonzero(old != new)} of {old.size} values"
    scale = max(float(np.nanmax(np.abs(old), initial=0.0)), 1e-300)
    return f"by {float(np.nanmax(np.abs(old - new), initial=0.0)) / scale:.1e}"


def differences(was: dict[str, Answers], now: dict[str, Answers], compare: Compare) -> list[str]:
    """One line for every case whose answers changed."""
    lines = []
    for name in was:
        if name not in now:
            lines.append(f"{name}: not run")
            continue
        keys = list(dict.fromkeys([*was[name], *now[name]]))
        missing = [key for key in keys if key not in was[name] or key not in now[name]]
        both = [key for key in keys if key not in missing]
        changed = {key: compare(was[name][key], now[name][key]) for key in both}
        said = [f"{key} {how}" for key, how in changed.items() if how is not None]
        said += [f"{key} {'gone' if key in was[name] else 'new'}" for key in missing]
        if said:
            lines.append(f"{name}: {', '.join(said)}")
    return lines
