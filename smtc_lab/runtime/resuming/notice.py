"""Saves a training when its instances are about to be taken away, within the grace."""

from __future__ import annotations

import math
import os
import signal
import threading
from typing import TYPE_CHECKING

from smtc_lab.parallel.group import is_joined
from smtc_lab.parallel.torch_names import needed

default_store = needed("torch.distributed.distributed_c10d:_get_default_store")

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

_KEY = "saved-on-notice"
_LEAST_AHEAD = 2  # steps: who ended one that another has not begun is at most one ahead
_HEARD_WITHIN_S = 0.25


class Notice:
    """SIGTERM, which comes before the end: after which step all trainers save once more.

    A step is ended first, so that everything is whole. Where nothing would be lost the process
    ends at once, as it would without this; and where the script handles SIGTERM it keeps its
    own way.
    """

    def __init__(self, *, world_size: int, has_news: Callable[[], bool]) -> None:
        """Hear of it from now on.

        Args:
            world_size: Trainers that save together.
            has_news: Returns whether anything was trained that is not saved.
        """
        self._world_size, self._has_news = world_size, has_news
        self._pid = os.getpid()
        self._is_given = False
        self._step: int | None = None
        in_main = threading.current_thread() is threading.main_thread()
        if in_main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._hear)

    def is_due(self, step: int, step_s: Callable[[], float | None]) -> bool:
        """Return whether all trainers save now, and end.

        Several agree: the first one that hears of it says after which of the next steps.

        Args:
            step: Steps that have ended.
            step_s: Returns the time from step to step, in seconds; None: not known.
        """
        if not self._is_given:
            return False
        if self._step is None:
            self._step = step if self._world_size == 1 else self._agreed(step, step_s())
        return step >= self._step

    def end(self) -> None:
        """End this process as the signal would have."""
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)

    def _hear(self, _number: int, _frame: FrameType | None) -> None:
        cannot_agree = self._world_size > 1 and not is_joined()
        if os.getpid() != self._pid or cannot_agree or not self._has_news():
            self.end()
        self._is_given = True

    def _agreed(self, step: int, step_s: float | None) -> int:
        ahead = _LEAST_AHEAD + (math.ceil(_HEARD_WITHIN_S / step_s) if step_s else 0)
        said = default_store().compare_set(_KEY, "", str(step + ahead))
        return int(said)
