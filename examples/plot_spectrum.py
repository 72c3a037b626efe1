"""
Which band of a spectrum acts, and how wide may it be?
======================================================

Neighbouring wavelengths are near-copies. The response depends on the absorption at 1000 nm in a
straight line and at 1200 nm by a square.

What you learn: probabilities along a scale, drawn because the names of the columns are numbers
with a unit.
"""

import numpy as np
import pandas as pd

from gradsift import GradientSiftRegressor
from gradsift.displays import ConfidenceDisplay

rng = np.random.default_rng(2)
wavelength = np.arange(900, 1300, 4)
centres, heights = rng.uniform(850, 1350, size=(100, 60)), rng.normal(size=(100, 60))
bands = np.exp(-0.5 * ((wavelength - centres[..., None]) / 30) ** 2)
spectra = (heights[..., None] * bands).sum(axis=1) + 0.05 * rng.normal(size=(100, 100))
at = {nm: spectra[:, list(wavelength).index(nm)] for nm in (1000, 1200)}
y = at[1000] + at[1200] ** 2 / 3 + rng.normal(size=100)
table = pd.DataFrame(spectra, columns=[f"{nm} nm" for nm in wavelength])

# %%
model = GradientSiftRegressor(inference=True).fit(table, y)
print("selected:", wavelength[model.get_support()].tolist())
for finding in model.findings_:
    print(f"{finding.confidence:.0%} {finding.shape}, one of", wavelength[finding.columns].tolist())

# %%
# A colour for each finding.
ConfidenceDisplay.from_estimator(model)
