"""Watches over the instances of one run that are this machine's to start and to end.

Starts them, ends them together, and has the last word.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import LauncherError
from smtc_lab.launchers.supervision.gang import Exit, Outcome, outcome
from smtc_lab.launchers.supervision.interrupts import Interrupts
from smtc_lab.launchers.supervision.run_keeper import RunKeeper

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from smtc_lab.launchers.supervision.instances import Instances
    from smtc_lab.store.run_folder import RunFolder


_SEEN_LATE_S = 1.0
"""A killed agent is seen late on a busy machine, and other trainers fail over it soon."""


class Supervisor:
    """Watches over one run from its begin to the death of its last process.

    Args:
        folder: The run's folder.
        plan: What was asked for each instance; ``plan.json``.
        instances: The instances, not started yet.
        interrupts: What ends the run from outside.
    """

    def __init__(
        self,
        folder: RunFolder,
        plan: Mapping[str, Any],
        *,
        instances: Instances,
        interrupts: Interrupts,
    ) -> None:
        self._roles = {item["host"]: item["role"] for item in plan["instances"]}
        self._groups = {item["host"]: item["instance_group_name"] for item in plan["instances"]}
        self._instances = instances
        self._interrupts = interrupts
        self._exits: dict[str, Exit] = {}
        self._is_ending = False
        self._keeper = RunKeeper(folder, hosts=self._roles, facts=plan["facts"])

    def run(self) -> None:
        """Run the job to its end."""
        self._keeper.begin()
        ended = Outcome(state="Failed", reason="The instances could not be started.")
        try:
            self._keeper.learn(self._instances.start())
            ended = self._watch()
        except LauncherError as error:
            ended = Outcome(state="Failed", reason=str(error))
        finally:
            if ended.state == "Stopped":
                self._keeper.stopping(ended.reason)
            self._is_ending = True
            self._instances.end()
            self._collect_exits()
            if ended.host:  # by now all have told when they failed
                ended = outcome(self._exits, self._roles, self._groups) or ended
            last_words = self._instances.last_words
            words = last_words(ended.host, ended.rank) if ended.host else ""
            self._keeper.finish(ended, last_words=words)

    def _watch(self) -> Outcome:
        """Wait until something decides how the job ends."""
        if self._instances.wake_fd is not None:
            self._interrupts.listen_to([self._instances.wake_fd])
        while True:
            interrupted = self._interrupts.wait()
            self._collect_exits()
            ended = outcome(self._exits, self._roles, self._groups)
            if ended is not None:
                return ended
            if interrupted is not None:
                return interrupted

    def _collect_exits(self) -> None:
        """Take note of the instances that have ended."""
        for host, ended in self._instances.ended().items():
            self._exits[host] = self._timed(ended.exit)
            self._keeper.instance_ended(host, ended)

    def _timed(self, ended: Exit) -> Exit:
        """Return an end with its time, where an agent was killed and could not say it."""
        is_first = ended.agent_signal is not None and not self._is_ending
        if not is_first:
            return ended
        return replace(ended, failed_at_s=time.time() - _SEEN_LATE_S)


def supervise_instances(
    folder: RunFolder,
    plan: Mapping[str, Any],
    *,
    detached: bool,
    of: Callable[[RunFolder, Mapping[str, Any], Interrupts], Instances],
) -> None:
    """Supervise a run whose instances can be made from its plan.

    Args:
        folder: The run's folder.
        plan: ``plan.json``.
        detached: Whether the run goes on without the process that launched it.
        of: Makes the instances; called once what ends the run is heard.
    """
    interrupts = Interrupts(limit_s=float(plan["max_runtime_s"]), detached=detached)
    instances = of(folder, plan, interrupts)
    Supervisor(folder, plan, instances=instances, interrupts=interrupts).run()
