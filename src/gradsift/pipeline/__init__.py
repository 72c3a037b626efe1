"""The main job from table to files: select, score, and write everything a person needs."""

from gradsift.pipeline._files import (
    sample_rows,
    write_each,
    write_files,
    write_rows,
)
from gradsift.pipeline._folder import Place, new_file, results_place, unused_folder
from gradsift.pipeline._model_file import (
    SavedModel,
    Training,
    load_model,
    record_training,
    save_model,
)
from gradsift.pipeline._notes import in_options, option_words, sentence
from gradsift.pipeline._scores import new_rows_prediction
from gradsift.pipeline._select import (
    Selection,
    Settings,
    response_of,
    select,
    select_in_stages,
    table_answer,
)

__all__ = [
    "Place",
    "SavedModel",
    "Selection",
    "Settings",
    "Training",
    "in_options",
    "load_model",
    "new_file",
    "new_rows_prediction",
    "option_words",
    "sample_rows",
    "record_training",
    "response_of",
    "results_place",
    "save_model",
    "select",
    "sentence",
    "select_in_stages",
    "unused_folder",
    "table_answer",
    "write_each",
    "write_files",
    "write_rows",
]
