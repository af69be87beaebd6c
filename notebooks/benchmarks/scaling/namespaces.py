"""Nodes with a network card each: network namespaces on a bridge, with token buckets.

Needs root, ``ip`` and ``tc``. A bucket's burst must exceed the largest packet that the system
hands over at once (64 kB if nothing else is set), or the rate is far below what is declared.
Names are new in each use: a card outlives its namespace by a moment.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NETWORK = "10.78.0"
_SMALL_BURST_MBIT = 500
_uses = itertools.count()

Node = tuple[str, str]
"""Its namespace's name, and its address."""


def can_make_namespaces() -> bool:
    """Return whether this process may make nodes."""
    if os.geteuid() != 0 or not (shutil.which("ip") and shutil.which("tc")):
        return False
    made = _run("ip", "netns", "add", f"smtc-try-{os.getpid()}", check=False)
    _run("ip", "netns", "del", f"smtc-try-{os.getpid()}", check=False)
    return made


@contextlib.contextmanager
def nodes(count: int, *, mbit_per_s: float, is_sent_only: bool = False) -> Iterator[list[Node]]:
    """Yield name and address of so many nodes; they are gone when it is left.

    Args:
        count: Nodes, at most 200.
        mbit_per_s: Rate of each card, each way.
        is_sent_only: Whether what a card receives passes no bucket of its own. Bursts are as
            small as the rate lets them be then, since they cost no time.
    """
    mark = f"sm{os.getpid() % 10_000}.{next(_uses)}"
    bridge = f"{mark}b"
    names = [f"{mark}n{number}" for number in range(count)]
    try:
        _run("ip", "link", "add", bridge, "type", "bridge")
        _run("ip", "link", "set", bridge, "up")
        yield [
            (name, _node(name, bridge, number, mbit_per_s, is_sent_only=is_sent_only))
            for number, name in enumerate(names)
        ]
    finally:
        for name in names:
            _run("ip", "netns", "del", name, check=False)
        _run("ip", "link", "del", bridge, check=False)


def entered(made: Sequence[Node]) -> list[tuple[str, ...]]:
    """Return what a command must begin with to run on each node."""
    return [("ip", "netns", "exec", name) for name, _ in made]


def _node(name: str, bridge: str, number: int, mbit_per_s: float, *, is_sent_only: bool) -> str:
    outside, address = f"{name}o", f"{_NETWORK}.{number + 1}"
    _run("ip", "netns", "add", name)
    link = ("type", "veth", "peer", "name", "eth0", "netns", name)
    _run("ip", "link", "add", outside, *link)
    _run("ip", "link", "set", outside, "master", bridge, "up")
    _run("ip", "-n", name, "addr", "add", f"{address}/24", "dev", "eth0")
    for device in ("eth0", "lo"):
        _run("ip", "-n", name, "link", "set", device, "up")
    burst, latency = ("512kb", "300ms")
    if is_sent_only:
        latency = "4s"
    if is_sent_only and mbit_per_s <= _SMALL_BURST_MBIT:
        _run("ip", "-n", name, "link", "set", "eth0", "gso_max_size", "16384")
        burst = "32kb"
    bucket = ("tbf", "rate", f"{mbit_per_s:g}mbit", "burst", burst, "latency", latency)
    _run("tc", "-n", name, "qdisc", "add", "dev", "eth0", "root", *bucket)
    if not is_sent_only:
        _run("tc", "qdisc", "add", "dev", outside, "root", *bucket)
    return address


def _run(*command: str, check: bool = True) -> bool:
    ended = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603  our own words
    if check and ended.returncode:
        raise OSError(f"{' '.join(command)} failed: {ended.stderr.strip()}. Run it as root.")
    return ended.returncode == 0
