import numpy as np

from experiments import EXPERIMENTS, figure1
from experiments.tools import silent


def test_paths_start_empty_and_x1_is_fifth_for_sgl_not_for_the_lasso(few, tmp_path):
    result = figure1.compute(few, silent)
    for path in (result.printed, result.lasso, result.standardised):
        assert path.lines.shape == (len(path.at), 10)
        assert not path.lines[0].any()
        assert np.all(np.diff(path.at) > 0)
        assert sorted(figure1.entry_order(path)) == list(range(1, 11))
        assert set(figure1.entry_order(path)[:4]) == {2, 3, 4, 5}
    assert figure1.entry_order(result.printed)[4] == 1
    assert figure1.entry_order(result.standardised)[4] == 1
    assert figure1.entry_order(result.lasso)[4] != 1
    paths = EXPERIMENTS["figure1"].write(result, tmp_path)
    assert [p.name for p in paths] == [
        "figure1.json",
        "figure1.md",
        "figure1-paths.png",
        "figure1-paths.pdf",
    ]
