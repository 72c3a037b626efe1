"""Mathematics that both methods use, as pure functions on arrays."""
