"""Instance types and prices; each number has its kind, source and date."""

from __future__ import annotations
