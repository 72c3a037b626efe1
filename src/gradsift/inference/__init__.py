"""Inference: how certain it is that a column acts on the response, from the fit of a sift.

- `findings`: sets of columns of which one acts, with their posterior probabilities (`candidates`,
  `gibbs`);
- `conditional_tests`: p- and q-values of each column given all others (`score_tests`, `results`);
- `marginal_tests`: p- and q-values of each column by itself; `correlations` gives their signs.
"""

from gradsift.inference.correlations import correlations
from gradsift.inference.findings import Finding, Findings
from gradsift.inference.marginal_tests import Association
from gradsift.inference.results import Significance

__all__ = ["Association", "Finding", "Findings", "Significance", "correlations"]
