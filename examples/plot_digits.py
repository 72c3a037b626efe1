"""
Which pixels tell a three from an eight?
========================================

Handwritten digits of 8 x 8 pixels. A three is an eight with its left side open, so that the
pixels at the left should matter.

What you learn: importances as a picture, and the gradient at one image.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from gradsift import GradientSiftClassifier

X, digit = load_digits(return_X_y=True)
keep = np.isin(digit, [3, 8])
X, digit = X[keep], digit[keep]
model = GradientSiftClassifier(interactions=False, predict_with="selected").fit(X[::2], digit[::2])
print("pixels selected:", model.get_support().sum(), "of 64")
print(f"accuracy on images that were not looked at: {model.score(X[1::2], digit[1::2]):.3f}")

# %%
# Left and middle: mean images. Right: importance, exactly zero where a pixel was not selected.
pictures = {
    "mean three": X[digit == 3].mean(axis=0),
    "mean eight": X[digit == 8].mean(axis=0),
    "importance": model.feature_importances_,
}
fig, axes = plt.subplots(1, 3, figsize=(8, 2.8), layout="constrained")
for ax, (name, values) in zip(axes, pictures.items()):
    ax.imshow(values.reshape(8, 8), cmap="Greys" if name != "importance" else "Blues")
    ax.set(title=name, xticks=[], yticks=[])

# %%
# At one three: ink in the red pixels would make it an eight, in the blue ones more of a three.
three = X[digit == 3][0]
slope = model.gradient(three[None])[0].reshape(8, 8)
fig, axes = plt.subplots(1, 2, figsize=(5.6, 2.8), layout="constrained")
axes[0].imshow(three.reshape(8, 8), cmap="Greys")
reach = np.abs(slope).max()
axes[1].imshow(slope, cmap="RdBu_r", vmin=-reach, vmax=reach)
for ax, name in zip(axes, ("a three", "slope of the log odds of eight")):
    ax.set(title=name, xticks=[], yticks=[])
