"""A run, as views see it: what is told of it, listed, drawn and kept."""

from __future__ import annotations
