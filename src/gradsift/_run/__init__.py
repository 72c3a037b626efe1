"""How work runs: threads, passes over columns, memory, progress, files that are written whole."""
