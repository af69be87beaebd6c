"""AWS's two published comparisons, re-created: ``notebooks/published_tables.ipynb``."""

from __future__ import annotations
