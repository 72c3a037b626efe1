"""
Which variants act on a trait, and in which way?
================================================

600 samples, 400 variants on four chromosomes. One acts additively, one only in heterozygotes, and
two only together. A scan of correlations, one variant at a time, sees some of them only.

What you learn: Manhattan and QQ pictures of tests that include curved and joint effects.
"""

import matplotlib.pyplot as plt
import numpy as np

from gradsift import GradientSiftRegressor, explain
from gradsift.displays import ManhattanDisplay, QQDisplay
from gradsift.inference import correlations

rng = np.random.default_rng(0)
G = rng.binomial(2, rng.uniform(0.2, 0.5, size=400), size=(600, 400)).astype(float)
names = [f"chr{1 + k // 100}:{10_000 * (1 + k % 100)}" for k in range(400)]
centred = G - G.mean(axis=0)
trait = G[:, 50] + 1.2 * (G[:, 150] == 1) + 1.5 * centred[:, 250] * centred[:, 350]
trait = trait + rng.normal(size=600)

# %%
# Places of the four in the order of correlations:
order = np.argsort(-np.abs(correlations(G, trait))).tolist()
print([order.index(k) + 1 for k in (50, 150, 250, 350)])

# %%
model = GradientSiftRegressor(inference=True).fit(G, trait)
print(explain(model, G, trait, names=names, target="trait"))

# %%
fig, ax = plt.subplots(figsize=(8, 3), layout="constrained")
ManhattanDisplay.from_estimator(model, names=names, ax=ax)

# %%
# Nearly all variants follow the line of chance.
QQDisplay.from_estimator(model)
