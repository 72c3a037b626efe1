"""
When does one variable change what another does?
================================================

400 batches; the yield depends on temperature times pressure. Neither is correlated with the
yield. Where pressure is low, heat does harm; where it is high, heat helps.

What you learn: a pair of variables in an answer, and its picture.
"""

import numpy as np
import pandas as pd

from gradsift import GradientSiftRegressor, explain
from gradsift.displays import GradientFieldDisplay

rng = np.random.default_rng(2)
table = pd.DataFrame(rng.normal(size=(400, 30)), columns=[f"sensor{k}" for k in range(30)])
table["temperature"] = rng.normal(20, 5, size=400)
table["pressure"] = rng.normal(1, 0.2, size=400)
warm, dense = (table["temperature"] - 20) / 5, (table["pressure"] - 1) / 0.2
y = 2 * warm * dense + 0.5 * table["sensor3"] + 0.3 * rng.normal(size=400)
for name in ("temperature", "pressure"):
    print(f"correlation of {name} with the yield: {np.corrcoef(table[name], y)[0, 1]:.2f}")

# %%
model = GradientSiftRegressor(inference=True).fit(table, y)
print(explain(model, table, y, target="yield"))

# %%
# The slope along the temperature at every batch, laid out by pressure: it changes its sign.
GradientFieldDisplay.from_estimator(model, table, "temperature", against="pressure")

# %%
# At a single batch, the gradient says what to do.
print(model.gradient(table.iloc[:2], as_frame=True)[["temperature", "pressure"]].round(2))
print(table.iloc[:2][["temperature", "pressure"]].round(2))
