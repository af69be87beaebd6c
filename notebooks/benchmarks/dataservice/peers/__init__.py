"""Ways to bring batches from server processes to the trainer: ours, and those of others."""

from __future__ import annotations
