"""What happens on an instance: SM_* environment, session, step timer, system sampler."""

from __future__ import annotations
