"""What keeping track of experiments costs: metrics, tables of runs, sources."""

from __future__ import annotations
