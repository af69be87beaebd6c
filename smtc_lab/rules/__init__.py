"""Rules: from the records of a run to findings, each with its place, its cost and its fix."""

from __future__ import annotations
