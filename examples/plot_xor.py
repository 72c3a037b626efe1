"""
Can it find two variables that act only together, among 500?
============================================================

An XOR: the response is high where two columns are both above or both below their mean. Each of
them by itself says nothing. There are 500 columns, that is 124,750 pairs.

What you learn: `interactions_`, and how a forest and correlations fare on the same table.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestRegressor

from gradsift import GradientSiftRegressor
from gradsift.inference import correlations

rng = np.random.default_rng(0)
X = rng.normal(size=(250, 500))
y = np.sign(X[:, 17] * X[:, 256]) + 0.5 * rng.normal(size=250)
order = np.argsort(-np.abs(correlations(X, y))).tolist()
print("places of the two in the order of correlations:", [order.index(k) + 1 for k in (17, 256)])

# %%
model = GradientSiftRegressor().fit(X, y)
print("selected:", model.get_support(indices=True).tolist())
print("acting together:", [(pair.first, pair.second) for pair in model.interactions_])
print("places of the two:", model.ranking_[[17, 256]].tolist())

# %%
# A random forest splits on one column at a time, and the first split has nothing to go by.
forest = RandomForestRegressor(100, max_features=0.33, random_state=0, n_jobs=1).fit(X, y)
place = np.argsort(np.argsort(-forest.feature_importances_)) + 1
print("places of the two in the forest:", place[[17, 256]].tolist())

# %%
fig, ax = plt.subplots(figsize=(5, 4), layout="constrained")
dots = ax.scatter(X[:, 17], X[:, 256], c=y, cmap="cividis", s=18)
ax.set(xlabel="x17", ylabel="x256", title="the response on the two that were found")
fig.colorbar(dots, label="y")
