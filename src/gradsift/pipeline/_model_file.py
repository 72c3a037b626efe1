"""Models in files that are safe to load: numbers and names, never code.

A model file is a zip archive with `model.json` (what the model is, as `_as_data` describes it) and
`arrays/0.npy`, `arrays/1.npy`, ... Nothing is unpacked to disk, nothing is unpickled, and the sizes
that the archive claims are compared with limits before anything is read.
"""

from __future__ import annotations

import io
import json
import re
import warnings
import zipfile
import zlib
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from gradsift._run.memory import available_memory
from gradsift.data.slices import take_columns
from gradsift.estimators.validation import used_columns
from gradsift.pipeline._as_data import (
    ESTIMATORS,
    KINDS,
    NotOursError,
    Reader,
    Writer,
    build,
    is_finite,
)
from gradsift.protocols import IntArray
from gradsift.tables import Recipe
from gradsift.tables.columns import TableEncoder

MORE_COLUMNS = 32
"""Columns other than those that the model uses, so that rows that agree in a few stay apart."""
NAME = "model.gradsift"
"""What `gradsift select` calls its model."""
KIND = "gradsift model"
FORMAT = 11
"""Version of the format. Files of another version are refused, not guessed at."""
HEADER = "model.json"
ARRAY = re.compile(r"arrays/(0|[1-9][0-9]{0,5})\.npy")
SMALL = 1 << 26
RATIO = 100
"""Unpacked, a file may take 64 MB, or 100 times its own size if that is more. The models of wide
tables shrink about tenfold; a bomb shrinks a thousandfold.
"""
ELEMENT = 100
"""Bytes that Python takes for an element of JSON, about; a character takes up to 4."""


@dataclass(frozen=True, eq=False)
class Training:
    """The rows of a fit.

    Attributes
    ----------
    columns : (c,) int array
        Columns that the fingerprints cover, besides the target.
    digests : (n,) int array
        One per row, sorted.
    """

    columns: NDArray[np.int64]
    digests: NDArray[np.int64]

    def unseen(self, X: Any, y: Any) -> NDArray[np.bool_]:
        """Which rows of a table are not rows of the fit."""
        return ~np.isin(row_digests(X, y, self.columns), self.digests)


class SavedModel(NamedTuple):
    """What a model file holds."""

    model: Any
    recipe: Recipe
    training: Training | None


def save_model(
    path: Path, model: BaseEstimator, recipe: Recipe, training: Training | None = None
) -> None:
    """A fitted estimator, how its table was made, and which rows it was fitted to.

    Parameters
    ----------
    path : Path
        By custom ending in ``.gradsift``.
    model : fitted `GradientSift*`
    recipe : Recipe
    training : Training, optional
        Fingerprints of the rows of the fit.
    """
    writer = Writer()
    content = {
        "kind": KIND,
        "format": FORMAT,
        "model": writer.tree(model),
        "recipe": {name: writer.tree(value) for name, value in vars(recipe).items()},
        "training": training and {k: writer.tree(v) for k, v in vars(training).items()},
    }
    # most of a wide model is zeros and repeats
    with ZipFile(path, "w", compression=ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr(entry(HEADER), json.dumps(content, ensure_ascii=False))
        for number, array in enumerate(writer.arrays):
            with archive.open(entry(f"arrays/{number}.npy"), "w", force_zip64=True) as file:
                # the order in memory is kept: products of transposed arrays round differently
                whole = array if array.flags.forc else np.ascontiguousarray(array)
                np.lib.format.write_array(file, whole, allow_pickle=False)


def entry(name: str) -> ZipInfo:
    """A member without a date: the same model gives the same bytes."""
    info = ZipInfo(name)
    info.compress_type = ZIP_DEFLATED
    return info


def load_model(path: Path) -> SavedModel:
    """The estimator, its recipe and its training rows in a file. Nothing in the file is run.

    Parameters
    ----------
    path : Path
        A ``.gradsift`` file, or the folder `gradsift select` wrote.

    Returns
    -------
    saved : SavedModel
        `model`, `recipe` and `training`.
    """
    file = path / NAME if path.is_dir() else path
    if not file.exists():
        raise FileNotFoundError(f"no such model: {file}")
    try:
        with ZipFile(file) as archive:
            most = min(max(SMALL, RATIO * file.stat().st_size), available_memory())
            check_members(archive, most)
            content = read_header(archive, most)
            return read_content(content, read_arrays(archive))
    except (BadZipFile, NotOursError, EOFError, zlib.error) as error:
        raise ValueError(f"{file.name} is no model file: {error}.") from error
    except (zipfile.LargeZipFile, NotImplementedError, RuntimeError) as error:
        raise ValueError(f"{file.name} is no model file that can be read: {error}.") from error


def check_members(archive: ZipFile, most: float) -> None:
    """Refuse an archive by its list of members: strange names, repeats, sizes beyond reason."""
    members = archive.infolist()
    names = [member.filename for member in members]
    if HEADER not in names:
        raise NotOursError(f"it has no {HEADER}")
    strange = [name for name in names if name != HEADER and not ARRAY.fullmatch(name)]
    if strange or len(set(names)) < len(names):
        raise NotOursError(f"it holds {strange[0]!r}" if strange else "it holds a member twice")
    if any(m.compress_type not in (ZIP_STORED, ZIP_DEFLATED) or m.flag_bits & 1 for m in members):
        raise NotOursError("a member is encrypted, or packed in a way that models are not")
    check_size(sum(member.file_size for member in members), most)


def check_size(needed: float, most: float) -> None:
    """Refuse what takes more memory than a file of this size may."""
    if needed > most:
        raise NotOursError(
            f"unpacked it would take {needed / 1e6:,.0f} MB, more than the {most / 1e6:,.0f} MB "
            "that a file of this size may take here"
        )


def read_header(archive: ZipFile, most: float) -> dict[str, Any]:
    """The tree in `model.json`, after a look at its size and at what it says it is."""
    written = archive.read(HEADER)
    elements = sum(map(written.count, (b",", b":", b"[", b"{")))
    check_size(4 * len(written) + ELEMENT * elements, most / 5)  # the rest is for arrays
    try:
        content = json.loads(written)
    except (ValueError, RecursionError) as error:
        raise NotOursError(f"{HEADER} cannot be read ({type(error).__name__})") from error
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise NotOursError(f"{HEADER} does not say that it describes a {KIND}")
    if content.get("format") != FORMAT:
        raise NotOursError(
            f"its format is {content.get('format')!r}, and this version of gradsift reads "
            f"{FORMAT}; fit the model again, or use the version that wrote it"
        )
    for part in ("model", "recipe"):
        if not isinstance(content.get(part), dict):
            raise NotOursError(f"it holds no {part}")
    return content


def read_arrays(archive: ZipFile) -> list[NDArray[Any]]:
    """All arrays, in order."""
    count = len(archive.namelist()) - 1
    try:
        return [read_array(archive.read(f"arrays/{number}.npy")) for number in range(count)]
    except KeyError:
        raise NotOursError("its arrays are not numbered from 0 on") from None


def read_array(data: bytes) -> NDArray[Any]:
    """An array whose header promises just the bytes that follow it."""
    file = io.BytesIO(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            version = np.lib.format.read_magic(file)
            read = {
                (1, 0): np.lib.format.read_array_header_1_0,
                (2, 0): np.lib.format.read_array_header_2_0,
            }[version]
            shape, fortran, dtype = read(file)
    except Exception as error:
        raise NotOursError("an array in it cannot be read") from error
    values = memoryview(data)[file.tell() :]
    count = 1
    for side in shape:  # whole numbers of Python: no overflow
        count *= side
    if dtype.kind not in KINDS or dtype.itemsize == 0 or min(shape, default=0) < 0:
        raise NotOursError(f"an array in it has the type {dtype}")
    if count * dtype.itemsize != len(values):
        raise NotOursError("an array in it is longer or shorter than it says")
    flat = np.frombuffer(values, dtype=dtype)
    return flat.reshape(shape, order="F" if fortran else "C").copy(order="A")


def read_content(content: dict[str, Any], arrays: list[NDArray[Any]]) -> SavedModel:
    """The model and the recipe, tried on a few rows before anybody relies on them."""
    reader = Reader(arrays)
    try:
        model = reader.value(content["model"])
        recipe = build(Recipe, {k: reader.value(v) for k, v in content["recipe"].items()})
        training = content.get("training")
        if training is not None:
            training = build(Training, {k: reader.value(v) for k, v in training.items()})
    except RecursionError as error:
        raise NotOursError("it is nested too deeply") from error
    except (TypeError, AttributeError) as error:
        raise NotOursError(f"its parts do not fit together ({error})") from error
    if len(reader.named) < len(arrays):
        raise NotOursError(f"{HEADER} does not name all of its arrays")
    if type(model) not in ESTIMATORS.values():
        raise NotOursError("it holds no estimator")
    try_out(model)
    check_training(training, model.n_features_in_)
    check_stored(recipe.stored, model.n_features_in_)
    return SavedModel(model, recipe, training)


def check_training(training: Training | None, n_features: int) -> None:
    """Refuse what are no fingerprints of rows of this model."""
    if training is None:
        return
    columns, digests = training.columns, training.digests
    shapes = columns.ndim == digests.ndim == 1 and columns.dtype.kind == digests.dtype.kind == "i"
    if not shapes or np.any(columns < 0) or np.any(columns >= n_features):
        raise NotOursError("its training rows do not fit its columns")


def check_stored(stored: Any, n_features: int) -> None:
    """Refuse what are no numbers of columns of a file, in order, one for each of the model."""
    if stored is None:
        return
    numbers = stored.ndim == 1 and stored.dtype.kind == "i" and len(stored) == n_features
    if not numbers or np.any(np.diff(stored, prepend=-1) <= 0):
        raise NotOursError("the columns of its file do not fit those of the model")


def try_out(model: BaseEstimator) -> None:
    """Predict, project and differentiate at a few samples: parts that do not fit show here.

    Tables of two heights, so that no array fits by the chance of having as many rows.
    """
    p = getattr(model, "n_features_in_", None)
    row = example_row(model)
    if not isinstance(p, int) or row is None or row.shape != (p,):
        raise NotOursError("its number of columns is not that of its arrays")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fits = all(works_on(model, np.tile(row, (n, 1))) for n in (2, 5))
    except Exception as error:
        raise NotOursError(f"its parts do not fit together ({type(error).__name__})") from error
    if not fits:
        raise NotOursError("its parts do not fit together")


def example_row(model: BaseEstimator) -> NDArray[Any] | None:
    """A sample that the model takes: the means of its columns, the first of their categories."""
    encoder = getattr(model, "encoder_", None)
    if encoder is None:
        mean = getattr(model, "mean_", None)
        return np.nan_to_num(mean) if isinstance(mean, np.ndarray) else None
    if not isinstance(encoder, TableEncoder):
        raise NotOursError("its encoder is not of the form this format has")
    return np.array([c.levels[0] if c.levels else 0.0 for c in encoder.columns], dtype=object)


def works_on(model: BaseEstimator, X: NDArray[Any]) -> bool:
    """Whether all that is asked of a model is finite, of the shape that goes with the table."""
    n, p = X.shape
    fields = model.gradient(X, sparse=True)
    at_the_mean: dict[str, object] = {}  # what predictions need, other than the table
    if getattr(model, "covariates_", None) is not None:
        at_the_mean["covariates"] = "mean"
    if getattr(model, "has_offset_", False):
        at_the_mean["offset"] = 0.0
    predicted = model.predict(X, **at_the_mean)
    projected = model.transform(X)
    fields = fields if isinstance(fields, list) else [fields]
    numbers = [model.feature_importances_, predicted, projected, *(f.data for f in fields)]
    if hasattr(model, "predict_proba"):  # labels are never NaN
        numbers.append(model.predict_proba(X, **at_the_mean))
    return (
        model.feature_importances_.shape == model.ranking_.shape == (p,)
        and predicted.shape in ((n,), (n, len(fields)))
        and projected.shape == (n, model.n_components_)
        and all(f.shape == X.shape for f in fields)
        and all(map(is_finite, numbers))
    )


# ---- which rows a model was fitted to, as fingerprints: enough to know them again, not to read


def record_training(model: BaseEstimator, X: Any, y: Any) -> Training:
    """The fingerprints of the rows that a model was fitted to.

    Examples
    --------
    >>> from gradsift import GradientSiftRegressor
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> y = X[:, 1]
    >>> training = record_training(GradientSiftRegressor().fit(X[:40], y[:40]), X[:40], y[:40])
    >>> int(training.unseen(X, y).sum())
    20
    """
    columns = np.union1d(used_columns(model), best_unselected(model, MORE_COLUMNS))
    digests = np.sort(row_digests(X, y, columns))
    return Training(columns.astype(np.int64), digests)


def row_digests(X: Any, y: Any, columns: IntArray) -> NDArray[np.int64]:
    """A number for each row that depends on its target and on every bit of these columns."""
    values = np.ascontiguousarray(take_columns(X, np.asarray(columns, dtype=np.intp)))
    values = np.where(np.isnan(values), np.nan, values + 0.0)  # one NaN, one zero
    labels = np.asarray(y)
    texts = labels.astype(str) if labels.dtype.kind not in "fV" else map(repr, labels.tolist())
    found = [
        blake2b(row.tobytes() + text.encode(), digest_size=8).digest()
        for row, text in zip(values, texts, strict=True)
    ]
    return np.frombuffer(b"".join(found), dtype="<i8").astype(np.int64)


def best_unselected(model: BaseEstimator, most: int) -> IntArray:
    """Columns that were not selected, best ranked first, at most `most` of them."""
    support = model.get_support()
    # ranks are 1 .. p: the ones asked for lie among the first, whatever the number of columns
    near = np.flatnonzero(~support & (model.ranking_ <= most + support.sum()))
    return np.asarray(near[np.argsort(model.ranking_[near], kind="stable")][:most])
