"""The paper's method: sparse gradient learning from differences between pairs of samples."""
