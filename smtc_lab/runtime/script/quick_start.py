"""Starts and ends a script that imports torch without work that nobody needs.

torch loads TorchDynamo, with sympy and a part of inductor, to keep optimizers from being
compiled: about as long as ``import torch`` itself (2.15: 2.6 to 3.5 s of CPU time), in every
trainer. As long as it is not loaded nothing is compiled, so nothing has to be kept from it. As
soon as anybody loads it everything is as torch made it.

Python looks for garbage among the half million objects of torch, again and again while they
are made and twice at its end: about a second of CPU time. None of them is garbage.
"""

from __future__ import annotations

import gc
import importlib
import sys
from contextlib import contextmanager
from types import ModuleType

from smtc_lab.runtime.script.after_import import after_import

TYPE_CHECKING = False
if TYPE_CHECKING:  # without the 10 ms that importing typing costs every start
    from collections.abc import Callable, Iterator
    from types import CodeType
    from typing import Any

_DYNAMO = "torch._dynamo"
_KNOWN = "__dynamo_disable"  # where torch keeps what it calls in place of a function

_undo: list[Callable[[], None]] = []


def start_quickly() -> None:
    """Take effect for the torch that this process imports next."""
    after_import("torch._compile", _keep_disabled_as_they_are)
    after_import("torch.optim.optimizer", _keep_steps_as_they_are)
    after_import(_DYNAMO, _be_as_torch)
    after_import("torch", _stand_in, during=_no_search_for_garbage)


@contextmanager
def _no_search_for_garbage() -> Iterator[None]:
    """Search for none now, and among what is there now never."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        if was_on:
            gc.enable()


def _stand_in() -> None:
    """Answer what DDP asks of dynamo without loading it."""
    if _DYNAMO not in sys.modules:
        vars(sys.modules["torch"]).setdefault("_dynamo", _Late(_DYNAMO))


def _be_as_torch() -> None:
    while _undo:
        _undo.pop()()


def _keep_disabled_as_they_are() -> None:
    """Have functions that are not to be compiled called as they are."""
    module: Any = sys.modules["torch._compile"]
    torchs = getattr(module, "_disable_dynamo", None)
    if torchs is None:
        return

    def _disable_dynamo(fn: Callable[..., Any] | None = None, recursive: bool = True) -> Any:  # noqa: ANN401, FBT001, FBT002  torch's own
        function = torchs(fn, recursive)
        if fn is not None and _DYNAMO not in sys.modules and not hasattr(fn, _KNOWN):
            setattr(fn, _KNOWN, fn)
            _undo.append(lambda: vars(fn).pop(_KNOWN, None))
        return function

    module._disable_dynamo = _disable_dynamo  # noqa: SLF001  what it is there for


def _keep_steps_as_they_are() -> None:
    """Have optimizers' steps set their gradient mode, and break no graph."""
    module: Any = sys.modules["torch.optim.optimizer"]
    torchs = getattr(module, "_use_grad_for_differentiable", None)
    if torchs is None:
        return

    def _use_grad_for_differentiable(func: Callable[..., Any]) -> Any:  # noqa: ANN401  torch's own
        step = torchs(func)
        plain, quick = step.__code__, _step_alone(func).__code__
        if _DYNAMO not in sys.modules and plain.co_freevars == quick.co_freevars:
            step.__code__ = quick
            _undo.append(lambda: _set_code(step, plain))
        return step

    module._use_grad_for_differentiable = _use_grad_for_differentiable  # noqa: SLF001  as above


def _set_code(function: Any, code: CodeType) -> None:  # noqa: ANN401  a function
    function.__code__ = code


def _step_alone(func: Callable[..., Any]) -> Any:  # noqa: ANN401  a function
    """Return what torch's ``_use_grad`` does where nothing is compiled.

    Its code runs as that of torch's own function, so it may use nothing of this module.
    """

    def _use_grad(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  an optimizer's step
        import torch  # noqa: PLC0415  see above

        before = torch.is_grad_enabled()
        try:
            torch.set_grad_enabled(args[0].defaults["differentiable"])
            return func(*args, **kwargs)
        finally:
            torch.set_grad_enabled(before)

    return _use_grad


class _Late(ModuleType):
    """``torch._dynamo`` until it is imported, which takes its place in ``torch``."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  whatever the module holds
        if name == "utils" and _DYNAMO not in sys.modules:
            return _LateUtils(f"{_DYNAMO}.utils")
        return getattr(importlib.import_module(_DYNAMO), name)


class _LateUtils(ModuleType):
    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  as above
        if name == "get_optimize_ddp_mode" and _DYNAMO not in sys.modules:
            return lambda: "ddp_optimizer"  # as long as nobody has set dynamo's configuration
        return getattr(importlib.import_module(self.__name__), name)
