"""Spaces looks at the files of many trainers."""

from __future__ import annotations

import math
import time

AT_EACH_LOOK = 32
"""Files that are looked at whenever somebody looks, by default."""


class FilePace:
    """Spaces looks at many files, so that they take no more than a share of a core.

    Args:
        each_s: Least time between two looks, in seconds for each file.
        at_each_look: Files that are looked at whenever somebody looks; only more are spaced.
    """

    def __init__(self, each_s: float, *, at_each_look: int = AT_EACH_LOOK) -> None:
        self._each_s = each_s
        self._at_each_look = at_each_look
        self._due_s = -math.inf

    def is_due(self, num_files: int, *, is_last: bool = False) -> bool:
        """Return whether to look now.

        Args:
            num_files: Files that a look opens.
            is_last: Whether nothing more will come, so that all of it is there.
        """
        now_s = time.monotonic()
        if num_files > self._at_each_look and now_s < self._due_s and not is_last:
            return False
        self._due_s = now_s + self._each_s * num_files
        return True
