"""The supervisor of one run: starts its instances, ends them together, has the last word.

Started as ``python -m smtc_lab.launchers.supervisor <run folder>``. Its standard input is a
lifeline to the process that launched the run; a detached run has none. SIGTERM stops the run.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import LauncherError
from smtc_lab.launchers.gang import Exit, Outcome, outcome
from smtc_lab.launchers.interrupts import Interrupts
from smtc_lab.launchers.local.instances import LocalInstances
from smtc_lab.launchers.run_keeper import RunKeeper
from smtc_lab.store.run_folder import RunFolder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smtc_lab.launchers.instances import Instances


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
            self._instances.end()
            self._collect_exits()
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
            self._exits[host] = ended.exit
            self._keeper.instance_ended(host, ended)


def main(path: str, *, detached: bool) -> int:
    """Supervise the run in a folder; return 0, or 1 when another supervisor has it."""
    folder = RunFolder(Path(path))
    lock = os.open(folder.lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return 1
    plan = json.loads(folder.plan_file.read_text(encoding="utf-8"))
    if plan["launcher"] == "sagemaker":
        from smtc_lab.launchers.on_sagemaker.supervise import supervise  # noqa: PLC0415  needs boto3

        supervise(folder, plan, detached=detached)
        return 0
    interrupts = Interrupts(limit_s=float(plan["max_runtime_s"]), detached=detached)
    instances = _instances(folder, plan, interrupts)
    Supervisor(folder, plan, instances=instances, interrupts=interrupts).run()
    return 0


def _instances(folder: RunFolder, plan: Mapping[str, Any], interrupts: Interrupts) -> Instances:
    """Return the instances of a run where its launcher has them."""
    if plan["launcher"] == "ray":
        from smtc_lab.launchers.on_ray.ray_instances import RayInstances  # noqa: PLC0415  local runs do without

        return RayInstances(folder, plan, interrupts)
    return LocalInstances(folder, plan)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], detached="--detached" in sys.argv[2:]))
