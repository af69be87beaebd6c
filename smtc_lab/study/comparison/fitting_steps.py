"""As many steps as fit into a few minutes, for an emulated comparison that names no number.

How long start-up, end and a step take on this machine nothing tells beforehand, so the baseline
is launched once for a few steps before the rounds. That launch is in no round.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from smtc_lab.launchers.special_launch import with_fitted_steps
from smtc_lab.metrics.columns import STEP, step_columns
from smtc_lab.store.state import lasted_s
from smtc_lab.study.comparison.completed import failed_launch, steps_or_problem
from smtc_lab.study.comparison.duration import (
    FEWEST_STEPS,
    FIT_S,
    LONG_S,
    SHORTER,
    asks_for_no_steps,
    device_s_here,
    time_words,
)
from smtc_lab.study.launch_name import launch_name
from smtc_lab.study.watched_run import run_watched

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.metrics.records.records import RunRecords
    from smtc_lab.study.comparison.plan import ComparisonPlan
    from smtc_lab.study.watched_run import LaunchWatch

_SETTLED = 3
"""Steps of the first launch that are left out where others follow: warm-up."""


@dataclass(frozen=True, kw_only=True)
class TimedLaunch:
    """How long a launch of a few steps took on this machine."""

    steps: int
    """Steps that it made."""

    step_s: float
    """Time of one of them in seconds, once warm-up is over."""

    around_s: float
    """Time of everything else in seconds: start-up, warm-up and end."""


def with_fitting_steps(plan: ComparisonPlan, watch: LaunchWatch) -> ComparisonPlan:
    """Return a plan whose launches take as many steps as fit, if it names no number of them.

    Args:
        plan: What is compared. Only what is emulated is changed.
        watch: Who is told of the launch that finds out, and of the number that was chosen.

    Raises:
        RunFailedError: That launch failed, made no step, or was stopped; says why.
    """
    if not asks_for_no_steps(plan.jobs):
        return plan
    watch.launches += 1
    first = plan.jobs[0]
    label = f"{first.cluster.label}, to choose the steps"
    name = launch_name(first.entry_point, first.cluster.label, "steps", stamp=plan.created)
    job = first.model_copy(update={"job_name": name, "max_steps": FEWEST_STEPS})
    run = run_watched(plan.launcher, plan.launcher.plan(job), watch, name=label)
    found = steps_or_problem(run, after_others=False)
    if isinstance(found, str):
        raise failed_launch(run, watch, name=label, problem=found)
    timed = timed_launch(found)
    if timed.steps < FEWEST_STEPS:  # the script itself ends before
        return plan
    steps_s = [max(timed.step_s, device_s_here(job) or 0.0) for job in plan.jobs]
    steps = fitting_steps(timed, steps_s, rounds=plan.rounds)
    watch.note = fitting_words(timed, steps_s, rounds=plan.rounds, steps=steps)
    return replace(
        plan,
        jobs=tuple(
            job.model_copy(update={"max_steps": job.max_steps or steps}) for job in plan.jobs
        ),
        launches=tuple(
            launch if launch.job.max_steps else with_fitted_steps(launch, steps)
            for launch in plan.launches
        ),
    )


def timed_launch(records: RunRecords) -> TimedLaunch:
    """Return how long a launch took here, by its records, which have a step at least."""
    columns = step_columns(records.steps.values())
    begins_s, ends_s = columns[STEP["begin_time_s"]], columns[STEP["end_time_s"]]
    steps = len(ends_s)
    left_out = _SETTLED if steps > _SETTLED else 0
    step_s = float(ends_s[-1] - begins_s[left_out]) / (steps - left_out)
    whole_s = lasted_s(records.started_s, records.ended_s) or 0.0
    return TimedLaunch(steps=steps, step_s=step_s, around_s=max(0.0, whole_s - steps * step_s))


def fitting_steps(timed: TimedLaunch, steps_s: Sequence[float], *, rounds: int) -> int:
    """Return how many steps of each launch fit into three minutes, at least 10.

    Args:
        timed: How long start-up and end take.
        steps_s: Seconds here of a step of each set-up.
        rounds: Launches of each.
    """
    around_s = rounds * len(steps_s) * timed.around_s
    return max(FEWEST_STEPS, int((FIT_S - around_s) / max(1e-9, rounds * sum(steps_s))))


def fitting_words(
    timed: TimedLaunch, steps_s: Sequence[float], *, rounds: int, steps: int
) -> str:
    """Return which number of steps was chosen and why, and how to choose another."""
    launches = rounds * len(steps_s)
    whole_s = launches * timed.around_s + rounds * steps * sum(steps_s)
    why = "as many as fit" if whole_s <= 1.01 * FIT_S else "the fewest that are compared"
    told = (
        f"Each launch takes {steps:,} steps, {why}: {launches} launches, each with "
        f"{timed.around_s:.2g} s of start-up and end and {max(steps_s):.2g} s a step, take "
        f"about {time_words(whole_s)} here. Choose another number with max_steps (--steps)."
    )
    return f"{told} To make it shorter: fewer rounds, {SHORTER}" if whole_s > LONG_S else told
