"""What a call of a module runs, and the place where ``Module.compile`` puts something else."""

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
    before = replaced_call(module)
    changed._compiled_call_impl = call  # noqa: SLF001  copies and checkpoints leave it out

    def undo() -> None:
        changed._compiled_call_impl = before  # noqa: SLF001  as above

    return undo
