import numpy as np

from experiments import EXPERIMENTS, table1
from experiments.tools import exactly
from gradsift.data.simulate import turlach


def test_exactly_five_variables_per_repeat_and_method(few, seen, tmp_path):
    progress, calls = seen
    result = table1.compute(few, progress)
    assert result.percent.shape == (len(table1.NOISES), len(table1.METHODS), 10)
    # five variables out of every repeat: percentages of a row add up to 500
    np.testing.assert_allclose(result.percent.sum(axis=2), 500.0)
    # the four linear variables are always in; ours always find x1 too
    np.testing.assert_array_equal(result.percent[:, :, 1:5], 100.0)
    np.testing.assert_array_equal(result.percent[:, 2:, 0], 100.0)
    assert calls[-1] == (4, 4, "table1")
    np.testing.assert_array_equal(table1.restore(table1.record(result)).hits, result.hits)
    paths = EXPERIMENTS["table1"].write(result, tmp_path)
    assert [p.name for p in paths] == [
        "table1.json",
        "table1.md",
        "table1-frequencies.png",
        "table1-frequencies.pdf",
    ]
    assert "SGL, the paper's settings: the paper | 78 | 100" in paths[1].read_text()
    assert paths[2].read_bytes().startswith(b"\x89PNG")
    assert paths[3].read_bytes().startswith(b"%PDF")


def test_lasso_is_blind_to_x1_where_the_gradient_is_not():
    found = dict.fromkeys(table1.METHODS, 0)
    for seed in range(1, 7):
        X, y, _ = turlach(noise=0.05, random_state=seed)
        for name, method in table1.METHODS.items():
            found[name] += 0 in method(X, y)
    assert found["LASSO"] <= 2 < found["SGL, the paper's settings"]
    assert found["SGL, standardised (our default)"] == found["GradientSift"] == 6


def test_exactly_returns_that_many_at_the_alpha_it_names():
    X, y, _ = turlach(random_state=3)
    for count in (1, 3, 5, 7):
        support, alpha = exactly(count, X, y)
        assert len(support) == count
        assert alpha > 0


def test_exactly_breaks_ties_by_norm():
    # two identical columns come in together at every penalty: one variable means the first
    X, _, _ = turlach(random_state=0)
    X[:, 1] = X[:, 0]
    support, _ = exactly(1, X[:, :2], X[:, 0])
    assert len(support) == 1
