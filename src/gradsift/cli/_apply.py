"""`gradsift predict`, `transform` and `report`: a saved model on another table."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier

from gradsift._run.printable import printable
from gradsift.answer import Answer, Prediction, explain
from gradsift.data.slices import take_rows
from gradsift.data.source import ArraySource
from gradsift.estimators.names import names_of_best
from gradsift.estimators.splits import SampleParams
from gradsift.estimators.validation import used_columns, warn_if_far
from gradsift.evaluate import score_model
from gradsift.exceptions import ExtrapolationWarning
from gradsift.pipeline import (
    Training,
    as_note,
    explained,
    in_options,
    load_model,
    named_columns,
    new_file,
    new_rows_prediction,
    projected,
    response_of,
    without_missing,
    write_rows,
)
from gradsift.protocols import Source
from gradsift.tables import Recipe, fingerprint, open_new, open_table
from gradsift.tables.prediction_table import NewTable, is_known, response_choices
from gradsift.tables.prepare import left_out

Given = dict[str, Any]
"""How the new table is written, where that is said: option -> value."""
Asked = tuple[Path | None, str | None]
"""The table of covariates, and its column with the offset."""


def predict(
    model_path: Path,
    path: Path,
    out: Path,
    *,
    force: bool,
    reading: Given,
    way: str | None = None,
    beside: Asked = (None, None),
) -> None:
    """Names of the rows, predictions, and for labels the probability of every class."""
    inputs = [model_path, path, beside[0]]
    with new_file(out, force=force, inputs=inputs) as file, told():
        model, table, recipe = opened(model_path, path, reading, way, beside)
        X, ids = table.X, table.ids
        predictions = model.predict(X, **table.sample_params)
        names = ids if ids is not None else [str(i + 1) for i in range(len(predictions))]
        found = named_columns("predicted", predictions, recipe.response.targets)
        header, columns = ["row", *found], [names, *found.values()]
        if is_classifier(model):
            header += [f"probability of {c}" for c in model.classes_]
            columns += list(np.asarray(model.predict_proba(X, **table.sample_params)).round(6).T)
        write_rows(file, header, zip(*columns))
        who = predictor_name(model)
    print(f"{len(predictions)} predictions in {out}, with {who}")


def transform(
    model_path: Path,
    path: Path,
    out: Path,
    *,
    force: bool,
    reading: Given,
    beside: Asked = (None, None),
) -> None:
    """Places on the directions, and predictions beside them."""
    inputs = [model_path, path, beside[0]]
    with new_file(out, force=force, inputs=inputs) as file, told():
        model, table, recipe = opened(model_path, path, reading, None, beside)
        targets = recipe.response.targets
        head = [f"direction{i + 1}" for i in range(len(model.components_))]
        params = table.sample_params
        write_rows(file, *projected(model, table.X, table.ids, head, table.y, params, targets))
    print(f"{table.X.shape[0]} samples on {len(head)} direction(s) in {out}")


def report(
    model_path: Path,
    path: Path,
    out: Path,
    *,
    force: bool,
    reading: Given,
    target_from: Path | None = None,
    beside: Asked = (None, None),
) -> None:
    """The page, with effects and scores on this table."""
    inputs = [model_path, path, target_from, beside[0]]
    with new_file(out, force=force, inputs=inputs) as file, told():
        answer = answer_on(model_path, path, reading, target_from, beside)
        file.write_text(answer.to_html(), encoding="utf-8")
    print(f"the report is in {out}")


def answer_on(
    model_path: Path,
    path: Path,
    reading: Given,
    target_from: Path | None = None,
    beside: Asked = (None, None),
) -> Answer:
    """The answer of a saved model on a table: findings of the fit, effects of its rows."""
    model, recipe, training = load_model(model_path)
    check_covariates_given(model, beside)
    table = open_labelled(path, recipe, reading, target_from, beside)
    X, y = table.X, table.y if recipe.task == "ordinal" else labels_of(model, table.y)
    say_far(model, X, recipe)
    names: Any = names_of_best(model, X) if isinstance(X, Source) else recipe.names or None
    answer = explain(
        model,
        without_missing(model, X),
        response_of(y, recipe),
        names=names,
        feature_groups=recipe.feature_groups,
        levels=recipe.encoder.ordered,
        target=explained(recipe),
        **table.sample_params,
    )
    params = {k: v for k, v in table.sample_params.items() if k != "groups"}
    made = {
        "command": f"gradsift report {model_path.name} {path.name}",
        "data": fingerprint(path),
        "date": datetime.now().astimezone().isoformat(timespec="seconds"),
    }
    prediction, note = scores_on(model, X, y, params, training, recipe)
    return replace(
        answer,
        prediction=prediction,
        notes=(as_note(note),),
        source=path.name,
        made=tuple(made.items()),
    )


def scores_on(
    model: BaseEstimator, X: Any, y: Any, params: Given, training: Training | None, recipe: Recipe
) -> tuple[Prediction | None, str]:
    """Scores on the rows of a table that the fit has not seen, and a note on how many they are."""
    unseen = np.zeros(len(y), dtype=bool) if training is None else training.unseen(X, y)
    rows, count = np.flatnonzero(unseen), len(y)
    fitted = f"the model was fitted to {len(training.digests):,} rows; " if training else ""
    if len(rows) == 0 or isinstance(X, Source):
        return None, f"{fitted}no score is given, as none of these {count:,} rows is new to it"
    some = SampleParams(**params).take(rows).for_predict
    scores = score_model(model, take_rows(X, rows), response_of(y, recipe)[rows], **some)
    known = count - len(rows)
    aside = f", and {known:,} rows of the fit, which do not count in the score" if known else ""
    text = f"{fitted}effects are those of these {count:,} rows{aside}"
    targets = recipe.response.targets if np.ndim(y) == 2 else ()
    return new_rows_prediction(scores, len(rows), targets), text


def open_labelled(
    path: Path, recipe: Recipe, reading: Given, target_from: Path | None, beside: Asked
) -> NewTable:
    """The rows of a table that have a target."""
    if not path.exists():
        raise FileNotFoundError(f"no such file: {path}")
    if not recipe.names:  # of a fit that read column by column
        asked = replace(
            response_choices(recipe),
            missing=recipe.missing,
            covariates=beside[0],
            offset=beside[1],
        )
        table = open_table(path, asked, target_from)
        X = recipe.of_stored(table.X)
        return NewTable(X, table.ids, table.y, table.covariates, table.offset, table.exposure)
    options = recipe.options.given(**reading)
    new = open_new(
        path,
        recipe,
        options=options,
        target_from=target_from,
        covariates=beside[0],
        offset=beside[1],
    )
    y = new.y
    if y is None:
        raise ValueError(f"{path.name} has no values of {recipe.target!r}, which the report needs.")
    there = is_known(y)
    if not there.all():
        warnings.warn(f"{left_out(there, recipe.target).text} left out.", stacklevel=2)
        new = new.take(np.flatnonzero(there))
        y = y[there]
    return new._replace(y=np.array(y.tolist()) if y.dtype.kind == "O" else y)


def labels_of(model: BaseEstimator, y: Any) -> Any:
    """Labels of a new table as those of the model. Where the ones are whole numbers and the others
    texts, because other labels are new, both become texts.
    """
    if not is_classifier(model) or y.dtype.kind == model.classes_.dtype.kind:
        return y
    model.classes_ = model.classes_.astype(str)
    return y.astype(str)


def opened(
    model_path: Path,
    path: Path,
    reading: Given,
    way: str | None = None,
    beside: Asked = (None, None),
) -> tuple[Any, NewTable, Recipe]:
    """The model, what it needs of a new table, and how that of the fit was made; values far beyond
    those of the fit are said.
    """
    model, recipe, _ = load_model(model_path)
    check_covariates_given(model, beside)
    if way is not None and "predict_with" in model.get_params(deep=False):
        model.set_params(predict_with=way)  # which columns are needed depends on it
    table = open_new(
        path,
        recipe,
        used=used_columns(model),
        fill=np.nan_to_num(model.mean_),
        options=recipe.options.given(**reading),
        covariates=beside[0],
        offset=beside[1],
    )
    say_far(model, table.X, recipe)
    return model, table, recipe


def say_far(model: BaseEstimator, X: Any, recipe: Recipe) -> None:
    """Rows far outside those of the fit, said once and by the names of the table, which the model
    does not know.
    """
    if isinstance(X, np.ndarray):
        warn_if_far(model, ArraySource(X), recipe.names)
        warnings.filterwarnings("ignore", ".* rows are far outside", ExtrapolationWarning)


def check_covariates_given(model: BaseEstimator, beside: Asked) -> None:
    """Refuse to predict without what the model was fitted with."""
    needed = getattr(model, "covariates_", None)
    if needed is not None and beside[0] is None:
        raise ValueError(
            f"the model was fitted with covariates ({', '.join(needed.names)}): give "
            "--covariates FILE with those of the new samples."
        )
    if getattr(model, "has_offset_", False) and beside[1] is None:
        raise ValueError(
            "the model was fitted with an offset: give --covariates FILE and --offset COLUMN."
        )


@contextmanager
def told() -> Iterator[None]:
    """Warnings become lines on stderr, each once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    said = [in_options(str(w.message)) for w in caught if issubclass(w.category, UserWarning)]
    for message in dict.fromkeys(said):
        print(f"beware: {printable(message)}", file=sys.stderr)


def predictor_name(model: BaseEstimator) -> str:
    """What a saved model predicts with."""
    shares, some = getattr(model.predictor_, "shares", ()), bool(np.any(model.get_support()))
    if not shares or model.predict_with != "auto":
        return "the selected variables alone" if some else "no variable, as none was selected"
    members = ", ".join(
        f"{m.kind} on {m.n_columns:,} columns ({share:.0%})"
        for m, share in zip(model.predictor_.members, shares, strict=True)
    )
    if not some:
        return f"{members}, as no variable was selected"
    return f"the selected variables averaged with {members}"
