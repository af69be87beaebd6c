"""The rules by which the instances of a job end together; the same on every launcher."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from smtc_lab.spec.cluster import Role


@dataclass(frozen=True, kw_only=True)
class Exit:
    """How one instance ended."""

    exit_code: int
    """Exit code of its entry point; 128 + n when signal n ended it."""

    signal: int | None = None
    """The signal that ended it; None: it ended by itself."""

    rank: int | None = None
    """Which of several trainers of the instance failed; None: it has only one, or none did."""

    failed_at_s: float | None = None
    """When it failed by itself, in seconds since the epoch; None: unknown, or it did not."""

    hung_s: float | None = None
    """How long its trainers stood still before they were ended; None: they did not."""

    agent_signal: int | None = None
    """The signal that ended its agent, which then could not say more; None: it did not."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a job ends."""

    state: Literal["Completed", "Failed", "Stopped", "Interrupted"]
    """SageMaker's spelling; ``Interrupted``: only this attempt ends, and another follows."""

    reason: str
    """Why, one sentence for people; empty for a plain success."""

    host: str = ""
    """The instance that decided it; empty: all trainers."""

    rank: int | None = None
    """Which of several trainers of that instance; None: it has no other process."""


def outcome(
    exits: Mapping[str, Exit], roles: Mapping[str, Role], groups: Mapping[str, str]
) -> Outcome | None:
    """Return how the job ends, given the instances that have ended; None: it goes on.

    Any instance that fails fails the job, and an instance fails with the first of its trainers
    that does. Of several the one that failed first is named: the others are its victims. When
    every trainer has ended well the job is complete, whatever the data instances still do
    (those that run the script are given ``LEAVE_S`` first). A data instance that ends well
    takes nothing with it.

    Args:
        exits: The instances that have ended by themselves, in the order in which they did.
        roles: The role of every instance.
        groups: The group of every instance, for the message.
    """
    if failed := [host for host, ended in exits.items() if ended.exit_code != 0]:
        host = min(failed, key=lambda host: _order(exits[host]))
        return Outcome(
            state="Failed",
            reason=_reason(host, groups[host], exits[host]),
            host=host,
            rank=exits[host].rank,
        )
    trainers = [host for host, role in roles.items() if role == "train"]
    if all(host in exits for host in trainers):
        return Outcome(state="Completed", reason="")
    return None


def goes_on_without(
    host: str, ended: Exit, roles: Mapping[str, Role], scripted: Collection[str] = ()
) -> bool:
    """Return whether the trainers of a spot job go on without an instance that is gone.

    Trainers that have no data instance any more prepare their own batches; where it ran the
    script (``scripted``) they cannot.
    """
    is_served = roles[host] == "data" and host not in scripted
    return is_served and ended.agent_signal is not None


def _order(ended: Exit) -> tuple[bool, float]:
    """Return by what instances that failed are ordered: a hung one before those that waited."""
    only_waited = ended.hung_s is not None and ended.rank is None
    return only_waited, math.inf if ended.failed_at_s is None else ended.failed_at_s


def _reason(host: str, group: str, ended: Exit) -> str:
    where = f"{host} ({group})"
    if ended.agent_signal is not None:
        return (
            f"The agent of {where} was killed by signal {ended.agent_signal}, and its instance "
            "ended with it. Start the job again."
        )
    if ended.hung_s is not None:
        return _hang_reason(where, ended.rank, ended.hung_s)
    if ended.rank is not None:
        where = f"{where}, rank {ended.rank},"
    if ended.signal == 9:
        return (
            f"The entry point on {where} was killed by signal 9. Nothing of this run sent it: "
            "often the machine ran out of memory. Lower the batch size or the workers."
        )
    if ended.signal is not None:
        return (
            f"The entry point on {where} was ended by signal {ended.signal}. Look for a crash "
            "in its log."
        )
    return f"The entry point on {where} exited with code {ended.exit_code}."


def _hang_reason(where: str, rank: int | None, hung_s: float) -> str:
    stood = f"no trainer took a step for {hung_s:.0f} s"
    stacks = "The stacks of all ranks are in their logs."
    if rank is None:
        return (
            f"On {where} {stood}: all wait inside torch, for each other or for another "
            f"instance. {stacks} Look whether every rank calls the same collectives."
        )
    return f"Rank {rank} on {where} hangs: {stood}, and the others wait for it. {stacks}"
