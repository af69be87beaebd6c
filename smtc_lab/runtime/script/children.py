"""Keeps processes that a script starts on a data instance from training there."""

from __future__ import annotations

import multiprocessing.process
import sys

from smtc_lab.runtime.script.after_import import after_import

TYPE_CHECKING = False
if TYPE_CHECKING:  # a process may do without the 10 ms that importing typing costs
    from collections.abc import Callable
    from typing import Any

_PREPARES_DATA = ("smtc_lab.", "torch.utils.data.")


def hold_children() -> None:
    """Let processes that this one starts train no more than it may itself.

    Data workers may do what they like.
    """
    every_process: Any = multiprocessing.process.BaseProcess
    plain = every_process.start

    def start(process: Any) -> None:  # noqa: ANN401  of any start method
        target = process._target  # noqa: SLF001  it has no other name
        module = str(getattr(target, "__module__", ""))
        if target is not None and not module.startswith(_PREPARES_DATA):
            process._target = _Held(target)  # noqa: SLF001  as above
        plain(process)

    every_process.start = start


class _Held:
    """What a process does, until it trains."""

    def __init__(self, target: Callable[..., object]) -> None:
        self._target = target

    def __call__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401  the target's own
        if "torch" in sys.modules:
            _hold()
        else:
            after_import("torch", _hold)
        hold_children()
        self._target(*args, **kwargs)


def _hold() -> None:
    from smtc_lab.runtime.script.no_training import NoTraining  # noqa: PLC0415  torch is there now

    NoTraining(_end)


def _end() -> None:
    raise SystemExit(0)
