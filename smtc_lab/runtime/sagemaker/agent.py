"""Fills in what the agent of a SageMaker instance is told with what only the instance knows."""

from __future__ import annotations

import ipaddress
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.instance.description import InstanceDescription
from smtc_lab.instance.opt_ml import DATA_FOLDER
from smtc_lab.instance.resource_config import DEFAULT_NETWORK_INTERFACE

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
) -> InstanceDescription:
    """Return what the agent of an instance is told.

    Args:
        facts: Content of ``job.json``.
        instance: This instance as it was planned.
        place: What it knows of itself.

    Raises:
        EntryPointError: What the launcher wrote is damaged.
    """
    told = InstanceDescription.from_values(facts["agents"][instance["host"]])
    told = replace(told, num_cpus=len(os.sched_getaffinity(0)))
    is_trainer = told.role == "train"
    asked = facts["job"].get("num_loader_workers" if is_trainer else "num_data_workers")
    grace_s = max(1.0, told.grace_s - _SECONDS_FOR_THE_LAST_WORD)
    code = str(place.source / "code")
    found = told.rendezvous
    host = place.names[told.host]
    return replace(
        told,
        run_folder=str(place.folder.path),
        host=host,
        hosts=dict(place.addresses),
        data_hosts=tuple(place.names[name] for name in told.data_hosts),
        rendezvous=None if found is None else replace(found, host=place.names[found.host]),
        resource_config=dict(place.resource_config),
        command=(
            sys.executable,
            *told.command[1:-1],
            str(place.source / facts["entry_point"]),
        ),
        hyperparameters={**told.hyperparameters, "sagemaker_submit_directory": code},
        channels={name: str(place.base / DATA_FOLDER / name) for name in told.channels},
        environment={**(_interfaces(place, host) if is_trainer else {}), **told.environment},
        num_gpus=len(list(Path("/dev").glob("nvidia[0-9]*"))),
        num_workers=told.threads if asked is None else told.num_workers,
        cpu_quota_cores=None,
        # a data instance has nothing to save, and its end is paid for by all
        grace_s=grace_s if is_trainer else min(grace_s, facts["linger_s"]),
    )


def _interfaces(place: InstancePlace, host: str) -> dict[str, str]:
    """Return the variables by which collectives find the way to the other instances."""
    name = str(place.resource_config.get("network_interface_name") or DEFAULT_NETWORK_INTERFACE)
    if ipaddress.ip_address(place.addresses[host]).is_loopback:
        name = "lo"
    return dict.fromkeys(("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"), name)
