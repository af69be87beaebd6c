"""When a job takes which instances: a table of policies, none of which knows what comes.

Source:
    Uniform progress: Z. Wu et al., "Can't Be Late: Optimizing Spot Instance Savings under
    Deadlines", NSDI 2024, section 4. Its overhead of a change is here a restart and what was
    not saved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from smtc_lab.planner.spot.played import PlayedJobs

    Floats = NDArray[np.float64]

_LEAST_MARGIN = 1 / 500
_LONGEST = 100.0
_MOST_WINDOWS = 3_000


@dataclass(frozen=True)
class Policy:
    """What a job does between two windows of spot instances, and in one."""

    take: Callable[[PlayedJobs, Floats, Floats], None]
    """Takes jobs to the end of their next window, or to their own: the jobs, starts and ends
    of the window in seconds."""

    needs_deadline: bool
    """Whether it is of use only where a job must have ended at some time."""


def _on_demand(jobs: PlayedJobs, _starts_s: Floats, _ends_s: Floats) -> None:
    jobs.end_on_demand(jobs.left_s > 0)


def _spot_only(jobs: PlayedJobs, starts_s: Floats, ends_s: Floats) -> None:
    """Wait for spot instances, however long, as SageMaker's managed spot training does."""
    jobs.wait_until(starts_s)
    jobs.take_spot(ends_s, keeps_deadline=False)


def _greedy(jobs: PlayedJobs, starts_s: Floats, ends_s: Floats) -> None:
    """Wait for spot instances until on-demand ones can only just keep the deadline."""
    latest_s = jobs.now_s + np.maximum(0.0, jobs.slack_s)
    jobs.wait_until(np.minimum(starts_s, latest_s))
    jobs.end_on_demand(latest_s < starts_s)
    jobs.take_spot(ends_s, keeps_deadline=True)


def _uniform_progress(jobs: PlayedJobs, starts_s: Floats, ends_s: Floats) -> None:
    """Take spot instances whenever there are some; else wait only while ahead of schedule.

    The schedule spreads the work evenly up to the deadline. Behind it a job takes on-demand
    instances until it is as far as the schedule will be two changes later, or a 500th of the
    deadline, if that is more.
    """
    while True:
        waits = (jobs.left_s > 0) & (jobs.now_s < starts_s)
        if not waits.any():
            break
        _wait_or_catch_up(jobs, starts_s, waits)
    jobs.take_spot(ends_s, keeps_deadline=True)


def _wait_or_catch_up(jobs: PlayedJobs, starts_s: Floats, waits: NDArray[np.bool_]) -> None:
    """Wait up to the window or until behind the schedule, and then catch up on demand."""
    terms = jobs.terms
    deadline_s = math.inf if terms.deadline_s is None else terms.deadline_s
    rate = terms.work_s / deadline_s
    behind_s = (terms.work_s - jobs.left_s) / rate
    latest_s = jobs.now_s + np.maximum(0.0, jobs.slack_s)
    begin_s = np.maximum(jobs.now_s, np.minimum(behind_s, latest_s))
    jobs.wait_until(np.where(waits, np.minimum(begin_s, starts_s), jobs.now_s))
    behind = waits & (begin_s < starts_s)
    change_s = terms.restart_s + terms.save_s  # what it takes to leave it again
    for_good = behind & (jobs.slack_s <= change_s)
    jobs.end_on_demand(for_good)
    behind &= ~for_good
    ready_s = jobs.now_s + terms.restart_s
    margin_s = max(2 * change_s, _LEAST_MARGIN * deadline_s)
    ahead_s = rate * (ready_s + margin_s) - (terms.work_s - jobs.left_s)
    caught_up_s = ready_s + ahead_s / max(1e-9, 1 - rate)
    leave_s = np.minimum(starts_s, caught_up_s)
    ends = behind & (ready_s + jobs.left_s <= leave_s)
    jobs.end_on_demand(ends)
    jobs.take_on_demand(behind & ~ends, leave_s)


POLICIES: Mapping[str, Policy] = {
    "on-demand": Policy(_on_demand, needs_deadline=False),
    "spot only": Policy(_spot_only, needs_deadline=False),
    "greedy then on-demand": Policy(_greedy, needs_deadline=True),
    "uniform progress": Policy(_uniform_progress, needs_deadline=True),
}
"""The policies by name."""


def play(
    jobs: Mapping[str, PlayedJobs],
    windows: Iterator[tuple[Floats, Floats]],
    future: NDArray[np.intp],
) -> None:
    """Play jobs under policies through the same futures, up to their ends.

    A job that has not ended after 100 times its work, or 3,000 windows, is given up.

    Args:
        jobs: Jobs by the name of their policy, those of each as many as ``future`` has.
        windows: Starts and ends of one window of each future after the other, in seconds.
        future: Which one each job goes through.
    """
    going = dict(jobs)
    for _ in range(_MOST_WINDOWS):
        starts_s, ends_s = next(windows)
        for name, each in list(going.items()):
            of = future[each.place]
            POLICIES[name].take(each, starts_s[of], ends_s[of])
            each.leave_ended()
            first_s = np.min(each.now_s, initial=np.inf, where=each.left_s > 0)
            if first_s > _LONGEST * each.terms.work_s:
                del going[name]
        if not going:
            break
    for each in jobs.values():
        each.give_up()
