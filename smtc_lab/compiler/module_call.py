"""What a call of a module runs, and the place where ``Module.compile`` puts something else.

Whatever of ours is on a module is on that one alone: copies and pickles are without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.compiler.torch_names import needed

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch


def eager_call(module: torch.nn.Module) -> Callable[..., Any]:
    """Return the call of a module without a compiler.

    Raises:
        CompilerError: This torch has no such thing.
    """
    needed("torch.nn:Module._call_impl")
    call: Callable[..., Any] = module._call_impl  # noqa: SLF001  what Module.compile compiles
    return call


def replaced_call(module: torch.nn.Module) -> Callable[..., Any] | None:
    """Return what a call of a module runs in its own place; None: nothing is in its place."""
    call: Callable[..., Any] | None = getattr(module, "_compiled_call_impl", None)
    return call


def replace_call(module: torch.nn.Module, call: Callable[..., Any]) -> Callable[[], None]:
    """Make calls of a module run something else; return what undoes it.

    Raises:
        CompilerError: This torch has no place for it.
    """
    needed("torch.nn:Module._compiled_call_impl")
    # mypy knows attributes of a module as tensors and modules only.
    changed: Any = module
    before = vars(module).get("_compiled_call_impl")
    changed._compiled_call_impl = _CallInPlace(call)  # noqa: SLF001  a plain module's copies leave it out

    def undo() -> None:
        if before is None:
            vars(module).pop("_compiled_call_impl", None)
        else:
            changed._compiled_call_impl = before  # noqa: SLF001  as above

    return undo


class _CallInPlace:
    """What a call of one module runs, and of none of its copies.

    A copy of a module that says itself what is copied, as ``DistributedDataParallel`` does,
    would call the module that it was copied from.
    """

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  whatever the module takes
        return self._call(*args, **kwargs)

    def __deepcopy__(self, memo: dict[int, Any]) -> None:
        """Leave the copy with the call of its class."""

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()  # also where there is no smtc_lab


class OwnHook:
    """A hook on one module, which does nothing on copies of that.

    Modules are copied and pickled with their hooks.
    """

    def __init__(self, hook: Callable[..., Any]) -> None:
        self._hook = hook

    def __call__(self, *args: Any) -> Any:  # noqa: ANN401  as torch has it
        """Run the hook."""
        return self._hook(*args)

    def __deepcopy__(self, memo: dict[int, Any]) -> Callable[..., None]:
        return no_hook

    def __reduce__(self) -> tuple[Callable[[], Callable[..., None]], tuple[()]]:
        return _none, ()


def no_hook(*_: object) -> None:
    """Leave arguments and output as they are."""


def _none() -> Callable[..., None]:
    return no_hook
