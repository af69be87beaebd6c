"""Ends clients that nobody uses: scripts make hundreds of loaders, each with data workers."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smtc_lab.dataservice.client.client import Client

MOST_IDLE = 4
"""Clients of loaders that are not iterated over which stay connected, for their next pass."""

_by_use: list[weakref.ref[Client]] = []


def note_use(client: Client) -> None:
    """Take note that a pass begins; end the clients that were used longest ago."""
    others = [ref for ref in _by_use if ref() is not None and ref() is not client]
    _by_use[:] = [*others, weakref.ref(client)]
    idle = [known for ref in others if (known := ref()) is not None and known.is_idle]
    for known in idle[:-MOST_IDLE]:
        known.close()
