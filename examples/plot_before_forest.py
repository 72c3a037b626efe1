"""
Does a boosted forest gain from a sift before it?
=================================================

Friedman's function of five columns, among 300. A boosted forest may look at all of them, or only
at those that were selected in the same fold.

What you learn: `GradientSelector` in a pipeline; selection inside the folds.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_friedman1
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from gradsift import GradientSelector, GradientSiftRegressor

X, y = make_friedman1(n_samples=200, n_features=300, noise=1.0, random_state=0)
forest = HistGradientBoostingRegressor(max_iter=60, random_state=0)
sift = GradientSelector(GradientSiftRegressor(predict_with="selected"))
contestants = {
    "forest on 300 columns": forest,
    "sift, then forest": make_pipeline(sift, forest),
    "GradientSift alone": GradientSiftRegressor(),
}
scores = {name: cross_val_score(model, X, y, cv=4) for name, model in contestants.items()}
for name, score in scores.items():
    print(f"{name:24s} R2 on held-out rows {score.mean():.2f}")

# %%
fig, ax = plt.subplots(figsize=(6, 2.4), layout="constrained")
for row, score in enumerate(scores.values()):
    ax.scatter(score, [row] * len(score), color="#0072B2", alpha=0.5)
    ax.scatter(score.mean(), row, color="#D55E00", marker="|", s=300)
ax.set_yticks(range(len(scores)), scores)
ax.set_xlabel("R2 on held-out rows: four folds, and their mean")
