"""One training step in, one compiled training step out."""

from __future__ import annotations
