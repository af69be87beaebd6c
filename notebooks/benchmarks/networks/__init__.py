"""Ten well-known networks with random weights, which the benchmarks of compilers train."""

from __future__ import annotations
