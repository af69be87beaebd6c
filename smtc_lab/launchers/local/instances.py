"""The instances of a run as process trees of this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, ClassVar

from smtc_lab.instance.instance_exit import InstanceExit
from smtc_lab.launchers.local.forked import first_of_alike, fork_agents
from smtc_lab.launchers.local.own_folder import OwnFolder
from smtc_lab.launchers.supervision.gang import Exit
from smtc_lab.launchers.supervision.gang_supervisor import supervise_instances
from smtc_lab.launchers.supervision.instances import InstanceEnd, instance_end
from smtc_lab.launchers.supervision.last_words import last_words
from smtc_lab.machine.processes import become_subreaper, descendants, end_all, reap
from smtc_lab.machine.quota.cgroups import remove_leftover_groups
from smtc_lab.machine.wakefulness import AWAKE_VARIABLE, keep_cores_awake

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smtc_lab.instance.description import InstanceDescription
    from smtc_lab.instance.forking import Forker
    from smtc_lab.launchers.supervision.gang import Outcome
    from smtc_lab.store.run_folder import RunFolder


def supervise(folder: RunFolder, plan: Mapping[str, Any], *, detached: bool) -> None:
    """Supervise a run of this machine."""
    own = OwnFolder.of(folder, plan)
    try:
        supervise_instances(
            folder,
            plan,
            detached=detached,
            of=lambda folder, plan, _: LocalInstances(folder, plan, own),
        )
    finally:
        if own is not None:
            own.close()


class LocalInstances:
    """One agent for each instance, all of them children of this process.

    Args:
        folder: The run's folder.
        plan: ``plan.json``.
        own: The working folder of its entry points; None: that of this process.
    """

    wake_fd: int | None = None

    is_forked: ClassVar[bool] = True
    """Whether agents that are alike are forked from one process."""

    patience_s: ClassVar[float] = 0.7
    """How long after its grace an agent may take to end its instance before it is killed."""

    def __init__(
        self, folder: RunFolder, plan: Mapping[str, Any], own: OwnFolder | None = None
    ) -> None:
        self._folder = folder
        self._own = own
        self._hosts = [item["host"] for item in plan["instances"]]
        self._grace_s = float(plan["grace_s"])
        self._agents: dict[int, str] = {}
        self._forker: Forker | None = None
        self._processes: list[subprocess.Popen[bytes]] = []
        """All that were started: a Popen that nobody holds collects its own exit code."""
        self._lifelines: list[int] = []
        self._ended: dict[str, InstanceEnd] = {}
        become_subreaper()
        is_emulated = any(item["cpu_quota_cores"] for item in plan["instances"])
        self._awake: tuple[int, ...] = (keep_cores_awake(),) if is_emulated else ()

    def reserve(self) -> Outcome | None:
        """Return None: this machine is there."""
        return None

    def start(self) -> dict[str, object]:
        """Start every agent, holding its lifeline.

        Raises:
            LauncherError: Their working folder could not be made.
        """
        if self._own is not None:
            self._own.begin()
        first = first_of_alike(self._folder, self._hosts) if self.is_forked else None
        if first is not None:
            self._start_forked(first)
        else:
            for host in self._hosts:
                self._start(host)
        return {}

    def _command(self, host: str) -> list[str]:
        """Return what runs the agent of an instance, its standard input being its lifeline."""
        config = str(self._folder.agent_file(host))
        return [sys.executable, "-m", "smtc_lab.runtime.agent", config]

    def _start(self, host: str) -> None:
        lifeline, write_end = os.pipe2(os.O_CLOEXEC)
        with (self._folder.logs / f"{host}.agent.log").open("ab") as log:
            process = subprocess.Popen(  # noqa: S603  our own module, no shell
                self._command(host),
                stdin=lifeline,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=self._awake,
                env=self._environment(),
            )
        os.close(lifeline)
        self._agents[process.pid] = host
        self._processes.append(process)
        self._lifelines.append(write_end)

    def _start_forked(self, first: InstanceDescription) -> None:
        pipes = {host: os.pipe2(os.O_CLOEXEC) for host in self._hosts}
        self._lifelines += [write_end for _, write_end in pipes.values()]
        try:
            self._forker = fork_agents(
                first,
                self._folder,
                {host: read_end for host, (read_end, _) in pipes.items()},
                environment=self._environment(),
                inherited=self._awake,
            )
        finally:
            for read_end, _ in pipes.values():
                os.close(read_end)

    def _environment(self) -> dict[str, str]:
        return {**os.environ, AWAKE_VARIABLE: "".join(map(str, self._awake))}

    def ended(self) -> dict[str, InstanceEnd]:
        """Return the instances whose agent has ended since the last call."""
        self._collect()
        found, self._ended = self._ended, {}
        return found

    def _collect(self) -> None:
        codes = dict(reap())
        if (forker := self._forker) is not None:
            codes = forker.collect(codes)
            if forker.numbers is not None:
                self._agents = dict(zip(forker.numbers, self._hosts, strict=True))
                self._forker = None
            elif forker.failed_with is not None:
                code = forker.failed_with
                self._ended |= {host: self._read_end(host, code) for host in self._hosts}
                self._forker = None
        for pid, code in codes.items():
            host = self._agents.pop(pid, None)
            if host is not None:
                self._ended[host] = self._read_end(host, code)

    def _read_end(self, host: str, agent_code: int) -> InstanceEnd:
        if (told := InstanceExit.read(self._folder, host)) is not None:
            return instance_end(told)
        killed_by = -agent_code if agent_code < 0 else None
        return InstanceEnd(exit=Exit(exit_code=agent_code % 256 or 1, agent_signal=killed_by))

    def end(self) -> None:
        """End every instance: its agent first, then whatever an agent could not end."""
        for lifeline in self._lifelines:
            os.close(lifeline)
        self._lifelines.clear()
        deadline = time.monotonic() + self._grace_s + self.patience_s
        while self._agents and time.monotonic() < deadline:
            self._collect()
            time.sleep(0.01)  # the wake-up pipe may have been drained already

        def members() -> list[int]:
            self._collect()
            return descendants(os.getpid())

        end_all(members, grace_s=0.0)
        self._collect()
        for descriptor in self._awake:  # those it wakes were among them
            os.close(descriptor)
        self._awake = ()
        remove_leftover_groups(f"{self._folder.job_name}-")
        shutil.rmtree(self._folder.rendezvous, ignore_errors=True)
        if self._own is not None:
            self._own.look()
            self._own.close()  # before the run is told to have ended: whoever copies it then

    def lost(self) -> dict[str, str]:
        """Return nothing: what ends here is heard of."""
        return {}

    def last_words(self, host: str, rank: int | None) -> str:
        """Return what an entry point said of its failure, or the end of its log."""
        return last_words(self._folder, host, rank)
