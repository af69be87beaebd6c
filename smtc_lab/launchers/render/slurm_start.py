"""Runs a job inside its Slurm allocation: one agent on each node, a supervisor over them.

Started by the sbatch script on its first node, with the job on standard input::

    python -m smtc_lab.launchers.render.slurm_start <folder of runs>

The run's folder lies where all nodes see it. Each agent is a job step of its own; its lifeline
is the standard input that ``srun`` passes on.
"""

from __future__ import annotations

import ipaddress
import json
import os
import platform
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.errors import LauncherError, SmtcLabError
from smtc_lab.instance.variables import RUN_VARIABLE
from smtc_lab.launchers.launcher import Handle
from smtc_lab.launchers.local.instances import LocalInstances
from smtc_lab.launchers.plan_file import write_plan
from smtc_lab.launchers.render.cluster_plan import cluster_plan, write_agent_config
from smtc_lab.launchers.render.slurm_job import SlurmInterrupts, SlurmJob, end_lost_attempt
from smtc_lab.launchers.supervision.begin import kept_environment
from smtc_lab.launchers.supervision.gang import Outcome
from smtc_lab.launchers.supervision.gang_supervisor import Supervisor
from smtc_lab.launchers.supervision.last_words import last_line
from smtc_lab.spec.distribution import KEPT
from smtc_lab.spec.job import TrainingJob
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.state import SUPERVISOR_MACHINE, read_state, replace_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from smtc_lab.launchers.launcher import LaunchPlan
    from smtc_lab.launchers.supervision.instances import InstanceEnd
    from smtc_lab.spec.cluster import Cluster

_WITHOUT_SLURM = ("bash", "-c", 'unset "${!SLURM_@}"; exec "$@"', "bash")
"""Libraries that find these variables take the one step for the whole job."""

NODES = "nodes"
"""Fact of a plan: name of each host's node."""


class SlurmInstances(LocalInstances):
    """One agent on each node of the allocation, each behind an ``srun`` of this process.

    Args:
        folder: The run's folder.
        plan: The plan of the job.
        job: What Slurm knows of it.
        interrupts: What ends the run from outside.
    """

    is_forked: ClassVar[bool] = False
    patience_s: ClassVar[float] = 5.0

    def __init__(
        self, folder: RunFolder, plan: LaunchPlan, job: SlurmJob, interrupts: SlurmInterrupts
    ) -> None:
        super().__init__(folder, json.loads(folder.plan_file.read_text(encoding="utf-8")))
        self._job, self._interrupts = job, interrupts
        self._codes: dict[str, int] = {}
        self._plan = {item.host: item for item in plan.instances}
        self._nodes: Mapping[str, str] = plan.facts[NODES]
        names = [group.instance_group_name for group in plan.job.cluster.instance_groups]
        self._components = {name: number for number, name in enumerate(names)}

    def _command(self, host: str) -> list[str]:
        instance = self._plan[host]
        component = self._components[instance.instance_group_name]
        # Everything is said outright: what is not said comes from the environment, which
        # describes the first component.
        return [
            "srun",
            *([f"--het-group={component}"] if len(self._components) > 1 else []),
            "--nodes=1",
            "--ntasks=1",
            f"--nodelist={self._nodes[host]}",
            f"--cpus-per-task={instance.num_cpus}",
            "--mem=0",  # all that the job has on that node
            "--cpu-bind=none",
            *_WITHOUT_SLURM,
            *super()._command(host),
        ]

    def ended(self) -> dict[str, InstanceEnd]:
        """Return the instances whose agent has ended since the last call."""
        found = super().ended()
        self._codes |= {host: ended.exit.exit_code for host, ended in found.items()}
        return found

    def lost(self) -> dict[str, str]:
        """Return why the nodes are taken away, all of them together; none: they are not.

        Where every trainer has ended well that costs nothing.
        """
        trainers = [host for host, item in self._plan.items() if item.role == "train"]
        if all(self._codes.get(host) == 0 for host in trainers):
            return {}
        why = self._job.why_taken()
        self._interrupts.is_taken |= bool(why)
        return dict.fromkeys(self._plan, why) if why else {}

    def reserve(self) -> Outcome | None:
        """Return None where the nodes are still the job's; else Slurm starts it again."""
        if not self._interrupts.is_taken:
            return None
        return Outcome(state="Interrupted", reason="Slurm starts the next attempt.")

    def last_words(self, host: str, rank: int | None) -> str:
        """Return what an entry point said of its failure, or what Slurm said instead."""
        said = super().last_words(host, rank)
        return said or last_line(self._folder.logs / f"{host}.agent.log")


def run(job: TrainingJob, root: Path, environ: Mapping[str, str]) -> RunFolder:
    """Run a job in the allocation that an environment describes; return its folder.

    A spot job that Slurm has started again goes on in its folder.

    Raises:
        SmtcLabError: It could not be started.
    """
    catalog = Catalog.load()
    nodes = _nodes(job.cluster, environ)
    slurm = SlurmJob.from_environment(environ)
    job = job.model_copy(update={"job_name": f"{job.job_name}-{slurm.number}"})
    facts = {
        SUPERVISOR_MACHINE: platform.node(),
        "slurm_job_id": slurm.number,
        NODES: dict(zip(job.cluster.hosts(), nodes, strict=True)),
    }
    plan = cluster_plan(
        job, catalog, launcher="slurm", addresses=_addresses(nodes), facts=facts
    )
    folder, is_again = _folder(root, job, slurm)
    if is_again and read_state(folder).state == "Completed":
        return folder
    write_plan(folder, plan)
    for instance in plan.instances:
        write_agent_config(folder, plan, instance, catalog, is_again=is_again)
    handle = Handle(
        launcher="local",  # whoever finds it reads it as any other run in a folder
        job_name=str(job.job_name),
        run_folder=str(folder.path),
        remote={"slurm_job_id": slurm.number},
    )
    replace_file(folder.handle_file, handle.to_json())
    _keep_environment(folder)
    interrupts = SlurmInterrupts(
        slurm, folder, limit_s=job.max_runtime_s, max_wait_s=job.max_wait
    )
    Supervisor(
        folder,
        json.loads(folder.plan_file.read_text(encoding="utf-8")),
        make=lambda: SlurmInstances(folder, plan, slurm, interrupts),
        interrupts=interrupts,
    ).run()
    return folder


def _folder(root: Path, job: TrainingJob, slurm: SlurmJob) -> tuple[RunFolder, bool]:
    """Return the run's folder, and whether an earlier attempt of it may have written there."""
    folder = RunFolder(root / str(job.job_name))
    if not job.use_spot_instances or not slurm.num_restarts:
        return RunFolder.create(root, folder.job_name), False
    if folder.path.is_dir():
        end_lost_attempt(folder)
        return folder, True
    sys.stdout.write(
        f"Slurm started job {slurm.number} again, but {str(root)!r} holds no run of it, so it "
        "begins anew. Give a folder of runs that all nodes share.\n"
    )
    return RunFolder.create(root, folder.job_name), False


def _keep_environment(folder: RunFolder) -> None:
    """Let the instances see of this process's variables what those of any launcher see."""
    kept = kept_environment(os.environ)
    for name in os.environ.keys() - kept.keys():
        if not name.startswith("SLURM"):  # srun reads those
            del os.environ[name]
    os.environ[RUN_VARIABLE] = str(folder.path)


def _nodes(cluster: Cluster, environ: Mapping[str, str]) -> list[str]:
    """Return the node of each instance, in the order of the cluster's hosts."""
    nodes: list[str] = []
    for number, group in enumerate(cluster.instance_groups):
        variable = "SLURM_JOB_NODELIST"
        if cluster.is_heterogeneous:
            variable += f"_HET_GROUP_{number}"
        if variable not in environ:
            raise LauncherError(
                f"{variable} is not set, so this is not the allocation of a job with "
                f"{len(cluster.instance_groups)} instance groups. Submit the script with "
                "sbatch, as it was written."
            )
        found = _expanded(environ[variable])
        if len(found) != group.instance_count:
            raise LauncherError(
                f"Instance group {group.instance_group_name!r} has {group.instance_count} "
                f"instances, but Slurm gave it the nodes {', '.join(found) or 'none'}. Ask "
                "for as many nodes as the script does."
            )
        nodes += found
    return nodes


def _expanded(node_list: str) -> list[str]:
    """Return the names that ``node[1-3]`` stands for."""
    try:
        told = subprocess.run(  # noqa: S603  Slurm's own program, no shell
            ["scontrol", "show", "hostnames", node_list],  # noqa: S607  wherever the site has it
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise LauncherError(
            f"Slurm did not say which nodes {node_list!r} are ({error}). Look whether "
            "'scontrol' works on the nodes."
        ) from error
    return told.stdout.split()


def _addresses(nodes: Sequence[str]) -> list[str]:
    """Return an IP address of each node that the others can reach."""
    found = []
    for node in nodes:
        try:
            known = socket.getaddrinfo(node, None, socket.AF_INET, socket.SOCK_STREAM)
        except OSError as error:
            raise LauncherError(
                f"The node {node!r} has no known address ({error}). Its name must be known to "
                "the other nodes."
            ) from error
        found.append(str(known[0][4][0]))
    others = [address for address in found if not ipaddress.ip_address(address).is_loopback]
    if not others:
        return found
    # some systems give a machine's own name a loopback address
    own = _own_address(towards=others[0])
    return [address if address in others else own for address in found]


def _own_address(*, towards: str) -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect((towards, 9))  # sends nothing: it only chooses a way
        return str(sock.getsockname()[0])


def main(root: str) -> int:
    """Run the job on standard input; return 0 when it completed, else 1."""
    try:
        folder = run(
            TrainingJob.model_validate_json(sys.stdin.read(), context=KEPT),
            Path(root),
            os.environ,
        )
    except SmtcLabError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    state = read_state(folder)
    sys.stdout.write(f"{folder.path}: {state.state}. {state.reason}".rstrip() + "\n")
    return 0 if state.state == "Completed" else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
