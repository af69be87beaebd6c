"""What to run: job, cluster, compiler settings, channels, emulation."""

from __future__ import annotations
