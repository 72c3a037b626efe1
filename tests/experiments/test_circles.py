import numpy as np
import pytest

from experiments import EXPERIMENTS, Settings, circles
from experiments.tools import silent


@pytest.fixture(scope="module")
def result():
    return circles.compute(Settings(repeats=1, n_jobs=1), silent)


def test_little_noise_is_easy_and_only_gradientsift_stands_much_noise(result):
    kept = circles.record(result)
    for reading in circles.READINGS:
        percent = circles.percent(kept, reading)
        assert percent.shape == (len(circles.SIGMAS), len(circles.METHODS) + 1)
        found = dict(zip(kept["columns"], percent.T))
        assert found["SGL, logistic, as printed"][0] == 100
        assert found["SGL, squared loss"][0] == 100
        assert found["SGL, logistic, as printed"][-1] == 0  # the paper claims otherwise
        assert found["GradientSift"].min() == 100
        assert found["GradientSift, exact set"][0] == 100
    # read as a variance, sigma = 3 is within reach of SGL with an affine kernel
    assert found["SGL, squared loss, affine kernel"][-1] == 100
    # GL's directions leave the plane of the circles as the noise grows
    assert result.distance[0] < 0.3 < 0.7 < result.distance[-1]


def test_levels_are_those_of_both_readings():
    assert {0.1, 3.0, round(3**0.5, 6)} <= set(circles.LEVELS)
    assert len(circles.LEVELS) == 2 * len(circles.SIGMAS) - 1  # sigma = 1 is the same in both


def test_views_hold_what_the_figures_show(result):
    names = [view.name for view in result.views]
    assert names == ["SGL, as printed", "GL", "GradientSift"]
    sgl, gl, sift = result.views
    assert np.count_nonzero(sgl.norms) == 2  # exact zeros elsewhere
    assert np.count_nonzero(gl.norms) == 200  # dense
    assert np.flatnonzero(sift.norms).tolist() == [0, 1]
    for view in result.views:
        assert view.train.shape == view.new.shape == (40, 2)
        np.testing.assert_allclose(view.covariance, view.covariance.T, atol=1e-12)
    # the covariance is supported on the two variables of the circles
    assert not sift.covariance[2:].any()
    assert np.all(np.diag(sift.covariance)[:2] > 0)


def test_files(result, tmp_path):
    paths = EXPERIMENTS["circles"].write(result, tmp_path)
    assert [p.name for p in paths if p.suffix != ".pdf"] == [
        "circles.json",
        "circles.md",
        "circles-recovery.png",
        "circles-projections.png",
        "circles-inside.png",
    ]
    assert all(p.stat().st_size < 400_000 for p in paths)
