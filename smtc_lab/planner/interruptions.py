"""What spot interruptions and checkpoints cost a job.

A managed spot interruption ends the whole job, which goes on from its last checkpoint.

Source:
    Best interval between checkpoints: J. W. Young, "A first order approximation to the optimum
    checkpoint interval", 1974; J. T. Daly, "A higher order estimate of the optimum checkpoint
    interval for restart dumps", 2006.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import simpy
from pydantic import Field

from smtc_lab.metrics.result import Result

if TYPE_CHECKING:
    from collections.abc import Generator


class Interruptions(Result):
    """How often a job is interrupted, and what that costs it."""

    mean_time_between_s: float = Field(gt=0)
    """Mean time between two interruptions of the job, in seconds."""

    checkpoint_s: float = Field(gt=0)
    """Time in which one checkpoint is written, in seconds."""

    restart_s: float = Field(ge=0)
    """From an interruption to the next step, in seconds: waiting for an instance, start-up,
    reading the checkpoint."""

    @property
    def checkpoint_every_s(self) -> float:
        """Best time between two checkpoints, in seconds."""
        return math.sqrt(2 * self.checkpoint_s * self.mean_time_between_s)

    @property
    def useful_fraction(self) -> float:
        """Share of the time that is neither lost nor spent on checkpoints, 0 to 1.

        A first-order estimate, good while checkpoints and restarts are much shorter than the
        time between interruptions.
        """
        interval_s = self.checkpoint_every_s
        lost = self.checkpoint_s / interval_s
        lost += (interval_s / 2 + self.restart_s) / self.mean_time_between_s
        return max(0.0, 1 - lost)


def simulate_interruptions(
    interruptions: Interruptions, *, useful_s: float, seed: int = 0
) -> float:
    """Return how long a job takes that is interrupted at random, in seconds.

    Checkpoints are written as often as is best. Each interruption throws the job back to its
    last one.

    Args:
        interruptions: How often, and what each costs.
        useful_s: Time of the job without any, in seconds.
        seed: Seed of the interruptions.

    Raises:
        ValueError: It would be interrupted before each checkpoint and never end.
    """
    if interruptions.useful_fraction <= 0:
        raise ValueError(
            f"mean_time_between_s={interruptions.mean_time_between_s:g} leaves no time to "
            "train between checkpoints and restarts. Use on-demand instances."
        )
    job = _InterruptedJob(interruptions, useful_s, seed)
    env = simpy.Environment()
    env.run(until=env.process(job.run(env)))
    return float(env.now)


class _InterruptedJob:
    def __init__(self, interruptions: Interruptions, useful_s: float, seed: int) -> None:
        self._interruptions = interruptions
        self._left_s = useful_s
        self._random = np.random.default_rng(seed)

    def run(self, env: simpy.Environment) -> Generator[simpy.Event, None, None]:
        how = self._interruptions
        next_s = env.now + self._random.exponential(how.mean_time_between_s)
        while self._left_s > 0:
            work_s = min(how.checkpoint_every_s, self._left_s)
            end_s = env.now + work_s + how.checkpoint_s
            if end_s <= next_s:
                yield env.timeout(end_s - env.now)
                self._left_s -= work_s
                continue
            yield env.timeout(max(0.0, next_s - env.now) + how.restart_s)
            next_s = env.now + self._random.exponential(how.mean_time_between_s)
