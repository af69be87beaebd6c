"""What all benchmarks do alike: figures."""

from __future__ import annotations
