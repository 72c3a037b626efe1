"""Model files, each in a folder of its own."""

import pytest
from model_cases import RECIPE, model_of

from gradsift.pipeline import save_model


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.gradsift"


@pytest.fixture
def good(path):
    save_model(path, model_of("sift"), RECIPE)
    return path
