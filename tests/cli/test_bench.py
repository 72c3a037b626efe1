import numpy as np

from gradsift.cli import _bench


def test_contestants_are_timed_and_judged(capsys):
    _bench.rivals("90 rows, 30 columns", 90, 30, ["GradientSift", "LassoCV, 5 folds"])
    printed = capsys.readouterr().out
    assert "GradientSift" in printed
    assert "LassoCV" in printed
    assert "of 5" in printed


def test_the_sift_ranks_the_planted_columns_first():
    X, y, planted = _bench.curved(200, 40)
    assert set(_bench.sift(X, y)[:5]) == set(planted)


def test_the_floor_is_a_product_of_the_table():
    assert 0 < _bench.floor(np.ones((5, 7)), repeats=2) < 1
