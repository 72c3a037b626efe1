"""
What words does it have for effects?
====================================

Six columns act in six ways, among 40. The report says what each does in a few words. The slope at
every sample is drawn here together with the true one.

What you learn: `explain` as a table, `GradientFieldDisplay`, and how to read it.
"""

import matplotlib.pyplot as plt
import numpy as np

from gradsift import GradientSiftRegressor, explain
from gradsift.displays import GradientFieldDisplay

effects = {
    "x0": lambda x: 1.2 * x,
    "x1": lambda x: x**2 - 1,
    "x2": lambda x: -(x**2) + 1,
    "x3": lambda x: 1.5 * np.tanh(2 * x),
    "x4": lambda x: 1.5 * np.sin(2.5 * x),
    "x5": lambda x: -np.exp(x) / 2,
}
rng = np.random.default_rng(0)
X = rng.normal(size=(400, 40))
y = sum(f(X[:, k]) for k, f in enumerate(effects.values())) + 0.5 * rng.normal(size=400)
model = GradientSiftRegressor(inference=True).fit(X, y)
table = explain(model, X, y).to_frame()
print(table[["finding", "certainty", "shape", "size"]].to_string(index=False))

# %%
fig, axes = plt.subplots(2, 3, figsize=(10, 5.4), layout="constrained")
grid = np.linspace(-2, 2, 100)
for ax, (name, true) in zip(axes.flat, effects.items()):
    GradientFieldDisplay.from_estimator(model, X, name, ax=ax)
    ax.plot(grid, np.gradient(true(grid), grid), "--", color="#009E73", linewidth=2)
