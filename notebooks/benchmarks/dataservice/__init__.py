"""What it costs to bring a batch from other processes to the trainer: ours and its peers."""

from __future__ import annotations
