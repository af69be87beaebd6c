"""What tests share, and benchmarks too: builders, fakes, and drivers of a real browser."""

from __future__ import annotations
