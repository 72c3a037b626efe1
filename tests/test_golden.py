"""Answers on small tables of every kind are those on record, to rounding."""

import pytest
from golden import record
from golden.answers import differences, stored_difference
from golden.record import machine, recorded, run_part, stored_form

SMALL = ("tables", "relatives", "evaluation", "storage", "saved", "errors")
"""Parts that take seconds; `make golden` compares the others too."""


@pytest.mark.parametrize("part", SMALL)
def test_answers_are_those_on_record(part):
    where, known = recorded(part)
    assert known, f"nothing is recorded of {part}: python -m golden.record write {part}"
    if where != machine():
        pytest.skip(f"recorded with {where}, this is {machine()}: last digits may differ")
    assert differences(known, stored_form(run_part(part)), stored_difference) == []


def test_cases_of_data_sets_whose_files_are_not_there_are_left_out(monkeypatch, capsys):
    monkeypatch.setattr(record, "is_there", lambda name: False)
    monkeypatch.setattr(record, "recorded", lambda part: ({}, {"sift colon": {"ranking": 1}}))
    monkeypatch.setattr(record, "run_part", lambda part, n_jobs: {})
    assert record.compare_with_record(["sift"], write=False) == 0
    assert "sift colon: left out" in capsys.readouterr().out
    monkeypatch.setattr(record, "is_there", lambda name: True)
    assert record.compare_with_record(["sift"], write=False) == 1
