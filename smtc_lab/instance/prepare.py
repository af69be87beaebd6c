"""What an instance is given before its entry point starts: tree, host names, variables."""

from __future__ import annotations

import ipaddress
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.instance.context import process_variables
from smtc_lab.instance.opt_ml import write_opt_ml
from smtc_lab.instance.progress import progress_file
from smtc_lab.instance.resource_config import (
    BASE_FOLDER_VARIABLE,
    assign_hosts,
    resource_config,
)
from smtc_lab.instance.sm_environment import sm_environment
from smtc_lab.instance.torchrun import without_ranks
from smtc_lab.instance.variables import (
    DILATION_VARIABLE,
    PROGRESS_VARIABLE,
    RENDEZVOUS_FOLDER_VARIABLE,
    WORKING_FOLDER_VARIABLE,
)
from smtc_lab.machine.quota.vcpu import COUNTER_VARIABLE, VCPU_VARIABLE, CpuCounter

if TYPE_CHECKING:
    from smtc_lab.instance.description import InstanceDescription, Trainer
    from smtc_lab.store.run_folder import RunFolder

_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)


def prepare_instance(told: InstanceDescription, folder: RunFolder) -> None:
    """Write the tree that SageMaker shows, and the names of the job's hosts.

    Raises:
        SpecError: A hyperparameter that cannot be passed on, or a channel without a folder.
        LauncherError: The tree cannot be written.
    """
    write_opt_ml(
        folder.opt_ml(told.host),
        resource_config=told.resource_config
        or resource_config(assign_hosts(told.instance_groups), told.host),
        hyperparameters=told.hyperparameters,
        channels={name: Path(path) for name, path in told.channels.items()},
    )
    if told.rendezvous is not None and told.rendezvous.in_folder:
        folder.rendezvous.mkdir(mode=0o700, exist_ok=True)
    _write_hosts_file(folder.instance(told.host) / "hosts", told.hosts)


def process_environment(
    told: InstanceDescription, folder: RunFolder, trainer: Trainer | None
) -> dict[str, str]:
    """Return the environment of one process of an instance that is prepared.

    Args:
        told: What the instance is told.
        folder: The run's folder.
        trainer: The trainer that the process is; None: the instance has none.
    """
    base = folder.opt_ml(told.host)
    has_no_rank = told.has_lone_trainer or told.runs_script
    return {
        **(without_ranks(os.environ) if has_no_rank else os.environ),
        "PYTHONUNBUFFERED": "1",
        # Sets have one order in all processes of a job, where samples may be prepared in any.
        "PYTHONHASHSEED": os.environ.get("PYTHONHASHSEED", str(told.seed % 2**32)),
        **thread_variables(told),
        BASE_FOLDER_VARIABLE: str(base),
        "SM_CHECKPOINT_DIR": str(base / "checkpoints"),  # ours: the toolkit knows none
        "TRAINING_JOB_NAME": folder.job_name,
        WORKING_FOLDER_VARIABLE: told.working_folder or "",
        **sm_environment(
            base,
            num_cpus=told.num_cpus,
            num_gpus=told.num_gpus,
            job_name=folder.job_name,
            arguments=told.arguments,
        ),
        **told.environment,
        **process_variables(told, trainer),
        **_vcpu(told, folder, trainer),
        **_of_several(told, folder, trainer),
    }


def thread_variables(told: InstanceDescription) -> dict[str, str]:
    """Return the number of threads for every library; a job that says one's says all others'.

    torch asks MKL's variable before OpenMP's.
    """
    asked = told.environment.get("OMP_NUM_THREADS", str(told.threads))
    return dict.fromkeys(_THREAD_VARIABLES, asked)


def _of_several(
    told: InstanceDescription, folder: RunFolder, trainer: Trainer | None
) -> dict[str, str]:
    """Return what a trainer is told of this machine, where somebody waits for it."""
    found = told.rendezvous
    if trainer is None:
        return {}
    variables = {PROGRESS_VARIABLE: str(progress_file(folder, told.host, trainer.rank))}
    if found is None or found.world_size == 1:  # a supervisor's clock follows its steps
        return variables if os.environ.get(DILATION_VARIABLE) else {}
    if found.num_groups > 1 and not found.in_folder:
        variables |= _interfaces(told)
    if found.in_folder:
        variables[RENDEZVOUS_FOLDER_VARIABLE] = str(folder.rendezvous)
    return variables


def _interfaces(told: InstanceDescription) -> dict[str, str]:
    """Return the variables by which collectives find the way to the other instances.

    They would look for the machine's own name, which is often that of a loopback address.
    """
    if ipaddress.ip_address(told.address).is_loopback:
        return {}
    from smtc_lab.machine.network import interface_of  # noqa: PLC0415  others start without psutil

    name = interface_of(told.address)
    variables = ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME")
    given = {**os.environ, **told.environment}
    return {variable: name for variable in variables if name and variable not in given}


def _vcpu(
    told: InstanceDescription, folder: RunFolder, trainer: Trainer | None
) -> dict[str, str]:
    """Return what a process is told of the vCPUs that it is held to."""
    if told.vcpu is None:
        return {}
    variables = {VCPU_VARIABLE: told.vcpu}
    if told.passes_outside_quota and trainer is not None:
        variables[COUNTER_VARIABLE] = str(_counter_file(told, folder, trainer))
    return variables


def loading_counters(told: InstanceDescription, folder: RunFolder) -> list[CpuCounter]:
    """Return what trainers outside the quota count of their loading; of a full disk nothing."""
    if not told.passes_outside_quota:
        return []
    with suppress(OSError):
        return [CpuCounter(_counter_file(told, folder, each)) for each in told.trainers]
    return []


def _counter_file(told: InstanceDescription, folder: RunFolder, trainer: Trainer) -> Path:
    return folder.instance(told.host) / f"loading-rank{trainer.rank}"


def _write_hosts_file(path: Path, hosts: dict[str, str]) -> None:
    """Write this machine's ``/etc/hosts`` with the job's hosts before it."""
    lines = [f"{address}\t{host}" for host, address in hosts.items()]
    try:
        own = Path("/etc/hosts").read_text(encoding="utf-8", errors="replace")
    except OSError:
        own = "127.0.0.1\tlocalhost\n"
    path.write_text("\n".join(lines) + "\n" + own, encoding="utf-8")
