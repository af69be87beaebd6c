"""The names of a job's hosts, where the agent could not show its own ``/etc/hosts``."""

from __future__ import annotations

import os

from smtc_lab.instance.variables import HOSTS_VARIABLE

TYPE_CHECKING = False
if TYPE_CHECKING:  # without the 10 ms that importing typing costs every start
    from typing import Any

_HOSTS_FILE = "/etc/hosts"


def resolve_hosts() -> None:
    """Make ``algo-1``, … resolve, where the agent could not show its own ``/etc/hosts``."""
    words = os.environ.get(HOSTS_VARIABLE, "").split('"')[1::2]  # importing json costs 10 ms
    hosts = dict(zip(words[::2], words[1::2], strict=True))
    try:
        with open(_HOSTS_FILE, encoding="utf-8", errors="replace") as file:  # noqa: PTH123  pathlib costs the start 10 ms
            known = file.read().split()
    except OSError:
        known = []
    if all(address in known for address in hosts.values()):
        return
    import socket  # noqa: PLC0415  only the fallback needs it

    plain: Any = socket.getaddrinfo

    def getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  stands in for socket's own
        name = host.decode() if isinstance(host, bytes) else host
        return plain(hosts.get(name, host), *args, **kwargs)

    socket.getaddrinfo = getaddrinfo
    plain_by_name = socket.gethostbyname
    socket.gethostbyname = lambda name: plain_by_name(hosts.get(name, name))
