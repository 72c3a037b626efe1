"""How good: scores on held-out rows, and the selection repeated on half samples."""

from gradsift.evaluate.held_out import HeldOut, begin_held_out, held_out, score_model
from gradsift.evaluate.scores import Scores
from gradsift.evaluate.stability import Stability, stability

__all__ = [
    "HeldOut",
    "Scores",
    "Stability",
    "begin_held_out",
    "held_out",
    "score_model",
    "stability",
]
