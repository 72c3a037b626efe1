"""Sparse solver: working sets around forward-backward and Newton steps, with a certificate.

It knows arrays and the protocols of `gradsift.protocols`: no scikit-learn, no files, no kernels.
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
