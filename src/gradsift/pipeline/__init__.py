"""The main job from table to files: select, find out how sure, write everything a person needs."""

from gradsift.pipeline._files import (
    projected,
    write_files,
    write_results,
    write_rows,
)
from gradsift.pipeline._folder import new_file, whole_folder
from gradsift.pipeline._model_file import load_model, save_model
from gradsift.pipeline._select import Settings, select, without_holes
from gradsift.pipeline._training import Training, record_training

__all__ = [
    "Settings",
    "Training",
    "load_model",
    "projected",
    "record_training",
    "save_model",
    "select",
    "new_file",
    "whole_folder",
    "without_holes",
    "write_files",
    "write_results",
    "write_rows",
]
