"""
What words does it have for effects?
====================================

Six columns act in six ways, among 40. The report says what each does in a few words; they come
from a curve with a 95 % band, drawn here with the true effect beside it.

What you learn: `summarise_variables`, `EffectDisplay`, and a table of it all.
"""

import matplotlib.pyplot as plt
import numpy as np

from gradsift import GradientSiftRegressor
from gradsift.explain import summarise_variables
from gradsift.explain.displays import EffectDisplay

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
model = GradientSiftRegressor().fit(X, y)
table = summarise_variables(model, X, y).to_frame()
print(table[["rank", "name", "effect"]].to_string(index=False))

# %%
fig, axes = plt.subplots(2, 3, figsize=(10, 5.4), layout="constrained")
grid = np.linspace(-2, 2, 100)
for ax, (name, true) in zip(axes.flat, effects.items()):
    EffectDisplay.from_estimator(model, X, y, name, ax=ax)
    middle = true(X[:, int(name[1])]).mean()
    ax.plot(grid, true(grid) - middle, "--", color="#D55E00", linewidth=1)
