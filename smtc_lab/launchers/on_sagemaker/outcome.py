"""How a training job ended, from what SageMaker and its instances say. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smtc_lab.launchers.on_sagemaker.aws.training_jobs import ENDED
from smtc_lab.launchers.supervision.gang import Exit, Outcome, outcome
from smtc_lab.launchers.supervision.interrupts import too_long
from smtc_lab.metrics.records.attempts import Attempt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smtc_lab.spec.cluster import Role

STOPPED_ELSEWHERE = "The training job was stopped at SageMaker, and not by this run."


def exit_of(said: Mapping[str, Any]) -> Exit:
    """Return how an instance ended, from the last record line of its log."""
    return Exit(
        exit_code=said["exit_code"],
        signal=said.get("signal"),
        rank=said.get("rank"),
        failed_at_s=said.get("failed_at_s"),
        hung_s=said.get("hung_s"),
        agent_signal=said.get("agent_signal"),
    )


def job_outcome(
    found: Mapping[str, Any],
    exits: Mapping[str, Mapping[str, Any]],
    *,
    roles: Mapping[str, Role],
    groups: Mapping[str, str],
    wanted: Outcome | None,
) -> Outcome | None:
    """Return how a job ended; None: it has not.

    Args:
        found: What SageMaker says of it.
        exits: What each instance said of its end, by host.
        roles: The role of every instance.
        groups: The group of every instance.
        wanted: Why this side asked for its end; None: it did not.
    """
    status, secondary = found["TrainingJobStatus"], found["SecondaryStatus"]
    if status not in ENDED:
        return None
    if status == "Completed":
        return Outcome(state="Completed", reason="")
    if status == "Failed":
        return _failure(found, exits, roles, groups)
    limits = found["StoppingCondition"]
    if secondary == "MaxRuntimeExceeded":
        return too_long(limits["MaxRuntimeInSeconds"])
    if secondary == "MaxWaitTimeExceeded":
        wait_s = limits["MaxWaitTimeInSeconds"]
        return Outcome(
            state="Stopped",
            reason=(
                f"MaxWaitTimeExceeded: with its waits for spot instances the job took longer "
                f"than max_wait={wait_s:g} s. Raise it, or take on-demand instances."
            ),
        )
    return wanted or Outcome(state="Stopped", reason=STOPPED_ELSEWHERE)


def attempts_told(found: Mapping[str, Any]) -> tuple[Attempt, ...]:
    """Return the attempts of a job from the changes of its secondary status; none: not told.

    Args:
        found: What SageMaker says of it.
    """
    attempts: list[Attempt] = []
    for change in found.get("SecondaryStatusTransitions", ()):
        began_s, status = change["StartTime"].timestamp(), change["Status"]
        open_one = attempts and attempts[-1].ended_s is None
        if status == "Interrupted" and open_one:
            why = "SageMaker took the spot instances away."
            attempts[-1] = replace(attempts[-1], ended_s=began_s, interrupted_by=why)
        elif status == "Restarting" and open_one:
            why = "SageMaker started the job again."
            attempts[-1] = replace(attempts[-1], ended_s=began_s, interrupted_by=why)
        elif status in _BEGIN and not open_one:
            attempts.append(Attempt(started_s=began_s))
        elif status in _LAST and open_one:
            attempts[-1] = replace(attempts[-1], ended_s=began_s)
    return tuple(attempts)


_BEGIN = frozenset({"Starting", "LaunchingMLInstances", "Downloading", "Training"})
"""Secondary states in which a job is about to have instances, or has them."""

_LAST = frozenset(
    {"Completed", "Failed", "Stopped", "MaxRuntimeExceeded", "MaxWaitTimeExceeded"}
)
"""Secondary states in which a job has no instances any more."""


def _failure(
    found: Mapping[str, Any],
    exits: Mapping[str, Mapping[str, Any]],
    roles: Mapping[str, Role],
    groups: Mapping[str, str],
) -> Outcome:
    """Return which instance failed first; those that were told to end with it did not."""
    own = sorted(
        (said["time_s"], host) for host, said in exits.items() if not said.get("asked_to_stop")
    )
    ended = outcome({host: exit_of(exits[host]) for _, host in own}, roles, groups)
    if ended is not None and ended.state == "Failed":
        return ended
    why = str(found.get("FailureReason") or "no reason").strip()
    return Outcome(state="Failed", reason=f"SageMaker ended the job: {why.rstrip('.')}.")


def trainers_are_done(
    exits: Mapping[str, Mapping[str, Any]], roles: Mapping[str, Role]
) -> bool:
    """Return whether every trainer has ended well, and not because it was to be interrupted."""
    trainers = [exits.get(host) for host, role in roles.items() if role == "train"]
    return all(
        said is not None and said["exit_code"] == 0 and not said.get("asked_to_stop")
        for said in trainers
    )
