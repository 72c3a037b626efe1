"""How sure: the selection repeated on half samples, scores on held-out rows."""

from gradsift.trust.association import Association
from gradsift.trust.discoveries import significance
from gradsift.trust.held_out import HeldOut, held_out, score_model
from gradsift.trust.resampling import Stability, stability
from gradsift.trust.scores import Scores
from gradsift.trust.tested import Significance

__all__ = [
    "Association",
    "HeldOut",
    "Scores",
    "Significance",
    "Stability",
    "held_out",
    "score_model",
    "significance",
    "stability",
]
