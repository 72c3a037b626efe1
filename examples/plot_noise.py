"""
How many false variables are selected from pure noise?
======================================================

`false_positives=0.3` says: 0.3 columns on average, where nothing is true. Here are fourteen tables
of noise of each of three kinds. A lasso tuned by cross-validation makes no such promise.

What you learn: what the one parameter of the method means.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LassoCV

from gradsift import GradientSiftRegressor
from gradsift.exceptions import NothingSelectedWarning

warnings.simplefilter("ignore", NothingSelectedWarning)  # nothing is what we hope for
rng = np.random.default_rng(0)
kinds = {
    "normal": lambda shape: rng.normal(size=shape),
    "skewed": lambda shape: rng.lognormal(size=shape),
    "genotypes": lambda shape: rng.binomial(2, 0.2, size=shape).astype(float),
}
ours = {}
for name, draw in kinds.items():
    model = GradientSiftRegressor(predict_with="selected")
    counts = [
        model.fit(draw((80, 100)), rng.normal(size=80)).get_support().sum() for _ in range(14)
    ]
    ours[name] = np.mean(counts)
    print(f"{name:10s} {ours[name]:.2f} false columns on average, at most {max(counts)}")

# %%
model = LassoCV(cv=4, max_iter=50_000)
lasso = [
    np.count_nonzero(model.fit(rng.normal(size=(80, 100)), rng.normal(size=80)).coef_)
    for _ in range(14)
]
print(f"LassoCV    {np.mean(lasso):.2f} false columns on average, at most {max(lasso)}")

# %%
fig, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
names = [*(f"GradientSift, {kind}" for kind in ours), "LassoCV, normal"]
ax.barh(names, [*ours.values(), np.mean(lasso)], color=["#0072B2"] * 3 + ["#D55E00"])
ax.axvline(0.3, color="#222222", linestyle=":")
ax.set_xlabel("false columns per table (dotted: the promise)")
