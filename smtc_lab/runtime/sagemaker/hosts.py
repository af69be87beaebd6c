"""Who is who in a SageMaker job: the instances of our plan, and the platform's hosts."""

from __future__ import annotations

import re
import socket
import time
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import LauncherError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from smtc_lab.instance.resource_config import ResourceConfig

_LOOK_S = 0.5


def platform_hosts(
    instances: Sequence[Mapping[str, Any]], resources: ResourceConfig
) -> dict[str, str]:
    """Return the platform's name of each planned instance.

    SageMaker does not promise which instances are ``algo-1``, ``algo-2``, …: the first planned
    instance of a group is the group's first host, and so on.

    Args:
        instances: ``host`` and ``instance_group_name`` of each planned instance, in order.
        resources: What the platform says. It calls the group of a job with one group its own
            way.

    Raises:
        LauncherError: The platform gave another number of instances than was asked for.
    """
    planned: dict[str, list[str]] = {}
    for instance in instances:
        planned.setdefault(instance["instance_group_name"], []).append(instance["host"])
    found = {group.instance_group_name: group.hosts for group in resources.instance_groups}
    if len(planned) == 1:
        found = {next(iter(planned)): resources.hosts}
    names: dict[str, str] = {}
    for group, hosts in planned.items():
        theirs = sorted(found.get(group, ()), key=_number)
        if len(theirs) != len(hosts):
            raise LauncherError(
                f"Instance group {group!r} has {len(theirs)} instances, but {len(hosts)} were "
                "asked for. Start the job again."
            )
        names.update(zip(hosts, theirs, strict=True))
    return names


def resolve(hosts: Iterable[str], *, limit_s: float) -> dict[str, str]:
    """Return the address of each host; waits until all names are known.

    Args:
        hosts: Their names. The platform's name service learns them one after the other.
        limit_s: Longest time to wait in seconds.

    Raises:
        LauncherError: A name is not known by then.
    """
    deadline = time.monotonic() + limit_s
    addresses: dict[str, str] = {}
    waiting = list(hosts)
    while True:
        for host in list(waiting):
            try:
                found = socket.getaddrinfo(host, None, socket.AF_INET, socket.SOCK_STREAM)
            except OSError:
                continue
            addresses[host] = str(found[0][4][0])
            waiting.remove(host)
        if not waiting:
            return addresses
        if time.monotonic() >= deadline:
            raise LauncherError(
                f"The names {', '.join(waiting)} are not known after {limit_s:g} s, so the "
                "instances cannot talk to each other. Check the job's subnets and security "
                "groups, and start it again."
            )
        time.sleep(_LOOK_S)  # a name service has no event for this


def _number(host: str) -> tuple[int, str]:
    number = re.search(r"\d+$", host)
    return int(number[0]) if number else 0, host
