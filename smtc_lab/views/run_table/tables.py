"""The table of one folder for many browsers, read no more often than it must be."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from smtc_lab.views.run_table.page import ALL, Asked, Pages
from smtc_lab.views.run_table.table import runs

if TYPE_CHECKING:
    from pathlib import Path

_KEPT_S = 5.0


class RunTables:
    """The table of one folder, read again when it is older than five seconds.

    So that who sorts, filters and turns pages waits for nothing but that. May be used by
    several threads.

    Args:
        root: Folder of runs.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._pages: dict[bool, Pages] = {}
        self._read_s = 0.0

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
            if is_fresh or not self._pages or time.monotonic() - self._read_s > _KEPT_S:
                table = runs(self._root, launches=True)
                self._pages = {
                    True: Pages(table, table),
                    False: Pages(table.without_launches, table),
                }
                self._read_s = time.monotonic()
            return self._pages
