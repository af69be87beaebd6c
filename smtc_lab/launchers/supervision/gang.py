"""The rules by which the instances of a job end together; the same on every launcher."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

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

    agent_signal: int | None = None
    """The signal that ended its agent, which then could not say more; None: it did not."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a job ends."""

    state: Literal["Completed", "Failed", "Stopped"]
    """SageMaker's spelling."""

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
    that does. When every trainer has ended well the job is complete, whatever the data
    instances still do. A data instance that ends well takes nothing with it.

    Args:
        exits: The instances that have ended by themselves, in the order in which they did.
        roles: The role of every instance.
        groups: The group of every instance, for the message.
    """
    for host, ended in exits.items():
        if ended.exit_code != 0:
            return Outcome(
                state="Failed",
                reason=_reason(host, groups[host], ended),
                host=host,
                rank=ended.rank,
            )
    trainers = [host for host, role in roles.items() if role == "train"]
    if all(host in exits for host in trainers):
        return Outcome(state="Completed", reason="")
    return None


def _reason(host: str, group: str, ended: Exit) -> str:
    where = f"{host} ({group})"
    if ended.agent_signal is not None:
        return (
            f"The agent of {where} was killed by signal {ended.agent_signal}, and its instance "
            "ended with it. Start the job again."
        )
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
