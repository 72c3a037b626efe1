"""Models in files that are safe to load: skops, never a pickle."""

from __future__ import annotations

from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED

from gradsift.tables import Recipe

FORMAT = 1
OURS = ("gradsift.", "numpy.", "scipy.", "sklearn.", "pathlib.", "builtins.")


def save_model(path: Path, model: Any, recipe: Recipe) -> None:
    """A fitted estimator and how its table was made.

    Parameters
    ----------
    path : Path
        By custom ending in ``.skops``.
    model : fitted estimator
    recipe : Recipe
    """
    content = {"format": FORMAT, "model": model, "recipe": asdict(recipe)}
    # most of a wide model is zeros and repeats
    _skops().dump(content, path, compression=ZIP_DEFLATED, compresslevel=1)


def load_model(path: Path) -> tuple[Any, Recipe]:
    """The estimator and the recipe in a file; nothing in it is run that is not ours.

    Parameters
    ----------
    path : Path
        A ``.skops`` file, or the folder `gradsift select` wrote.

    Returns
    -------
    model : fitted estimator
    recipe : Recipe
    """
    file = path / "model.skops" if path.is_dir() else path
    if not file.exists():
        raise FileNotFoundError(f"no such model: {file}")
    io = _skops()
    data = file.read_bytes()
    try:
        unknown = io.get_untrusted_types(data=data)
    except Exception as error:
        raise ValueError(f"{file.name} is no model file: {error}") from error
    foreign = [name for name in unknown if not name.startswith(OURS)]
    if foreign:
        raise ValueError(f"{file.name} holds {foreign[0]}, which is not ours: it was not loaded.")
    content = io.loads(data, trusted=unknown)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"{file.name} was not written by this version of `gradsift select`.")
    recipe: dict[str, Any] = content["recipe"]
    return content["model"], Recipe(**recipe)


def _skops() -> Any:
    try:
        return import_module("skops.io")
    except ImportError as error:
        raise ImportError("model files need skops: pip install 'gradsift[cli]'") from error
