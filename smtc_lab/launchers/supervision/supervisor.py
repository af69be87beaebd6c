"""The supervisor process of one run: whatever its engine supervises runs with.

Started as ``python -m smtc_lab.launchers.supervision.supervisor <run folder>``. Its standard
input is a lifeline to the process that launched the run; a detached run has none. SIGTERM
stops the run.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
from pathlib import Path

from smtc_lab.launchers.engines import engine_named
from smtc_lab.machine.installed import loaded
from smtc_lab.store.run_folder import RunFolder


def main(path: str, *, detached: bool) -> int:
    """Supervise the run in a folder; return 0, or 1 when another supervisor has it."""
    folder = RunFolder(Path(path))
    lock = os.open(folder.lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return 1
    plan = json.loads(folder.plan_file.read_text(encoding="utf-8"))
    loaded(engine_named(plan["launcher"]).supervise)(folder, plan, detached=detached)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], detached="--detached" in sys.argv[2:]))
