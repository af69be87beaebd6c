"""What an instance is given before its entry point starts: tree, variables, host names."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.instance.hyperparameters import user_args
from smtc_lab.instance.opt_ml import write_opt_ml
from smtc_lab.instance.resource_config import assign_hosts, resource_config
from smtc_lab.instance.sm_environment import sm_environment

if TYPE_CHECKING:
    from smtc_lab.runtime.agent_config import AgentConfig
    from smtc_lab.store.run_folder import RunFolder

HOSTS_VARIABLE = "SMTC_HOSTS"
"""Environment variable with the address of every host, as JSON."""


def prepare_instance(
    config: AgentConfig, folder: RunFolder
) -> tuple[dict[str, str], list[str]]:
    """Write the tree that SageMaker shows, and return what the entry point is started with.

    Returns:
        Its environment, and its arguments: the hyperparameters as ``--name value``.
    """
    base = folder.opt_ml(config.host)
    groups = assign_hosts([(name, kind, count) for name, kind, count in config.instance_groups])
    write_opt_ml(
        base,
        resource_config=config.resource_config or resource_config(groups, config.host),
        hyperparameters=config.hyperparameters,
        channels={name: Path(path) for name, path in config.channels.items()},
    )
    _write_hosts_file(folder.instance(config.host) / "hosts", config.hosts)
    threads = str(config.num_cpus)
    environment = {
        **os.environ,
        "PYTHONUNBUFFERED": "1",
        "OMP_NUM_THREADS": threads,
        "MKL_NUM_THREADS": threads,
        "OPENBLAS_NUM_THREADS": threads,
        "NUMEXPR_NUM_THREADS": threads,
        "SAGEMAKER_BASE_DIR": str(base),
        "TRAINING_JOB_NAME": folder.job_name,
        HOSTS_VARIABLE: json.dumps(config.hosts),
        **sm_environment(
            base,
            num_cpus=config.num_cpus,
            num_gpus=config.num_gpus,
            job_name=folder.job_name,
        ),
        **config.environment,
    }
    return environment, user_args(config.hyperparameters)


def _write_hosts_file(path: Path, hosts: dict[str, str]) -> None:
    """Write this machine's ``/etc/hosts`` with the job's hosts before it."""
    lines = [f"{address}\t{host}" for host, address in hosts.items()]
    try:
        own = Path("/etc/hosts").read_text(encoding="utf-8", errors="replace")
    except OSError:
        own = "127.0.0.1\tlocalhost\n"
    path.write_text("\n".join(lines) + "\n" + own, encoding="utf-8")
