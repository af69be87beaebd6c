"""Network namespaces on one bridge: machines as far as the network is concerned."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Self

_PREFIX = "smtc"


@dataclass(frozen=True)
class Namespaces:
    """Namespaces that reach each other, and this machine, over a bridge."""

    bridge: str
    """The bridge on this machine."""

    network: str
    """The first three numbers of their addresses."""

    names: tuple[str, ...]
    """The namespaces."""

    @classmethod
    def made(cls, count: int) -> Self | None:
        """Return new namespaces; None where this user may not make any, or has no tools for it.

        Those of processes that were killed before they could remove theirs are removed first.
        """
        if shutil.which("ip") is None:
            return None
        _remove_leftovers()
        mark = f"{_PREFIX}{os.getpid()}"
        made = cls(
            bridge=f"{mark}b",
            network=f"10.{64 + secrets.randbelow(128)}.{secrets.randbelow(256)}",
            names=tuple(f"{mark}n{number}" for number in range(count)),
        )
        try:
            made._make()
        except subprocess.CalledProcessError:
            made.remove()
            return None
        return made

    @property
    def head(self) -> str:
        """Address of this machine on the bridge."""
        return f"{self.network}.1"

    @property
    def addresses(self) -> list[str]:
        """Address of each namespace."""
        return [f"{self.network}.{2 + place}" for place in range(len(self.names))]

    @property
    def files(self) -> list[str]:
        """The file by which each namespace is entered."""
        return [f"/run/netns/{name}" for name in self.names]

    def remove(self) -> None:
        """Remove the namespaces and the bridge. Safe to call twice."""
        for name in self.names:
            _ip("netns", "delete", name, must_work=False)
        _ip("link", "delete", self.bridge, must_work=False)

    def _make(self) -> None:
        _ip("link", "add", self.bridge, "type", "bridge")
        _ip("address", "add", f"{self.head}/24", "dev", self.bridge)
        _ip("link", "set", self.bridge, "up")
        for name, address in zip(self.names, self.addresses, strict=True):
            outer = f"{name}v"
            _ip("netns", "add", name)
            _ip("link", "add", outer, "type", "veth", "peer", "name", "eth0", "netns", name)
            _ip("link", "set", outer, "master", self.bridge, "up")
            _ip("-n", name, "address", "add", f"{address}/24", "dev", "eth0")
            _ip("-n", name, "link", "set", "eth0", "up")
            _ip("-n", name, "link", "set", "lo", "up")


def _remove_leftovers() -> None:
    for path in Path("/run/netns").glob(f"{_PREFIX}*n*"):
        pid = path.name.removeprefix(_PREFIX).split("n")[0]
        if pid.isdigit() and not Path("/proc", pid).exists():
            _ip("netns", "delete", path.name, must_work=False)
            _ip("link", "delete", f"{_PREFIX}{pid}b", must_work=False)


def _ip(*arguments: str, must_work: bool = True) -> None:
    subprocess.run(["ip", *arguments], check=must_work, capture_output=True)  # noqa: S603, S607  iproute2, by name
