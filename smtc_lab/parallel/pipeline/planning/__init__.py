"""A pipeline told before it runs: where it is cut, and how a step would go."""

from __future__ import annotations
