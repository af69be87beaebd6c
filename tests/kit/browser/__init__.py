"""A real browser and a real Jupyter server, for tests and benchmarks of the views."""

from __future__ import annotations
