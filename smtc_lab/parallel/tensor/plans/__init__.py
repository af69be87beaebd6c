"""The blocks that are known, a file for each family."""

from __future__ import annotations
