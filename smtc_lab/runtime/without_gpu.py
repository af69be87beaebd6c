"""A script that asks for a GPU without a condition, on a data instance that has none.

The trainers have one, so the script is right. A data instance runs it up to its first iteration
over a dataloader only, and what it computes until then reaches nobody: a CPU will do.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.parallel import DistributedDataParallel
from torch.overrides import TorchFunctionMode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_DO_NOTHING = ("set_device", "synchronize", "empty_cache", "reset_peak_memory_stats")
_RETURN_ZERO = ("current_device", "memory_allocated", "max_memory_allocated")
"""Functions of ``torch.cuda`` that scripts call before their loop."""

_STAYS = (torch.Tensor.cuda, torch.Tensor.pin_memory)


class _CpuForCuda(TorchFunctionMode):
    """Whatever is to lie on a CUDA device lies on the CPU."""

    def __init__(self) -> None:
        super().__init__()
        self._thread = threading.current_thread()

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401  whatever the function returns
        del types
        if func in _STAYS:
            return args[0]
        if func is torch.Tensor.to and len(args) > 1 and type(args[1]) is int:
            args = (args[0], "cpu", *args[2:])
        named = {name: _on_cpu(value) for name, value in (kwargs or {}).items()}
        return func(*map(_on_cpu, args), **named)

    def end(self) -> None:
        """Leave torch as it was, if this is the thread that it was changed in."""
        if threading.current_thread() is self._thread:
            self.__exit__(None, None, None)  # type: ignore[no-untyped-call]  # torch's own


_mode: _CpuForCuda | None = None


def compute_on_cpu() -> None:
    """Let ``cuda`` mean the CPU in this thread, until ``end``."""
    global _mode  # noqa: PLW0603  torch itself is changed, for the whole process
    cuda: Any = torch.cuda
    for name in _DO_NOTHING:
        setattr(cuda, name, lambda *_args, **_options: None)
    for name in _RETURN_ZERO:
        setattr(cuda, name, lambda *_args, **_options: 0)
    wrap: Any = DistributedDataParallel.__init__

    def init(
        self: DistributedDataParallel,
        module: torch.nn.Module,
        device_ids: Any = None,  # noqa: ANN401  torch's own
        output_device: Any = None,  # noqa: ANN401  as above
        *args: Any,  # noqa: ANN401  as above
        **options: Any,  # noqa: ANN401  as above
    ) -> None:
        del device_ids, output_device  # of GPUs
        wrap(self, module, None, None, *args, **options)

    changed: Any = DistributedDataParallel
    changed.__init__ = init
    _take_numbers_for_cpu(torch.nn.Module)
    _mode = _CpuForCuda()
    _mode.__enter__()  # type: ignore[no-untyped-call]  # torch's own


def _take_numbers_for_cpu(modules: Any) -> None:  # noqa: ANN401  its method is replaced
    """Let ``module.to(0)`` mean the CPU: a CPU build of torch knows no device of a number."""
    wrap = modules.to

    def to(self: torch.nn.Module, *args: Any, **named: Any) -> torch.nn.Module:  # noqa: ANN401
        if args and type(args[0]) is int:
            args = ("cpu", *args[1:])
        if type(named.get("device")) is int:
            named["device"] = "cpu"
        moved: torch.nn.Module = wrap(self, *args, **named)
        return moved

    modules.to = to


def end() -> None:
    """Compute as torch does again: data workers pay nothing. Twice is once."""
    global _mode
    mode, _mode = _mode, None
    if mode is not None:
        mode.end()


def _on_cpu(value: Any) -> Any:  # noqa: ANN401  any argument
    if isinstance(value, torch.device) and value.type == "cuda":
        return torch.device("cpu")
    if isinstance(value, str) and value.partition(":")[0] == "cuda":
        return "cpu"
    return value
