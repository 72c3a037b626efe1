"""docs/reproducing.md shows what the command records, and what the code gives today.

Where a test here fails, the page is stale: `python -m experiments --out docs/reproduced --docs
docs/reproducing.md` writes page, records and figures anew.
"""

import re
from pathlib import Path

import numpy as np
import pytest

from experiments import (
    EXPERIMENTS,
    Settings,
    circles,
    convergence,
    figure1,
    leukemia,
    table1,
)
from experiments import leukemia_methods as methods
from experiments.leukemia_data import load
from experiments.page import MARK, fill, read_records
from experiments.tools import silent

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reproducing.md").read_text(encoding="utf-8")
RECORDS = read_records(ROOT / "docs" / "reproduced")
SHARED = ROOT.parent / "shared" / "data" / "leukemia.npz"
ONE = Settings(repeats=1, n_jobs=1)


def test_the_page_shows_the_records():
    assert set(RECORDS) == set(EXPERIMENTS)
    assert fill(PAGE, RECORDS) == PAGE


def test_every_experiment_has_its_tables_or_a_picture_on_the_page():
    shown = {match[1].partition(".")[0] for match in MARK.findall(PAGE)}
    drawn = set(re.findall(r"\(reproduced/([a-z0-9]+)-", PAGE))
    assert shown - {*EXPERIMENTS, "summary"} == set()
    assert shown | drawn >= {*EXPERIMENTS, "summary"}


def test_unknown_marks_are_refused():
    with pytest.raises(ValueError, match="no experiment 'table9'"):
        fill("<!-- reproduce: table9.x -->\n<!-- end -->", RECORDS)
    with pytest.raises(ValueError, match=r"no table 'x'\. It has: frequencies"):
        fill("<!-- reproduce: table1.x -->\n<!-- end -->", RECORDS)


def test_an_experiment_that_was_not_run_keeps_its_table():
    page = "<!-- reproduce: table1.frequencies -->\nold\n<!-- end -->"
    assert fill(page, {}) == page


def test_table1_of_today():
    today = table1.record(table1.compute(ONE, silent))
    for noise, repeats in today.items():
        assert repeats[0] == RECORDS["table1"][noise][0]


def test_figure1_of_today():
    assert figure1.record(figure1.compute(ONE, silent)) == RECORDS["figure1"]


@pytest.mark.parametrize("sd", [circles.LEVELS[0], circles.LEVELS[-1]])
def test_circles_of_today(sd):
    *hits, _ = circles.one_data_set(sd, 0)
    assert "".join(f"{hit:.0f}" for hit in hits) == RECORDS["circles"]["found"][f"{sd:g}"][0]


def test_convergence_of_today():
    """The tuned errors at the two smallest n."""
    names = list(RECORDS["convergence"]["designs"])[:2]
    repeats = RECORDS["convergence"]["repeats"]
    today = convergence.compute(
        Settings(repeats=repeats, n_jobs=1), silent, sizes=convergence.SIZES[:2], designs=names
    )
    kept = [RECORDS["convergence"]["designs"][name]["tuned"]["errors"][:2] for name in names]
    np.testing.assert_allclose(today.errors[:, 2], kept, rtol=1e-3)


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.exists(), reason=f"{SHARED} is not here")
def test_leukemia_of_today():
    """The paper's methods fitted to all training samples: all columns but the nested one."""
    data = load(SHARED)
    fits = leukemia._fits(data.X, data.y, data.X_test, methods.PAPERS, ())
    for name, features, X, X_test in fits:
        Z, Z_test = features.of(X), features.of(X_test)
        wrong = methods.machine().fit(Z, data.y).predict(Z_test) != data.y_test
        kept = RECORDS["leukemia"]["methods"][name]
        assert (len(features.index), Z.shape[1]) == (kept["variables"], kept["features"])
        assert (methods.loo_errors(Z, data.y), wrong.sum()) == (kept["loo"], kept["test"])
