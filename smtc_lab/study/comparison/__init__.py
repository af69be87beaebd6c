"""Comparisons: the same job on several set-ups, in interleaved rounds."""
