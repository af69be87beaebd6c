"""Records of a run, kept as they come, and read while they grow."""

from __future__ import annotations
