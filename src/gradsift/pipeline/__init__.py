"""The main job from table to files: select, find out how sure, write everything a person needs."""

from gradsift.pipeline._files import projected, write_each, write_files, write_rows
from gradsift.pipeline._folder import Place, new_file, results_place
from gradsift.pipeline._model_file import load_model, save_model
from gradsift.pipeline._select import Settings, select, select_in_stages, without_holes
from gradsift.pipeline._training import Training, record_training

__all__ = [
    "Place",
    "Settings",
    "Training",
    "load_model",
    "projected",
    "record_training",
    "results_place",
    "save_model",
    "select",
    "select_in_stages",
    "new_file",
    "without_holes",
    "write_each",
    "write_files",
    "write_rows",
]
