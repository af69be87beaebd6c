"""Keeps a script that makes no dataloader from training on a data instance.

There is nothing to serve then. It is told by its third backward pass or optimizer step: fewer
may be a trial before the loaders are made.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from torch.optim.optimizer import register_optimizer_step_post_hook

from smtc_lab.parallel.untraced import untraced
from smtc_lab.runtime.script.backward import after_backward

if TYPE_CHECKING:
    from collections.abc import Callable

_STEPS = 3


class NoTraining:
    """Counts what this process trains, and ends it in time; data workers may train."""

    def __init__(self, end: Callable[[], None]) -> None:
        """Begin to count.

        Args:
            end: Called whenever the script trains.
        """
        self._end = end
        self._process = os.getpid()
        self._steps = self._backwards = 0
        register_optimizer_step_post_hook(untraced(self._stepped))
        after_backward(self._went_backward)

    def _stepped(self, *_: object) -> None:
        self._steps += 1
        self._look()

    def _went_backward(self) -> None:
        self._backwards += 1
        self._look()

    def _look(self) -> None:
        is_training = max(self._steps, self._backwards) >= _STEPS
        if is_training and os.getpid() == self._process:
            self._end()
