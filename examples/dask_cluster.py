"""Columns on a cluster: a dask array with column chunks stays on the workers.

Run with `python examples/dask_cluster.py`; it starts a local cluster of two processes. Point
`Client` at your own scheduler to use a real one.
"""

import dask.array as da
import numpy as np
from dask.distributed import Client, LocalCluster

from gradsift import GradientSiftRegressor


def main() -> None:
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        rng = da.random.default_rng(0)
        X = rng.normal(size=(300, 40_000), chunks=(300, 5_000)).astype(np.float32).persist()
        few = X[:, [7, 123, 31_000]].compute().astype(float)
        noise = 0.3 * np.random.default_rng(1).normal(size=300)
        y = few[:, 0] ** 2 + 2 * np.sin(2 * few[:, 1]) + few[:, 2] + noise

        model = GradientSiftRegressor(interactions=False).fit(X, y)
        print("planted 7, 123, 31000; selected", model.get_support(indices=True).tolist())


if __name__ == "__main__":
    main()
