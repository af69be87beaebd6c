"""The instances of a run as actors of a Ray cluster, one on each node."""

from __future__ import annotations

import contextlib
import os
import threading
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import LauncherError
from smtc_lab.launchers.on_ray.ray_job import RayJob
from smtc_lab.launchers.supervision.gang_supervisor import supervise_instances
from smtc_lab.launchers.supervision.last_words import last_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smtc_lab.launchers.supervision.instances import InstanceEnd
    from smtc_lab.launchers.supervision.interrupts import Interrupts
    from smtc_lab.store.run_folder import RunFolder

_END_LIMIT_S = 15.0
"""How long after its grace an instance may take to end, before its actor is killed."""


def supervise(folder: RunFolder, plan: Mapping[str, Any], *, detached: bool) -> None:
    """Supervise a run whose instances are nodes of a Ray cluster."""
    supervise_instances(folder, plan, detached=detached, of=RayInstances)


class RayInstances:
    """One host actor for each instance, which runs the same agent as everywhere.

    Ray is used from other threads than the main one only. There it would take SIGTERM for
    itself; and the supervisor must hear its user while a cluster comes up.
    """

    def __init__(
        self, folder: RunFolder, plan: Mapping[str, Any], interrupts: Interrupts
    ) -> None:
        self._folder = folder
        self._interrupts = interrupts
        self._grace_s = float(plan["grace_s"])
        self._ending = threading.Event()
        self._told: set[str] = set()
        self._told_fd, self._wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self.wake_fd: int | None = self._told_fd
        self._up_fd, self._up = os.pipe2(os.O_CLOEXEC)
        self._job = RayJob(folder, told=self._wake_up, ending=self._ending)
        self._facts: dict[str, object] = {}
        self._failure: LauncherError | None = None
        self._is_up = threading.Event()
        self._thread = threading.Thread(target=self._bring_up, name="smtc-ray", daemon=True)

    def start(self) -> dict[str, object]:
        """Find a node for each instance, and start them all.

        Raises:
            LauncherError: The cluster cannot be joined, has no such nodes, or an instance could
                not be started.
        """
        self._interrupts.listen_to([self._up_fd])
        self._thread.start()
        while not self._is_up.is_set():
            if self._interrupts.wait() is not None:
                return {}  # the supervisor asks for it again
        os.read(self._up_fd, 1)
        if self._failure is not None:
            raise self._failure
        return self._facts

    def _bring_up(self) -> None:
        try:
            self._facts = self._job.bring_up()
        except LauncherError as error:
            self._failure = error
        except Exception as error:  # noqa: BLE001  else nobody would hear of it
            self._failure = LauncherError(f"{type(error).__name__}: {error}")
        self._is_up.set()
        os.write(self._up, b".")

    def ended(self) -> dict[str, InstanceEnd]:
        """Return the instances that have ended since the last call.

        Raises:
            LauncherError: Nothing can be heard of one any more. Said once.
        """
        with contextlib.suppress(BlockingIOError):
            os.read(self._told_fd, 4096)
        found = {}
        for host, link in self._job.links.items():
            if host in self._told:
                continue
            if link.ended is not None:
                self._told.add(host)
                found[host] = link.ended
            elif link.lost and not self._ending.is_set():
                self._told.add(host)
                raise LauncherError(link.lost)
        return found

    def end(self) -> None:
        """End every instance, bring what it saved, and give the nodes back."""
        self._ending.set()
        if self._thread.ident is not None:
            self._thread.join()
        self._job.release(self._grace_s + _END_LIMIT_S)

    def last_words(self, host: str, rank: int | None) -> str:
        """Return what an entry point said of its failure, or the end of its log."""
        return last_words(self._folder, host, rank)

    def _wake_up(self) -> None:
        with contextlib.suppress(BlockingIOError):  # full: it will wake up
            os.write(self._wake, b".")
