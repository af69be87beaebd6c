"""Keeps one instance on its node: starts its agent, and leaves nothing of it behind.

Started as ``python -m smtc_lab.launchers.on_ray.node_keeper <run folder>`` and nobody's child,
so that it outlives whatever Ray does to its own processes. Its standard input is a lifeline to
the actor of the instance: when that ends, the instance ends, and its folder with it. SIGTERM
ends the instance only; what it wrote stays until the lifeline ends. It is started with SIGTERM
blocked, so that none can come before it listens.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.launchers.local.instances import LocalInstances
from smtc_lab.launchers.on_ray.node_files import ENDED_FILE, NodeFiles
from smtc_lab.launchers.supervision.interrupts import Interrupts
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.state import replace_file

if TYPE_CHECKING:
    from smtc_lab.launchers.supervision.instances import InstanceEnd

FETCHED = b"fetched"
"""Said through the lifeline before it ends: whatever the entry point saved is elsewhere now."""

LEFT = b"left"
"""Said in its place: something that it saved is nowhere else."""

_LATER_S = 60.0
"""How much later than the run's supervisor the keeper ends an instance that takes too long."""


def keep(folder: RunFolder) -> None:
    """Run the instance of a folder to its end, and remove the folder when nobody needs it."""
    lock = os.open(folder.lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)  # a sweep of this machine leaves the instance alone
    plan = json.loads(folder.plan_file.read_text(encoding="utf-8"))
    host = plan["instances"][0]["host"]
    interrupts = Interrupts(limit_s=plan["max_runtime_s"] + _LATER_S, detached=False)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})  # it may have come already
    instances = LocalInstances(folder, plan)
    ended: dict[str, InstanceEnd] = {}
    try:
        instances.start()
        while not ended and interrupts.wait() is None:
            ended = instances.ended()
    finally:
        instances.end()
        ended |= instances.ended()
        told = json.dumps(asdict(ended[host]))
        replace_file(folder.instance(host) / ENDED_FILE, told)
    said = sys.stdin.buffer.read()
    # of a spot job another attempt takes the place of an instance that is lost
    is_of_no_use = plan["spot"] is not None and LEFT not in said
    NodeFiles(folder, host).remove(is_fetched=FETCHED in said or is_of_no_use)


if __name__ == "__main__":
    keep(RunFolder(Path(sys.argv[1])))
