"""Loaders whose batches the trainer prepares itself, though there are data servers."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from smtc_lab.dataservice import placement

if TYPE_CHECKING:
    from collections.abc import Callable

_log = logging.getLogger("smtc_lab.dataservice")


class Keeping:
    """Whether one loader is such a one, and why. It does not know the loader."""

    def __init__(self, dataset: object, notify: Callable[[str], None] | None) -> None:
        self.is_for_good = False
        """Whether data servers are not asked any more."""
        self._kind = type(dataset).__name__
        self._notify = notify
        self._told = ""

    def keep(self, why: str) -> None:
        """Ask no data server any more, and tell of it."""
        self.is_for_good = True
        self.tell(f"is prepared by this trainer from now on: {why}")

    def tell(self, why: str) -> None:
        """Tell why the trainer prepares the batches; not twice the same."""
        if self._told == why:
            return
        self._told = why
        tell = placement.default().on_kept or self._notify or _log.warning
        tell(f"The loader over {self._kind} {why}.")
