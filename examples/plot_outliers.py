"""
What do a few wild responses do?
================================

Five of 150 responses are wrong by a factor of 20. The sift cuts
residuals that lie far out, and the refit gives such rows less weight.

What you learn: that nothing has to be switched on.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LassoCV

from gradsift import GradientSiftRegressor

rng = np.random.default_rng(1)
X = rng.normal(size=(150, 200))
clean = X[:, 3] + np.abs(X[:, 60]) + 0.3 * rng.normal(size=150)
dirty = clean.copy()
dirty[:5] *= 20

# %%
# Columns 3 and 60 act, the second by its absolute value.
for name, y in (("clean", clean), ("five wrong", dirty)):
    ours = GradientSiftRegressor(predict_with="selected").fit(X, y)
    lasso = LassoCV(cv=5, max_iter=100_000).fit(X, y)
    print(f"{name:10s} GradientSift {ours.get_support(indices=True).tolist()}, "
          f"LassoCV {len(np.flatnonzero(lasso.coef_))} columns")  # fmt: skip

# %%
fig, ax = plt.subplots(figsize=(5, 3.6), layout="constrained")
ax.scatter(clean[5:], ours.predict(X)[5:], s=12, label="rows that are right")
ax.scatter(clean[:5], ours.predict(X)[:5], s=30, color="#D55E00", label="rows that were wrong")
ax.axline((0, 0), slope=1, color="#767676", linewidth=0.8)
ax.set(xlabel="true response", ylabel="prediction of the model fitted to wrong ones")
ax.legend(frameon=False)
