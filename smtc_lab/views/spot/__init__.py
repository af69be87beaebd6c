"""What a notebook shows of a spot forecast."""

from __future__ import annotations
