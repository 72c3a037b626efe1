"""Certified group lasso.

    minimise over B (p, q) and v    Phi(X B, v) + alpha sum_k omega_k ||B_k||_2

with columns X (n, p), a convex data term Phi of n x q predictions and free parameters v, and one
row B_k per variable (q tasks: coordinates of a kernel's factor, times classes). Working sets
(`working_set`) around inner solvers (`newton`, `forward_backward`), along a path of penalties
(`path`); every answer carries its duality gap over all p variables (`problem.Certificate`).

The solver knows arrays and the protocols of `gradsift.protocols`: no scikit-learn, no kernels, no
files.
"""

from gradsift.solver.problem import Certificate, Problem, Rows, Solution, Status
from gradsift.solver.working_set import Solver, exact_norms, null_solution, solve

__all__ = [
    "Certificate",
    "Problem",
    "Rows",
    "Solution",
    "Solver",
    "Status",
    "exact_norms",
    "null_solution",
    "solve",
]
