"""
Which measurements tell malignant tumours apart?
================================================

569 tumours, 30 measurements of cell nuclei, many of them nearly the same: radius, perimeter and
area say the same thing three times.

What you learn: real data, findings of real columns, held-out scores beside simple tools.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from gradsift import GradientSiftClassifier
from gradsift.displays import ProjectionDisplay
from gradsift.evaluate import held_out

data = load_breast_cancer(as_frame=True)
X, y = data.data, np.where(data.target == 1, "benign", "malignant")
model = GradientSiftClassifier(interactions=False).fit(X, y)
print("selected:", ", ".join(X.columns[model.get_support()]))

# %%
# Columns that could take the place of the best ranked one, by correlation:
best = X.columns[model.ranking_.argmin()]
relatives = X.corrwith(X[best]).drop(best)
print(f"{best} is correlated by 0.9 or more with:", ", ".join(relatives.index[relatives > 0.9]))

# %%
# Selection and fit are repeated in every fold.
scores = held_out(model, X, y, cv=3)
for name, score in (("selected variables", scores.selected), (scores.tool, scores.simple),
                    ("most frequent class", scores.baseline)):  # fmt: skip
    print(f"{name:20s} accuracy {score.values['accuracy'].mean():.3f}")

# %%
ProjectionDisplay.from_estimator(model, X, y)
plt.show()
