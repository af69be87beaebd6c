"""What this machine can do: processes, CPU quota, cores, GPUs. Linux only."""

from __future__ import annotations
