"""Lines that make the host wait for the device, seen in a few steps."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from typing import TYPE_CHECKING, Any

from smtc_lab.compiler.places import is_own, script_place
from smtc_lab.metrics.records.compiler_report import HostSync

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

FIRST_STEP = 5
"""First step that is observed: compiling and growing of caches should be over."""

NUM_STEPS = 4
"""Steps that are observed."""

_READS = {
    "item": "item",
    "tolist": "tolist",
    "numpy": "numpy",
    "cpu": "cpu",
    "nonzero": "nonzero",
    "__bool__": "bool",
    "__float__": "float",
    "__int__": "int",
    "__index__": "index",
    "__array__": "numpy",
    "__repr__": "print",
    "__format__": "print",
    "to": "to",
}
"""Methods of a tensor that need its values on the host, and what they are called."""

_DATA_PATHS = ("/torch/utils/data/", "/smtc_lab/dataservice/")
_OPTIMIZERS = "/torch/optim/"
_DYNAMO = "/torch/_dynamo/"
_DEEPEST = 64


class HostSyncs:
    """Counts the reads of tensors by the training thread, and takes itself away afterwards.

    Tensors' reading methods are replaced for a few steps; compiled code calls none of them.
    Reads on a CPU are counted too, although nothing waits there: a faster device would.
    """

    def __init__(self, *, first_step: int = FIRST_STEP, num_steps: int = NUM_STEPS) -> None:
        """Prepare; nothing is touched before the first observed step.

        Args:
            first_step: First step that is observed, from 0.
            num_steps: Steps that are observed, at least 1.
        """
        self._first_step = first_step
        self._last_step = first_step + num_steps - 1
        self._replaced: dict[str, Any] = {}
        self._thread = 0
        self._is_inside = False
        self._counts: Counter[tuple[str, tuple[tuple[str, int | None], ...]]] = Counter()
        self._observed_steps = 0
        self.is_done = False
        """Whether the observation is over: ``step_ended`` need not be called any more."""

    def step_ended(self, step: int) -> None:
        """Say that a step has ended; the next one may be observed.

        Args:
            step: Its number, from 0. The caller is the thread that trains.
        """
        if self.is_done:
            return
        if self._replaced:
            self._observed_steps += 1
        if step >= self._last_step:
            self.close()
        elif step >= self._first_step - 1 and not self._replaced:
            self._begin()

    def close(self) -> None:
        """Give the tensors their own methods back. Twice is once."""
        self.is_done = True
        if not self._replaced:
            return
        import torch  # noqa: PLC0415  it is there, else there were no steps

        for name, own in self._replaced.items():
            if own is None:
                delattr(torch.Tensor, name)
            else:
                setattr(torch.Tensor, name, own)
        self._replaced = {}

    def fields(self) -> dict[str, Any]:
        """Return the fields of a ``CompilerReport`` that were observed, most frequent first."""
        syncs: Counter[tuple[str, Any]] = Counter()
        for (operation, stack), count in self._counts.items():
            syncs[operation, script_place(stack)] += count
        return {
            "observed_steps": self._observed_steps,
            "host_syncs": tuple(
                HostSync(
                    operation=operation, place=where, per_step=count / self._observed_steps
                )
                for (operation, where), count in syncs.most_common()
                if self._observed_steps
            ),
        }

    def _begin(self) -> None:
        import torch  # noqa: PLC0415  as above

        self._thread = threading.get_ident()
        for name, operation in _READS.items():
            self._replaced[name] = vars(torch.Tensor).get(name)  # None: it is inherited
            counted = self._counted(operation, getattr(torch.Tensor, name))
            setattr(torch.Tensor, name, _hidden_from_dynamo(counted))

    def _counted(self, operation: str, plain: Callable[..., Any]) -> Callable[..., Any]:
        counts_only_moves = operation == "to"

        def read(tensor: Any, /, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  stands in for torch's own
            if self._is_inside or threading.get_ident() != self._thread:
                return plain(tensor, *args, **kwargs)
            self._is_inside = True
            try:
                value = plain(tensor, *args, **kwargs)
            finally:
                self._is_inside = False
            if not counts_only_moves or _left_its_device(tensor, value):
                stack = _stack(sys._getframe(1), tensor)  # noqa: SLF001  the line is the point
                if stack is not None:
                    self._counts[operation, stack] += 1
            return value

        return read


def _left_its_device(tensor: Any, value: Any) -> bool:  # noqa: ANN401  torch's own
    return bool(tensor.device.type != "cpu" and value.device.type == "cpu")


def _stack(
    frame: FrameType | None,
    tensor: Any,  # noqa: ANN401  torch's own
) -> tuple[tuple[str, int | None], ...] | None:
    """Return the callers of a read, outermost first; None: it is not the script's.

    Not the script's are reads by its dataloader, by ourselves, and those that optimizers make
    of their step counters, which lie on the host.
    """
    while frame is not None and _DYNAMO in frame.f_code.co_filename:
        frame = frame.f_back
    if frame is None or is_own(frame.f_code.co_filename):
        return None
    if _OPTIMIZERS in frame.f_code.co_filename and tensor.device.type == "cpu":
        return None
    lines: list[tuple[str, int | None]] = []
    while frame is not None and len(lines) < _DEEPEST:
        file = frame.f_code.co_filename
        if any(part in file for part in _DATA_PATHS):
            return None
        lines.append((file, frame.f_lineno))
        frame = frame.f_back
    return tuple(reversed(lines))


def _hidden_from_dynamo(function: Callable[..., Any]) -> Callable[..., Any]:
    """Keep a function out of compiled code, without importing the compiler for it."""
    if "torch._dynamo" not in sys.modules:
        return function
    from torch import compiler  # noqa: PLC0415  it is there

    hidden: Callable[..., Any] = compiler.disable(function)  # type: ignore[no-untyped-call]  # torch's own
    return hidden
