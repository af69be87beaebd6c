"""What a supervisor holds: the instances of one run, wherever they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from smtc_lab.launchers.supervision.gang import Exit

if TYPE_CHECKING:
    from smtc_lab.instance.instance_exit import InstanceExit
    from smtc_lab.launchers.supervision.gang import Outcome


@dataclass(frozen=True, kw_only=True)
class InstanceEnd:
    """One instance that has ended, and what its agent said of it."""

    exit: Exit
    """How its entry point ended."""

    problems: tuple[str, ...] = ()
    """What went wrong around it: records that could not be written, say."""

    facts: dict[str, object] = field(default_factory=dict)
    """What is now known of how the run was carried out."""


def instance_end(told: InstanceExit) -> InstanceEnd:
    """Return how an instance ended, from what its agent told."""
    return InstanceEnd(
        exit=Exit(
            exit_code=told.exit_code,
            signal=told.signal,
            rank=told.rank,
            failed_at_s=told.failed_at_s,
            hung_s=told.hung_s,
        ),
        problems=tuple(told.problems),
        facts={"cpu_quota_mechanism": told.cpu_quota_mechanism},
    )


class Instances(Protocol):
    """The instances of one run. Made before the supervisor's first thread."""

    wake_fd: int | None
    """Readable when an instance may have ended; None: a child's signal tells it."""

    def reserve(self) -> Outcome | None:
        """Wait for machines in place of those of an attempt that was interrupted.

        Returns:
            Why the run ends before there are some, or ``Interrupted`` where somebody else
            starts the next attempt; None: there are some.

        Raises:
            LauncherError: There cannot be any; ``end`` is called all the same.
        """
        ...

    def start(self) -> dict[str, object]:
        """Start every instance and return what is known now of how they are carried out.

        Raises:
            InstanceLostError: One is lost, and others may take its place.
            LauncherError: One could not be started; ``end`` is called all the same.
        """
        ...

    def ended(self) -> dict[str, InstanceEnd]:
        """Return the instances that have ended since the last call, by host. Never waits.

        Raises:
            InstanceLostError: Nothing can be heard of one any more.
            LauncherError: What one told cannot be kept.
        """
        ...

    def end(self) -> None:
        """End every instance: TERM, the run's grace, KILL. Returns when nothing is left.

        What the instances have said until then, lines and records, lies in the run's folder
        afterwards.
        """
        ...

    def lost(self) -> dict[str, str]:
        """Return why instances are lost, by host; all of it once ``end`` has returned."""
        ...

    def last_words(self, host: str, rank: int | None) -> str:
        """Return what an entry point said of its failure, or the end of its log.

        Args:
            host: Its instance.
            rank: Which of several trainers it is; None: the instance has no other process.
        """
        ...
