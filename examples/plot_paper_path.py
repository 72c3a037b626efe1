"""
What does the paper's estimator select as the penalty falls?
============================================================

`SparseGradient*` is the estimator of Ye and Xie. A path solves it for a grid of penalties, each
with a certificate over all columns: how far the answer can be from the optimum.

What you learn: `gradient_path`, its picture, and what the certificate says.
"""

from gradsift import gradient_path
from gradsift.data.simulate import turlach
from gradsift.displays import PathDisplay

X, y, support = turlach(n_features=30, random_state=0)
path = gradient_path(X, y, n_alphas=25, eps=0.05)
for k in (0, 8, 16, 24):
    chosen = path.supports[k].tolist()
    print(f"alpha {path.alphas[k]:.4f}: {len(chosen)} selected, the first {chosen[:8]}; "
          f"duality gap {path.dual_gaps[k]:.0e}")  # fmt: skip

# %%
# The four columns with straight effects come in first.
PathDisplay.from_path(path).plot()
