"""How good: scores on held-out rows, and the selection repeated on half samples."""

from gradsift.evaluate.held_out import HeldOut, held_out, score_model
from gradsift.evaluate.scores import Scores
from gradsift.evaluate.stability import Stability, stability

__all__ = ["HeldOut", "Scores", "Stability", "held_out", "score_model", "stability"]
