"""Network interfaces of this machine."""

from __future__ import annotations

import psutil


def interface_of(address: str) -> str:
    """Return the network interface that has an address; empty: none is known to have it."""
    for name, known in psutil.net_if_addrs().items():
        if any(item.address == address for item in known):
            return str(name)
    return ""
