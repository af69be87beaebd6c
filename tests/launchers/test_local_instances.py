"""Agents that end sooner than anybody expects."""

from __future__ import annotations

import subprocess
import sys

AT_ONCE = """
import os, subprocess, sys
from pathlib import Path

from smtc_lab.launchers.local.instances import LocalInstances
from smtc_lab.store.run_folder import RunFolder

class Slow(subprocess.Popen):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)  # and it is left to be collected

class Broken(LocalInstances):
    is_forked = False

    def _command(self, host):
        return ["false"]

subprocess.Popen = Slow
folder = RunFolder.create(Path(sys.argv[1]), "broken")
hosts = [{"host": f"algo-{n}", "cpu_quota_cores": None} for n in (1, 2)]
instances = Broken(folder, {"instances": hosts, "grace_s": 0.1})
instances.start()
print(*(f"{host} {end.exit.exit_code}" for host, end in sorted(instances.ended().items())))
"""


def test_an_agent_that_ends_before_its_start_returns_is_heard_of(tmp_path: object) -> None:
    told = subprocess.run(
        [sys.executable, "-c", AT_ONCE, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    assert told.stdout == "algo-1 1 algo-2 1\n"
