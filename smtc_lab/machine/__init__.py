"""What this machine can do: processes, CPU quota, cores, GPUs. Linux only.

The floor of the house, beside errors (decision 2): it knows nothing of jobs and runs. Process
trees are found and ended through ``/proc``, a number with its start time. A CPU quota takes the
first mechanism that works here (control groups of either version, or stopping and continuing
the tree), and says how often it held the tree back (5); while one applies, the cores are kept
awake, since a core that sleeps wakes slowly (9). GPUs are asked through NVML when somebody
asks, never on import. Private names of torch are looked up by name (66).
"""

from __future__ import annotations
