"""Records of a run, kept as they come, and followed while they grow."""

from __future__ import annotations
