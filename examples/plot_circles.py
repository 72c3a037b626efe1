"""
Which two of 200 columns hold the circles?
==========================================

The paper's classification example: 20 samples lie on an inner circle and 20 on an outer one, in
the plane of the first two columns. The other 198 columns are noise. Neither of the two tells the
classes apart by its mean.

What you learn: how to fit labels, and that log odds have a gradient too.
"""

import matplotlib.pyplot as plt
import numpy as np

from gradsift import GradientSiftClassifier
from gradsift.data.simulate import circles

X, y, support = circles(random_state=0)
print("rows and columns:", X.shape, "classes:", np.unique(y).tolist())

# %%
# The two columns are found among 200, from 40 rows.
model = GradientSiftClassifier().fit(X, y)
first, second = model.get_support(indices=True)
print("selected:", first, second)

# %%
# Arrows show the gradient of the log odds of the inner circle: they point inwards.
G = model.gradient(X)[:, [first, second]]
fig, ax = plt.subplots(figsize=(5, 4.6), layout="constrained")
for label, colour in ((1, "#0072B2"), (-1, "#D55E00")):
    rows = y == label
    ax.scatter(X[rows, first], X[rows, second], color=colour, label=f"class {label}")
ax.quiver(X[:, first], X[:, second], G[:, 0], G[:, 1], angles="xy", color="#767676", width=0.004)
ax.set(xlabel=f"x{first}", ylabel=f"x{second}", aspect="equal")
ax.legend(frameon=False)
inward = -(G * X[:, [first, second]]).sum(axis=1)
print(f"arrows that point inwards: {np.mean(inward > 0):.0%}")
