"""What the extension keeps for one server; as little as can be until somebody asks."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.views.server.hub import Hub

SETTING = "smtc_lab"
"""Name of the server's setting that holds it."""


class Lab:
    """The hub of one server, and the threads in which it may wait.

    Args:
        root_dir: Folder of the server.
    """

    def __init__(self, root_dir: Path) -> None:
        self.threads = ThreadPoolExecutor(4, thread_name_prefix="smtc-lab")
        """For what takes a moment."""
        self.patient = ThreadPoolExecutor(2, thread_name_prefix="smtc-lab-slow")
        """For what takes seconds: a launch, a picture."""
        self._root_dir = root_dir
        self._hub: Hub | None = None
        self._lock = threading.Lock()

    def warm_up(self) -> None:
        """Make the hub in the background, so that nobody waits for it."""
        self.threads.submit(self.hub)

    def hub(self) -> Hub:
        """Return the hub. The first call takes a moment, so not on the server's loop."""
        with self._lock:
            if self._hub is None:
                # numpy, pydantic and SQLite must not slow down the start of every server
                from smtc_lab.views.server.hub import Hub  # noqa: PLC0415

                self._hub = Hub(self._root_dir)
            return self._hub
