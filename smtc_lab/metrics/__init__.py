"""Numbers out of records: step statistics, cost, comparison. Pure functions."""

from __future__ import annotations
