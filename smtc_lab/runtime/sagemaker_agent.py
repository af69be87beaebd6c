"""Fills in what the agent of a SageMaker instance is told with what only the instance knows."""

from __future__ import annotations

import ipaddress
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smtc_lab.store.run_folder import RunFolder

_SECONDS_FOR_THE_LAST_WORD = 10.0
"""SageMaker kills a container 120 s after it was told to stop; this is kept of them."""


@dataclass(frozen=True, kw_only=True)
class InstancePlace:
    """What an instance knows of itself."""

    base: Path
    """The folder that the platform has made: ``/opt/ml``."""

    source: Path
    """The unpacked source: ``smtc_lab`` and ``code``."""

    folder: RunFolder
    """Folder of the run on this instance."""

    names: Mapping[str, str]
    """The platform's name of each planned instance."""

    addresses: Mapping[str, str]
    """Address of each host, by the platform's name."""

    resource_config: Mapping[str, Any]
    """Content of ``resourceconfig.json``."""


def filled_in(
    facts: Mapping[str, Any], instance: Mapping[str, Any], place: InstancePlace
) -> dict[str, Any]:
    """Return the content of ``agent.json``.

    Args:
        facts: Content of ``job.json``.
        instance: This instance as it was planned.
        place: What it knows of itself.
    """
    config = facts["agents"][instance["host"]]
    code = place.source / "code"
    num_cpus = len(os.sched_getaffinity(0))
    grace_s = max(1.0, config["grace_s"] - _SECONDS_FOR_THE_LAST_WORD)
    is_trainer = instance["role"] == "train"
    return {
        **config,
        "run_folder": str(place.folder.path),
        "host": place.names[instance["host"]],
        "hosts": dict(place.addresses),
        "resource_config": dict(place.resource_config),
        "command": [
            sys.executable,
            *config["command"][1:-1],
            str(place.source / facts["entry_point"]),
        ],
        "hyperparameters": {
            **config["hyperparameters"],
            "sagemaker_submit_directory": str(code),
        },
        "channels": {
            name: str(place.base / "input" / "data" / name) for name in config["channels"]
        },
        "environment": _environment(facts, instance, place, num_cpus=num_cpus),
        "num_cpus": num_cpus,
        "num_gpus": len(list(Path("/dev").glob("nvidia[0-9]*"))),
        "cpu_quota_cores": None,
        # a data instance has nothing to save, and its end is paid for by all
        "grace_s": grace_s if is_trainer else min(grace_s, facts["linger_s"]),
    }


def _environment(
    facts: Mapping[str, Any],
    instance: Mapping[str, Any],
    place: InstancePlace,
    *,
    num_cpus: int,
) -> dict[str, str]:
    environment = dict(facts["agents"][instance["host"]]["environment"])
    address = place.addresses[place.names[instance["host"]]]
    data_hosts = [item["host"] for item in facts["instances"] if item["role"] == "data"]
    environment["SMTC_DATA_HOSTS"] = json.dumps([place.names[host] for host in data_hosts])
    environment["SMTC_ADDRESS"] = address
    is_trainer = instance["role"] == "train"
    asked = facts["job"].get("num_loader_workers" if is_trainer else "num_data_workers")
    if asked is None:
        environment["SMTC_NUM_WORKERS"] = str(num_cpus)
    if is_trainer:
        first = next(item["host"] for item in facts["instances"] if item["rank"] == 0)
        environment["MASTER_ADDR"] = place.addresses[place.names[first]]
        interface = place.resource_config.get("network_interface_name") or "eth0"
        if ipaddress.ip_address(address).is_loopback:
            interface = "lo"
        environment.setdefault("GLOO_SOCKET_IFNAME", interface)
        environment.setdefault("NCCL_SOCKET_IFNAME", interface)
    return environment
