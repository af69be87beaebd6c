"""The list of runs, for all who watch it."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

from smtc_lab.views.server.topic import Topic

if TYPE_CHECKING:
    from smtc_lab.views.live.list_row import Row
    from smtc_lab.views.server.list_follower import ListFollower

_LOOK_S = 0.5

_log = logging.getLogger(__name__)


class ListTopic(Topic):
    """Looks at the list twice a second while somebody listens, and tells the rows that changed.

    Args:
        follower: The list.
    """

    def __init__(self, follower: ListFollower) -> None:
        super().__init__()
        self._follower = follower
        self._rows: dict[str, tuple[int, Row]] = {}
        self._removed: dict[str, int] = {}
        self._closing = threading.Event()
        self._look()
        self._thread = threading.Thread(target=self._run, name="smtc-run-list", daemon=True)
        self._thread.start()

    def news(self, seen: int) -> tuple[dict[str, Any], int]:
        """Return all rows for version 0, else those that changed since a version."""
        with self._lock:
            rows = [row for version, row in self._rows.values() if version > seen]
            removed = [name for name, version in self._removed.items() if version > seen]
            if seen == 0:
                return {"runs": rows}, self._version
            if seen == self._version:
                return {}, seen
            return {"rows_changed": rows, "removed": removed}, self._version

    def close(self) -> None:
        """End the thread, soon."""
        self._closing.set()

    def _run(self) -> None:
        while not self._closing.wait(_LOOK_S):
            try:
                self._look()
            except Exception:  # noqa: BLE001  logged; the next look may go well
                _log.exception("The list of runs could not be renewed.")

    def _look(self) -> None:
        rows = self._follower.look()
        with self._lock:
            version = self._version + 1
            before = self._rows
            self._rows = {}
            for row in rows:
                known = before.pop(row["name"], None)
                is_same = known is not None and known[1] is row
                self._rows[row["name"]] = known if known and is_same else (version, row)
            self._removed |= dict.fromkeys(before, version)
            for name in self._removed.keys() & self._rows.keys():
                del self._removed[name]
            has_news = bool(before) or any(at == version for at, _ in self._rows.values())
            if not has_news and self._version:
                return
            self._version = version
            listeners = list(self._listeners)
        for listener in listeners:
            listener.on_news()
