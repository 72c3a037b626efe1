"""
How long do 100,000 columns take?
=================================

Eighty samples and 100,000 columns, three of which act: one in a straight line, one by a square,
one by a wave. The time grows about in proportion to the number of columns.

What you learn: what to switch off where columns are many, and what to expect.
"""

from time import process_time

import matplotlib.pyplot as plt
import numpy as np

from gradsift import GradientSiftRegressor

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 100_000)).astype(np.float32)
y = 2 * X[:, 10] + 1.5 * X[:, 500] ** 2 + 3 * np.sin(2 * X[:, 99_999]) + 0.3 * rng.normal(size=80)

# %%
# Products of two columns are left out: there are five thousand million of them.
counts, seconds = [1_000, 10_000, 100_000], []
for count in counts:
    columns = np.r_[10, 500, 1_000 : count - 1, 99_999] if count > 1_000 else np.r_[:999, 99_999]
    start = process_time()
    model = GradientSiftRegressor(interactions=False, predict_with="selected").fit(X[:, columns], y)
    seconds.append(process_time() - start)
    found = columns[model.get_support()].tolist()
    print(f"{len(columns):7,} columns, {seconds[-1]:4.1f} s of CPU time: selected {found}")

# %%
fig, ax = plt.subplots(figsize=(5, 3.4), layout="constrained")
ax.loglog(counts, seconds, "o-", color="#0072B2")
ax.set(xlabel="columns", ylabel="CPU seconds", title="80 rows")
