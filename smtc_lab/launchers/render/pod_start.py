"""Runs one instance of a job in a pod of a JobSet.

Started as ``python -m smtc_lab.launchers.render.pod_start <folder of runs>``, the first process
of its container. What the entry point prints is the container's log. Kubernetes ends the pods
together, by the policies of the JobSet.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.errors import LauncherError, SmtcLabError
from smtc_lab.instance.instance_exit import InstanceExit
from smtc_lab.instance.plan import log_ranks
from smtc_lab.instance.variables import RUN_VARIABLE
from smtc_lab.launchers.plan_file import plan_text
from smtc_lab.launchers.render.cluster_plan import cluster_plan, write_agent_config
from smtc_lab.launchers.render.dns_names import pod_hosts
from smtc_lab.spec.distribution import KEPT
from smtc_lab.spec.job import TrainingJob
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.state import replace_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from smtc_lab.spec.cluster import Cluster

JOB_VARIABLE = "SMTC_JOB"
"""Environment variable with the job as JSON."""

GROUP_VARIABLE = "SMTC_INSTANCE_GROUP"
"""Environment variable with the name of the instance group."""

INDEX_VARIABLE = "JOB_COMPLETION_INDEX"
"""Kubernetes' own: number of the pod in its group, from 0."""

SECRET_FILE = Path("/etc/smtc-lab/secret")
"""Where the pod has the job's secret."""

_LOOK_S = 0.2


def run(root: Path, environ: Mapping[str, str]) -> int:
    """Run this pod's instance and return the exit code of its entry point.

    Args:
        root: Folder of runs.
        environ: The pod's variables.

    Raises:
        SmtcLabError: It could not be started.
    """
    catalog = Catalog.load()
    job = TrainingJob.model_validate_json(environ[JOB_VARIABLE], context=KEPT)
    host = _host(job.cluster, environ[GROUP_VARIABLE], int(environ[INDEX_VARIABLE]))
    folder = RunFolder(root / str(job.job_name))
    addresses = [_awaited_address(name) for name in pod_hosts(job)]
    plan = cluster_plan(job, catalog, launcher="jobset", addresses=addresses)
    (instance,) = (item for item in plan.instances if item.host == host)
    for part in (folder.logs, folder.records):
        part.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        config = write_agent_config(folder, plan, instance, catalog)
    except FileExistsError as error:
        raise LauncherError(
            f"The claim already holds a run named {folder.job_name!r}. Give the job another "
            "job_name, or remove the old run's folder."
        ) from error
    with contextlib.suppress(FileExistsError):  # another pod of the run was quicker
        folder.secret_file.symlink_to(SECRET_FILE)
    if host == "algo-1":
        replace_file(folder.plan_file, plan_text(plan))
        replace_file(folder.job_file, job.to_json())
    logs = [folder.log_file(host, rank) for rank in log_ranks(instance.ranks)]
    return _run_agent(config, folder, host, logs)


def _host(cluster: Cluster, group_name: str, index: int) -> str:
    """Return the name of an instance."""
    own = [
        host
        for host, group in cluster.hosts().items()
        if group.instance_group_name == group_name
    ]
    return own[index]


def _awaited_address(name: str) -> str:
    """Return the address of a pod, once it has one."""
    has_said = False
    while True:
        try:
            return str(socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)[0][4][0])
        except OSError:
            if not has_said:
                _say(f"smtc-lab: waiting for {name}\n".encode())
                has_said = True
            time.sleep(_LOOK_S)  # a name server tells nobody that a name is there now


def _run_agent(config: Path, folder: RunFolder, host: str, logs: Sequence[Path]) -> int:
    """Run the agent to its end, printing what the entry points print; return its exit code."""
    lifeline, write_end = os.pipe2(os.O_CLOEXEC)
    process = subprocess.Popen(  # noqa: S603  our own module, no shell
        [sys.executable, "-m", "smtc_lab.runtime.agent", str(config)],
        stdin=lifeline,
        env={**os.environ, RUN_VARIABLE: str(folder.path)},
    )
    os.close(lifeline)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    with contextlib.ExitStack() as stack:
        for log in logs:
            log.touch(mode=0o600)
        said = [stack.enter_context(log.open("rb")) for log in logs]
        code = None
        while code is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = process.wait(_LOOK_S)
            for file in said:
                _say(file.read())
    os.close(write_end)
    for problem in _problems(folder, host):
        _say(f"smtc-lab: {problem}\n".encode())
    return code if code >= 0 else 128 - code


def _problems(folder: RunFolder, host: str) -> list[str]:
    """Return what the agent says went wrong around the entry point."""
    told = InstanceExit.read(folder, host)
    if told is None:
        return ["The agent of this instance ended without a word. Start the job again."]
    return told.problems


def _say(what: bytes) -> None:
    sys.stdout.buffer.write(what)
    sys.stdout.flush()


def main(root: str) -> int:
    """Run this pod's instance; return its exit code."""
    # the first process of a container ignores what it has no handler for
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        return run(Path(root), os.environ)
    except SmtcLabError as error:
        sys.stderr.write(f"{error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
