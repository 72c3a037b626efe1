"""
How do I tune how strict the selection is?
==========================================

`false_positives` is a promise, and rarely needs tuning. Where prediction is the aim, a grid
search can choose it, like any other parameter of scikit-learn.

What you learn: grid search through a pipeline, names of columns kept on the way.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gradsift import GradientSelector, GradientSiftClassifier

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X, y = X[::2], y[::2]
selector = GradientSelector(GradientSiftClassifier(predict_with="selected", interactions=False))
pipeline = make_pipeline(StandardScaler(), selector, LogisticRegression())
pipeline.set_output(transform="pandas")
grid = {"gradientselector__estimator__false_positives": [0.01, 0.3, 5.0]}
search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)

# %%
results = search.cv_results_
values = grid["gradientselector__estimator__false_positives"]
for value, mean in zip(values, results["mean_test_score"]):
    print(f"false_positives={value}: accuracy on held-out rows {mean:.3f}")
kept = search.best_estimator_[:-1].get_feature_names_out()
print(len(kept), "of", X.shape[1], "columns kept:", ", ".join(kept))

# %%
fig, ax = plt.subplots(figsize=(5, 3), layout="constrained")
ax.errorbar(values, results["mean_test_score"], results["std_test_score"], fmt="o-", capsize=4)
ax.set(xscale="log", xlabel="false_positives", ylabel="accuracy, three folds")
