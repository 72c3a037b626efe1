"""
Which few directions explain the response?
==========================================

The response depends on two combinations of four columns, out of 30: on one by a square, on the
other by an exponential. The directions are found, with exact zeros for the other columns.

What you learn: `components_`, `transform`, and how close they come to the truth.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import subspace_angles

from gradsift import GradientSiftRegressor
from gradsift.data.simulate import two_index
from gradsift.displays import EigenvaluesDisplay, ProjectionDisplay

X, y, support = two_index(n_samples=300, n_features=30, random_state=0)
model = GradientSiftRegressor().fit(X, y)
print("columns that act:", support.tolist())
print("columns in the directions:", np.flatnonzero(model.components_.any(axis=0)).tolist())
print(model.components_[:2, :5].round(2))

# %%
# The plane of the first two directions beside the true one: angles of 0 degrees would be perfect.
truth = np.zeros((30, 2))
truth[:2, 0], truth[2:4, 1] = [1, 1], [1, -1]
angles = np.rad2deg(subspace_angles(truth, model.components_[:2].T))
print("angles between the planes, in degrees:", angles.round(1))

# %%
fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
EigenvaluesDisplay.from_estimator(model, ax=axes[0])
ProjectionDisplay.from_estimator(model, X, y, ax=axes[1])
