"""`gradsift predict` and `gradsift report`: a saved model on another table."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier

from gradsift._run.printable import printable
from gradsift.answer import Answer, Note, Prediction
from gradsift.data.missing import to_number
from gradsift.data.slices import take_rows
from gradsift.data.source import ArraySource
from gradsift.estimators.names import names_of_best, variable_names
from gradsift.estimators.splits import SampleParams
from gradsift.estimators.survival import GradientSiftSurvival
from gradsift.estimators.validation import used_columns, warn_if_far
from gradsift.evaluate import score_model
from gradsift.exceptions import ExtrapolationWarning
from gradsift.pipeline import (
    SavedModel,
    Training,
    in_options,
    load_model,
    new_file,
    new_rows_prediction,
    response_of,
    sample_rows,
    sentence,
    table_answer,
    write_rows,
)
from gradsift.protocols import Array, IntArray, Source
from gradsift.tables import Recipe, fingerprint, open_new
from gradsift.tables.prediction_table import NewTable, is_known
from gradsift.tables.prepare import left_out


@dataclass(frozen=True)
class Request:
    """A saved model, another table, and what belongs to its rows.

    Attributes
    ----------
    model, table : Path
    reading : dict
        How the table is written, where that is said: option -> value.
    covariates : Path, optional
    offset : str, optional
        A column of `covariates`.
    target_from : Path, optional
    predict_with : str, optional
        What to predict with; None = as the model was saved.
    at : tuple of str
        Times of predicted survival probabilities.
    """

    model: Path
    table: Path
    reading: dict[str, Any]
    covariates: Path | None = None
    offset: str | None = None
    target_from: Path | None = None
    predict_with: str | None = None
    at: tuple[str, ...] = ()

    @contextmanager
    def written_to(self, out: Path, *, force: bool) -> Iterator[Path]:
        """The file that is written; warnings are said on the way."""
        inputs = [self.model, self.table, self.target_from, self.covariates]
        with new_file(out, force=force, inputs=inputs) as file, warnings_as_lines():
            yield file

    def load(self) -> SavedModel:
        """The model, of which the covariates that it needs are given."""
        saved = load_model(self.model)
        needed = getattr(saved.model, "covariates_", None)
        if needed is not None and self.covariates is None:
            raise ValueError(
                f"the model was fitted with covariates ({', '.join(needed.names)}): give "
                "--covariates FILE with those of the new samples."
            )
        if getattr(saved.model, "has_offset_", False) and self.offset is None:
            raise ValueError(
                "the model was fitted with an offset: give --covariates FILE and --offset COLUMN."
            )
        if self.predict_with is not None:  # which columns are needed depends on it
            saved.model.set_params(predict_with=self.predict_with)
        return saved

    def open(self) -> tuple[SavedModel, NewTable]:
        """The model, and what it needs of the table."""
        saved = self.load()
        model, recipe = saved.model, saved.recipe
        table = self.read(recipe, used_columns(model), np.nan_to_num(model.mean_))
        say_far(model, table.X, recipe)
        return saved, table

    def read(
        self, recipe: Recipe, used: IntArray | None = None, fill: Array | None = None
    ) -> NewTable:
        """The rows of the table: the columns that are used, and `fill` for the others."""
        return open_new(
            self.table, recipe, used=used, fill=fill, options=recipe.options.given(**self.reading),
            target_from=self.target_from, covariates=self.covariates, offset=self.offset,
        )  # fmt: skip


def predict(request: Request, out: Path, *, force: bool) -> None:
    """Names of the rows, predictions, for labels the probability of every class, and places on the
    directions; of survival times, probabilities at some times and the median.
    """
    with request.written_to(out, force=force) as file:
        (model, recipe, _), table = request.open()
        at = survival_times(model, request.at)
        write_rows(file, *sample_rows(model, table, table.X, recipe.response.targets, at))
        who = predictor_name(model)
    print(f"{table.X.shape[0]} predictions in {out}, with {who}")


def survival_times(model: BaseEstimator, asked: tuple[str, ...]) -> list[float]:
    """The times that were asked for, refused where the model does not predict survival at them."""
    if not asked:
        return []
    if not isinstance(model, GradientSiftSurvival):
        raise ValueError("--at is for models of survival times: leave it out.")
    if (strata := len(model.link_.times)) > 1:
        raise ValueError(
            f"--at: the model has {strata} strata, each with a baseline hazard of its own, and a "
            "new row is in none: use predict_survival_function(X, times, stratum=...) in Python."
        )
    read, last = [to_number(text) for text in asked], model.link_.times[0][-1]
    times = [t for t in read if t is not None and 0.0 <= t < np.inf]
    if len(times) < len(asked):
        raise ValueError(f"--at {','.join(asked)}: give times, such as 12,36,60.")
    if max(times) > last:
        warnings.warn(
            f"--at {max(times):g} is after the last event of the fit, at {last:g}: probabilities "
            "stay as they were then.",
            stacklevel=2,
        )
    return times


def report(request: Request, out: Path, *, force: bool) -> None:
    """The page, with effects and scores on this table."""
    with request.written_to(out, force=force) as file:
        file.write_text(answer_on(request).to_html(), encoding="utf-8")
    print(f"the report is in {out}")


def answer_on(request: Request) -> Answer:
    """The answer of a saved model on a table: findings of the fit, effects of its rows."""
    model, recipe, training = request.load()
    table = open_labelled(request, recipe)
    X, y = table.X, table.y if recipe.task == "ordinal" else labels_of(model, table.y)
    say_far(model, X, recipe)
    read_by_column = isinstance(X, Source)
    names = (
        names_of_best(model, X) if read_by_column else variable_names(model, recipe.names or None)
    )
    answer = table_answer(model, recipe, X, y, names, table.sample_params)
    made = {
        "command": f"gradsift report {request.model.name} {request.table.name}",
        "data": fingerprint(request.table),
        "date": datetime.now().astimezone().isoformat(timespec="seconds"),
    }
    params = SampleParams(**table.sample_params)
    prediction, note = scores_on(model, X, y, params, training, recipe)
    return replace(
        answer,
        prediction=prediction,
        notes=(Note(sentence(note)),),
        source=request.table.name,
        made=tuple(made.items()),
    )


def scores_on(
    model: BaseEstimator,
    X: Any,
    y: Any,
    params: SampleParams,
    training: Training | None,
    recipe: Recipe,
) -> tuple[Prediction | None, str]:
    """Scores on the rows of a table that the fit has not seen, and a note on how many they are."""
    unseen = np.zeros(len(y), dtype=bool) if training is None else training.unseen(X, y)
    rows, count = np.flatnonzero(unseen), len(y)
    fitted = f"the model was fitted to {len(training.digests):,} rows; " if training else ""
    if len(rows) == 0 or isinstance(X, Source):
        return None, f"{fitted}no score is given, as none of these {count:,} rows is new to it"
    some = params.take(rows).for_predict
    scores = score_model(model, take_rows(X, rows), response_of(y, recipe)[rows], **some)
    known = count - len(rows)
    aside = f", and {known:,} rows of the fit, which do not count in the score" if known else ""
    text = f"{fitted}effects are those of these {count:,} rows{aside}"
    targets = recipe.response.targets if np.ndim(y) == 2 else ()
    return new_rows_prediction(scores, len(rows), targets), text


def open_labelled(request: Request, recipe: Recipe) -> NewTable:
    """The rows of a table that have a target."""
    new = request.read(recipe)
    y = new.y
    if y is None:
        raise ValueError(
            f"{request.table.name} has no values of {recipe.target!r}, which the report needs."
        )
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


def say_far(model: BaseEstimator, X: Any, recipe: Recipe) -> None:
    """Rows far outside those of the fit, said once and by the names of the table, which the model
    does not know.
    """
    if isinstance(X, np.ndarray):
        warn_if_far(model, ArraySource(X), recipe.names)
        warnings.filterwarnings("ignore", ".* rows are far outside", ExtrapolationWarning)


@contextmanager
def warnings_as_lines() -> Iterator[None]:
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
