"""The instances of a run as actors of a Ray cluster, one on each node."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import threading
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import InstanceLostError, LauncherError
from smtc_lab.instance.plan import runs_script
from smtc_lab.launchers.on_ray.ray_job import RayJob
from smtc_lab.launchers.on_ray.reservation import Reservation
from smtc_lab.launchers.supervision.gang import Exit
from smtc_lab.launchers.supervision.gang_supervisor import supervise_instances
from smtc_lab.launchers.supervision.instances import InstanceEnd
from smtc_lab.launchers.supervision.last_words import last_words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from smtc_lab.launchers.supervision.gang import Outcome
    from smtc_lab.launchers.supervision.interrupts import Interrupts
    from smtc_lab.store.run_folder import RunFolder

_END_LIMIT_S = 15.0
"""How long after its grace an instance may take to end, before its actor is killed."""

_GONE = InstanceEnd(exit=Exit(exit_code=128 + signal.SIGKILL, agent_signal=signal.SIGKILL))
"""What ends with its node, as where an agent is killed: a spot job does without one of data."""


def supervise(folder: RunFolder, plan: Mapping[str, Any], *, detached: bool) -> None:
    """Supervise a run whose instances are nodes of a Ray cluster."""
    reservation = Reservation(folder.job_name)
    supervise_instances(
        folder,
        plan,
        detached=detached,
        sees_steps=False,  # which other machines count
        of=lambda folder, plan, interrupts: RayInstances(folder, plan, interrupts, reservation),
    )


class RayInstances:
    """One host actor for each instance, which runs the same agent as everywhere.

    Ray is used from other threads than the main one only. There it would take SIGTERM for
    itself; and the supervisor must hear its user while a cluster comes up.
    """

    def __init__(
        self,
        folder: RunFolder,
        plan: Mapping[str, Any],
        interrupts: Interrupts,
        reservation: Reservation,
    ) -> None:
        self._folder = folder
        self._interrupts = interrupts
        self._grace_s = float(plan["grace_s"])
        self._roles = {item["host"]: item["role"] for item in plan["instances"]}
        self._scripted = {item["host"] for item in plan["instances"] if runs_script(item)}
        self._is_spot = plan.get("spot") is not None
        self._ending = threading.Event()
        self._told: set[str] = set()
        self._told_fd, self._wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self.wake_fd: int | None = self._told_fd
        self._lock = threading.Lock()
        self._is_over = False
        self._job = RayJob(folder, reservation, told=self._wake_up, ending=self._ending)
        self._facts: dict[str, object] = {}
        self._failure: LauncherError | None = None
        self._is_done = threading.Event()
        self._thread: threading.Thread | None = None

    def reserve(self) -> Outcome | None:
        """Wait until the cluster has a node for each instance again.

        Raises:
            LauncherError: The cluster cannot be joined.
        """
        self._begin(lambda: self._job.reserve(is_patient=True))
        ended = self._interrupts.wait_for_instances(math.inf, are_there=self._is_done.is_set)
        if ended is None:
            self._forget_told()
            self._end_begun()
        return ended

    def start(self) -> dict[str, object]:
        """Find a node for each instance, and start them all.

        Raises:
            InstanceLostError: A node is gone.
            LauncherError: The cluster cannot be joined, has no such nodes, or an instance could
                not be started.
        """
        self._begin(self._bring_up)
        while not self._is_done.is_set():
            if self._interrupts.wait() is not None:  # the supervisor asks for it again
                self._interrupts.forget(self._told_fd)
                return {}
        self._end_begun()
        return self._facts

    def _bring_up(self) -> None:
        self._facts = self._job.bring_up()

    def _begin(self, work: Callable[[], None]) -> None:
        """Begin what uses Ray; its end can be heard."""
        self._is_done.clear()
        self._interrupts.listen_to([self._told_fd])
        self._thread = threading.Thread(target=self._do, args=(work,), name="smtc-ray")
        self._thread.daemon = True
        self._thread.start()

    def _do(self, work: Callable[[], None]) -> None:
        try:
            work()
        except LauncherError as error:
            self._failure = error
        except Exception as error:  # noqa: BLE001  else nobody would hear of it
            self._failure = LauncherError(f"{type(error).__name__}: {error}")
        self._wake_up()  # before what says so, so that no word of it is left
        self._is_done.set()

    def _end_begun(self) -> None:
        """Let go of what was begun.

        Raises:
            LauncherError: It failed.
        """
        self._interrupts.forget(self._told_fd)
        if self._failure is not None:
            raise self._failure

    def ended(self) -> dict[str, InstanceEnd]:
        """Return the instances that have ended since the last call.

        Raises:
            InstanceLostError: Nothing can be heard of one any more. Said once.
            LauncherError: What one told cannot be kept. Said once.
        """
        self._forget_told()
        found = {}
        for host, link in self._job.links.items():
            if host in self._told:
                continue
            if link.ended is not None:
                self._told.add(host)
                found[host] = link.ended
            elif (link.lost or link.failure) and not self._ending.is_set():
                if found:  # told first
                    self._wake_up()
                    continue
                self._told.add(host)
                if link.failure:
                    raise LauncherError(link.failure)
                is_needed = self._roles[host] == "train" or host in self._scripted
                if not self._is_spot or is_needed:
                    raise self._lost(link.lost)
                found[host] = _GONE
        return found

    def lost(self) -> dict[str, str]:
        """Return why instances are lost, by host."""
        return {host: link.lost for host, link in self._job.links.items() if link.lost}

    def _lost(self, why: str) -> InstanceLostError:
        if self._is_spot:
            return InstanceLostError(why)
        return InstanceLostError(
            f"{why} It has ended, or ends within seconds; what it had saved stays there. Start "
            "the job again."
        )

    def end(self) -> None:
        """End every instance, bring what it saved, and give the nodes back. Called once."""
        self._ending.set()
        if self._thread is not None:
            self._thread.join()
        self._job.release(self._grace_s + _END_LIMIT_S)
        self._interrupts.forget(self._told_fd)
        with self._lock:
            self._is_over = True
            os.close(self._told_fd)
            os.close(self._wake)

    def last_words(self, host: str, rank: int | None) -> str:
        """Return what an entry point said of its failure, or the end of its log."""
        return last_words(self._folder, host, rank)

    def _forget_told(self) -> None:
        if not self._is_over:
            with contextlib.suppress(BlockingIOError):
                os.read(self._told_fd, 4096)

    def _wake_up(self) -> None:
        with self._lock, contextlib.suppress(BlockingIOError):  # full: it will wake up
            if not self._is_over:
                os.write(self._wake, b".")
