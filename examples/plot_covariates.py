"""
Does a gene matter beside age?
==============================

A gene that changes with age looks like a gene of the disease, if the disease comes with age. Kept
as a covariate, age explains what it explains, and genes are judged by what they add.

What you learn: `always_keep`.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from gradsift import GradientSiftRegressor

rng = np.random.default_rng(0)
age = rng.uniform(20, 80, size=200)
genes = pd.DataFrame(rng.normal(size=(200, 100)), columns=[f"gene{k}" for k in range(100)])
genes["gene5"] += age / 20
disease = 0.1 * age + genes["gene9"] + rng.normal(size=200)

alone = GradientSiftRegressor().fit(genes, disease)
print("without age:", genes.columns[alone.get_support()].tolist())

# %%
table = genes.assign(age=age)
model = GradientSiftRegressor(always_keep=["age"]).fit(table, disease)
print("beside age:", table.columns[model.get_support()].tolist())

# %%
# gene5 against the disease, and against what age leaves of it.
rest = disease - np.polyval(np.polyfit(age, disease, 1), age)
fig, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
for ax, (response, name) in zip(axes, ((disease, "disease"), (rest, "disease without age"))):
    dots = ax.scatter(genes["gene5"], response, c=age, cmap="cividis", s=12)
    r = np.corrcoef(genes["gene5"], response)[0, 1]
    ax.set(xlabel="gene5", ylabel=name, title=f"correlation {r:.2f}")
fig.colorbar(dots, label="age")
