"""Which lines split a step into several graphs, while it is traced for the first time."""

from __future__ import annotations

import sys
import traceback
from collections import Counter
from typing import TYPE_CHECKING, Any

from torch.overrides import TorchFunctionMode

from smtc_lab.compiler.places import script_place
from smtc_lab.metrics.records.compiler_report import GraphBreak

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from smtc_lab.compiler.xla.counters import XlaCounters
    from smtc_lab.metrics.records.compiler_report import Place


class GraphWatch(TorchFunctionMode):
    """Notes each call of torch during which a graph was handed to the device.

    It stands where Python calls torch: below, where operators are dispatched, a mode would make
    other operators of some functions, and with them another graph to compile.
    """

    def __init__(self, counters: XlaCounters) -> None:
        super().__init__()
        self._counters = counters
        self._breaks: Counter[tuple[str, Place | None]] = Counter()

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,  # noqa: ANN401  torch's signature
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401  as above
        graphs = self._counters.graphs()
        result = func(*args, **(kwargs or {}))
        if self._counters.graphs() > graphs:
            self._breaks[getattr(func, "__name__", str(func)), _calling_place()] += 1
        return result

    def graph_breaks(self) -> tuple[GraphBreak, ...]:
        """Return what it noted, a line and function once."""
        return tuple(
            GraphBreak(
                reason=f"{name} needs values that the device has yet to compute.",
                place=place,
                count=count,
            )
            for (name, place), count in self._breaks.items()
        )


def _calling_place() -> Place | None:
    """Return the line of the script that led here, else of a library."""
    frame = sys._getframe(2)  # noqa: SLF001  the documented way to the caller
    stack = [(it.f_code.co_filename, line) for it, line in traceback.walk_stack(frame)]
    return script_place(stack[::-1])
