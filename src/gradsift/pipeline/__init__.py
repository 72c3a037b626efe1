"""The main job from table to files: select, find out how sure, write everything a person needs."""

from gradsift.pipeline._files import (
    projected,
    write_files,
    write_results,
    write_rows,
)
from gradsift.pipeline._folder import new_file, whole_folder
from gradsift.pipeline._model_file import load_model, save_model
from gradsift.pipeline._select import Settings, select

__all__ = [
    "Settings",
    "load_model",
    "projected",
    "save_model",
    "select",
    "new_file",
    "whole_folder",
    "write_files",
    "write_results",
    "write_rows",
]
