"""The table of one folder for many browsers, read no more often than it must be."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING, Any

from smtc_lab.store.state import TERMINAL
from smtc_lab.study.folder import studies_root
from smtc_lab.views.live.list_row import DAMAGED
from smtc_lab.views.run_table.page import ALL, Asked, Pages
from smtc_lab.views.run_table.table import runs

if TYPE_CHECKING:
    from pathlib import Path

_KEPT_S = 5.0
_KEPT_ENDED_S = 60.0


class RunTables:
    """The table of one folder, read again when it is older than five seconds.

    Where everything has ended and nothing was added, it is a minute, for what people say of
    runs elsewhere. So who sorts, filters and turns pages waits for nothing but that. May be
    used by several threads.

    Args:
        root: Folder of runs.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._pages: dict[bool, Pages] = {}
        self._read_s = 0.0
        self._goes_on = False
        self._changed_ns: tuple[int, ...] = ()

    def page(self, given: dict[str, Any], *, is_fresh: bool) -> dict[str, Any]:
        """Return a page as JSON values.

        Args:
            given: Fields of ``Asked``.
            is_fresh: Whether the folder is read again in any case.

        Raises:
            SpecError: The page cannot be told; says why.
        """
        asked = Asked.of(given)
        return self._table(is_fresh=is_fresh)[ALL in asked.launches].page(asked)

    def _table(self, *, is_fresh: bool) -> dict[bool, Pages]:
        with self._lock:
            changed_ns = self._changes()
            if is_fresh or not self._pages or self._is_old(changed_ns):
                table = runs(self._root, launches=True)
                self._pages = {
                    True: Pages(table, table),
                    False: Pages(table.without_launches, table),
                }
                ended = {*TERMINAL, DAMAGED}
                self._goes_on = any(row["state"] not in ended for row in table.rows)
                self._changed_ns = changed_ns
                self._read_s = time.monotonic()
            return self._pages

    def _is_old(self, changed_ns: tuple[int, ...]) -> bool:
        may_differ = self._goes_on or changed_ns != self._changed_ns
        return time.monotonic() - self._read_s > (_KEPT_S if may_differ else _KEPT_ENDED_S)

    def _changes(self) -> tuple[int, ...]:
        """Return what changes when a run or a study is added or goes."""
        found = []
        for folder in (self._root, studies_root(self._root)):
            with contextlib.suppress(OSError):  # it is not there yet
                found.append(folder.stat().st_mtime_ns)
        return tuple(found)
