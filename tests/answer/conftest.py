"""Answers that several tests look at, made once."""

import pytest
from answer_cases import TABLES, make_answer, without_confidence


@pytest.fixture(scope="session")
def answers():
    return {name: make_answer(name) for name in TABLES} | {"sparse": without_confidence()}
