"""What spot interruptions and checkpoints cost a job.

A managed spot interruption ends the whole job, which goes on from its last checkpoint. Here
interruptions have no memory: the time between two of them is exponential. What lifetimes with
heavier tails cost, and when a job then ends, ``smtc_lab.planner.spot`` tells.

Source:
    Expected time and best interval between checkpoints: J. T. Daly, "A higher order estimate of
    the optimum checkpoint interval for restart dumps", 2006, with restarts that are not
    interrupted themselves.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from smtc_lab.metrics.result import Result

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEAST_USEFUL = 0.01
_MOST_DRAWS = 2_000_000
_ROUNDS = 40


class Interruptions(Result):
    """How often a job is interrupted, and what that costs it."""

    mean_time_between_s: float = Field(gt=0)
    """Mean time between two interruptions of the job, in seconds."""

    checkpoint_s: float = Field(gt=0)
    """For how long one checkpoint holds the training up, in seconds."""

    restart_s: float = Field(ge=0)
    """From a new instance to the next step, in seconds: start-up, reading the checkpoint. It is
    billed."""

    wait_s: float = Field(default=0.0, ge=0)
    """From an interruption to a new instance, in seconds; it is not billed."""

    @property
    def checkpoint_every_s(self) -> float:
        """Work between two checkpoints that makes the expected time least, in seconds."""
        return best_interval_s(
            checkpoint_s=self.checkpoint_s, mean_time_between_s=self.mean_time_between_s
        )

    @property
    def useful_fraction(self) -> float:
        """Share of the time that is neither lost nor spent on checkpoints, 0 to 1."""
        useful_s = self.checkpoint_every_s
        return useful_s / self.expected_s(useful_s)

    @property
    def billed_fraction(self) -> float:
        """Share of the time that is billed, all but waiting, 0 to 1."""
        billed_s = self.mean_time_between_s + self.restart_s
        return billed_s / (billed_s + self.wait_s)

    def expected_s(self, useful_s: float, *, every_s: float | None = None) -> float:
        """Return the expected time of a job, in seconds.

        With M between interruptions, restarts R and waits W, and checkpoints of d after each
        tau of work it is ``(M + R + W) (e^((tau + d)/M) - 1)`` for each tau. Infinite where
        that is beyond the largest number.

        Args:
            useful_s: Time of the job without any, in seconds.
            every_s: Work between two checkpoints, in seconds; None: ``checkpoint_every_s``.
        """
        every_s = self.checkpoint_every_s if every_s is None else every_s
        between_s = self.mean_time_between_s + self.restart_s + self.wait_s
        try:
            each = math.expm1((every_s + self.checkpoint_s) / self.mean_time_between_s)
        except OverflowError:
            return math.inf
        return between_s * each * useful_s / every_s


def best_interval_s(*, checkpoint_s: float, mean_time_between_s: float) -> float:
    """Return the work between two checkpoints that makes the expected time least, in seconds.

    It solves ``1 - tau/M = e^(-(tau + d)/M)``, of which Young's ``sqrt(2 d M)`` and Daly's
    interval are the first terms. What a restart takes does not matter.

    Args:
        checkpoint_s: For how long one holds the training up, above 0.
        mean_time_between_s: Mean time between two interruptions, above 0.
    """
    share = checkpoint_s / mean_time_between_s
    every = min(1.0, math.sqrt(2 * share))
    for _ in range(_ROUNDS):  # from above the root of a convex function
        slope = -math.expm1(-(every + share))
        nearer = every - (every - slope) / slope
        if not 0 < nearer < every:
            break
        every = nearer
    return every * mean_time_between_s


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
        ValueError: It would take more than 100 times as long as without interruptions.
    """
    return float(simulated_jobs_s(interruptions, useful_s=useful_s, jobs=1, seed=seed)[0])


def simulated_jobs_s(
    interruptions: Interruptions,
    *,
    useful_s: float,
    jobs: int,
    every_s: float | None = None,
    seed: int = 0,
) -> NDArray[np.float64]:
    """Return how long each of many jobs takes that are interrupted at random, in seconds.

    Args:
        interruptions: How often, and what each costs.
        useful_s: Time of a job without any, in seconds.
        jobs: How many, at least 1.
        every_s: Work between two checkpoints, in seconds; None: as is best.
        seed: Seed of the interruptions.

    Returns:
        Shape (jobs,).

    Raises:
        ValueError: One would take more than 100 times as long as without interruptions.
    """
    every_s = interruptions.checkpoint_every_s if every_s is None else every_s
    expected_s = interruptions.expected_s(useful_s, every_s=every_s)
    if useful_s < _LEAST_USEFUL * expected_s:
        raise ValueError(
            f"mean_time_between_s={interruptions.mean_time_between_s:g} leaves no time to "
            "train between checkpoints and restarts. Use on-demand instances."
        )
    random = np.random.default_rng(seed)
    whole, rest_s = divmod(useful_s, every_s)
    taken_s = np.full(jobs, useful_s + interruptions.checkpoint_s * (whole + (rest_s > 0)))
    for count, work_s in ((int(whole), every_s), (int(rest_s > 0), rest_s)):
        if count:
            piece_s = work_s + interruptions.checkpoint_s
            taken_s += _interrupted_s(interruptions, piece_s, (count, jobs), random)
    return taken_s


def _interrupted_s(
    how: Interruptions, piece_s: float, shape: tuple[int, int], random: np.random.Generator
) -> NDArray[np.float64]:
    """Return what each job spends on pieces that were interrupted, and on what follows.

    Interruptions have no memory, so it is known how many there are before so many pieces end
    whole, and how long each piece had lasted.
    """
    count, jobs = shape
    mean_s, after_s = how.mean_time_between_s, how.restart_s + how.wait_s
    interruptions = random.negative_binomial(count, math.exp(-piece_s / mean_s), size=jobs)
    spent_s = after_s * interruptions.astype(np.float64)
    ends = np.cumsum(interruptions)
    begin = 0
    while begin < jobs:
        before = ends[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, before + _MOST_DRAWS, side="right")))
        some = interruptions[begin:end]
        uniform = random.random(int(some.sum()))
        lasted_s = -mean_s * np.log1p(uniform * math.expm1(-piece_s / mean_s))
        owner = np.repeat(np.arange(len(some)), some)
        spent_s[begin:end] += np.bincount(owner, weights=lasted_s, minlength=len(some))
        begin = end
    return spent_s
