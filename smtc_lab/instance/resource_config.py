"""Who is in a job: ``resourceconfig.json``, made by a launcher and read by a script.

Standard library only: the agent of an instance imports it before anything else.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import EntryPointError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BASE_FOLDER_VARIABLE = "SAGEMAKER_BASE_DIR"
"""Environment variable that names the folder which stands for ``/opt/ml``."""

DEFAULT_BASE_FOLDER = "/opt/ml"
"""Where a SageMaker container has the tree."""

DEFAULT_GROUP_NAME = "homogeneousCluster"
"""What SageMaker calls the only group of a job that names none."""

DEFAULT_INSTANCE_TYPE = "local"
"""What ``sagemaker_training`` calls an instance whose type is not said."""

DEFAULT_NETWORK_INTERFACE = "eth0"
"""What ``sagemaker_training`` assumes where ``network_interface_name`` is not said."""

CONFIG_FILE = "input/config/resourceconfig.json"
"""Where the tree has this file."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceGroupHosts:
    """An instance group and the names of its instances."""

    instance_group_name: str
    """Name of the group."""

    instance_type: str
    """Type of its instances."""

    hosts: tuple[str, ...]
    """Names of its instances, in the order in which they were assigned."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ResourceConfig:
    """The instances of a job, as one of them sees them."""

    current_host: str
    """Name of this instance, for example ``algo-1``. Its number says nothing of its group."""

    current_instance_type: str
    """Type of this instance."""

    current_group_name: str
    """Name of this instance's group."""

    hosts: tuple[str, ...]
    """Names of all instances, sorted as text: ``algo-1``, ``algo-10``, ``algo-2``."""

    instance_groups: tuple[InstanceGroupHosts, ...]
    """All groups, in the order of the job."""

    network_interface_name: str
    """Network interface that the instances reach each other through."""

    @property
    def is_heterogeneous(self) -> bool:
        """Whether the job has more than one instance group."""
        return len(self.instance_groups) > 1

    def group(self, instance_group_name: str) -> InstanceGroupHosts:
        """Return the group of that name.

        Raises:
            EntryPointError: The job has no such group.
        """
        for group in self.instance_groups:
            if group.instance_group_name == instance_group_name:
                return group
        names = ", ".join(group.instance_group_name for group in self.instance_groups)
        raise EntryPointError(
            f"The job has no instance group {instance_group_name!r}. Choose among: {names}."
        )


def assign_hosts(groups: Sequence[tuple[str, str, int]]) -> list[InstanceGroupHosts]:
    """Return the groups with their instances named ``algo-1``, ``algo-2``, … in group order.

    Args:
        groups: Name, instance type and instance count of each group, in the job's order.
    """
    assigned = []
    first = 1
    for name, instance_type, count in groups:
        hosts = tuple(f"algo-{number}" for number in range(first, first + count))
        assigned.append(
            InstanceGroupHosts(
                instance_group_name=name, instance_type=instance_type, hosts=hosts
            )
        )
        first += count
    return assigned


def resource_config(
    groups: Sequence[InstanceGroupHosts],
    current_host: str,
    *,
    network_interface_name: str = DEFAULT_NETWORK_INTERFACE,
) -> dict[str, object]:
    """Return the content of ``resourceconfig.json`` on one instance.

    The keys and their order are SageMaker's. The group is in ``current_group_name``: that is
    what the platform writes and ``sagemaker_training`` reads, whatever its own docs call it.

    Raises:
        ValueError: No group has an instance of that name.
    """
    current = next((group for group in groups if current_host in group.hosts), None)
    if current is None:
        names = ", ".join(host for group in groups for host in group.hosts)
        raise ValueError(
            f"current_host={current_host!r} is in no instance group. Choose among: {names}."
        )
    return {
        "current_host": current_host,
        "current_instance_type": current.instance_type,
        "current_group_name": current.instance_group_name,
        "hosts": sorted(host for group in groups for host in group.hosts),
        "instance_groups": [
            {
                "instance_group_name": group.instance_group_name,
                "instance_type": group.instance_type,
                "hosts": list(group.hosts),
            }
            for group in groups
        ],
        "network_interface_name": network_interface_name,
    }


def read_resource_config(environ: Mapping[str, str] = os.environ) -> ResourceConfig:
    """Return the instances of the job that this process belongs to.

    ``resourceconfig.json`` is read first, because every container has it. The ``SM_*``
    variables are only the fallback: containers of the SageMaker SDK v3 set no groups there.

    Args:
        environ: Environment variables of the process.

    Raises:
        EntryPointError: Neither is there, or what is there cannot be understood.
    """
    base = environ.get(BASE_FOLDER_VARIABLE) or DEFAULT_BASE_FOLDER
    path = Path(base, CONFIG_FILE)
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return _read_variables(environ, path)
    except (OSError, UnicodeDecodeError) as error:
        raise EntryPointError(
            f"{path} cannot be read: {error}. Make it readable for the training script."
        ) from error
    return _parse(_loads(text, str(path)), str(path))


def _read_variables(environ: Mapping[str, str], path: Path) -> ResourceConfig:
    """Return the instances that the ``SM_*`` variables name."""
    if text := environ.get("SM_RESOURCE_CONFIG"):
        return _parse(_loads(text, "SM_RESOURCE_CONFIG"), "SM_RESOURCE_CONFIG")
    if not environ.get("SM_CURRENT_HOST"):
        raise EntryPointError(
            f"This process belongs to no training job: there is no {path}, and neither "
            "SM_RESOURCE_CONFIG nor SM_CURRENT_HOST is set. Start the script through a "
            f"launcher ('smtc-lab compare'), or set {BASE_FOLDER_VARIABLE} to a folder that "
            f"holds {CONFIG_FILE}."
        )
    content: dict[str, Any] = {"current_host": environ["SM_CURRENT_HOST"]}
    for key, variable in (
        ("current_instance_type", "SM_CURRENT_INSTANCE_TYPE"),
        ("current_group_name", "SM_CURRENT_INSTANCE_GROUP"),
        ("network_interface_name", "SM_NETWORK_INTERFACE_NAME"),
    ):
        if text := environ.get(variable):
            content[key] = text
    content["hosts"] = _loads(
        environ.get("SM_HOSTS") or json.dumps([content["current_host"]]), "SM_HOSTS"
    )
    # SM_INSTANCE_GROUPS_DICT is sorted by name; only SM_INSTANCE_GROUPS has the job's order.
    groups = _loads(environ.get("SM_INSTANCE_GROUPS_DICT") or "{}", "SM_INSTANCE_GROUPS_DICT")
    names = _loads(environ.get("SM_INSTANCE_GROUPS") or "[]", "SM_INSTANCE_GROUPS")
    if isinstance(groups, dict) and isinstance(names, list):
        content["instance_groups"] = [groups[name] for name in names if name in groups]
    return _parse(content, "The SM_* environment")


def _loads(text: str, source: str) -> object:
    try:
        return json.loads(text)
    except ValueError as error:
        raise EntryPointError(
            f"{source} is not JSON ({error}): {text[:200]!r}. Let the launcher write it anew."
        ) from error


def _parse(content: object, source: str) -> ResourceConfig:
    """Return the content of a ``resourceconfig.json``, the toolkit's defaults filled in."""
    if not isinstance(content, dict):
        raise EntryPointError(
            f"{source} holds {str(content)[:200]!r}, but must hold a JSON object. Let the "
            "launcher write it anew."
        )
    current_host = _text(content, "current_host", source)
    hosts = _texts(content, "hosts", source)
    groups = _parse_groups(content, hosts, source)
    current = next((group for group in groups if current_host in group.hosts), None)
    if current is None:
        raise EntryPointError(
            f"{source} has current_host={current_host!r}, which is in no instance group and "
            f"not among the hosts {', '.join(hosts)}. Let the launcher write it anew."
        )
    return ResourceConfig(
        current_host=current_host,
        current_instance_type=_text(
            content, "current_instance_type", source, current.instance_type
        ),
        current_group_name=_text(
            content, "current_group_name", source, current.instance_group_name
        ),
        hosts=hosts,
        instance_groups=groups,
        network_interface_name=_text(
            content, "network_interface_name", source, DEFAULT_NETWORK_INTERFACE
        ),
    )


def _parse_groups(
    content: dict[str, Any], hosts: tuple[str, ...], source: str
) -> tuple[InstanceGroupHosts, ...]:
    """Return the groups; all hosts are one group where none is written."""
    group_contents = content.get("instance_groups") or [
        {
            "instance_group_name": content.get("current_group_name", DEFAULT_GROUP_NAME),
            "instance_type": content.get("current_instance_type", DEFAULT_INSTANCE_TYPE),
            "hosts": list(hosts),
        }
    ]
    if not isinstance(group_contents, list) or not all(
        isinstance(group, dict) for group in group_contents
    ):
        raise _refusal(source, "instance_groups", group_contents, "a list of objects")
    return tuple(
        InstanceGroupHosts(
            instance_group_name=_text(group, "instance_group_name", source),
            instance_type=_text(group, "instance_type", source, DEFAULT_INSTANCE_TYPE),
            hosts=_texts(group, "hosts", source),
        )
        for group in group_contents
    )


def _text(content: dict[str, Any], key: str, source: str, default: str | None = None) -> str:
    value = content.get(key, default)
    if not isinstance(value, str):
        raise _refusal(source, key, value, "text")
    return value


def _texts(content: dict[str, Any], key: str, source: str) -> tuple[str, ...]:
    value = content.get(key)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _refusal(source, key, value, "a list of host names")
    return tuple(value)


def _refusal(source: str, key: str, value: object, expected: str) -> EntryPointError:
    return EntryPointError(
        f"{source} has {key}={str(value)[:200]!r}, but needs {expected}. Let the launcher "
        "write it anew."
    )
