"""What a certified path would cost the sift: CPU seconds of its own path and of `gradient_path`.

    python -m ablation.certified

Both go down the same ten penalties on tables of 200 rows, the certified one over columns alone: the
groups of local features that the sift also proposes cannot be stated as its problem.
"""

from __future__ import annotations

from time import process_time

import numpy as np
from ablation.measure import standardised
from selection.designs import friedman, two_index

from gradsift import gradient_path
from gradsift.sift import SiftSettings, make_sift
from gradsift.sift.search import path

SETTINGS = SiftSettings()
STEPS = int(np.ceil(np.log(SETTINGS.path_end) / np.log(SETTINGS.path_step)))


def main() -> None:
    print("| table | path of the sift | certified path | ratio |\n|---|---|---|---|")
    for name, make in (("friedman", friedman), ("two_index", two_index)):
        for p in (200, 1_000):
            case = make(0, 200, p)
            problem = make_sift(standardised(case.X), case.y[:, None])
            groups = problem.run().groups
            start = process_time()
            path(groups, problem.response, ())
            own = process_time() - start
            start = process_time()
            gradient_path(case.X, case.y, n_alphas=STEPS, eps=SETTINGS.path_end)
            certified = process_time() - start
            ratio = f"{certified / own:.0f}"
            print(
                f"| {name}, 200 x {p:,} | {own:.3f} s | {certified:.2f} s | {ratio} |", flush=True
            )


if __name__ == "__main__":
    main()
