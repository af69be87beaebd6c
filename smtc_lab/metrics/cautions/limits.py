"""Limits below which measurements are doubted."""

from __future__ import annotations

LEAST_DELIVERED = 0.95
"""Below this share of the CPU time it asked for, a cluster was held up by the machine."""

LEAST_LAUNCHES = 3
"""Launches of each cluster below which their differences cannot be judged."""

MORE_STEPS = "Make more steps in each launch (max_steps, --steps)"
"""What to do where there were too few, by its names in Python and on a command line."""

LEAST_STEPS = 30
"""Measured steps of a job below which an interval is rough."""

ROUNDING = 1e-9
"""Shares that differ by less are the same."""
