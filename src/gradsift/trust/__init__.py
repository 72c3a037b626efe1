"""How sure one can be: the selection repeated on half samples, scores on held-out rows."""

from gradsift.trust.resampling import HeldOut, Stability, held_out, stability

__all__ = ["HeldOut", "Stability", "held_out", "stability"]
