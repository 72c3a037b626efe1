"""Which variables matter: gradient learning with a potential.

The field f estimates the gradient of the regression function. It is the gradient f = grad G of a
potential

    G(x) = sum_k G_k(x^k) + sum_{k < l} b_kl x^k x^l.

The integral of f along the line from x_i to x_j is G(x_j) - G(x_i). If all pairs have weight one,
the pair loss

    1/n^2 sum_ij ( y_j - y_i - int_0^1 f(x_i + t (x_j - x_i)) . (x_j - x_i) dt )^2  =  2 var(y -
    G(x))

is therefore a sum over n rows instead of n^2 pairs: G is a sparse additive model with pairwise
products, and f its gradient. `make_sift` sets up the problem, `Sift.run` solves it, and
`SiftFit.result` is the part of the solution that a fitted model keeps.
"""

from gradsift.sift.groups import PARTS
from gradsift.sift.procedure import ChosenGroup, Sift, SiftFit, SiftResult, make_sift, sift
from gradsift.sift.products import Classes
from gradsift.sift.settings import Limits, SiftSettings

__all__ = [
    "PARTS",
    "ChosenGroup",
    "Classes",
    "Limits",
    "Sift",
    "SiftFit",
    "SiftResult",
    "SiftSettings",
    "make_sift",
    "sift",
]
