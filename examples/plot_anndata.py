"""
How do I get from cells to a list for a pathway tool?
=====================================================

Forty donors with 50 cells each, 200 genes, counts, and how ill each donor is. Cells of a donor are
summed, as `scanpy.get.aggregate` does, donors are compared, and all genes are ranked with a sign.

What you learn: `gradsift.tl` and `gradsift.pl`, in the manner of scverse.
"""

import anndata
import numpy as np
import pandas as pd
from scipy import sparse

import gradsift as gs

rng = np.random.default_rng(0)
donor = np.repeat(np.arange(40), 50)
severity = rng.normal(size=40)
rate = np.exp(rng.normal(0.5, 0.4, size=(40, 200)))
rate[:, 7] *= np.exp(0.8 * severity)
rate[:, 21] *= np.exp(-0.8 * severity)
obs = pd.DataFrame(
    {"donor": [f"D{k:02d}" for k in donor], "severity": severity[donor]},
    index=[f"cell{k}" for k in range(len(donor))],
)
var = pd.DataFrame(index=[f"GENE{k}" for k in range(200)])
adata = anndata.AnnData(sparse.csr_matrix(rng.poisson(rate[donor])), obs=obs, var=var)

# %%
total = gs.aggregate(adata.X, obs["severity"], obs["donor"], "sum")
cpm = np.log2(1 + 1e6 * total.X / total.X.sum(axis=1, keepdims=True))
by_donor = pd.DataFrame({"severity": total.y}, index=total.groups)
donors = anndata.AnnData(cpm, obs=by_donor, var=var)
gs.tl.select(donors, "severity")
columns = [f"gradsift_{name}" for name in ("rank", "stat", "pvals", "pvals_adj", "selected")]
print(donors.var.sort_values("gradsift_rank")[columns].head(4).to_string())

# %%
# GENE7 rises with severity and GENE21 falls.
gs.pl.volcano(donors)
